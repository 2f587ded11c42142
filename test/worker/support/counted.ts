/** The product with a meter on every one of its objects, for `npm run bench:cost`. */
import { app } from "../../../src/worker/app.ts";
import { DirectoryObject as Directory } from "../../../src/worker/directory.ts";
import type { Bindings } from "../../../src/worker/env.ts";
import { SessionObject as Session } from "../../../src/worker/session.ts";
import { bill, countedNamespace, meter, rang, readMeter } from "./meter.ts";

export { FakeSandbox as Sandbox } from "./fake-sandbox.ts";

const counted = (env: Bindings): Bindings => ({
  ...env,
  SESSION: countedNamespace(env.SESSION),
  DIRECTORY: countedNamespace(env.DIRECTORY),
});

export class SessionObject extends Session {
  constructor(ctx: DurableObjectState, env: Bindings) {
    meter("session", ctx);
    super(ctx, counted(env));
  }
  override async alarm(): Promise<void> {
    rang(this.ctx);
    await super.alarm();
  }
  override async webSocketMessage(ws: WebSocket, message: string | ArrayBuffer): Promise<void> {
    bill.socket_messages += 1;
    await super.webSocketMessage(ws, message);
  }
}

export class DirectoryObject extends Directory {
  constructor(ctx: DurableObjectState, env: Bindings) {
    meter("directory", ctx);
    super(ctx, env);
  }
}

export default {
  async fetch(request, env, ctx): Promise<Response> {
    return readMeter(request) ?? app.fetch(request, counted(env), ctx);
  },
} satisfies ExportedHandler<Bindings>;
