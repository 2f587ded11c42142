/** The Worker's entry: the app, and the Durable Objects that it binds. */
import { app } from "./worker/app.ts";

export { DirectoryObject } from "./worker/directory.ts";
export { SessionObject } from "./worker/session.ts";
export default app;
