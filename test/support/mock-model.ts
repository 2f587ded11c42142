/**
 * A scripted model on 127.0.0.1 that speaks the OpenAI API, JSON and streamed. It replays its script in order and
 * never looks at the messages to find its place: a harness that asks again gets the next reply.
 *
 * Every request is checked with the history oracle; a broken one is refused with 400, as a strict provider would,
 * and uses up no reply.
 */
import { readFileSync } from "node:fs";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { parse } from "yaml";
import { checkHistory } from "./history-oracle.ts";
import { parseJson, pause, readBody, sendError, sendJson } from "./mock-http.ts";
import { type Asked, completionOf, type MockReply, streamOf } from "./mock-reply.ts";

export type { MockReply } from "./mock-reply.ts";

export interface MockRequest {
  /** Number of the request, from 1. */
  n: number;
  path: string;
  headers: IncomingHttpHeaders;
  /** The body exactly as it came. */
  raw: string;
  body: ChatRequest;
  violations: string[];
  /** The client went away before the reply was complete. */
  aborted: boolean;
}

export interface ChatRequest {
  model?: string;
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
  messages: { role: string; content?: unknown; tool_calls?: unknown; tool_call_id?: string }[];
  tools?: { type: string; function: { name: string; parameters: unknown } }[];
  tool_choice?: unknown;
  [field: string]: unknown;
}

export type ScriptFunction = (request: MockRequest, n: number) => MockReply | Promise<MockReply>;
export type Script = readonly (MockReply | ScriptFunction)[] | ScriptFunction;

export interface MockOptions {
  script?: Script;
  /** 0, the default, takes a free one. */
  port?: number;
  /** Begin again at the end of the script; else a spent script answers 500. */
  wrap?: boolean;
  /** Before every reply, milliseconds. */
  delayMs?: number;
  /** false: the history is recorded, but not refused. */
  strict?: boolean;
  /** Folder of the scenario files, and the one to begin with. */
  dir?: string;
  file?: string;
}

export interface MockModel {
  /** Base URL for a client, ends in /v1. */
  url: string;
  requests: MockRequest[];
  /** What the oracle found, over all requests. */
  violations: string[];
  /** Begins a new script at its first reply. */
  script(script: Script): void;
  /** Forgets requests and violations, and begins the script again. */
  reset(): void;
  close(): Promise<void>;
}

interface State {
  options: MockOptions;
  script: Script;
  wrap: boolean;
  index: number;
  file: string;
  requests: MockRequest[];
  violations: string[];
}

