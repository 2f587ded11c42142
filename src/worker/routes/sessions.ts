/** Creating, listing, reading, changing and deleting sessions. */
import { Hono } from "hono";
import * as z from "zod";
import { titleFrom } from "../../core/chars.ts";
import { LIMITS } from "../../core/limits.ts";
import { newSession } from "../../core/session.ts";
import { CreateBody, PatchBody, type SessionView } from "../../core/wire.ts";
import type { App } from "../auth.ts";
import { checkSearch, knownProfile, outerLayers } from "../config.ts";
import { directoryStub } from "../directory.ts";
import type { Bindings } from "../env.ts";
import { hostOf } from "../host.ts";
import { newSessionId, sessionStub } from "../ids.ts";
import { NO_SESSION, unwrap } from "../problem.ts";
import { check, readJson } from "../validate.ts";
import { infoOf } from "../wire.ts";

export const sessionRoutes = new Hono<App>();
type Create = z.infer<typeof CreateBody>;

/** Listed first, made second: a session that exists can always be found. */
async function create(
  env: Bindings,
  owner: string,
  body: Create,
  host: string,
): Promise<{ view: SessionView; made: boolean }> {
  const directory = directoryStub(env, owner);
  const start = {
    id: newSessionId(),
    owner,
    epoch: newSessionId().slice(0, 12),
    mode: body.mode ?? "agent",
    title: titleFrom(body.title ?? "", LIMITS.titleChars),
    settings: body.settings ?? {},
    ephemeral: body.ephemeral ?? false,
    host,
  };
  knownProfile(env, start.settings.profile);
  // A deployment that is configured wrongly says so before anything is made.
  outerLayers(env, start.settings.profile);
  checkSearch(env);
  const info = infoOf(newSession({ ...start, at: Date.now() }));
  const { existing } = await directory.add(info, body.key);
  const id = existing ?? start.id;
  const held = existing === null ? NO_SESSION : await sessionStub(env, id).view(owner);
  if (held.ok) return { view: held.value, made: false };
  // Listed under this key but not there: the Worker died before it was made, or after it was deleted.
  const made = await sessionStub(env, id).create({ ...start, id });
  if (made.ok) return { view: made.value, made: true };
  await directory.remove(id);
  return create(env, owner, body, host);
}

sessionRoutes.post("/", async (c) => {
  const body = await readJson(c.req.raw, CreateBody);
  const { view, made } = await create(c.env, c.var.owner, body, hostOf(c));
  return c.json(view, made ? 201 : 200);
});

const ListQuery = z.object({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .default(50)
    .transform((n) => Math.min(n, 200)),
  cursor: z.string().max(200).optional(),
  q: z.string().max(200).default(""),
});
sessionRoutes.get("/", async (c) => {
  const { limit, cursor, q } = check(ListQuery, c.req.query());
  return c.json(await directoryStub(c.env, c.var.owner).list(limit, cursor || null, q));
});

sessionRoutes.get("/:id", async (c) =>
  c.json(unwrap(await sessionStub(c.env, c.req.param("id")).view(c.var.owner))),
);

sessionRoutes.patch("/:id", async (c) => {
  const body = await readJson(c.req.raw, PatchBody);
  knownProfile(c.env, body.settings?.profile);
  return c.json(unwrap(await sessionStub(c.env, c.req.param("id")).patch(c.var.owner, body)));
});

/** Unlisted last, so that a delete that broke off can be repeated; a session that is gone is unlisted all the same. */
sessionRoutes.delete("/:id", async (c) => {
  const id = c.req.param("id");
  const removed = await sessionStub(c.env, id).remove(c.var.owner);
  await directoryStub(c.env, c.var.owner).remove(id);
  unwrap(removed);
  return c.body(null, 204);
});
