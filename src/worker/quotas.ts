/**
 * What one owner may have: sessions, stored bytes, turns that run at once, tokens a day. The deployment says so (the
 * variable QUOTAS); the owner's list counts (counts.ts), from what sessions tell it anyway.
 *
 * Q1  What is refused has changed nothing, and says what to do. Reading, answering no, stopping, exporting and deleting
 *     are never refused.
 * Q2  What is under way is never cut off: a turn that uses up the day's tokens waits (core/budget.ts).
 */
import * as z from "zod";
import { QUOTAS } from "../core/limits.ts";
import type { Held } from "../core/wire.ts";
import { authConfigured } from "./auth.ts";
import { parseVar } from "./config.ts";
import type { Bindings } from "./env.ts";
import type { Problem } from "./problem.ts";

export type QuotaName = keyof typeof QUOTAS;
/** null: as many as they like. */
export type Quotas = Record<QuotaName, number | null>;

const Most = () => z.int().min(0).nullable().optional();
const Stated = z.lazy(() =>
  z.strictObject({
    sessions: Most(),
    storedBytes: Most(),
    runningTurns: Most(),
    tokensPerDay: Most(),
  }),
);
const NONE: Quotas = { sessions: null, storedBytes: null, runningTurns: null, tokensPerDay: null };

export function quotasOf(env: Bindings): Quotas {
  const stated = parseVar("QUOTAS", env.QUOTAS, Stated) ?? {};
  const usual: Quotas = authConfigured(env) ? QUOTAS : NONE;
  return { ...usual, ...stated };
}
export const counted = (quotas: Quotas): boolean => Object.values(quotas).some((q) => q !== null);

const DAY_MS = 24 * 3_600_000;
/** Seconds after which a turn that ran may have ended. */
const SOON = 30;

const WORDS: Record<QuotaName, (max: number) => string> = {
  sessions: (max) =>
    `You have as many sessions as you may have (${max}). Delete some with DELETE /api/sessions/:id, then try again; nothing was changed.`,
  storedBytes: (max) =>
    `Your sessions hold as much as you may store (${max} bytes). Delete files or sessions, then try again; nothing was changed.`,
  runningTurns: (max) =>
    `As many of your turns are running as may run at once (${max}). Wait for one to end or stop one, then send this again with the same id; nothing was changed.`,
  tokensPerDay: (max) =>
    `The tokens that you may use today (${max}) are used up. Send this again with the same id after midnight (UTC); nothing was changed.`,
};

/** How a quota that is used up is told. */
function refusal(name: QuotaName, held: Held, max: number): Problem {
  const status = name === "storedBytes" ? 507 : 429;
  const message = WORDS[name](max);
  const told = {
    status,
    code: "quota_exceeded",
    message,
    details: { quota: name, used: held[name], max },
  } as const;
  if (name === "runningTurns") return { ...told, retryAfter: SOON };
  if (name !== "tokensPerDay") return told;
  return { ...told, retryAfter: Math.ceil((DAY_MS - (Date.now() % DAY_MS)) / 1000) };
}

/** The first of these quotas that is used up; null: none is. */
export function spentOf(quotas: Quotas, held: Held, names: QuotaName[]): Problem | null {
  for (const name of names) {
    const max = quotas[name];
    if (max !== null && held[name] >= max) return refusal(name, held, max);
  }
  return null;
}

/** Tokens that are left of today's; null: as many as they like. */
export const leftOf = ({ tokensPerDay: max }: Pick<Quotas, "tokensPerDay">, held: Held) =>
  max === null ? null : Math.max(0, max - held.tokensPerDay);
