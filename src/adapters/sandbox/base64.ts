/** Base64 of bytes and of UTF-8 text, for what travels through a shell. */
import { Buffer } from "node:buffer";

export const toBase64 = (data: string | Uint8Array): string => {
  const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
};

/** Blanks and newlines in it are forgiven. */
export const fromBase64 = (text: string): Uint8Array => Buffer.from(text, "base64");
