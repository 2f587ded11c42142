/**
 * Running one tool: whatever it does, what comes back is a result, in time, as clean text of bounded length.
 *
 * R1  Never rejects. A sandbox that cannot work, a bug, a timeout: `ok: false` with a text for the model.
 * R2  Our own clock: a backend that hangs, ignores its timeout or ignores a stop does not hang the call.
 * R3  The text and every string of the content are well-formed and free of NULs; the text has at most `maxChars` code
 *     points, head and tail kept.
 */
import { clean, head, headAndTail } from "../core/chars.ts";
import type { ToolRun } from "../core/ports.ts";
import type { JsonObject, ToolResult } from "../core/tool.ts";
import { BoxUnavailable } from "./box.ts";
import { cutoff } from "./cutoff.ts";
import type { Tool, ToolContext } from "./define.ts";

/** After a tool's time is over, and after a stop: how long it may take to end by itself. */
const GRACE_MS = 15_000;
const STOP_GRACE_MS = 1_000;
/** Code points kept of what a hanging tool has shown so far. */
const PARTIAL_CHARS = 4_000;
/** What the marker in the middle of a cut text may take. */
const MARKER_CHARS = 80;
const ERROR_CHARS = 2_000;

export type RunPorts = Pick<ToolContext, "box" | "files" | "web" | "search" | "live" | "signal">;

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
  const { id, reopened, maxChars } = run;
  const timeoutMs = Math.min(run.timeoutMs, tool.timeoutMs ?? run.timeoutMs);
  // The tool is told at its limit plus the grace, so that its own, better ending comes first.
  const cut = cutoff(timeoutMs + graceMs, Math.min(graceMs, STOP_GRACE_MS), ports.signal);
  const ctx = { ...ports, live, signal: cut.signal, id, reopened, timeoutMs, maxChars };
  try {
    const result = await Promise.race([attempt(tool, run.args, ctx), cut.late]);
    return tidy(result ?? abandoned(tool.name, timeoutMs, cut.timedOut(), seen.text), maxChars);
  } finally {
    cut.clear();
  }
}

/** Also waited for by nobody when it is late, so it must not reject either. */
async function attempt(tool: Tool, args: JsonObject, ctx: ToolContext): Promise<ToolResult> {
  try {
    return await tool.run(args, ctx);
  } catch (error) {
    if (error instanceof BoxUnavailable) return { ok: false, text: error.message };
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
