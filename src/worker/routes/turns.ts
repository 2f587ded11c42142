/** What drives a session: messages, answers, stop, and its events as pages, as a stream, as a socket. */
import { type Context, Hono } from "hono";
import type * as z from "zod";
import { traceHeader } from "../../adapters/otlp/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import {
  AnswerBody,
  Cursor,
  MessageBody,
  PageQuery,
  QueueBody,
  StopBody,
} from "../../core/wire.ts";
import type { App } from "../auth.ts";
import { knownProfile } from "../config.ts";
import { awaitTurn, connect, eventStream, upgradeOf } from "../feed.ts";
import { newSessionId, sessionStub } from "../ids.ts";
import { HttpProblem, NO_SESSION, type Problem, problem, unwrap } from "../problem.ts";
import type { Page } from "../requests.ts";
import { check, readJson } from "../validate.ts";
import { checkWebhook } from "../webhook.ts";

export const turnRoutes = new Hono<App>();

/** Seconds that `Prefer: wait=N` asks for; 0 without it. */
function waitSeconds(c: Context<App>): number {
  const wait = /(?:^|[,;\s])wait=(\d{1,9})/i.exec(c.req.header("prefer") ?? "")?.[1];
  return Math.min(Number(wait ?? 0), LIMITS.waitSeconds);
}

turnRoutes.post("/:id/messages", async (c) => {
  const body = await readJson(c.req.raw, MessageBody);
  knownProfile(c.env, body.settings?.profile);
  checkWebhook(c.env, body.settings);
  const stub = sessionStub(c.env, c.req.param("id"));
  const trace = traceHeader(c.req.header("traceparent"));
  const id = body.id ?? newSessionId();
  const ack = unwrap(await stub.say(c.var.owner, { ...body, id, trace }));
  const seconds = waitSeconds(c);
  // A command beside a turn has been answered; the turn may go on for long.
  const waits = seconds > 0 && ack.delivery !== "command";
  const result = waits ? await awaitTurn(stub, c.var.owner, ack, seconds) : null;
  if (result) return c.json(result, 200, { "preference-applied": `wait=${seconds}` });
  const { seq, duplicate, delivery } = ack;
  return c.json({ id: ack.id, seq, duplicate, delivery }, 202);
});

turnRoutes.post("/:id/answers", async (c) => {
  const body = await readJson(c.req.raw, AnswerBody);
  const stub = sessionStub(c.env, c.req.param("id"));
  const { id, seq, duplicate } = unwrap(
    await stub.answer(c.var.owner, { ...body, id: body.id ?? newSessionId() }),
  );
  return c.json({ id, seq, duplicate }, 202);
});

turnRoutes.patch("/:id/queue/:message", async (c) => {
  const body = await readJson(c.req.raw, QueueBody);
  const { id, message } = c.req.param();
  return c.json(unwrap(await sessionStub(c.env, id).requeue(c.var.owner, message, body)));
});
turnRoutes.delete("/:id/queue/:message", async (c) => {
  const { id, message } = c.req.param();
  unwrap(await sessionStub(c.env, id).requeue(c.var.owner, message, null));
  return c.body(null, 204);
});

turnRoutes.post("/:id/stop", async (c) => {
  const { id } = await readJson(c.req.raw, StopBody);
  const stub = sessionStub(c.env, c.req.param("id"));
  const ack = unwrap(await stub.stop(c.var.owner, id ?? newSessionId()));
  return c.json({ id: ack.id, seq: ack.seq, duplicate: ack.duplicate }, 202);
});

turnRoutes.get("/:id/events", async (c) => {
  const query = check(PageQuery, c.req.query());
  const stub = sessionStub(c.env, c.req.param("id"));
  if (c.req.header("accept")?.includes("text/event-stream")) return stream(c, stub, query);
  return pageReply(
    c,
    unwrap(await stub.events(c.var.owner, query.after, query.epoch, query.limit)),
  );
});
export function pageReply(c: Context<App>, page: Page): Response {
  const reset = page.reset ? ',"reset":true' : "";
  const body = `{"events":[${page.events}],"last_seq":${page.last_seq},"epoch":${JSON.stringify(page.epoch)}${reset}}`;
  return c.body(body, 200, { "content-type": "application/json" });
}

async function stream(
  c: Context<App>,
  stub: ReturnType<typeof sessionStub>,
  query: z.infer<typeof PageQuery>,
): Promise<Response> {
  const last = c.req.header("last-event-id");
  const parsed = Cursor.safeParse(last);
  const after = parsed.success ? parsed.data : query.after;
  const ws = await connect(
    stub,
    c.var.owner,
    `after=${after}&epoch=${encodeURIComponent(query.epoch)}`,
  );
  if (!ws) return unwrap(NO_SESSION);
  return new Response(eventStream(ws), {
    headers: { "content-type": "text/event-stream", "cache-control": "no-store" },
  });
}

turnRoutes.get("/:id/ws", async (c) => {
  if (c.req.header("upgrade")?.toLowerCase() !== "websocket") {
    throw problem(426, "upgrade_required", "Connect to this address with a WebSocket.");
  }
  const stub = sessionStub(c.env, c.req.param("id"));
  const query = new URLSearchParams();
  for (const name of ["after", "epoch"]) {
    const value = c.req.query(name);
    if (value !== undefined) query.set(name, value);
  }
  const response = await stub.fetch(`https://session/ws?${query}`, {
    headers: upgradeOf(c.var.owner),
  });
  if (!response.webSocket) throw new HttpProblem(await response.json<Problem>());
  return response;
});
