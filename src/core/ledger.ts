/**
 * What a session has spent, by UTC day and model: running totals, so that telling them twice tells nothing new.
 *
 * L1  It is small: the newest days, and so many models of each. Whoever keeps accounts hears of a day while it is here.
 */
import { addCost } from "./cost.ts";
import type { Reply } from "./ports.ts";
import { NO_USAGE, type Usage } from "./usage.ts";

/** Day (`2026-01-31`) → model → totals. Tool calls belong to no model: `""`. */
export type Spent = Record<string, Record<string, Usage>>;

const DAYS = 3;
const MODELS = 20;

export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

export const addUsage = (a: Usage, b: Usage): Usage => ({
  model_calls: a.model_calls + b.model_calls,
  tool_calls: a.tool_calls + b.tool_calls,
  input_tokens: a.input_tokens + b.input_tokens,
  output_tokens: a.output_tokens + b.output_tokens,
  cached_tokens: a.cached_tokens + b.cached_tokens,
  measured: a.measured && b.measured,
  cost_usd: addCost(a.cost_usd, b.cost_usd),
});

/** For a provider that says nothing: four characters a token. */
export const estimated = (bodyChars: number, reply: Pick<Reply, "text" | "calls">) => ({
  input_tokens: Math.ceil(bodyChars / 4),
  output_tokens: Math.ceil(
    (reply.text.length + reply.calls.reduce((n, c) => n + c.arguments.length, 0)) / 4,
  ),
  cached_tokens: 0,
});

export function spend(spent: Spent, at: number, model: string, usage: Partial<Usage>): Spent {
  const day = dayOf(at);
  const models = spent[day] ?? {};
  const named = model in models || Object.keys(models).length < MODELS ? model : "other";
  const total = addUsage(models[named] ?? NO_USAGE, { ...NO_USAGE, ...usage });
  const days = Object.keys(spent).filter((d) => d !== day);
  const kept = days.sort().slice(-(DAYS - 1));
  return {
    ...Object.fromEntries(kept.map((d) => [d, spent[d] ?? {}])),
    [day]: { ...models, [named]: total },
  };
}
