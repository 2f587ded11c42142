/**
 * `diff` in place of the shell's own, whose time grows with the square of what differs and which nothing can stop:
 * beyond a number of differing lines this one gives up, as comparing does elsewhere when memory ends.
 */
import type { CommandContext, ExecResult } from "just-bash/browser";

/** Lines taken out and put in, together. */
const MAX_EDITS = 2_000;
const USAGE = "usage: diff [-u] [-q] [-s] [-i] FILE1 FILE2\n";
const FLAGS: Record<string, string> = {
  "--unified": "u",
  "--brief": "q",
  "--report-identical-files": "s",
  "--ignore-case": "i",
};

const done = (exitCode: number, stdout: string, stderr = ""): ExecResult => ({
  stdout,
  stderr,
  exitCode,
});

export async function diff(args: string[], ctx: CommandContext): Promise<ExecResult> {
  const flags = new Set<string>();
  const paths: string[] = [];
  for (const arg of args) {
    if (arg === "-" || !arg.startsWith("-")) paths.push(arg);
    else for (const flag of FLAGS[arg] ?? arg.slice(1).match(/[^\d]/gu) ?? []) flags.add(flag);
  }
  const [a, b] = paths;
  const strange = [...flags].find((flag) => !"uqsiU".includes(flag));
  if (strange) return done(2, "", `diff: unknown option ${strange}\n${USAGE}`);
  if (a === undefined || b === undefined) return done(2, "", `diff: missing operand\n${USAGE}`);
  try {
    const texts = [await read(a, ctx), await read(b, ctx)] as const;
    return await compare([a, b], texts, flags);
  } catch {
    return done(2, "", `diff: ${a}, ${b}: no such file, or a folder\n`);
  }
}

const read = (path: string, { fs, cwd, stdin }: CommandContext): Promise<string> =>
  path === "-" ? Promise.resolve(String(stdin)) : fs.readFile(fs.resolvePath(cwd, path));

async function compare(
  [a, b]: readonly [string, string],
  [left, right]: readonly [string, string],
  flags: Set<string>,
): Promise<ExecResult> {
  const same = flags.has("i") ? left.toLowerCase() === right.toLowerCase() : left === right;
  if (same) return done(0, flags.has("s") ? `Files ${a} and ${b} are identical\n` : "");
  if (flags.has("q")) return done(1, `Files ${a} and ${b} differ\n`);
  const { createTwoFilesPatch } = await import("diff");
  const options = { context: 3, maxEditLength: MAX_EDITS, ignoreCase: flags.has("i") };
  const patch = createTwoFilesPatch(a, b, left, right, undefined, undefined, options) as
    | string
    | undefined;
  if (patch !== undefined) return done(1, patch.replace(/^=+\n/, ""));
  return done(2, "", `diff: ${a} and ${b} differ in more than ${MAX_EDITS} lines; not shown\n`);
}
