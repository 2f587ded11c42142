/**
 * The shell toolkit: running a command. On the embedded sandbox it ends with its call; a container has background
 * commands too (shell-jobs.ts).
 *
 * H1  A non-zero exit code is an observation; only a timeout, a stop or a sandbox that is not there is a failure.
 * H2  What the model reads is text: output, then `[exit code N]`, last, so that a cut keeps it.
 * H3  After a crash the same call finds its command again; where that cannot be, its outcome is said to be unknown.
 */
import * as z from "zod";
import { NOT_RUN } from "../core/prompt.ts";
import type { ToolResult } from "../core/tool.ts";
import type { ExecRequest, ExecResult } from "./box.ts";
import { defineTool, type ToolContext } from "./define.ts";
import { ROOT, resolvePath } from "./paths.ts";
import { jobResult } from "./shell-jobs.ts";
import { readable, shown, withEnd } from "./shell-text.ts";

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
  args: () =>
    z.object({
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
  recovery: "reattach",
  async run({ command, cwd, timeout_seconds, background }, ctx) {
    const observe = (text: string): ToolResult => ({
      ok: true,
      text,
      content: shown(command, "", null),
    });
    if (background && !ctx.box.jobs) return observe(NO_BACKGROUND);
    const folder = resolvePath(cwd ?? ROOT);
    if (!folder.ok) return observe(folder.error);
    const timeoutMs = Math.min(ctx.timeoutMs, (timeout_seconds ?? Number.POSITIVE_INFINITY) * 1000);
    const { id, reopened } = ctx;
    const request = { id, command, cwd: folder.path, timeoutMs, reopened };
    if (background) return inBackground(request, ctx);
    const result = await ctx.box.exec(request, ctx.live, ctx.signal);
    return describe(command, timeoutMs, result, ctx);
  },
});

async function inBackground(request: ExecRequest, ctx: ToolContext): Promise<ToolResult> {
  const job = await ctx.box.jobs?.start(request, ctx.signal);
  if (!job || job.unknown) return { ok: false, unknown: true, text: NOT_RUN.lost };
  const { text } = jobResult(request.id, job, ctx);
  const how =
    job.exitCode === null
      ? `Started in the background with the id ${request.id}; look at it with shell_view, wait for it with shell_wait.`
      : `It ran in the background with the id ${request.id} and has ended already.`;
  const output = readable(job.output);
  return {
    ok: true,
    text: `${how}\n${text}`,
    content: shown(request.command, output, job.exitCode),
  };
}

function describe(
  command: string,
  ms: number,
  result: ExecResult,
  { signal, maxChars }: ToolContext,
): ToolResult {
  const output = readable(result.output);
  const content = shown(command, output, result.exitCode);
  const seconds = Math.round(ms / 100) / 10;
  const failed = (end: string): ToolResult => ({
    ok: false,
    ...(result.unknown ? { unknown: true as const } : {}),
    text: withEnd(output, end, maxChars),
    content,
  });
  if (result.timedOut) {
    return failed(
      result.unknown
        ? `[timed out after ${seconds} s; it may still be running, this is its output so far]`
        : `[timed out after ${seconds} s; the command was stopped, this is its output so far]`,
    );
  }
  if (signal.aborted) return failed("[stopped before it ended]");
  if (result.unknown) return failed(NOT_RUN.lost);
  return { ok: true, text: withEnd(output, `[exit code ${result.exitCode}]`, maxChars), content };
}
