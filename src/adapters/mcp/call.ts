/**
 * One stored tool as a tool that runs: a call to its server, and what can be said of it when it fails.
 *
 * M1  A call is sent once. Whether it is made again is decided outside, by what is known of its outcome.
 * M2  "Not done" is said only where it is known: the connection was not made, or the server refused before it began.
 *     Every other failure after sending is an unknown outcome.
 * M3  A session that the server has forgotten is begun anew, once: a refused call was not done.
 * M4  Nothing that is said holds a header's value.
 */
import { IDEMPOTENCY_KEY, type Server } from "../../core/servers.ts";
import type { JsonObject, ToolResult } from "../../core/tool.ts";
import { argumentsFor, type StoredTool, specOf } from "../../core/toolbox.ts";
import type { Tool, ToolContext } from "../../tools/define.ts";
import { type Connection, type Connections, Unusable } from "./connections.ts";
import { resultOf } from "./content.ts";
import { redactor } from "./secret.ts";
import type { Trace } from "./wire.ts";

/** The server was not able to begin: the same call again may succeed. */
const BUSY = new Set([429, 503]);
/** JSON-RPC: unreadable, invalid, unknown method, invalid parameters. Nothing was begun. */
const NOT_BEGUN = new Set([-32700, -32600, -32601, -32602]);

/** What is known of a call that failed. */
type Failure =
  | { type: "session" }
  | { type: "not_done"; why: string; retryable: boolean }
  | { type: "unknown"; why: string; retryable: boolean };

const codeOf = (error: unknown): unknown => (error as { code?: unknown } | null)?.code;

function failureOf(error: unknown, trace: Trace, ctx: ToolContext): Failure {
  const { status } = trace;
  if (!trace.sent || trace.refused) {
    return { type: "not_done", why: "it could not be reached", retryable: true };
  }
  if (ctx.signal.aborted) return { type: "unknown", why: "the call was stopped", retryable: false };
  if (codeOf(error) === "REQUEST_TIMEOUT") {
    const seconds = Math.round(ctx.timeoutMs / 1000);
    return { type: "unknown", why: `it did not answer within ${seconds} s`, retryable: false };
  }
  if (status !== null && (status < 200 || status >= 300)) return refusal(error, status, trace);
  const code = codeOf(error);
  if (typeof code === "number") {
    const why = `it answered with error ${code}: ${error instanceof Error ? error.message : ""}`;
    return NOT_BEGUN.has(code)
      ? { type: "not_done", why, retryable: false }
      : { type: "unknown", why, retryable: false };
  }
  if (status !== null && code === "INVALID_RESULT") {
    return { type: "unknown", why: "its answer is no result of a tool", retryable: false };
  }
  return { type: "unknown", why: "the connection broke after it was sent", retryable: true };
}

function refusal(error: unknown, status: number, { sessionId }: Trace): Failure {
  const said = error instanceof Error ? error.message : "";
  const forgotten = status === 404 || (status === 400 && /session/i.test(said));
  if (sessionId && forgotten) return { type: "session" };
  const why = `it refused with HTTP ${status}`;
  if (BUSY.has(status)) return { type: "not_done", why, retryable: true };
  return status >= 500
    ? { type: "unknown", why, retryable: true }
    : { type: "not_done", why, retryable: false };
}

function told(server: string, failure: Exclude<Failure, { type: "session" }>): ToolResult {
  const retryable = failure.retryable ? { retryable: true as const } : {};
  const start = `The MCP server ${server}: ${failure.why}.`;
  return failure.type === "not_done"
    ? { ok: false, ...retryable, text: `${start} The call was not done.` }
    : {
        ok: false,
        unknown: true,
        ...retryable,
        text: `${start} Whether it was done is not known.`,
      };
}

const ABSENT: Record<Unusable["why"]["code"], string> = {
  address: "its address may not be reached from here",
  headers: "its headers cannot be sent",
  unreachable: "it could not be reached",
  timeout: "it did not answer in time",
  protocol: "it did not answer as an MCP server does",
  no_tools: "it offers no tools",
  refused: "it refused to be connected to",
};

/** No connection, so nothing was sent. */
function unconnected(server: string, error: unknown): ToolResult {
  const absence = error instanceof Unusable ? error.why : ({ code: "unreachable" } as const);
  const passing =
    absence.code === "refused" ? absence.status >= 500 || absence.status === 429 : true;
  const why =
    absence.code === "refused" ? `it refused with HTTP ${absence.status}` : ABSENT[absence.code];
  const fixed = ["address", "headers", "protocol"].includes(absence.code);
  return told(server, { type: "not_done", why, retryable: passing && !fixed });
}

/** One sending of the call over one connection. */
async function send(
  { client, wire }: Connection,
  tool: StoredTool,
  args: JsonObject,
  redact: (text: string) => string,
  ctx: ToolContext,
): Promise<{ answer: Awaited<ReturnType<typeof client.callTool>> } | { failure: Failure }> {
  const { trace, headers, lost, end } = wire.traced();
  const key = ctx.idempotencyKey;
  const call = client.callTool(
    {
      name: tool.tool,
      arguments: args,
      ...(key === undefined ? {} : { _meta: { [IDEMPOTENCY_KEY]: key } }),
    },
    {
      signal: ctx.signal,
      timeout: ctx.timeoutMs,
      headers: {
        ...headers,
        ...(key === undefined ? {} : { "Idempotency-Key": key }),
        ...(ctx.trace === undefined ? {} : { traceparent: ctx.trace }),
      },
      onprogress: ({ message }) => {
        if (message) ctx.live(`${redact(message)}\n`);
      },
      // As it was when the turn began; its output is taken as it is.
      toolDefinition: { name: tool.tool, inputSchema: { ...tool.schema, type: "object" } },
    },
  );
  try {
    return { answer: await Promise.race([call, lost]) };
  } catch (error) {
    call.catch(() => {});
    return { failure: failureOf(error, trace, ctx) };
  } finally {
    end();
  }
}

export function mcpTool(connections: Connections, server: Server, stored: StoredTool): Tool {
  const redact = redactor(server.headers);
  const run = async (raw: JsonObject, ctx: ToolContext): Promise<ToolResult> => {
    const args = argumentsFor(stored, raw);
    if (!args.ok) return { ok: false, text: args.error };
    for (let again = false; ; again = true) {
      let connection: Connection;
      try {
        connection = await connections.open(server, ctx.signal);
      } catch (error) {
        return unconnected(server.name, error);
      }
      const sent = await send(connection, stored, args.value, redact, ctx);
      if ("answer" in sent) return resultOf(sent.answer, redact, ctx);
      const { failure } = sent;
      if (failure.type !== "session") {
        const result = told(server.name, failure);
        return { ...result, text: redact(result.text) };
      }
      connections.drop(server);
      if (again) {
        const why = "it forgot its session again and again";
        return told(server.name, { type: "not_done", why, retryable: true });
      }
    }
  };
  return { ...specOf(stored), ...(stored.repeatable ? { repeatable: true } : {}), run };
}
