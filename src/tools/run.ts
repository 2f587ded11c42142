/**
 * Running one tool: whatever it does, what comes back is a result, in time, as clean text of bounded length.
 *
 * R1  A sandbox that cannot work, a bug, a timeout: `ok: false` with a text for the model. It rejects for one thing
 *     alone, a failure of the platform under the tool, which is no failure of the tool's.
 * R2  Our own clock: a backend that hangs, ignores its timeout or ignores a stop does not hang the call.
 * R3  The text and every string of the content are well-formed and free of NULs; the text has at most `maxChars` code
 *     points, head and tail kept.
 * R4  What failed on its way is made again, as often as the settings allow and within the same time; an effect whose
 *     outcome is unknown only where repeating is harmless.
 */
import { clean, head, headAndTail } from "../core/chars.ts";
import { LIMITS } from "../core/limits.ts";
import type { ToolRun } from "../core/ports.ts";
import type { JsonObject, ToolResult } from "../core/tool.ts";
import { BoxUnavailable } from "./box.ts";
import { cutoff } from "./cutoff.ts";
import type { Tool, ToolContext } from "./define.ts";
import { brokeUnderTool } from "./platform.ts";

/** After a tool's time is over, and after a stop: how long it may take to end by itself. */
const GRACE_MS = 15_000;
const STOP_GRACE_MS = 1_000;
/** Before the first repetition; each next one waits twice as long. */
const BACKOFF_MS = 250;
/** Code points kept of what a hanging tool has shown so far. */
const PARTIAL_CHARS = 4_000;
/** What the marker in the middle of a cut text may take. */
const MARKER_CHARS = 80;
const ERROR_CHARS = 2_000;

export type RunPorts = Pick<
  ToolContext,
  | "box"
  | "browser"
  | "delegate"
  | "files"
  | "live"
  | "search"
  | "signal"
  | "spend"
  | "trace"
  | "web"
>;

export async function runTool(
  tool: Tool,
  run: ToolRun,
  ports: RunPorts,
  graceMs = GRACE_MS,
): Promise<ToolResult> {
  const seen = { text: "" };
  const live = (text: string) => {
    seen.text = (seen.text + text).slice(-2 * PARTIAL_CHARS);
    ports.live(clean(text));
  };
  const { id, reopened, answer, idempotencyKey, maxChars } = run;
  const timeoutMs = tool.unhurried
    ? LIMITS.unhurriedMs
    : Math.min(run.timeoutMs, tool.timeoutMs ?? run.timeoutMs);
  // The tool is told at its limit plus the grace, so that its own, better ending comes first.
  const cut = cutoff(timeoutMs + graceMs, Math.min(graceMs, STOP_GRACE_MS), ports.signal);
  const ctx: ToolContext = {
    ...ports,
    ...{ live, signal: cut.signal, id, reopened, timeoutMs, maxChars },
    ...(answer ? { answer } : {}),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  };
  try {
    const ended = await Promise.race([attempts(tool, run, ctx), cut.late]);
    const result = ended ?? abandoned(tool.name, timeoutMs, cut.timedOut(), seen.text);
    // It is not over: what there is to tell is told with its end.
    if (ended?.asks) return ended;
    const news = ports.box.news();
    return tidy(news ? { ...result, text: `${news}\n${result.text}` } : result, maxChars);
  } finally {
    cut.clear();
  }
}

const mayRepeat = (tool: Tool, { ok, retryable, unknown }: ToolResult): boolean =>
  !ok && retryable === true && (!unknown || !tool.effect || tool.repeatable === true);

/** Makes the call, and again while it fails on its way. */
async function attempts(tool: Tool, run: ToolRun, ctx: ToolContext): Promise<ToolResult> {
  const deadline = Date.now() + ctx.timeoutMs;
  for (let tries = 1; ; tries++) {
    const timeoutMs = tries === 1 ? ctx.timeoutMs : Math.max(1, deadline - Date.now());
    const result = await attempt(tool, run.args, { ...ctx, timeoutMs });
    const wait = BACKOFF_MS * 2 ** (tries - 1);
    const spent = tries > run.retries || Date.now() + wait >= deadline || ctx.signal.aborted;
    if (spent || !mayRepeat(tool, result)) return ended(result, tries);
    await pause(wait, ctx.signal);
    if (ctx.signal.aborted) return ended(result, tries);
  }
}

/** How often it was tried is told with a failure. */
function ended({ retryable: _, ...result }: ToolResult, tries: number): ToolResult {
  return result.ok || tries === 1
    ? result
    : { ...result, text: `${result.text} (tried ${tries} times)` };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end, { once: true });
  });
}

/** One try. When it is late nobody waits for it any longer, and a rejection then is nobody's. */
async function attempt(tool: Tool, args: JsonObject, ctx: ToolContext): Promise<ToolResult> {
  try {
    return await tool.run(args, ctx);
  } catch (error) {
    if (brokeUnderTool(error)) throw error;
    if (error instanceof BoxUnavailable) {
      return { ok: false, text: error.message, ...(error.retryable ? { retryable: true } : {}) };
    }
    const message = error instanceof Error ? error.message : String(error);
    // It may have acted before it threw.
    return { ok: false, unknown: true, text: `${tool.name} failed: ${head(message, ERROR_CHARS)}` };
  }
}

function abandoned(name: string, ms: number, timedOut: boolean, seen: string): ToolResult {
  const why = timedOut
    ? `${name} timed out: it did not end within ${Math.round(ms / 1000)} s and may still be running`
    : `${name} was stopped before it ended`;
  const partial = headAndTail(clean(seen), PARTIAL_CHARS);
  // Whether it took effect is not known: it may still be running.
  return { ok: false, unknown: true, text: partial === "" ? `[${why}]` : `${partial}\n[${why}]` };
}

function tidy(result: ToolResult, maxChars: number): ToolResult {
  const room = Math.max(1, maxChars - MARKER_CHARS);
  const text = clean(result.text);
  const short = head(text, maxChars, "") === text;
  const tidied: ToolResult = { ...result, text: short ? text : headAndTail(text, room) };
  if (result.content) tidied.content = cleanDeep(result.content) as JsonObject;
  return tidied;
}

function cleanDeep(value: unknown): unknown {
  if (typeof value === "string") return clean(value);
  if (Array.isArray(value)) return value.map(cleanDeep);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, v]) => [clean(key), cleanDeep(v)]));
}
