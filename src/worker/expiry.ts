/**
 * The end of what is not to stay: ephemeral sessions an hour after their last turn, copies that broke off.
 *
 * X1  Unlisted first, removed second: no ghost stays in a list.
 */
import { LIMITS } from "../core/limits.ts";
import type { Session } from "../core/session.ts";
import type { Engine } from "./engine.ts";
import type { Jobs } from "./jobs.ts";
import type { OwnerLink } from "./link.ts";
import type { Birth } from "./unpack.ts";

interface House {
  list: OwnerLink;
  jobs: Jobs;
  remove(engine: Engine | null): Promise<void>;
}
/** When to look again; undefined: never. */
type Again = Promise<{ rescheduleAt: number } | undefined>;

/** A turn has ended: from now on it counts. */
export async function goLater(jobs: Jobs, { ephemeral, status }: Session): Promise<void> {
  const ended = status !== "waiting" && status !== "idle";
  if (ephemeral && ended) await jobs.expireAt(Date.now() + LIMITS.ephemeralMs);
}

/** It goes unless it works or waits. */
export async function expire(house: House, engine: Engine): Again {
  const s = engine.store.session();
  // The job of a copy that was whole when its maker died; a wait, at whose end it is seen to anew.
  if (!s.ephemeral || s.status === "waiting") return undefined;
  const busy = s.status === "running";
  const due = (busy ? Date.now() : Date.parse(s.updated_at)) + LIMITS.ephemeralMs;
  if (due > Date.now()) return { rescheduleAt: due };
  return leave(house, engine, s);
}

/** A copy that broke off an hour ago; null: it became a session, or was never begun. */
export async function expireUnborn(house: House, birth: Birth | null): Again {
  return birth ? leave(house, null, birth) : undefined;
}

async function leave(
  { list, remove }: House,
  engine: Engine | null,
  whose: { owner: string; id: string },
): Again {
  if (!(await list.forget(whose))) return { rescheduleAt: Date.now() + LIMITS.wakeMs };
  await remove(engine);
  return undefined;
}
