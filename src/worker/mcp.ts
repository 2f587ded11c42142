/**
 * What other agents can do here through MCP: have a task done, look, answer, stop. Each is what a client of the HTTP
 * API does, as the same owner; nothing is kept between two requests.
 *
 * H1  A task or an answer that is sent again with the same key is the same one: nothing is done twice.
 * H2  A refusal is a result for a model: what went wrong and what to do.
 */
import type { CallToolResult, McpServer, ServerContext } from "@modelcontextprotocol/server";
import * as z from "zod";
import { fingerprint } from "../core/duplicates.ts";
import type { Event, Wait } from "../core/events.ts";
import { LIMITS } from "../core/limits.ts";
import { IDEMPOTENCY_KEY } from "../core/servers.ts";
import { MODES } from "../core/session.ts";
import { AnswerBody, CreateBody, MessageBody, type TurnResult } from "../core/wire.ts";
import type { Bindings } from "./env.ts";
import { awaitTurn, wordsOf } from "./feed.ts";
import { newSessionId, type SessionStub, sessionStub } from "./ids.ts";
import { HttpProblem, problem, unwrap } from "./problem.ts";
import { create } from "./routes/sessions.ts";
import { check } from "./validate.ts";

/** On whose behalf, and how the product is reached. */
export interface Caller {
  env: Bindings;
  owner: string;
  /** For links: `https://dormouse.example.com`. */
  origin: string;
  loopback: boolean;
}

/** Clients often give up after a minute. */
const WAIT_SECONDS = 50;
/** Events looked at for a session's last words. */
const LOOK_BACK = 300;

const SessionId = z.string().describe("The id of a session, as run_task gave it.");
const WaitSeconds = z
  .int()
  .min(0)
  .max(LIMITS.waitSeconds)
  .default(WAIT_SECONDS)
  .describe(
    "How long to wait for the turn to end or to ask something; it goes on after that. get_session waits again.",
  );
const Id = z
  .string()
  .min(1)
  .max(200)
  .optional()
  .describe("A name of your own for this request: sent again with the same one, it is done once.");

const RunTask = z.object({
  task: z.string().describe("What is to be done, in full: the session knows nothing else."),
  session_id: SessionId.optional().describe(
    "Go on in this session instead of a new one; it remembers what was said.",
  ),
  key: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .describe("Instead of session_id: a name of your own for a session; made at its first use."),
  mode: z
    .enum(MODES)
    .optional()
    .describe("Of a new session: agent plans and works in steps (default), chat answers."),
  wait_seconds: WaitSeconds,
  id: Id,
});
const GetSession = z.object({ session_id: SessionId, wait_seconds: WaitSeconds.default(0) });
const Answer = z.object({
  session_id: SessionId,
  text: z.string().optional().describe("The answer to a question."),
  approved: z.boolean().optional().describe("The answer to an approval: true or false."),
  wait_seconds: WaitSeconds,
  id: Id,
});
const Stop = z.object({ session_id: SessionId });

/** The client's own name of a request: its key, or the argument. */
function idOf({ mcpReq }: ServerContext, id: string | undefined): string | undefined {
  const key = mcpReq._meta?.[IDEMPOTENCY_KEY];
  if (typeof key !== "string" || key === "") return id;
  return key.length <= 150 ? `mcp ${key}` : `mcp ${fingerprint(key)}`;
}

/** Tells whoever wants to know of each step and call as it begins. */
function reporter({ mcpReq }: ServerContext): (event: Event) => void {
  const progressToken = mcpReq._meta?.progressToken;
  let progress = 0;
  return (event) => {
    const begun =
      (event.event === "step" && event.data.status === "running" && event.data.description) ||
      (event.event === "tool" &&
        event.data.status === "calling" &&
        (event.data.brief ?? event.data.function));
    if (!begun || progressToken === undefined) return;
    progress += 1;
    const params = { progressToken, progress, message: begun };
    // A client that left is told nothing.
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
  };
}

const howToAnswer = (session_id: string, wait: Wait): string =>
  wait.kind === "question"
    ? `Answer with the tool answer: {"session_id": "${session_id}", "text": "…"}.`
    : `Answer with the tool answer: {"session_id": "${session_id}", "approved": true or false}.`;

interface Told extends Partial<Omit<TurnResult, "outcome">> {
  session_id: string;
  status: TurnResult["outcome"] | "running" | "idle";
}

function reply(told: Told, { origin }: Caller): CallToolResult {
  const { session_id, status, message, wait, error } = told;
  const attachments = (told.attachments ?? []).map(({ name, size, content_type, url }) => ({
    ...{ name, size, content_type },
    url: new URL(url, origin).href,
  }));
  const lines = [
    message,
    error && `It failed: ${error.message} (${error.code})`,
    wait && wait.text !== message && wait.text,
    wait?.tool && `It wants to call ${wait.tool.function} with ${JSON.stringify(wait.tool.args)}.`,
    wait?.options && `Options: ${wait.options.join(", ")}`,
    wait && howToAnswer(session_id, wait),
    status === "running" && `It is still working. Ask get_session with "${session_id}" later.`,
    ...attachments.map((file) => `${file.name}: ${file.url}`),
    `(session ${session_id}, ${status})`,
  ];
  return {
    content: [
      { type: "text", text: lines.filter(Boolean).join("\n") },
      ...attachments.map(({ name, url, content_type, size }) => ({
        ...{ type: "resource_link" as const, uri: url, name, size },
        mimeType: content_type,
      })),
    ],
    structuredContent: {
      ...{ session_id, status, message: message ?? null, attachments },
      wait: wait ? { kind: wait.kind, text: wait.text, options: wait.options ?? [] } : null,
      error: error ?? null,
    },
    isError: status === "failed",
  };
}

