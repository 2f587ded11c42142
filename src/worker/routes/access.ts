/** Signing in and out of a browser. */
import { Hono } from "hono";
import { LoginBody } from "../../core/wire.ts";
import { type App, checkOrigin, refuseUrlTokens, signIn, signOut } from "../auth.ts";
import { limitStranger } from "../rate.ts";
import { readJson } from "../validate.ts";

export const accessRoutes = new Hono<App>();

accessRoutes.post("/login", async (c) => {
  refuseUrlTokens(c);
  checkOrigin(c);
  const { token } = await readJson(c.req.raw, LoginBody);
  return c.json({ owner: await limitStranger(c, () => signIn(c, token)) });
});
accessRoutes.post("/logout", (c) => {
  checkOrigin(c);
  signOut(c);
  return c.body(null, 204);
});
