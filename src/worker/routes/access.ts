/** Signing in and out of a browser. */
import { Hono } from "hono";
import * as z from "zod";
import { type App, checkOrigin, refuseUrlTokens, signIn, signOut } from "../auth.ts";
import { limitStranger } from "../rate.ts";
import { readJson } from "../validate.ts";

export const accessRoutes = new Hono<App>();

accessRoutes.post("/login", async (c) => {
  refuseUrlTokens(c);
  checkOrigin(c);
  const { token } = await readJson(c.req.raw, z.object({ token: z.string().min(1).max(4096) }));
  return c.json({ owner: await limitStranger(c, () => signIn(c, token)) });
});
accessRoutes.post("/logout", (c) => {
  checkOrigin(c);
  signOut(c);
  return c.body(null, 204);
});
