/** The Worker's entry: the app, and the Durable Objects that it binds. */
import { app } from "./worker/app.ts";
import { lateObject } from "./worker/late-object.ts";

export { DirectoryObject } from "./worker/directory.ts";
export { SessionObject } from "./worker/session.ts";
/** A container's object. */
export class Sandbox extends lateObject(
  async () => (await import("@cloudflare/sandbox")).Sandbox,
) {}
export default app;
