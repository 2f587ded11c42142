/**
 * Making a memory fit, without a model and without touching a row.
 *
 * K1  A compaction is a stored boundary: rows before it are shown shorter when a request is built.
 * K2  Prompts, what people said and answers to questions are never touched; no call ever loses its result. The
 *     newest replies and their results are shortened only as the last resort.
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
/** Characters that are kept of one long argument. */
const CUT = 400;
/** A compaction that gains less than this share is not worth a broken cache. */
const WORTH = 0.05;
/** A share of the window that must be gained before the same phase is entered again. */
const STEP = 0.1;

/** A careful guess where the provider has not measured: four characters a token. */
export const estimate = (chars: number): number => Math.ceil(chars / 4);

export const UNTOUCHED: Boundary = { phase: 0, before: 0, tight: 0, tokens: 0 };

interface ToolCall {
  function: { name: string; arguments: string };
}
interface Message {
  role: string;
  content: string | null;
  tool_call_id?: string;
  tool_calls?: ToolCall[];
}
const read = (row: Row): Message => JSON.parse(row.json) as Message;
const smaller = (json: string, row: Row): string =>
  json.length < row.json.length ? json : row.json;

function shorter(row: Row): string {
  if (row.json.length <= LONG) return row.json;
  const { tool_call_id, content } = read(row);
  return smaller(toolMessage(tool_call_id ?? "", headAndTail(content ?? "", SHORT)), row);
}
function marked(row: Row): string {
  const { tool_call_id } = read(row);
  const mark = `[COMPACTED tool result: id=${tool_call_id}. Run the tool again if you need it.]`;
  return smaller(toolMessage(tool_call_id ?? "", mark), row);
}

/** Long texts among the arguments are cut; they stay one JSON object. */
function lighter(call: ToolCall): ToolCall {
  const { name, arguments: raw } = call.function;
  if (raw.length <= SHORT) return call;
  const args = Object.entries(JSON.parse(raw) as Record<string, unknown>).map(([key, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return [key, text.length > CUT ? headAndTail(text, CUT) : value];
  });
  return { ...call, function: { name, arguments: JSON.stringify(Object.fromEntries(args)) } };
}
/** The calls of a reply with less in them; its prose too, when it is old. */
function lighterReply(row: Row, prose: boolean): string {
  const message = read(row);
  const calls = message.tool_calls;
  const content = prose ? (calls ? null : "[COMPACTED assistant message]") : message.content;
  return smaller(
    JSON.stringify({ ...message, content, ...(calls ? { tool_calls: calls.map(lighter) } : {}) }),
    row,
  );
}

const CORRECTION = JSON.stringify({ role: "user", content: "(An earlier correction.)" });

/** A row before the boundary as a phase shows it; null: left out. */
function reduced(row: Row, phase: number): string | null {
  switch (row.kind) {
    case "hint":
      return null;
    case "nudge":
      return row.json.startsWith('{"role":"tool"') ? marked(row) : smaller(CORRECTION, row);
    case "result":
      return phase >= 2 ? marked(row) : shorter(row);
    case "reply":
      return phase >= 3 ? lighterReply(row, true) : row.json;
    default:
      return row.json;
  }
}

/** A row that is new, under the last resort. */
function tightened(row: Row): string {
  if (row.kind === "result") return shorter(row);
  return row.kind === "reply" && row.json.length > LONG ? lighterReply(row, false) : row.json;
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
  return row.id < boundary.tight ? once(row, "tight", () => tightened(row)) : row.json;
}

/** The first row of the newest `keep` replies, at least one: nothing from there on is touched. */
function recentFrom(rows: readonly Row[], keep: number): number {
  const replies = rows.filter((row) => row.kind === "reply");
  return replies[replies.length - Math.max(1, keep)]?.id ?? 0;
}

export interface Need {
  rows: readonly Row[];
  held: Boundary;
  compact: Harness["compact"];
  /** Tokens of the whole window, of what stands before the rows, and of the hint that will be added. */
  window: number;
  front: number;
  hint: number;
  /** Characters of a row as the endpoint gets it, and tokens for a number of characters. */
  sent(text: string): number;
  tokens(chars: number): number;
  /** The provider has found it too long, whatever the estimate says. */
  forced: boolean;
  /** A person wants it shorter, however long it is. */
  asked: boolean;
}

function phaseAt(ratio: number, { compact, forced, asked }: Need): number {
  if (forced || asked) return 3;
  if (!compact.enabled) return ratio >= 1 ? 3 : 0;
  const thresholds = [...compact.phaseThresholds, 1, 1, 1].map((t) => Math.min(t, 1));
  return thresholds
    .slice(0, 3)
    .sort((a, b) => a - b)
    .filter((t) => t <= ratio).length;
}

/** The boundary that this memory needs now; null: none, or too little can be gained. */
export function compaction(need: Need): { boundary: Boundary; from: number } | null {
  const { rows, held, window, front, tokens, forced } = need;
  const sizeOf = (b: Boundary): number =>
    front +
    tokens(
      rows.reduce((sum, row) => {
        const text = shown(row, b);
        return text === null ? sum : sum + need.sent(text) + 1;
      }, 0),
    );
  const from = sizeOf(held);
  const phase = Math.max(held.phase, phaseAt(from / window, need));
  if (phase === 0) return null;
  const settled = held.tokens > 0 && from < held.tokens + STEP * window;
  if (settled && phase === held.phase && !forced && !need.asked) return null;
  const before = Math.max(held.before, recentFrom(rows, need.compact.keepRecentSteps));
  // Each try is tighter than the one before; the first that is enough is taken.
  const last = (rows.at(-1)?.id ?? 0) + 1;
  const tries: Boundary[] = [
    { ...held, phase, before },
    { ...held, phase: 3, before },
    { ...held, phase: 3, before, tight: last },
  ];
  const enough = forced ? Math.min(window, from * 0.7) : window;
  const boundary = tries.find((b) => sizeOf(b) <= enough) ?? (tries[2] as Boundary);
  const to = sizeOf(boundary) + need.hint;
  return to < from * (1 - WORTH) ? { boundary: { ...boundary, tokens: to }, from } : null;
}
