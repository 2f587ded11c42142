/** The Worker under test: the product, with a fake in place of the container's object. */

export { app as default } from "../../../src/worker/app.ts";
export { DirectoryObject } from "../../../src/worker/directory.ts";
export { SessionObject } from "../../../src/worker/session.ts";
export { FakeSandbox as Sandbox } from "./fake-sandbox.ts";
