/** What is the owner's and no session's: settings. */
import { Hono } from "hono";
import { mergeSettings, type SettingsLayer } from "../../core/settings.ts";
import { SettingsBody } from "../../core/wire.ts";
import type { App } from "../auth.ts";
import { knownProfile, outerLayers } from "../config.ts";
import { directoryStub } from "../directory.ts";
import type { Bindings } from "../env.ts";
import { unwrap } from "../problem.ts";
import { redacted } from "../secrets.ts";
import { readJson } from "../validate.ts";
import { checkWebhook } from "../webhook.ts";

export const ownerRoutes = new Hono<App>();

/** What holds for a session that states nothing itself. */
const effective = (env: Bindings, own: SettingsLayer) =>
  redacted(mergeSettings(outerLayers(env, own, undefined)));

ownerRoutes.get("/settings", async (c) =>
  c.json(effective(c.env, await directoryStub(c.env, c.var.owner).settings())),
);

ownerRoutes.patch("/settings", async (c) => {
  const body = await readJson(c.req.raw, SettingsBody);
  knownProfile(c.env, body.profile);
  checkWebhook(c.env, body);
  const own = unwrap(await directoryStub(c.env, c.var.owner).patchSettings(body));
  return c.json(effective(c.env, own));
});
