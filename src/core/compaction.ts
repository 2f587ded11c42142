/**
 * Making a memory fit, without a model and without touching a row.
 *
 * K1  A compaction is a stored boundary: rows before it are shown shorter when a request is built.
 * K2  Prompts, what people said, answers to questions and the newest replies with their results are never touched;
 *     no call ever loses its result.
 * K3  Deterministic and idempotent: the same rows and boundary give the same request.
 * K4  Below the first threshold nothing happens; between two compactions requests share their beginning.
 */
import { headAndTail } from "./chars.ts";
import { toolMessage } from "./history.ts";
import type { Boundary, Row } from "./memory.ts";
import type { Harness } from "./settings.ts";

/** Characters from which an old result counts as long, and what is kept of it. */
const LONG = 2_000;
const SHORT = 1_000;
/** A share of the window that must be gained before the same phase is entered again. */
const STEP = 0.1;

/** A careful guess where the provider has not measured: four characters a token. */
export const estimate = (chars: number): number => Math.ceil(chars / 4);

export const UNTOUCHED: Boundary = { phase: 0, before: 0, tight: 0, tokens: 0 };

interface Message {
  role: string;
  content: string | null;
  tool_call_id?: string;
  tool_calls?: unknown[];
}
const read = (row: Row): Message => JSON.parse(row.json) as Message;

function shorter(row: Row): string {
  if (row.json.length <= LONG) return row.json;
  const { tool_call_id, content } = read(row);
  return toolMessage(tool_call_id ?? "", headAndTail(content ?? "", SHORT));
}
function marked(row: Row): string {
  const { tool_call_id } = read(row);
  const mark = `[COMPACTED tool result: id=${tool_call_id}. Run the tool again if you need it.]`;
  const json = toolMessage(tool_call_id ?? "", mark);
  return json.length < row.json.length ? json : row.json;
}
function silent(row: Row): string {
  const message = read(row);
  const content = message.tool_calls ? null : "[COMPACTED assistant message]";
  return JSON.stringify({ ...message, content });
}

/** A row before the boundary as a phase shows it; null: left out. */
function reduced(row: Row, phase: number): string | null {
  switch (row.kind) {
    case "hint":
      return null;
    case "nudge":
      return row.json.startsWith('{"role":"tool"') ? marked(row) : null;
    case "result":
      return phase >= 2 ? marked(row) : shorter(row);
    case "reply":
      return phase >= 3 ? silent(row) : row.json;
    default:
      return row.json;
  }
}

/** Rows are immutable, so what a phase makes of one is worked out once while it is held. */
const cache = new WeakMap<Row, Map<string, string | null>>();
function once(row: Row, key: string, make: () => string | null): string | null {
  const held = cache.get(row) ?? new Map<string, string | null>();
  cache.set(row, held);
  if (!held.has(key)) held.set(key, make());
  return held.get(key) ?? null;
}

/** A row as it is sent: itself, less of it, or null when it is left out. */
export function shown(row: Row, boundary: Boundary): string | null {
  if (row.id < boundary.before) {
    return once(row, `phase ${boundary.phase}`, () => reduced(row, boundary.phase));
  }
  const tight = row.id < boundary.tight && row.kind === "result";
  return tight ? once(row, "tight", () => shorter(row)) : row.json;
}

const length = (rows: readonly Row[], boundary: Boundary): number =>
  rows.reduce((sum, row) => sum + (shown(row, boundary)?.length ?? 0) + 1, 0);

/** The first row of the newest `keep` replies: nothing from there on is touched. */
function recentFrom(rows: readonly Row[], keep: number): number {
  const replies = rows.filter((row) => row.kind === "reply");
  const first = keep > 0 ? replies[replies.length - keep] : undefined;
  if (first) return first.id;
  return keep > 0 ? 0 : (rows.at(-1)?.id ?? 0) + 1;
}

export interface Need {
  rows: readonly Row[];
  held: Boundary;
  compact: Harness["compact"];
  /** Tokens of the whole window, of what stands before the rows, and for a number of characters of rows. */
  window: number;
  front: number;
  tokens(chars: number): number;
  /** The provider has found it too long, whatever the estimate says. */
  forced: boolean;
}

function phaseAt(ratio: number, { compact, forced }: Need): number {
  if (forced) return 3;
  if (!compact.enabled) return ratio >= 1 ? 3 : 0;
  const thresholds = [...compact.phaseThresholds, 1, 1, 1].map((t) => Math.min(t, 1));
  return thresholds
    .slice(0, 3)
    .sort((a, b) => a - b)
    .filter((t) => t <= ratio).length;
}

/** The boundary that this memory needs now; null: none, or nothing more can be gained. */
export function compaction(need: Need): { boundary: Boundary; from: number } | null {
  const { rows, held, window, front, tokens, forced } = need;
  const sizeOf = (b: Boundary): number => front + tokens(length(rows, b));
  const from = sizeOf(held);
  const phase = Math.max(held.phase, phaseAt(from / window, need));
  if (phase === 0) return null;
  const settled = held.tokens > 0 && from < held.tokens + STEP * window;
  if (settled && phase === held.phase && from < window && !forced) return null;
  const before = Math.max(held.before, recentFrom(rows, need.compact.keepRecentSteps));
  let boundary: Boundary = { ...held, phase, before };
  // Still too long: every phase, and at last the newest results too.
  if (sizeOf(boundary) > window || forced) boundary = { ...boundary, phase: 3 };
  if (sizeOf(boundary) > window || (forced && sizeOf(boundary) >= from)) {
    boundary = { ...boundary, tight: (rows.at(-1)?.id ?? 0) + 1 };
  }
  const to = sizeOf(boundary);
  return to < from ? { boundary: { ...boundary, tokens: to }, from } : null;
}
