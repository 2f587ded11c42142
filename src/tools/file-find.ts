/**
 * The file toolkit: searching.
 *
 * Q1  A pattern cannot hang the object: contents are searched by the sandbox's own grep (which the call's timeout
 *     covers and whose expressions run in linear time on the embedded one), names by our own matcher.
 * Q2  Results are capped and say so. `node_modules` and `.git` are skipped unless they are what was asked for.
 */
import * as z from "zod";
import { clean, head } from "../core/chars.ts";
import type { ToolResult } from "../core/tool.ts";
import { defineTool, type ToolContext } from "./define.ts";
import { globMatcher } from "./glob.ts";
import { ROOT, resolvePath, within } from "./paths.ts";
import { observe } from "./text-file.ts";

const MAX_MATCHES = 200;
const MAX_NAMES = 500;
/** Code points of one line of a match. */
const LINE_CHARS = 400;
const SKIPPED = ["node_modules", ".git"];

const Folder = () => z.string().describe(`A folder, or one file; relative paths start at ${ROOT}.`);

export const fileFindInContent = defineTool({
  name: "file_find_in_content",
  toolkit: "file",
  description:
    "Search the contents of files under a folder with an extended regular expression (as in grep -E). Gives path:line:text.",
  args: () => z.object({ path: Folder(), regex: z.string().min(1).max(2_000) }),
  parallelSafe: true,
  effect: false,
  recovery: "rerun",
  async run({ path, regex }, ctx) {
    const resolved = resolvePath(path);
    if (!resolved.ok) return observe(resolved.error);
    if (/[\0\n]/.test(regex)) return observe("The expression must be a single line.");
    if ((await ctx.box.list(resolved.path)).length === 0) {
      return observe(`There are no files at ${resolved.path}.`);
    }
    return grep(resolved.path, regex, ctx);
  },
});

async function grep(path: string, regex: string, ctx: ToolContext): Promise<ToolResult> {
  const skipped = SKIPPED.filter((name) => !path.split("/").includes(name));
  const exclude = skipped.map((name) => `--exclude-dir=${name}`).join(" ");
  const command = `grep -rnE ${exclude} -e ${quote(regex)} ${quote(path)}`;
  const { id, timeoutMs, signal } = ctx;
  // A search may be made again: it is never looked for.
  const request = { id, command, cwd: ROOT, timeoutMs, reopened: false };
  // What grep prints is not for the terminal of people.
  const { output, exitCode, timedOut, unknown } = await ctx.box.exec(request, () => {}, signal);
  if (timedOut || unknown || signal.aborted)
    return { ok: false, text: "The search did not end in time." };
  if (exitCode > 1) return observe(`The search failed: ${head(clean(output).trim(), 500)}`);
  const found = output.split("\n").filter((line) => line !== "" && !/[\0\ufffd]/.test(line));
  if (found.length === 0) return observe("No matches.", { result: "No matches." });
  const text = capped(
    found.map((line) => head(line, LINE_CHARS)),
    MAX_MATCHES,
    "matches",
  );
  return observe(text, { result: text });
}

/** For a POSIX shell: nothing inside single quotes means anything. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

export const fileFindByName = defineTool({
  name: "file_find_by_name",
  toolkit: "file",
  description:
    "Find files under a folder by a name pattern: *, ?, [abc], {a,b}, ** over folders. A pattern without / matches names at any depth.",
  args: () => z.object({ path: Folder(), glob: z.string().min(1).max(500) }),
  parallelSafe: true,
  effect: false,
  recovery: "rerun",
  async run({ path, glob }, ctx) {
    const resolved = resolvePath(path);
    if (!resolved.ok) return observe(resolved.error);
    const folder = resolved.path;
    const matches = globMatcher(within(glob, ROOT) ? glob.slice(folder.length + 1) : glob);
    const found = (await ctx.box.list(folder))
      .map((file) => file.path)
      .filter((file) => visible(file, folder, glob) && matches(file.slice(folder.length + 1)));
    if (found.length === 0) return observe("No files match.", { result: "No files match." });
    const text = capped(found, MAX_NAMES, "files");
    return observe(text, { result: text });
  },
});

const visible = (file: string, folder: string, glob: string): boolean =>
  !file
    .slice(folder.length)
    .split("/")
    .some((part) => SKIPPED.includes(part) && !glob.includes(part));

function capped(found: string[], max: number, what: string): string {
  const shown = found.slice(0, max).join("\n");
  return found.length > max
    ? `${shown}\n[${found.length - max} more ${what} left out; narrow the search]`
    : shown;
}
