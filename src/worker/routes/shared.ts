/** Links: made and revoked by the owner, read by anyone who has one. */
import { type Context, Hono } from "hono";
import { PageQuery } from "../../core/wire.ts";
import { type App, checkOpen } from "../auth.ts";
import { sessionStub } from "../ids.ts";
import { unwrap } from "../problem.ts";
import { countGuess } from "../rate.ts";
import { noShare, partsOf } from "../shares.ts";
import { check } from "../validate.ts";
import { download, pathOf, rangeOf } from "./files.ts";
import { pageReply } from "./turns.ts";

/** Under /api/sessions, behind the sign-in. */
export const shareRoutes = new Hono<App>();
/** Under /api/shared, before it. */
export const sharedRoutes = new Hono<App>();

shareRoutes.post("/:id/share", async (c) => {
  const link = unwrap(await sessionStub(c.env, c.req.param("id")).share(c.var.owner));
  const url = `${new URL(c.req.url).origin}/shared/${link.share_id}`;
  return c.json({ ...link, url }, 201);
});
shareRoutes.delete("/:id/share", async (c) => {
  unwrap(await sessionStub(c.env, c.req.param("id")).unshare(c.var.owner));
  return c.body(null, 204);
});

sharedRoutes.use("*", async (c, next) => {
  checkOpen(c);
  await next();
  if (c.res.status === 404) countGuess(c);
});

/** The session that a link belongs to, and the link's secret. */
function linkOf(c: Context<App, "/:share/*">) {
  const parts = partsOf(c.req.param("share")) ?? unwrap<never>(noShare());
  return { stub: sessionStub(c.env, parts.id), secret: parts.secret };
}

sharedRoutes.get("/:share", async (c) => {
  const { stub, secret } = linkOf(c);
  return c.json(unwrap(await stub.sharedView(secret)));
});
sharedRoutes.get("/:share/events", async (c) => {
  const { stub, secret } = linkOf(c);
  const { after, limit } = check(PageQuery, c.req.query());
  return pageReply(c, unwrap(await stub.sharedEvents(secret, after, limit)));
});
sharedRoutes.get("/:share/files/*", async (c) => {
  const { stub, secret } = linkOf(c);
  return download(c, unwrap(await stub.sharedFile(secret, pathOf(c), rangeOf(c))));
});
