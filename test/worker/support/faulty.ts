/**
 * The product on storage that fails now and then, for the soak (test/soak). `FAULTS` is the share of transactions that
 * break. `GET /api/faults` says how many did, and with `?share=N` sets another share.
 *
 * X1  A transaction breaks before anything of it is written, or after all of it is: then the object is reset without
 *     having heard, as the platform does when a write cannot be confirmed.
 */
import { app } from "../../../src/worker/app.ts";
import { DirectoryObject as Directory } from "../../../src/worker/directory.ts";
import type { Bindings } from "../../../src/worker/env.ts";
import { SessionObject as Session } from "../../../src/worker/session.ts";

export { FakeSandbox as Sandbox } from "./fake-sandbox.ts";

const LOST = "Network connection lost.";
const RESET = "Internal error in Durable Object storage write caused object to be reset.";
let struck = 0;
/** null: as the variable says. */
let set: number | null = null;
const strikes = (env: object): boolean =>
  Math.random() < (set ?? Number((env as { FAULTS?: string }).FAULTS ?? 0));

function breakNowAndThen(ctx: DurableObjectState, env: object): void {
  const { storage } = ctx;
  const transactionSync = storage.transactionSync.bind(storage);
  Object.defineProperty(storage, "transactionSync", {
    value: <T>(act: () => T): T => {
      if (!strikes(env)) return transactionSync(act);
      struck += 1;
      if (Math.random() < 0.5) throw new Error(LOST);
      transactionSync(act);
      ctx.abort(RESET);
      throw new Error(RESET);
    },
  });
}

export class SessionObject extends Session {
  constructor(ctx: DurableObjectState, env: Bindings) {
    breakNowAndThen(ctx, env);
    super(ctx, env);
  }
}

/** The list has no transactions of its own: here single statements that write fail. */
export class DirectoryObject extends Directory {
  constructor(ctx: DurableObjectState, env: Bindings) {
    const { sql } = ctx.storage;
    const exec = sql.exec.bind(sql);
    Object.defineProperty(sql, "exec", {
      value: (query: string, ...bindings: unknown[]) => {
        if (query.startsWith("INSERT") && strikes(env)) {
          struck += 1;
          throw new Error(LOST);
        }
        return exec(query, ...bindings);
      },
    });
    super(ctx, env);
  }
}

export default {
  async fetch(request, env, ctx): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/api/faults") {
      if (searchParams.has("share")) set = Number(searchParams.get("share"));
      return Response.json({ struck });
    }
    return app.fetch(request, env, ctx);
  },
} satisfies ExportedHandler<Bindings>;
