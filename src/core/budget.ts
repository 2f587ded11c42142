/**
 * What a turn may use, and what it costs.
 *
 * M1  A budget that is reached opens a wait before the next thing that would use it: tokens and cost before a model
 *     call, tool calls before a tool call. Nothing that is under way is cut off.
 * M2  A yes gives a new allowance of the same size, from there on; a no stops the turn.
 * M3  A cost that is not known is null, never zero, and cannot reach a limit: that is said once a turn.
 * M4  What the owner may still use today is told from outside, and counts down with the turn's own tokens. Used up, it
 *     opens a wait like any budget, which a yes ends as soon as there is more to give. Of another day it says nothing.
 * M5  Specialists that work at the same time share what is left; none of them begins when nothing is.
 */
import { dollars } from "./cost.ts";
import { type Draft, emit, openWait, say } from "./draft.ts";
import { dayOf } from "./ledger.ts";
import type { Amounts, Session } from "./session.ts";
import { settingsOf } from "./session.ts";
import type { Price, Settings } from "./settings.ts";
import { isDelegate } from "./tool.ts";

interface Tokens {
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
}
/** US dollars of one call. `models`: the name that was asked for, then the one that answered. */
export function costOf(prices: Settings["prices"], models: string[], u: Tokens): number | null {
  const named = models.find((m) => Object.hasOwn(prices, m));
  const price: Price | undefined = named === undefined ? undefined : prices[named];
  if (!price) return null;
  const cached = Math.min(u.cached_tokens, u.input_tokens);
  const fresh = u.input_tokens - cached;
  return dollars(
    (fresh * price.input +
      cached * (price.cached ?? price.input) +
      u.output_tokens * price.output) /
      1_000_000,
  );
}

export function use(d: Draft, amounts: Partial<Amounts>): void {
  const { tokens, cost, tools } = d.s.used;
  d.s.used = {
    tokens: tokens + (amounts.tokens ?? 0),
    cost: dollars(cost + (amounts.cost ?? 0)),
    tools: tools + (amounts.tools ?? 0),
  };
}

/** Tells once a turn that a limit on cost does not hold. */
export function tellUnknown(d: Draft, model: string): void {
  if (d.s.costUntold || settingsOf(d.s).budget.maxCostUsd === null) return;
  d.s.costUntold = true;
  emit(d, "notice", { code: "cost_unknown", text: say(d).costUnknown(model) });
}

type What = keyof Amounts;
const LIMIT = { tokens: "maxTokens", cost: "maxCostUsd", tools: "maxToolCalls" } as const;

export function reached(d: Draft, what: What): boolean {
  const max = settingsOf(d.s).budget[LIMIT[what]];
  return max !== null && d.s.used[what] - d.s.allowedFrom[what] >= max;
}

/** True: one of these is used up, and the wait for more is open. */
export function overBudget(d: Draft, ...whats: What[]): boolean {
  const what = whats.find((w) => reached(d, w));
  if (!what) return false;
  const max = settingsOf(d.s).budget[LIMIT[what]] ?? 0;
  openWait(d, { kind: "budget", text: say(d).budget({ what, used: d.s.used[what], max }) });
  return true;
}

/** `left`: tokens that the owner may still use today, from here on; null: as many as they like; absent: as before. */
export function allot(d: Draft, left: number | null | undefined): void {
  if (left === undefined) return;
  const upto = d.s.used.tokens + (left ?? 0);
  d.s.allowance = left === null ? null : { day: dayOf(d.at), upto };
}

/** True: what the owner may use today is used up, and the wait for more is open. */
export function daySpent(d: Draft): boolean {
  const { allowance, used } = d.s;
  if (!allowance || allowance.day !== dayOf(d.at) || used.tokens < allowance.upto) return false;
  openWait(d, { kind: "budget", text: say(d).daySpent });
  return true;
}

/** What a specialist that begins now may use: its part of what is left, in whole tokens and calls, at least one. */
export function shareOf(s: Session): Settings["budget"] {
  const { budget } = settingsOf(s);
  const at =
    s.batch?.calls.filter(
      (c) => isDelegate(c) && (c.state === "running" || c.state === "asking"),
    ) ?? [];
  const left = (what: What) =>
    ((budget[LIMIT[what]] ?? 0) - s.used[what] + s.allowedFrom[what]) / Math.max(1, at.length);
  const whole = (what: What) => Math.max(1, Math.floor(left(what)));
  return {
    maxTokens: budget.maxTokens === null ? null : whole("tokens"),
    maxToolCalls: budget.maxToolCalls === null ? null : whole("tools"),
    maxCostUsd: budget.maxCostUsd === null ? null : Math.max(1e-6, left("cost")),
  };
}

/** A new allowance of everything that is used up. */
export function allowMore(d: Draft): void {
  const from = { ...d.s.allowedFrom };
  for (const what of ["tokens", "cost", "tools"] as const) {
    if (reached(d, what)) from[what] = d.s.used[what];
  }
  d.s.allowedFrom = from;
}