export async function startMockModel(options: MockOptions = {}): Promise<MockModel> {
  const state: State = {
    options,
    script: options.script ?? [],
    wrap: options.wrap ?? false,
    index: 0,
    file: "",
    requests: [],
    violations: [],
  };
  if (options.file !== undefined) load(state, options.file);
  const server = createServer((req, res) => {
    handle(state, req, res).catch((error: unknown) => {
      if (res.headersSent) res.destroy();
      else sendError(res, 500, `mock model: ${String(error)}`);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests: state.requests,
    violations: state.violations,
    script: (script) => {
      state.script = script;
      state.index = 0;
    },
    reset: () => reset(state),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function handle(state: State, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const path = new URL(req.url ?? "/", "http://mock").pathname.replace(/^\/v1(?=\/)/, "");
  const route = `${req.method} ${path}`;
  if (route === "POST /chat/completions") return complete(state, req, res);
  if (route === "GET /models") {
    return sendJson(res, 200, { object: "list", data: [{ id: "mock", object: "model" }] });
  }
  if (route === "GET /mock/scenario") return sendJson(res, 200, scenario(state));
  if (route === "GET /mock/requests") {
    return sendJson(res, 200, { requests: state.requests, violations: state.violations });
  }
  if (route === "POST /mock/scenario") return choose(state, await readBody(req), res);
  if (route === "POST /mock/reset") {
    reset(state);
    return sendJson(res, 200, scenario(state));
  }
  sendError(res, 404, `the mock model has no ${route}`);
}

const scenario = (state: State) => ({
  file: state.file,
  index: state.index,
  responses: typeof state.script === "function" ? null : state.script.length,
});

function reset(state: State): void {
  state.requests.length = 0;
  state.violations.length = 0;
  if (state.options.file !== undefined) load(state, state.options.file);
  state.index = 0;
}

function choose(state: State, body: string, res: ServerResponse): void {
  const file: unknown = parseJson(body)?.file;
  if (typeof file !== "string" || file === "") return sendError(res, 400, "`file` is missing");
  if (/[/\\]/.test(file) || file.includes("..")) {
    return sendError(res, 400, "`file` is a name in the scenario folder, without a slash");
  }
  try {
    load(state, file);
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
    return missing
      ? sendError(res, 404, `there is no scenario ${file}`)
      : sendError(res, 400, `${file} cannot be read: ${String(error)}`);
  }
  sendJson(res, 200, scenario(state));
}

/** A name without an ending is a .yaml file. */
function load(state: State, name: string): void {
  const file = /\.\w+$/.test(name) ? name : `${name}.yaml`;
  const content: unknown = parse(readFileSync(join(state.options.dir ?? ".", file), "utf8"));
  const listed = content as { replies?: unknown; wrap?: unknown } | null;
  const replies = Array.isArray(content) ? content : listed?.replies;
  if (!Array.isArray(replies)) throw new Error("a scenario is a list of replies");
  state.script = replies as MockReply[];
  state.wrap = state.options.wrap ?? listed?.wrap === true;
  state.index = 0;
  state.file = file;
}

async function complete(state: State, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const raw = await readBody(req);
  const body = parseJson(raw) as ChatRequest | null;
  const violations = checkHistory(body);
  const request: MockRequest = {
    n: state.requests.length + 1,
    path: req.url ?? "",
    headers: req.headers,
    raw,
    body: body ?? { messages: [] },
    violations,
    aborted: false,
  };
  state.requests.push(request);
  state.violations.push(...violations.map((v) => `request ${request.n}: ${v}`));
  res.once("close", () => {
    request.aborted = !res.writableFinished;
  });
  if (!body || (violations.length > 0 && state.options.strict !== false)) {
    return sendError(res, 400, violations.join("; "), "invalid_history");
  }
  const reply = await nextReply(state, request);
  if (!reply) {
    return sendError(res, 500, `mock model: the script is spent after ${state.index} replies`);
  }
  await pause((state.options.delayMs ?? 0) + (reply.delay_ms ?? 0), res);
  if (!res.destroyed) await send(reply, request, res);
}

async function nextReply(state: State, request: MockRequest): Promise<MockReply | null> {
  const { script } = state;
  const n = state.index++;
  if (typeof script === "function") return script(request, n);
  const entry = script[state.wrap && script.length > 0 ? n % script.length : n];
  if (entry === undefined) state.index--;
  return typeof entry === "function" ? entry(request, n) : (entry ?? null);
}

async function send(reply: MockReply, request: MockRequest, res: ServerResponse): Promise<void> {
  const asked: Asked = {
    n: request.n,
    model: request.body.model ?? "mock",
    size: request.raw.length,
    includeUsage: request.body.stream_options?.include_usage === true,
  };
  const plain = reply.status !== undefined || reply.body !== undefined;
  const streams = request.body.stream === true && !plain;
  if (plain || (!streams && reply.raw === undefined)) {
    const body = reply.body ?? (plain ? failureBody(reply) : completionOf(reply, asked));
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const type = typeof body === "string" ? "text/plain" : "application/json";
    res.writeHead(reply.status ?? 200, { "content-type": type, ...reply.headers });
    return finish(reply, res, [text]);
  }
  res.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", ...reply.headers });
  res.flushHeaders();
  await finish(reply, res, streamOf(reply, asked));
}

async function finish(reply: MockReply, res: ServerResponse, parts: string[]): Promise<void> {
  for (const [i, part] of parts.entries()) {
    if (i > 0) await pause(reply.chunk_delay_ms ?? 0, res);
    if (res.destroyed) return;
    res.write(part);
  }
  if (reply.hang) return;
  if (!reply.cut) return void res.end();
  // Let the bytes out first: only then is it a cut stream and not a refused connection.
  await new Promise((resolve) => setTimeout(resolve, 20));
  res.destroy();
}

const failureBody = (reply: MockReply): unknown => ({
  error: { message: reply.text ?? "scripted failure", type: "mock_error", code: null },
});
