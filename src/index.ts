/** The Worker's entry: the app, and the Durable Objects that it binds. */
import { app } from "./worker/app.ts";

// A Durable Object's class has to be there at start-up; it is the one part of the SDK that is not loaded lazily.
export { Sandbox } from "@cloudflare/sandbox";
export { DirectoryObject } from "./worker/directory.ts";
export { SessionObject } from "./worker/session.ts";
export default app;
