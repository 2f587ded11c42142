/** The beginning of a turn, kept with it for whoever tells of its end. */
import type { Usage } from "./usage.ts";

export interface Began {
  /** Milliseconds since the epoch. */
  at: number;
  /** What the session had used by then. */
  usage: Usage;
  /** `traceparent` of whoever asked for the turn; "" without one. */
  trace: string;
}

export const beganAt = (at: number, usage: Usage, { trace = "" }: { trace?: string }): Began => ({
  at,
  usage,
  trace,
});

/** What came on top of it. */
export const usedSince = ({ usage: before }: Began, now: Usage): Usage => ({
  model_calls: now.model_calls - before.model_calls,
  tool_calls: now.tool_calls - before.tool_calls,
  input_tokens: now.input_tokens - before.input_tokens,
  output_tokens: now.output_tokens - before.output_tokens,
  cached_tokens: now.cached_tokens - before.cached_tokens,
  measured: now.measured,
  cost_usd: now.cost_usd === null ? null : now.cost_usd - (before.cost_usd ?? 0),
});
