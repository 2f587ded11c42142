/** The Worker under test: the product, with a fake in place of the container's object. */

import { lateObject } from "../../../src/worker/late-object.ts";
import { FakeSandbox } from "./fake-sandbox.ts";

export { app as default } from "../../../src/worker/app.ts";
export { DirectoryObject } from "../../../src/worker/directory.ts";
export { SessionObject } from "../../../src/worker/session.ts";
export class Sandbox extends lateObject(() => Promise.resolve(FakeSandbox)) {}
