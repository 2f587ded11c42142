/**
 * The upstream model of the pool: `globalThis.fetch` itself, scripted by model name, so that every session of a
 * test talks to a script of its own. Anything else that wants out is refused, and the test fails.
 *
 * U1  Every request is held against the history oracle.
 * U2  The same request bytes get the same reply again, as they would after a crash.
 */
import { env } from "cloudflare:workers";
import { vi } from "vitest";
import { checkHistory } from "../../support/history-oracle.ts";
import type { McpScript } from "../../support/mcp-script.ts";
import { type MockReply, streamOf } from "../../support/mock-reply.ts";

export const BASE_URL = "http://llm.test/v1";
const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

export interface ChatBody {
  model: string;
  messages: {
    role: string;
    content: string | null;
    tool_calls?: { id: string; function: { name: string; arguments: string } }[];
    tool_call_id?: string;
  }[];
}
export interface Asked {
  raw: string;
  body: ChatBody;
  aborted: boolean;
  headers: Record<string, string>;
  /** Its reply never ends by itself. */
  hung?: true;
}

/** A reply that comes piece by piece, when the test says so. */
export class Held {
  readonly #parts: string[] = [];
  #over = false;
  say(...texts: string[]): void {
    for (const content of texts) this.#parts.push(data({ content }));
  }
  end(): void {
    this.#parts.push(data({}, "stop"), "data: [DONE]\n\n");
    this.#over = true;
  }
  /** Ends with a call in place of text. */
  call(name: string, args: unknown): void {
    const fn = { name, arguments: JSON.stringify(args) };
    this.#parts.push(
      data({ tool_calls: [{ index: 0, id: "h1", type: "function", function: fn }] }),
      data({}, "tool_calls"),
    );
    this.#over = true;
  }
  take(): string[] {
    return this.#parts.splice(0);
  }
  get over(): boolean {
    return this.#over && this.#parts.length === 0;
  }
}

