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
  if (!held && windows.size >= KEYS) windows.clear();
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
    console.error("the rate limiter failed; the request passes", error);
    return false;
  }
}

const stranger = (c: Context<App>) => `stranger ${c.req.header("cf-connecting-ip") ?? ""}`;

/** Lets an attempt to sign in be made; an address that was turned away too often is turned away at once. */
export async function limitStranger<T>(c: Context<App>, attempt: () => Promise<T>): Promise<T> {
  const key = stranger(c);
  const held = windows.get(key);
  const young = held !== undefined && Date.now() - held.since < MINUTE;
  if (young && held.count >= LIMITS.refusalsPerMinute) throw tooMany();
  try {
    return await attempt();
  } catch (error) {
    const refused = error instanceof HttpProblem && error.problem.status === 401;
    if (refused) spent(key, LIMITS.refusalsPerMinute, Date.now());
    throw error;
  }
}