/** A problem of the request's becomes a result; anything else is ours and goes on. */
async function told(act: () => Promise<CallToolResult>): Promise<CallToolResult> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof HttpProblem)) throw error;
    const { code, message } = error.problem;
    return { content: [{ type: "text", text: `${message} (${code})` }], isError: true };
  }
}

export function offerTools(server: McpServer, caller: Caller): void {
  const { env, owner } = caller;

  /** The turn that took this in, once it ends or waits, or as it stands when time is over. */
  const turnOf = async (
    session_id: string,
    ack: { seq: number; from: number },
    seconds: number,
    ctx: ServerContext,
  ): Promise<CallToolResult> => {
    const stub = sessionStub(env, session_id);
    const result = seconds > 0 && (await awaitTurn(stub, owner, ack, seconds, reporter(ctx)));
    if (result) return reply({ ...result, session_id, status: result.outcome }, caller);
    return standing(session_id, stub);
  };

  /** How a session stands now. */
  const standing = async (session_id: string, stub: SessionStub): Promise<CallToolResult> => {
    const view = unwrap(await stub.view(owner));
    const after = Math.max(0, view.last_seq - LOOK_BACK);
    const page = unwrap(await stub.events(owner, after, "", LOOK_BACK));
    const words = wordsOf(JSON.parse(`[${page.events}]`) as Event[]);
    const { status, wait } = view;
    const rest = status === "running" ? {} : words;
    return reply({ ...rest, session_id, status, wait }, caller);
  };

  server.registerTool(
    "run_task",
    {
      description:
        "Gives Dormouse a task: it plans, works with its tools in a sandbox, and hands over a result with files. Returns the outcome, or what it asks; a task that takes longer goes on.",
      inputSchema: RunTask,
      annotations: { readOnlyHint: false, openWorldHint: true },
      _meta: { [IDEMPOTENCY_KEY]: true },
    },
    (args, ctx) =>
      told(async () => {
        if (args.session_id && args.key) {
          throw problem(400, "invalid_request", "Give session_id or key, not both.");
        }
        const id = idOf(ctx, args.id);
        const body = check(MessageBody, { text: args.task, id: id ?? newSessionId() });
        const session_id = args.session_id ?? (await sessionFor(args, id));
        const stub = sessionStub(env, session_id);
        const message = { ...body, id: body.id ?? newSessionId() };
        const ack = unwrap(await stub.say(owner, message));
        return turnOf(session_id, ack, args.wait_seconds, ctx);
      }),
  );
  /** A new session, or the one that was made for this key before. */
  const sessionFor = async (
    { key, mode }: { key?: string | undefined; mode?: (typeof MODES)[number] | undefined },
    id: string | undefined,
  ): Promise<string> => {
    const name = key ?? (id === undefined ? undefined : `task ${id}`);
    const given = { ...(mode ? { mode } : {}), ...(name ? { key: name } : {}) };
    const { view } = await create(env, owner, check(CreateBody, given), caller.loopback);
    return view.id;
  };

  server.registerTool(
    "get_session",
    {
      description: "How a session stands: its status, its last words, and what it asks.",
      inputSchema: GetSession,
      annotations: { readOnlyHint: true, openWorldHint: true },
    },
    ({ session_id, wait_seconds }, ctx) =>
      told(async () => {
        const stub = sessionStub(env, session_id);
        const { status, last_seq } = unwrap(await stub.view(owner));
        if (status !== "running") return standing(session_id, stub);
        return turnOf(session_id, { seq: last_seq, from: last_seq + 1 }, wait_seconds, ctx);
      }),
  );

  server.registerTool(
    "answer",
    {
      description:
        "Answers what a session asks: `text` for a question, `approved` for an approval. Then waits as run_task does.",
      inputSchema: Answer,
      annotations: { readOnlyHint: false, openWorldHint: true },
      _meta: { [IDEMPOTENCY_KEY]: true },
    },
    ({ session_id, text, approved, wait_seconds, ...args }, ctx) =>
      told(async () => {
        const stub = sessionStub(env, session_id);
        const { wait } = unwrap(await stub.view(owner));
        const body = check(AnswerBody, {
          // An answer that was given before is known by its id, whatever is asked now.
          ...{ wait_id: wait?.wait_id ?? "none", id: idOf(ctx, args.id) ?? newSessionId() },
          ...{ text, approved },
        });
        const ack = unwrap(await stub.answer(owner, { ...body, id: body.id ?? newSessionId() }));
        return turnOf(session_id, ack, wait_seconds, ctx);
      }),
  );

  server.registerTool(
    "stop",
    {
      description: "Stops what a session is doing. It can be given another task afterwards.",
      inputSchema: Stop,
      annotations: { readOnlyHint: false, idempotentHint: true, openWorldHint: true },
    },
    ({ session_id }) =>
      told(async () => {
        const stub = sessionStub(env, session_id);
        unwrap(await stub.stop(owner, newSessionId()));
        return standing(session_id, stub);
      }),
  );
}
