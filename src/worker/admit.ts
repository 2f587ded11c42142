/** The door of every route that has an owner: who it is, and whether they have not asked too often. */
import type { Context } from "hono";
import { type App, authenticate, isOpenHouse } from "./auth.ts";
import { limitOwner, limitStranger } from "./rate.ts";

export async function admit(c: Context<App>): Promise<string> {
  const owner = await limitStranger(c, () => authenticate(c));
  if (!isOpenHouse(c)) await limitOwner(c, owner);
  return owner;
}