const data = (delta: unknown, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: "h", object: "chat.completion.chunk", created: 0, model: "held", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

export type Scripted = MockReply | Held | ((asked: Asked) => MockReply);

export class Model {
  readonly name: string;
  readonly asked: Asked[] = [];
  readonly faults: string[] = [];
  /** Called once, when the next request has left. */
  onAsk: (() => void) | null = null;
  readonly #script: Scripted[];
  readonly #given = new Map<string, Scripted>();

  constructor(name: string, script: Scripted[]) {
    this.name = name;
    this.#script = [...script];
  }
  add(...more: Scripted[]): void {
    this.#script.push(...more);
  }
  /** Throws away what was not asked for. */
  drop(): void {
    this.#script.length = 0;
  }
  get left(): number {
    return this.#script.length;
  }
  answer(asked: Asked): Scripted {
    this.asked.push(asked);
    const faults = checkHistory(asked.body);
    this.faults.push(...faults.map((f) => `${this.name}, request ${this.asked.length}: ${f}`));
    const { onAsk } = this;
    this.onAsk = null;
    onAsk?.();
    const reply = this.#given.get(asked.raw) ?? this.#script.shift();
    // A spent script: the model thinks for ever.
    if (reply instanceof Held) asked.hung = true;
    if (!reply) return new Held();
    // A failure is tried again with the same bytes: the next reply of the script answers then.
    const failed = !(reply instanceof Held) && ("status" in reply || "finish" in reply);
    if (!failed) this.#given.set(asked.raw, reply);
    return reply;
  }
}

const models = new Map<string, Model>();
const servers = new Map<string, McpScript>();
/** An MCP server of this test; gives back its URL. */
export function serveMcp(script: McpScript): string {
  const host = `mcp${servers.size + 1}.example.com`;
  servers.set(host, script);
  return `https://${host}/mcp`;
}

async function askMcp(script: McpScript, init: RequestInit = {}): Promise<Response> {
  await new Promise((resolve) => setTimeout(resolve, 1));
  const headers = Object.fromEntries(new Headers(init.headers));
  const body = typeof init.body === "string" ? init.body : "";
  const reply = await script.answer({ method: init.method ?? "GET", headers, body });
  if (reply.type === "http") {
    const { status } = reply;
    return new Response(status === 202 ? null : reply.body, { status, headers: reply.headers });
  }
  if (reply.type !== "hang") {
    throw Object.assign(new Error("Network connection lost."), { remote: true });
  }
  return new Promise((_, reject) => {
    init.signal?.addEventListener("abort", () => reject(new Error("The operation was aborted")));
  });
}
/** What wanted out and was not let. */
export const refused: string[] = [];
let count = 0;

/** A model with a script; its name goes into the session's settings. Names have one length: sizes are comparable. */
export function scripted(script: Scripted[]): Model {
  count += 1;
  const model = new Model(`test-${String(count).padStart(5, "0")}`, script);
  models.set(model.name, model);
  return model;
}
export function forgetModels(): Model[] {
  const all = [...models.values()];
  models.clear();
  servers.clear();
  return all;
}

type Site = (init: RequestInit) => Response | Promise<Response>;
const sites = new Map<string, Site>();
/** What else there is on the network: an address, and what is served there. Gives back how to take it down. */
export function serveAt(url: string, answer: Site): () => void {
  sites.set(url, answer);
  return () => sites.delete(url);
}

async function upstream(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const url = input instanceof Request ? input.url : String(input);
  const site = sites.get(url);
  if (site) return site(init ?? {});
  const server = servers.get(new URL(url).host);
  if (server) return askMcp(server, init);
  const raw = typeof init?.body === "string" ? init.body : "";
  const body = raw === "" ? null : (JSON.parse(raw) as ChatBody);
  const model = body && models.get(body.model);
  if (url !== `${BASE_URL}/chat/completions` || init?.method !== "POST" || !body || !model) {
    refused.push(`${init?.method ?? "GET"} ${url} ${body?.model ?? ""}`);
    throw new Error(`no network in tests: ${url}`);
  }
  // A real request leaves once what was written before it is durable; this one does not pass that gate by itself.
  await new Promise((resolve) => setTimeout(resolve, 1));
  if (init.signal?.aborted) throw new Error("aborted before it left");
  const headers = Object.fromEntries(new Headers(init.headers));
  const asked: Asked = { raw, body, aborted: false, headers };
  init.signal?.addEventListener("abort", () => {
    asked.aborted = true;
  });
  const reply = model.answer(asked);
  return respond(typeof reply === "function" ? reply(asked) : reply, asked);
}

function respond(reply: MockReply | Held, asked: Asked): Response {
  if (reply instanceof Held) return sse(reply, asked);
  if (reply.status !== undefined) {
    const body = reply.body ?? { error: { message: reply.text ?? "scripted", code: null } };
    return new Response(JSON.stringify(body), {
      status: reply.status,
      headers: { "content-type": "application/json", ...reply.headers },
    });
  }
  const parts = streamOf(
    { usage: USAGE, ...(reply.hang ? { finish: null } : {}), ...reply },
    { n: 1, model: asked.body.model, size: 0, includeUsage: true },
  );
  return sse({ take: () => parts.splice(0), over: !reply.hang }, asked);
}

/** Looks for pieces in its own object's time: a promise that the test resolves would be another object's. */
function sse(source: Pick<Held, "take" | "over">, asked: Asked): Response {
  const encoder = new TextEncoder();
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (;;) {
        if (asked.aborted) return controller.error(new Error("aborted"));
        const parts = source.take();
        if (parts.length > 0) return controller.enqueue(encoder.encode(parts.join("")));
        if (source.over) return controller.close();
        await new Promise((resolve) => setTimeout(resolve, 3));
      }
    },
    cancel() {
      asked.aborted = true;
    },
  });
  return new Response(stream, { headers: { "content-type": "text/event-stream" } });
}

/** Variables of the Worker and of its objects: what is set here they see. Gives back how to undo it. */
export function setVars(vars: Record<string, unknown>): () => void {
  const target = env as unknown as Record<string, unknown>;
  const before = Object.keys(vars).map((name) => [name, target[name], name in target] as const);
  for (const [name, value] of Object.entries(vars)) target[name] = value;
  return () => {
    for (const [name, value, there] of before) {
      if (there) target[name] = value;
      else delete target[name];
    }
  };
}

export function installUpstream(): void {
  if (!vi.isMockFunction(globalThis.fetch)) {
    vi.spyOn(globalThis, "fetch").mockImplementation(upstream);
  }
  setVars({ CUSTOM_BASE_URL: BASE_URL });
}
