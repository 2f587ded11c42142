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
import type { Event } from "../core/events.ts";
import { LIMITS } from "../core/limits.ts";
import { IDEMPOTENCY_KEY } from "../core/servers.ts";
import { MODES } from "../core/session.ts";
import { AnswerBody, CreateBody, MessageBody } from "../core/wire.ts";
import { awaitTurn, wordsOf } from "./feed.ts";
import { newSessionId, sessionStub } from "./ids.ts";
import { type Caller, reply, reporter, told } from "./mcp-reply.ts";
import { problem, unwrap } from "./problem.ts";
import { createSession } from "./sessions.ts";
import { check } from "./validate.ts";

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

/** How a session stands now. */
async function standing(session_id: string, caller: Caller): Promise<CallToolResult> {
  const stub = sessionStub(caller.env, session_id);
  const { status, wait, last_seq } = unwrap(await stub.view(caller.owner));
  const after = Math.max(0, last_seq - LOOK_BACK);
  const page = unwrap(await stub.events(caller.owner, after, "", LOOK_BACK));
  const words = status === "running" ? {} : wordsOf(JSON.parse(`[${page.events}]`) as Event[]);
  return reply({ ...words, session_id, status, wait }, caller);
}

/** The turn that took this in, once it ends or waits; or how it stands when time is over. */
async function turnOf(
  session_id: string,
  ack: { seq: number; from: number },
  seconds: number,
  caller: Caller,
  ctx: ServerContext,
): Promise<CallToolResult> {
  const stub = sessionStub(caller.env, session_id);
  const result =
    seconds > 0 && (await awaitTurn(stub, caller.owner, ack, seconds, { heard: reporter(ctx) }));
  if (!result) return standing(session_id, caller);
  return reply({ ...result, session_id, status: result.outcome }, caller);
}

/** The session of a task: the one that is named, the one of a key, or a new one. */
async function sessionFor(
  { session_id, key, mode }: z.output<typeof RunTask>,
  id: string | undefined,
  caller: Caller,
): Promise<string> {
  if (session_id !== undefined && key !== undefined) {
    throw problem(400, "invalid_request", "Give session_id or key, not both.");
  }
  if (session_id !== undefined) return session_id;
  const name = key ?? (id === undefined ? undefined : `task ${id}`);
  const given = { ...(mode ? { mode } : {}), ...(name ? { key: name } : {}) };
  return (await createSession(caller, check(CreateBody, given))).view.id;
}

async function runTask(
  args: z.output<typeof RunTask>,
  caller: Caller,
  ctx: ServerContext,
): Promise<CallToolResult> {
  const known = idOf(ctx, args.id);
  const id = known ?? newSessionId();
  const body = check(MessageBody, { text: args.task, id, route: "task" });
  const session_id = await sessionFor(args, known, caller);
  const ack = unwrap(await sessionStub(caller.env, session_id).say(caller.owner, { ...body, id }));
  return turnOf(session_id, ack, args.wait_seconds, caller, ctx);
}

async function getSession(
  { session_id, wait_seconds }: z.output<typeof GetSession>,
  caller: Caller,
  ctx: ServerContext,
): Promise<CallToolResult> {
  const view = await sessionStub(caller.env, session_id).view(caller.owner);
  const { status, last_seq } = unwrap(view);
  if (status !== "running") return standing(session_id, caller);
  return turnOf(session_id, { seq: last_seq, from: last_seq + 1 }, wait_seconds, caller, ctx);
}

async function answer(
  args: z.output<typeof Answer>,
  caller: Caller,
  ctx: ServerContext,
): Promise<CallToolResult> {
  const { session_id, text, approved, wait_seconds } = args;
  const stub = sessionStub(caller.env, session_id);
  const { wait } = unwrap(await stub.view(caller.owner));
  const id = idOf(ctx, args.id) ?? newSessionId();
  // An answer that was given before is known by its id, whatever is asked now.
  const body = check(AnswerBody, { wait_id: wait?.wait_id ?? "none", id, text, approved });
  const ack = unwrap(await stub.answer(caller.owner, { ...body, id }));
  return turnOf(session_id, ack, wait_seconds, caller, ctx);
}

async function stop(
  { session_id }: z.output<typeof Stop>,
  caller: Caller,
): Promise<CallToolResult> {
  unwrap(await sessionStub(caller.env, session_id).stop(caller.owner, newSessionId()));
  return standing(session_id, caller);
}

/** What follows from a call beyond its result; a client may believe it or not. */
const ACTS = { readOnlyHint: false, openWorldHint: true };
const KEYED = { [IDEMPOTENCY_KEY]: true };

export function offerTools(server: McpServer, caller: Caller): void {
  server.registerTool(
    "run_task",
    {
      description:
        "Gives Dormouse a task: it plans, works with its tools in a sandbox, and hands over a result with files. Returns the outcome, or what it asks; a task that takes longer goes on.",
      ...{ inputSchema: RunTask, annotations: ACTS, _meta: KEYED },
    },
    (args, ctx) => told(() => runTask(args, caller, ctx)),
  );
  server.registerTool(
    "get_session",
    {
      description: "How a session stands: its status, its last words, and what it asks.",
      inputSchema: GetSession,
      annotations: { readOnlyHint: true, openWorldHint: true },
    },
    (args, ctx) => told(() => getSession(args, caller, ctx)),
  );
  server.registerTool(
    "answer",
    {
      description:
        "Answers what a session asks: `text` for a question, `approved` for an approval. Then waits as run_task does.",
      ...{ inputSchema: Answer, annotations: ACTS, _meta: KEYED },
    },
    (args, ctx) => told(() => answer(args, caller, ctx)),
  );
  server.registerTool(
    "stop",
    {
      description: "Stops what a session is doing. It can be given another task afterwards.",
      inputSchema: Stop,
      annotations: { ...ACTS, idempotentHint: true },
    },
    (args) => told(() => stop(args, caller)),
  );
}
