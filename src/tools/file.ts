/**
 * The file toolkit: reading and writing. (Searching: file-find.ts.)
 *
 * L1  A missing file, a folder, an `old_str` that is absent or not unique, a refused path: observations, said clearly.
 * L2  Only a quota or a sandbox that does not work is a failure.
 * L3  What is not safe to do twice (append, replace) is not done twice: see each tool's recovery.
 */
import * as z from "zod";
import { headAndTail, utf8Bytes } from "../core/chars.ts";
import type { ToolResult } from "../core/tool.ts";
import { defineTool, type ToolContext } from "./define.ts";
import { ROOT, resolvePath } from "./paths.ts";
import { countLines, describeBinary, fileContent, load, observe } from "./text-file.ts";

const Path = () => z.string().describe(`Path of the file; relative paths start at ${ROOT}.`);
const Line = () => z.int().min(1).optional();

export const fileRead = defineTool({
  name: "file_read",
  toolkit: "file",
  description: "Read a text file, or the given lines of it (from 1, both ends included).",
  args: () => z.object({ path: Path(), start_line: Line(), end_line: Line() }),
  parallelSafe: true,
  effect: false,
  recovery: "rerun",
  async run({ path, start_line, end_line }, ctx) {
    const file = await load(path, ctx);
    if (file.type === "binary") {
      return observe(describeBinary(file.path, file.bytes, ctx), fileContent(file.path));
    }
    if (file.type !== "text") return observe(file.text);
    const whole = start_line === undefined && end_line === undefined;
    const text = whole ? file.text : lines(file.text, start_line ?? 1, end_line);
    const room = Math.max(1, ctx.maxChars - 150);
    const shown = headAndTail(text, room, "read parts of it with start_line and end_line");
    return observe(text === "" ? "(empty file)" : shown, fileContent(file.path, text));
  },
});

function lines(text: string, start: number, end: number | undefined): string {
  const total = countLines(text);
  const last = Math.min(end ?? total, total);
  if (start > last)
    return `[no lines ${start} to ${end ?? "the end"}; the file has ${total} lines]`;
  const wanted = text.split("\n").slice(start - 1, last);
  return `${wanted.join("\n")}\n[lines ${start} to ${last} of ${total}]`;
}

export const fileWrite = defineTool({
  name: "file_write",
  toolkit: "file",
  description:
    "Write a text file, replacing what is there, or add to its end with `append`. Folders on the way are made.",
  args: () =>
    z.object({
      path: Path(),
      content: z.string().describe("The whole new content, or what is to be added."),
      append: z.boolean().optional(),
    }),
  recovery: "rerun",
  async run({ path, content, append }, ctx) {
    const resolved = resolvePath(path);
    if (!resolved.ok) return observe(`${resolved.error} Nothing was written.`);
    const old = await load(path, ctx);
    if (old.type === "refused") return observe(`${old.text}\nNothing was written.`);
    const before = old.type === "text" ? old.text : undefined;
    if (!append) return save(resolved.path, content, before, ctx);
    if (ctx.reopened) return unknownOutcome(resolved.path);
    if (old.type === "binary") return observe(`${resolved.path} is binary; nothing was added.`);
    return save(resolved.path, (before ?? "") + content, before, ctx);
  },
});

/** Added once or not at all, and nobody knows: adding again could double it. */
const unknownOutcome = (path: string): ToolResult =>
  observe(
    `The work was interrupted; it is not known whether the text was added to ${path}. Read it.`,
  );

async function save(
  path: string,
  text: string,
  before: string | undefined,
  ctx: ToolContext,
): Promise<ToolResult> {
  const mended = text.toWellFormed();
  const written = await ctx.box.write(path, new TextEncoder().encode(mended));
  const content = fileContent(path, mended, before);
  if (!written.ok) return { ok: false, text: `Nothing was written: ${written.error}`, content };
  const size = `${utf8Bytes(mended)} bytes, ${countLines(mended)} lines`;
  return observe(`Wrote ${path} (${size}).`, content);
}

export const fileStrReplace = defineTool({
  name: "file_str_replace",
  toolkit: "file",
  description:
    "Replace one piece of a text file. `old_str` must stand in the file exactly once, character by character; give enough of its surroundings.",
  args: () => z.object({ path: Path(), old_str: z.string().min(1), new_str: z.string() }),
  async run({ path, old_str, new_str }, ctx) {
    const file = await load(path, ctx);
    if (file.type === "binary") {
      return observe(`${file.path} is binary; nothing was changed.`, fileContent(file.path));
    }
    if (file.type !== "text") return observe(`${file.text} Nothing was changed.`);
    const parts = file.text.split(old_str);
    if (parts.length !== 2) return observe(notOnce(file.path, file.text, old_str, parts));
    const result = await save(file.path, parts.join(new_str), file.text, ctx);
    if (!result.ok) return result;
    return { ...result, text: `Replaced it at line ${lineOf(parts[0] ?? "")} of ${file.path}.` };
  },
});

const lineOf = (before: string): number => before.split("\n").length;

function notOnce(path: string, text: string, wanted: string, parts: string[]): string {
  if (parts.length === 1) {
    const windows = text.includes("\r\n") && !wanted.includes("\r\n") && wanted.includes("\n");
    const why = windows ? " The file ends its lines with \\r\\n." : "";
    return `old_str is not in ${path}; nothing was changed.${why} Read the file and copy the text exactly.`;
  }
  let at = "";
  const found: number[] = [];
  for (const part of parts.slice(0, Math.min(parts.length - 1, 10))) {
    at += part;
    found.push(lineOf(at));
    at += wanted;
  }
  const places = `${parts.length - 1} times in ${path} (lines ${found.join(", ")}${parts.length > 11 ? ", …" : ""})`;
  return `old_str stands ${places}; nothing was changed. Add surrounding lines to make it unique.`;
}
