/**
 * The one owner of how sessions come and go: created, found by key, rotated, copied, brought in, removed.
 *
 * L1  Listed first, made second; gone first, unlisted second: a session that exists can always be found.
 * L2  What could not be made is unlisted again.
 */
import type * as z from "zod";
import { titleFrom } from "../core/chars.ts";
import { LIMITS } from "../core/limits.ts";
import { newSession } from "../core/session.ts";
import type { PatchBody } from "../core/settings-patch.ts";
import type { CreateBody, SessionView } from "../core/wire.ts";
import { checkSearch, knownProfile, outerLayers } from "./config.ts";
import { directoryStub } from "./directory.ts";
import type { Bindings } from "./env.ts";
import { newEpoch, newSessionId, sessionStub } from "./ids.ts";
import { NO_SESSION, unwrap } from "./problem.ts";
import { quotasOf } from "./quotas.ts";
import { rotate } from "./rotation.ts";
import { kept } from "./secrets.ts";
import { checkWebhook } from "./webhook.ts";
import { type Copied, infoOf, type Made } from "./wire.ts";

/** Who asks, and where. */
export interface Asker {
  env: Bindings;
  owner: string;
  /** Where the product is served. */
  host: string;
}

/** `key`: the session that it is bound to; with `fresh`, a new one that it is bound to from now on. */
export async function createSession(asker: Asker, body: z.infer<typeof CreateBody>): Promise<Made> {
  const { env, owner, host } = asker;
  const directory = directoryStub(env, owner);
  const start = {
    id: newSessionId(),
    owner,
    epoch: newEpoch(),
    mode: body.mode ?? "agent",
    title: titleFrom(body.title ?? "", LIMITS.titleChars),
    settings: kept(body.settings ?? {}),
    ephemeral: body.ephemeral ?? false,
    host,
  };
  knownProfile(env, start.settings.profile);
  checkWebhook(env, start.settings);
  checkSearch(env);
  // A deployment that is configured wrongly says so before anything is made.
  outerLayers(env, {}, start.settings.profile);
  const info = infoOf(newSession({ ...start, at: Date.now() }));
  const quotas = quotasOf(env);
  const { existing } = unwrap(await directory.add(info, quotas, body.key, body.fresh));
  const id = existing ?? start.id;
  const held = existing === null ? NO_SESSION : await sessionStub(env, id).view(owner);
  if (held.ok) return { view: held.value, made: false };
  // Listed under this key but not there: the Worker died before it was made, or after it was deleted.
  const made = await sessionStub(env, id).create({ ...start, id });
  if (made.ok) return made.value;
  await directory.remove(id);
  return createSession(asker, body);
}

/** `key`: how an outside chat goes back to an earlier session. */
export async function changeSession(
  { env, owner }: Asker,
  id: string,
  { key, ...change }: z.infer<typeof PatchBody>,
): Promise<SessionView> {
  const view = unwrap(await sessionStub(env, id).patch(owner, change));
  if (key !== undefined) await directoryStub(env, owner).bind(key, id);
  return view;
}

/** A new session in the place of one that stays. `/new` does the same, from inside (errands.ts). */
export async function rotateSession({ env, owner, host }: Asker, id: string): Promise<SessionView> {
  const origin = unwrap(await sessionStub(env, id).origin(owner));
  return rotate(env, { ...origin, host }, newSessionId());
}

/** A session made of lines. */
async function copied(
  { env, owner, host }: Asker,
  stream: ReadableStream<Uint8Array>,
  fork: boolean,
): Promise<Copied> {
  const birth = { id: newSessionId(), owner, epoch: newEpoch(), fork, host };
  const directory = directoryStub(env, owner);
  const blank = { ...birth, mode: "agent" as const, title: "", settings: {}, ephemeral: false };
  unwrap(await directory.add(infoOf(newSession({ ...blank, at: Date.now() })), quotasOf(env)));
  const made = await sessionStub(env, birth.id).unpack(birth, stream);
  if (!made.ok) await directory.remove(birth.id);
  return unwrap(made);
}

export async function forkSession(
  asker: Asker,
  id: string,
  after: number | undefined,
): Promise<SessionView> {
  const stream = unwrap(await sessionStub(asker.env, id).packFork(asker.owner, after));
  return (await copied(asker, stream, true)).view;
}

export const importSession = (asker: Asker, stream: ReadableStream<Uint8Array>): Promise<Copied> =>
  copied(asker, stream, false);

/** A delete that broke off can be repeated; a session that is gone is unlisted all the same. */
export async function removeSession({ env, owner }: Asker, id: string): Promise<void> {
  const removed = await sessionStub(env, id).remove(owner);
  await directoryStub(env, owner).remove(id);
  unwrap(removed);
}
