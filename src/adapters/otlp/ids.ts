/**
 * Names of traces and spans, and the header `traceparent` (W3C Trace Context) that carries them.
 *
 * I1  An id follows from the session, the turn and the call, so a turn is one trace over crashes and evictions, and a
 *     span that is sent twice is the same span.
 * I2  A session's id has 130 random bits, so ids of two sessions do not meet.
 */

/** One turn: what every span of it has in common. */
export interface Turn {
  session: string;
  turn: number;
  /** `traceparent` of whoever asked for it, checked; "" without one. */
  trace: string;
}

export interface TraceContext {
  traceId: string;
  /** The span that asked for the turn. */
  parentId: string | null;
  /** Whoever asked wants no trace: nothing of it is sent. */
  sampled: boolean;
}

/** One odd multiplier for each 32 bits of an id. */
const LANES = [0x9e3779b1, 0x85ebca6b, 0xc2b2ae35, 0x27d4eb2f] as const;

function lane(text: string, factor: number): string {
  let h = factor ^ text.length;
  for (let i = 0; i < text.length; i++) {
    h = Math.imul(h ^ text.charCodeAt(i), factor);
    h ^= h >>> 15;
  }
  // So that the last characters reach every bit.
  for (const shift of [16, 13, 16]) h = Math.imul(h ^ (h >>> shift), factor | 1);
  return ((h ^ (h >>> 15)) >>> 0).toString(16).padStart(8, "0");
}
const hex = (text: string, lanes: number): string =>
  LANES.slice(0, lanes)
    .map((factor) => lane(text, factor))
    .join("");

const HEADER =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;

/** The header as it is kept: version 00, or "" when it is none. */
export function traceHeader(given: string | undefined): string {
  const [, traceId, parentId, flags] = HEADER.exec(given?.trim() ?? "") ?? [];
  return traceId ? `00-${traceId}-${parentId}-${flags}` : "";
}

export function contextOf({ session, turn, trace }: Turn): TraceContext {
  const [, traceId, parentId = null, flags = "01"] = HEADER.exec(trace) ?? [];
  const sampled = (Number.parseInt(flags, 16) & 1) === 1;
  return { traceId: traceId ?? hex(`trace ${session} ${turn}`, 4), parentId, sampled };
}

/** `key` names a thing within its session: a turn, a model call, a tool call, a wait. */
export const spanId = ({ session, turn }: Turn, key: string): string =>
  hex(`span ${session} ${turn} ${key}`, 2);

/** What a request that belongs to such a thing carries. */
export function headerFor(turn: Turn, key: string): string {
  const { traceId, sampled } = contextOf(turn);
  return `00-${traceId}-${spanId(turn, key)}-${sampled ? "01" : "00"}`;
}
