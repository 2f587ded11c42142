/** Crashes of one session's object, planted at one of its commits, and its recovery by nothing but its alarm. */
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { expect } from "vitest";
import { type Client, until } from "./client.ts";

/**
 * fail: the commit cannot be stored, and the object knows. lose: the object dies before the commit is durable.
 * die: the object dies right after it.
 */
export type Kind = "fail" | "lose" | "die";
export interface Crash {
  commits: number;
  fired: boolean;
  revived: boolean;
}
const REASON = "the session is restarted";

/** Counts commits from now on; commit `n` crashes. */
export async function plant(c: Client, n = 0, kind: Kind = "fail"): Promise<Crash> {
  const crash: Crash = { commits: 0, fired: false, revived: false };
  await runInDurableObject(c.stub, (_, state) => {
    const { storage } = state;
    const real = storage.transactionSync.bind(storage);
    const abort = () => {
      crash.fired = true;
      state.abort(REASON);
    };
    const planted = <T>(closure: () => T): T => {
      crash.commits += 1;
      if (crash.commits !== n) return real(closure);
      if (kind === "fail") {
        crash.fired = true;
        throw new Error("disk full");
      }
      const result = real(closure);
      // Within the same turn the write is not durable yet: it goes with the object.
      if (kind === "lose") abort();
      else void storage.sync().then(() => afterImports(c, storage, abort));
      return result;
    };
    Object.defineProperty(storage, "transactionSync", { value: planted, configurable: true });
  });
  return crash;
}

/**
 * Dies once nothing is being imported: the pool's loader waits for ever for an import that an aborted object had
 * begun. So before a model call the object dies when its request has left, and a command gets the time to begin.
 */
function afterImports(c: Client, storage: DurableObjectStorage, abort: () => void): void {
  const query = "SELECT json FROM head WHERE part = 'state'";
  const { json } = storage.sql.exec<{ json: string }>(query).one();
  const head = JSON.parse(json) as {
    status: string;
    errands: unknown[];
    batch: { calls: { name: string }[] } | null;
  };
  if (head.status !== "running" || head.errands.length > 0) return abort();
  if (head.batch === null) c.model.onAsk = abort;
  else if (head.batch.calls.some((call) => call.name === "shell_exec")) setTimeout(abort, 50);
  else abort();
}

export interface Stored {
  status: string;
  seq: number;
  restarts: number;
  retry: { at: number } | null;
}
/** The stored head, read without waking the session: a look must not be what heals it. */
export function peek(c: Client): Promise<Stored> {
  return runInDurableObject(c.stub, (_, state) => {
    const query = "SELECT json FROM head WHERE part = 'state'";
    return JSON.parse(state.storage.sql.exec<{ json: string }>(query).one().json) as Stored;
  });
}

/** What would wake the object: its alarm, and the times of its jobs. */
export function pending(c: Client): Promise<{ alarm: number | null; jobs: number[] }> {
  return runInDurableObject(c.stub, async (_, { storage }) => {
    const made = storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'cf_agents_jobs'");
    const jobs =
      made.toArray().length === 0
        ? []
        : storage.sql.exec<{ time: number }>("SELECT time FROM cf_agents_jobs").toArray();
    return { alarm: await storage.getAlarm(), jobs: jobs.map((j) => j.time) };
  });
}
export const atRest = (c: Client): Promise<void> =>
  until(async () => expect(await pending(c)).toEqual({ alarm: null, jobs: [] }));

/** Lets the time of the wake job come, and the alarm ring. */
export async function ring(c: Client): Promise<boolean> {
  await runInDurableObject(c.stub, (_, state) => {
    state.storage.sql.exec("UPDATE cf_agents_jobs SET time = 0");
  });
  return runDurableObjectAlarm(c.stub);
}

/** Until the turn ends or waits. After the crash nobody asks: the alarm alone brings the session back. */
export async function settle(c: Client, crash: Crash): Promise<void> {
  await until(async () => {
    if (crash.fired && !crash.revived) {
      // Before the first commit is durable there is nothing to wake, and nothing to wake for.
      if ((await pending(c)).jobs.length > 0) expect(await ring(c)).toBe(true);
      else expect((await peek(c)).status).not.toBe("running");
      crash.revived = true;
    }
    expect((await peek(c)).status).not.toBe("running");
  });
}

const VOLATILE = new Set([
  "ts",
  "since",
  "session_id",
  "duration_ms",
  "modified_at",
  "url",
  "model",
]);
/** A value without what may differ from session to session. */
export function lasting(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lasting);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => !VOLATILE.has(key));
  return Object.fromEntries(entries.map(([key, v]) => [key, lasting(v)]));
}
