/** Sessions over HTTP: made, listed, read, changed, copied, taken along, brought back, deleted. */
import { type Context, Hono } from "hono";
import { LIMITS } from "../../core/limits.ts";
import { PatchBody } from "../../core/settings-patch.ts";
import { CreateBody, ForkBody, ListQuery } from "../../core/wire.ts";
import type { App } from "../auth.ts";
import { knownProfile } from "../config.ts";
import { directoryStub } from "../directory.ts";
import { sessionStub } from "../ids.ts";
import { unwrap } from "../problem.ts";
import { hostOf } from "../served.ts";
import {
  type Asker,
  changeSession,
  createSession,
  forkSession,
  importSession,
  removeSession,
  rotateSession,
} from "../sessions.ts";
import { check, readBytes, readJson } from "../validate.ts";
import { checkWebhook } from "../webhook.ts";

export const sessionRoutes = new Hono<App>();

const asker = (c: Context<App>): Asker => ({ env: c.env, owner: c.var.owner, host: hostOf(c) });

sessionRoutes.post("/", async (c) => {
  const body = await readJson(c.req.raw, CreateBody);
  const { view, made } = await createSession(asker(c), body);
  return c.json(view, made ? 201 : 200);
});

sessionRoutes.get("/", async (c) => {
  const { limit, cursor, q, prefix } = check(ListQuery, c.req.query());
  return c.json(await directoryStub(c.env, c.var.owner).list(limit, cursor || null, q, prefix));
});

sessionRoutes.get("/:id", async (c) =>
  c.json(unwrap(await sessionStub(c.env, c.req.param("id")).view(c.var.owner))),
);

sessionRoutes.patch("/:id", async (c) => {
  const body = await readJson(c.req.raw, PatchBody);
  knownProfile(c.env, body.settings?.stated.profile);
  checkWebhook(c.env, body.settings?.stated);
  return c.json(await changeSession(asker(c), c.req.param("id"), body));
});

sessionRoutes.get("/:id/settings", async (c) =>
  c.json(unwrap(await sessionStub(c.env, c.req.param("id")).settings(c.var.owner))),
);

sessionRoutes.delete("/:id", async (c) => {
  await removeSession(asker(c), c.req.param("id"));
  return c.body(null, 204);
});

sessionRoutes.post("/:id/rotate", async (c) =>
  c.json(await rotateSession(asker(c), c.req.param("id")), 201),
);

sessionRoutes.post("/:id/fork", async (c) => {
  const { after_seq } = await readJson(c.req.raw, ForkBody);
  return c.json(await forkSession(asker(c), c.req.param("id"), after_seq), 201);
});

sessionRoutes.get("/:id/export", async (c) => {
  const id = c.req.param("id");
  const stream = unwrap(await sessionStub(c.env, id).pack(c.var.owner));
  return new Response(stream, {
    headers: {
      "content-type": "application/x-ndjson",
      "content-disposition": `attachment; filename="dormouse-${id}.jsonl"`,
    },
  });
});

sessionRoutes.post("/import", async (c) => {
  const bytes = await readBytes(c.req.raw, LIMITS.importBytes);
  const body = new Response(bytes as Uint8Array<ArrayBuffer>).body ?? new Blob([]).stream();
  const { view, skipped } = await importSession(asker(c), body);
  return c.json({ ...view, skipped_lines: skipped }, 201);
});
