/**
 * A new session in the place of one that stays: its mode, its settings, and the keys that were bound to it.
 *
 * N1  Listed, made, then named by the keys: what breaks off in between can be done again, with the same id.
 * N2  What could not be made is unlisted again.
 */
import { newSession, type Session } from "../core/session.ts";
import type { SessionView } from "../core/wire.ts";
import { directoryStub } from "./directory.ts";
import type { Bindings } from "./env.ts";
import { newEpoch, sessionStub } from "./ids.ts";
import { unwrap } from "./problem.ts";
import { quotasOf } from "./quotas.ts";
import { infoOf } from "./wire.ts";

/** What it has of the one before it; secrets included, so never for a reply. */
export type Origin = Pick<Session, "id" | "owner" | "mode" | "settings" | "ephemeral" | "host">;

export const originOf = (s: Session): Origin => {
  const { id, owner, mode, settings, ephemeral, host } = s;
  return { id, owner, mode, settings, ephemeral, host };
};

export async function rotate(env: Bindings, origin: Origin, id: string): Promise<SessionView> {
  const { owner } = origin;
  const directory = directoryStub(env, owner);
  const start = { ...origin, id, epoch: newEpoch(), title: "" };
  unwrap(await directory.add(infoOf(newSession({ ...start, at: Date.now() })), quotasOf(env)));
  const made = await sessionStub(env, id).create(start);
  if (!made.ok) await directory.remove(id);
  const { view } = unwrap(made);
  await directory.rebind(origin.id, id);
  return view;
}
