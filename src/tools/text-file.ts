/**
 * What the file tools share: getting a file as text, and saying what is there when it is not text.
 *
 * B1  Bytes that are no text never reach the model: they are described, with a link for people.
 */
import { clean, headAndTail } from "../core/chars.ts";
import { LIMITS } from "../core/limits.ts";
import type { JsonObject, ToolResult } from "../core/tool.ts";
import { contentType } from "./content-type.ts";
import type { ToolContext } from "./define.ts";
import { ROOT, resolvePath } from "./paths.ts";

export type Loaded =
  | { type: "text"; path: string; text: string }
  | { type: "binary"; path: string; bytes: Uint8Array }
  | { type: "missing"; path: string; text: string }
  | { type: "refused"; text: string };

/** How many names of a folder are told when a folder was given for a file. */
const NAMES = 50;

export async function load(input: string, ctx: ToolContext): Promise<Loaded> {
  const resolved = resolvePath(input);
  if (!resolved.ok) return { type: "refused", text: `${resolved.error} Path: ${input}` };
  const { path } = resolved;
  const bytes = await ctx.box.read(path);
  if (bytes) {
    const text = decode(bytes);
    return text === null ? { type: "binary", path, bytes } : { type: "text", path, text };
  }
  const inside = await ctx.box.list(path);
  if (inside.length === 0 && path !== ROOT) {
    return { type: "missing", path, text: `There is no file ${path}.` };
  }
  const names = inside.slice(0, NAMES).map((file) => file.path.slice(path.length + 1));
  const more = inside.length > NAMES ? `\n(and ${inside.length - NAMES} more)` : "";
  const listing = names.length > 0 ? `It holds:\n${names.join("\n")}${more}` : "It is empty.";
  return { type: "refused", text: `${path} is a folder, not a file. ${listing}` };
}

/** null: not text. */
function decode(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

export function describeBinary(path: string, bytes: Uint8Array, ctx: ToolContext): string {
  const url = ctx.files?.info(path)?.url;
  const link = url ? ` The user can download it: ${url}` : "";
  const facts = `binary, ${bytes.byteLength} bytes, type ${contentType(path)}`;
  return `${path}: ${facts}; its content is not shown.${link}`;
}

/** An observation: the call succeeded and this is what it found. */
export const observe = (text: string, content?: JsonObject): ToolResult => ({
  ok: true,
  text,
  ...(content ? { content } : {}),
});

/** The event's content, bounded. */
export const fileContent = (path: string, content?: string, old_content?: string): JsonObject => ({
  path,
  ...(content === undefined ? {} : { content: bounded(content) }),
  ...(old_content === undefined ? {} : { old_content: bounded(old_content) }),
});
const bounded = (text: string): string => headAndTail(clean(text), LIMITS.eventOutputChars);

export const countLines = (text: string): number =>
  text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
