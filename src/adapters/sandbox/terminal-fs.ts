/**
 * The terminal file: what a script's commands print is appended to it and goes to the capture at once.
 */
import { Buffer } from "node:buffer";
import type { FileContent, IFileSystem } from "just-bash/browser";
import type { Capture } from "./capture.ts";

/** File contents as the interpreter hands them over: "binary" stands for one byte per character. */
export function contentBytes(content: FileContent, options: unknown): Uint8Array {
  if (typeof content !== "string") return content;
  const name = typeof options === "object" && options ? Reflect.get(options, "encoding") : options;
  if (name === "base64") return Uint8Array.from(atob(content), (c) => c.charCodeAt(0));
  if (name === "hex") {
    return Uint8Array.from(content.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  }
  const oneByteEach = name === "binary" || name === "latin1" || name === "ascii";
  // Messages come as "binary" even when they quote a name with wider characters.
  if (!oneByteEach || WIDE.test(content)) return new TextEncoder().encode(content);
  return Buffer.from(content, "latin1");
}

const WIDE = /[\u0100-\uffff]/;
/** What could be bytes: such a text has to be decoded. */
const AMBIGUOUS = /[\u0080-\u00ff]/;

/** The interpreter names options of its own that mean nothing to who reads this. */
export const plain = (text: string): string =>
  text.replace(/, increase executionLimits\.\w+/g, "").replaceAll("bash: execution aborted\n", "");

/** Turns `fs`, which holds the empty terminal file, into one that shows what is written to it. */
export function showTerminal(fs: IFileSystem, capture: Capture): IFileSystem {
  const show = async (_path: string, content: FileContent, options?: unknown): Promise<void> => {
    if (typeof content === "string" && !AMBIGUOUS.test(content)) {
      capture.text(plain(content));
    } else {
      capture.bytes(contentBytes(content, options));
    }
  };
  fs.appendFile = show;
  fs.writeFile = show;
  return fs;
}
