/**
 * The shell toolkit. A command ends with its call: on the embedded sandbox there are no processes to come back to, so
 * `shell_exec` alone is offered there.
 *
 * H1  A non-zero exit code is an observation; only a timeout, a stop or a sandbox that is not there is a failure.
 * H2  What the model reads is text: output, then `[exit code N]`, last, so that a cut keeps it.
 */
import * as z from "zod";
import { clean, headAndTail } from "../core/chars.ts";
import { LIMITS } from "../core/limits.ts";
import type { JsonObject, ToolResult } from "../core/tool.ts";
import type { ExecResult } from "./box.ts";
import { defineTool, type ToolContext } from "./define.ts";
import { ROOT, resolvePath } from "./paths.ts";

const NO_BACKGROUND = [
  "This sandbox has no background processes: a command ends with its call, so nothing was started.",
  "Run it without `background`, with a `timeout_seconds` that fits; split long work into several calls,",
  "and let it write to files under /workspace what later calls need.",
].join(" ");

export const shellExec = defineTool({
  name: "shell_exec",
  toolkit: "shell",
  description:
    "Run a bash command and get its output and exit code. Every call is a new shell: pass `cwd` instead of relying on an earlier `cd`; files stay.",
  args: z.object({
    command: z.string().min(1).describe("The command or script."),
    cwd: z.string().optional().describe(`Working directory, ${ROOT} by default.`),
    timeout_seconds: z
      .number()
      .positive()
      .optional()
      .describe("Stop the command after so many seconds."),
    background: z
      .boolean()
      .optional()
      .describe("Start it and return at once, where the sandbox has background processes."),
  }),
  async run({ command, cwd, timeout_seconds, background }, ctx) {
    if (background) return { ok: true, text: NO_BACKGROUND, content: shown(command, "", null) };
    const folder = resolvePath(cwd ?? ROOT);
    if (!folder.ok) return { ok: true, text: folder.error, content: shown(command, "", null) };
    const timeoutMs = Math.min(ctx.timeoutMs, (timeout_seconds ?? Number.POSITIVE_INFINITY) * 1000);
    const { id, reopened } = ctx;
    const request = { id, command, cwd: folder.path, timeoutMs, reopened };
    const result = await ctx.box.exec(request, ctx.live, ctx.signal);
    return describe(command, timeoutMs, result, ctx);
  },
});

function describe(command: string, ms: number, result: ExecResult, ctx: ToolContext): ToolResult {
  const output = readable(result.output);
  const content = shown(command, output, result.exitCode);
  const seconds = Math.round(ms / 100) / 10;
  if (result.timedOut) {
    const end = `[timed out after ${seconds} s; the command was stopped, this is its output so far]`;
    return { ok: false, text: withEnd(output, end, ctx), content };
  }
  if (ctx.signal.aborted) {
    return { ok: false, text: withEnd(output, "[stopped before it ended]", ctx), content };
  }
  return { ok: true, text: withEnd(output, `[exit code ${result.exitCode}]`, ctx), content };
}

function withEnd(output: string, end: string, { maxChars }: ToolContext): string {
  const room = Math.max(0, maxChars - end.length - 200);
  const body = headAndTail(output, room, "write it to a file and read parts of it");
  return body === "" ? end : `${body}${body.endsWith("\n") ? "" : "\n"}${end}`;
}

const shown = (command: string, output: string, exit_code: number | null): JsonObject => ({
  command: headAndTail(clean(command), LIMITS.shownArgsChars),
  output: headAndTail(output, LIMITS.eventOutputChars),
  exit_code,
});

/** Bytes that were never meant to be read would only fill the model's memory. */
function readable(output: string): string {
  let strange = 0;
  for (const char of output) if (isStrange(char)) strange++;
  if (strange <= output.length / 20) return clean(output);
  return `[binary output, about ${output.length} bytes, not shown; write it to a file under ${ROOT} instead]\n`;
}

/** Escape is not: colours are text. */
const isStrange = (char: string): boolean =>
  char === "\ufffd" || (char < " " && !"\t\n\v\f\r\b\x1b".includes(char));
