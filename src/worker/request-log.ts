/**
 * A line for each request: its route as the app states it, never its address, which may hold a file's name or the
 * secret of a link. (That is also why `invocation_logs` is off in wrangler.toml: they hold the address.)
 */
import type { Context, Next } from "hono";
import { routePath } from "hono/route";
import type { App } from "./auth.ts";
import { SESSION_ID } from "./ids.ts";
import { log } from "./log.ts";

export async function logRequest(c: Context<App>, next: Next): Promise<void> {
  const from = Date.now();
  await next();
  const id = c.req.path.startsWith("/api/sessions/") ? (c.req.path.split("/")[3] ?? "") : "";
  const { status } = c.res;
  // Whoever watches asks that all day.
  const idle = c.req.path === "/api/health" && status === 200;
  log(idle ? "debug" : "info", "request", {
    method: c.req.method,
    route: routePath(c),
    status,
    ms: Date.now() - from,
    ...(SESSION_ID.test(id) ? { session: id } : {}),
  });
}
