/**
 * Commands in the background: started by `shell_exec`, looked at, waited for, typed into and ended here.
 *
 * G1  An id that is not there (any more) is an observation that says why and what to do.
 * G2  A look never takes longer than its call may, and never ends what it looks at.
 */
import * as z from "zod";
import { LIMITS } from "../core/limits.ts";
import type { ToolResult } from "../core/tool.ts";
import type { Job, Jobs } from "./box.ts";
import { type Definition, defineTool, type ToolContext } from "./define.ts";
import { readable, shown, withEnd } from "./shell-text.ts";

const WAIT_S = 30;
/** What a wait leaves of its call's time for its answer. */
const MARGIN_MS = 5_000;
const KEYS = "For other keys send their codes: \\u0003 does not interrupt, use shell_kill_process.";

const Id = () => z.string().min(1).max(100).describe("The id that shell_exec gave.");
const look = {
  toolkit: "shell",
  needs: "background",
  effect: false,
  volatile: true,
  recovery: "rerun",
  parallelSafe: true,
} satisfies Partial<Definition<z.ZodObject>>;

export const shellView = defineTool({
  ...look,
  name: "shell_view",
  description: "Look at a background command: its output so far and whether it runs.",
  args: () => z.object({ id: Id() }),
  run: ({ id }, ctx) =>
    withJobs(ctx, async (jobs) => jobResult(id, await jobs.view(id, 0, ctx.signal), ctx)),
});

export const shellWait = defineTool({
  ...look,
  name: "shell_wait",
  description: "Wait until a background command has ended, but no longer than some seconds.",
  args: () =>
    z.object({
      id: Id(),
      seconds: z.number().positive().optional().describe(`${WAIT_S} by default.`),
    }),
  run: ({ id, seconds = WAIT_S }, ctx) =>
    withJobs(ctx, async (jobs) => {
      const ms = Math.max(0, Math.min(seconds * 1000, ctx.timeoutMs - MARGIN_MS));
      return jobResult(id, await jobs.view(id, ms, ctx.signal), ctx);
    }),
});

export const shellWriteToProcess = defineTool({
  name: "shell_write_to_process",
  toolkit: "shell",
  needs: "background",
  description: `Type into a background command. ${KEYS}`,
  args: () =>
    z.object({
      id: Id(),
      input: z.string().describe("The text."),
      press_enter: z.boolean().optional().describe("Add a newline; true by default."),
    }),
  run: ({ id, input, press_enter = true }, ctx) =>
    withJobs(ctx, async (jobs) => {
      const text = press_enter ? `${input}\n` : input;
      const size = new TextEncoder().encode(text).byteLength;
      if (size > LIMITS.inputBytes) {
        const rule = `at most ${LIMITS.inputBytes} bytes at a time; these are ${size}`;
        return { ok: true, text: `Nothing was written: ${rule}. Write it in parts.` };
      }
      const written = await jobs.write(id, text);
      if (written === null) return gone(id);
      return { ok: true, text: WRITTEN[written] };
    }),
});
const WRITTEN = {
  ok: "Written. Look with shell_view at what it does.",
  full: "Not all was written: the command does not read its input.",
  ended: "Nothing was written: the command has ended. Look with shell_view at how.",
};

export const shellKillProcess = defineTool({
  name: "shell_kill_process",
  toolkit: "shell",
  needs: "background",
  recovery: "rerun",
  description: "End a background command and everything that it started.",
  args: () => z.object({ id: Id() }),
  run: ({ id }, ctx) => withJobs(ctx, async (jobs) => jobResult(id, await jobs.kill(id), ctx)),
});

/** A tool that was offered before a deployment changed its sandbox. */
function withJobs(
  { box }: ToolContext,
  act: (jobs: Jobs) => Promise<ToolResult>,
): Promise<ToolResult> {
  if (box.jobs) return act(box.jobs);
  return Promise.resolve({ ok: true, text: "This sandbox has no background commands." });
}

export function jobResult(id: string, job: Job | null, { maxChars }: ToolContext): ToolResult {
  if (job === null) return gone(id);
  const output = readable(job.output);
  const end = job.exitCode === null ? `[${id} is running]` : `[${id}: exit code ${job.exitCode}]`;
  return {
    ok: true,
    text: withEnd(output, end, maxChars),
    content: shown(`[${id}]`, output, job.exitCode),
  };
}

const gone = (id: string): ToolResult => ({
  ok: true,
  text: `There is no background command ${id}. They end when the sandbox stops: when the user is asked, at the end of a task, after a failure. Start it again with shell_exec and background: true.`,
});
