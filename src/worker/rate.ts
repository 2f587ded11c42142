/**
 * How much one owner, or one stranger, may ask for. The platform's rate limiter counts where it is bound (see
 * wrangler.toml); elsewhere this isolate does, which is coarser and needs nothing.
 *
 * L1  Owners are counted by name, strangers by address; what a stranger does never counts against an owner.
 * L2  A limiter that fails lets the request pass: it protects the house, it is not its door.
 */
import type { Context } from "hono";
import { LIMITS } from "../core/limits.ts";
import type { App } from "./auth.ts";
import { log } from "./log.ts";
import { HttpProblem, problem } from "./problem.ts";

interface Window {
  since: number;
  count: number;
}
const windows = new Map<string, Window>();
/** Keys that are kept at the most: strangers must not fill the memory. */
const KEYS = 10_000;
const MINUTE = 60_000;

/** Counts one; true when it is one too many. */
function spent(key: string, limit: number, now: number): boolean {
  const held = windows.get(key);
  const window = held && now - held.since < MINUTE ? held : { since: now, count: 0 };
  window.count += 1;
  // The one that was seen first goes: a crowd of strangers does not erase what owners have spent.
  const oldest = windows.keys().next().value;
  if (!held && windows.size >= KEYS && oldest !== undefined) windows.delete(oldest);
  windows.set(key, window);
  return window.count > limit;
}

const tooMany = () =>
  problem(
    429,
    "rate_limited",
    "Too many requests in a minute. Wait a moment and send it again; nothing was changed.",
    undefined,
    MINUTE / 1000,
  );

/** Refuses an owner who asks too much. Whoever runs it on loopback for themselves is not counted. */
export async function limitOwner(c: Context<App>, owner: string): Promise<void> {
  const key = `owner ${owner}`;
  if (await bound(c, key)) throw tooMany();
  if (!c.env.RATE_LIMIT && spent(key, LIMITS.requestsPerMinute, Date.now())) throw tooMany();
}

async function bound(c: Context<App>, key: string): Promise<boolean> {
  try {
    return c.env.RATE_LIMIT !== undefined && !(await c.env.RATE_LIMIT.limit({ key })).success;
  } catch (error) {
    log("error", "rate_limiter_failed", {}, error);
    return false;
  }
}

const stranger = (c: Context<App>) => `stranger ${c.req.header("cf-connecting-ip") ?? ""}`;

/** Somebody guessed wrong: a token, or the id of a link. After too many they are told only that. */
export function countGuess(c: Context<App>): void {
  if (spent(stranger(c), LIMITS.refusalsPerMinute, Date.now())) throw tooMany();
}

/** Makes an attempt to come in. One that succeeds is never counted, whoever else stands behind the same address. */
export async function limitStranger<T>(c: Context<App>, attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (error instanceof HttpProblem && error.problem.status === 401) countGuess(c);
    throw error;
  }
}
