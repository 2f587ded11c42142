/** The HTTP face: routes, and the one place where a failure becomes a reply. */
import { Hono } from "hono";
import { cors } from "hono/cors";
import { isFull } from "../adapters/files/sql.ts";
import { FETCH_MARK } from "../adapters/web/fetch.ts";
import { isPlatformError } from "../tools/platform.ts";
import { admit } from "./admit.ts";
import { type App, allowedOrigin, isUpgrade } from "./auth.ts";
import { publicConfig } from "./config.ts";
import { health } from "./health.ts";
import { log } from "./log.ts";
import { errorOf, errorResponse } from "./openai-error.ts";
import { errorBody, FULL, HttpProblem, type Problem, problem } from "./problem.ts";
import { logRequest } from "./request-log.ts";
import { accessRoutes } from "./routes/access.ts";
import { fileRoutes } from "./routes/files.ts";
import { mcpRoutes } from "./routes/mcp.ts";
import { openaiRoutes } from "./routes/openai.ts";
import { ownerRoutes } from "./routes/owner.ts";
import { sessionRoutes } from "./routes/sessions.ts";
import { sharedRoutes, shareRoutes } from "./routes/shared.ts";
import { turnRoutes } from "./routes/turns.ts";
import { hostOf, onLoopback } from "./served.ts";

/** A Durable Object died under a request, by itself or by the platform: the same request again works. */
const passing = (error: unknown): boolean =>
  isPlatformError(error) || /restarted/i.test(error instanceof Error ? error.message : "");

function problemOf(error: unknown): Problem {
  if (error instanceof HttpProblem) return error.problem;
  log("error", "request_failed", {}, error);
  if (isFull(error)) return FULL.problem;
  if (passing(error)) {
    return {
      status: 503,
      code: "restarting",
      message:
        "The session is being restarted; nothing was lost. Send the request again with the same id.",
    };
  }
  return {
    status: 500,
    code: "internal",
    message: "Something went wrong here. Nothing was lost; try again.",
  };
}

export const app = new Hono<App>();

app.use("*", logRequest);

app.onError((error, c) => {
  // Clients of OpenAI's face know its errors alone.
  if (c.req.path.startsWith("/v1/")) return errorResponse(errorOf(error));
  const problem = problemOf(error);
  if (problem.retryAfter !== undefined) c.header("retry-after", String(problem.retryAfter));
  return c.json(errorBody(problem), problem.status);
});
app.notFound((c) =>
  c.json(
    errorBody({
      status: 404,
      code: "not_found",
      message: "There is nothing at this address. See docs/api.md.",
    }),
    404,
  ),
);

/** For every reply but an upgrade, whose headers are the platform's. */
app.use("*", async (c, next) => {
  await next();
  if (c.res.status === 101) return;
  const set = (name: string, value: string) => {
    if (!c.res.headers.has(name)) c.header(name, value);
  };
  set("x-content-type-options", "nosniff");
  set("referrer-policy", "no-referrer");
  set("cache-control", "no-store");
  set("content-security-policy", "default-src 'none'; frame-ancestors 'none'");
  set("cross-origin-resource-policy", "same-origin");
  if (!onLoopback(hostOf(c))) set("strict-transport-security", "max-age=31536000");
});

/** A tool of one of our own sessions, under whatever name it found us: it would act on us from within. */
app.use("*", async (c, next) => {
  if (c.req.header(FETCH_MARK) !== undefined) {
    throw problem(403, "own_request", "The product does not answer its own tools.");
  }
  await next();
});

/** What a browser on an allowed origin may send and read; any other gets no such headers, and so nothing. */
const crossOrigin = cors({
  origin: (origin, c) => (allowedOrigin(c, origin) ? origin : null),
  allowMethods: ["GET", "POST", "PUT", "PATCH", "DELETE"],
  allowHeaders: [
    ...["authorization", "content-type", "prefer", "last-event-id", "range", "idempotency-key"],
    ...["mcp-protocol-version", "mcp-method", "mcp-name"],
  ],
  exposeHeaders: ["content-range", "content-disposition", "preference-applied", "retry-after"],
  maxAge: 3600,
});
app.use("/api/*", async (c, next) => (isUpgrade(c) ? next() : crossOrigin(c, next)));
app.use("/v1/*", crossOrigin);
app.use("/mcp", crossOrigin);

app.get("/api/health", health);
app.route("/api", accessRoutes);
app.route("/api/shared", sharedRoutes);

app.use("/api/*", async (c, next) => {
  c.set("owner", await admit(c));
  await next();
});
app.get("/api/config", (c) => c.json(publicConfig(c.env, hostOf(c))));
app.route("/api", ownerRoutes);
app.route("/api/sessions", sessionRoutes);
app.route("/api/sessions", turnRoutes);
app.route("/api/sessions", fileRoutes);
app.route("/api/sessions", shareRoutes);
app.route("/v1", openaiRoutes);
app.route("/mcp", mcpRoutes);
