/** What is the owner's and no session's: settings and accounts. */
import { Hono } from "hono";
import { dayOf } from "../../core/ledger.ts";
import type { SettingsLayer } from "../../core/settings.ts";
import { mergeSettings } from "../../core/settings-merge.ts";
import { SettingsPatchBody } from "../../core/settings-patch.ts";
import { UsageQuery } from "../../core/wire.ts";
import type { App } from "../auth.ts";
import { knownProfile, outerLayers } from "../config.ts";
import { directoryStub } from "../directory.ts";
import type { Bindings } from "../env.ts";
import { problem, unwrap } from "../problem.ts";
import { quotasOf } from "../quotas.ts";
import { redacted } from "../secrets.ts";
import { check, readJson } from "../validate.ts";
import { checkWebhook } from "../webhook.ts";
import { layersOf } from "../wire.ts";

export const ownerRoutes = new Hono<App>();

/** What holds for a session that states nothing itself. */
const effective = (env: Bindings, own: SettingsLayer) =>
  redacted(mergeSettings(outerLayers(env, own, undefined)));

ownerRoutes.get("/settings", async (c) =>
  c.json(effective(c.env, await directoryStub(c.env, c.var.owner).settings())),
);

ownerRoutes.get("/settings/own", async (c) => {
  const own = await directoryStub(c.env, c.var.owner).settings();
  const [deployment, profile] = outerLayers(c.env, own, undefined);
  return c.json(layersOf(own, [deployment, profile]));
});

ownerRoutes.patch("/settings", async (c) => {
  const body = await readJson(c.req.raw, SettingsPatchBody);
  knownProfile(c.env, body.stated.profile);
  checkWebhook(c.env, body.stated);
  const own = unwrap(await directoryStub(c.env, c.var.owner).patchSettings(body));
  return c.json(effective(c.env, own));
});

/** Days of a report that names no beginning, and of any. */
const USUAL_DAYS = 30;
const MOST_DAYS = 400;
const DAY_MS = 24 * 3_600_000;

ownerRoutes.get("/usage", async (c) => {
  const query = check(UsageQuery, c.req.query());
  const to = query.to ?? dayOf(Date.now());
  const from = query.from ?? dayOf(Date.parse(to) - (USUAL_DAYS - 1) * DAY_MS);
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  if (days < 1) throw problem(400, "invalid_request", "from: must not be later than `to`.");
  if (days > MOST_DAYS) {
    throw problem(400, "invalid_request", `from: a report may span at most ${MOST_DAYS} days.`);
  }
  return c.json(await directoryStub(c.env, c.var.owner).usage(from, to, quotasOf(c.env)));
});
