/**
 * The floor that the benchmark measures against: the least that any durable tool loop does. A Durable Object asks the
 * model with `fetch`, reads the stream, and writes two message rows and two event rows a step, in one transaction. Its
 * log can be filled and told to sockets, which hibernate.
 *
 * No client library, no plan, no tool, no validation, no error handling, no recovery: nothing could be left out.
 * (Its types are its own: a bare object needs little, and so it compiles wherever the other tests do.)
 */
interface Socket {
  send(text: string): void;
}
interface State {
  storage: {
    sql: { exec(query: string, ...bindings: unknown[]): Iterable<{ json: string }> };
    transactionSync(act: () => void): void;
  };
  acceptWebSocket(socket: Socket): void;
  getWebSockets(): Socket[];
}
interface Env {
  MODEL_URL: string;
  FLOOR: { getByName(name: string): { fetch(request: Request): Promise<Response> } };
}
declare const WebSocketPair: new () => { 0: Socket; 1: Socket };
interface ToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}
interface Chunk {
  choices: {
    delta?: {
      content?: string | null;
      tool_calls?: { id?: string; function?: { name?: string; arguments?: string } }[];
    };
  }[];
}
/** What a run is given: its name, the fields of every request, the messages to begin with, a tool's result. */
export interface FloorRun {
  model: string;
  fields: Record<string, unknown>;
  messages: unknown[];
  result: string;
}

/** Events, each as JSON. */
export interface FloorLog {
  events: string[];
}
const INSERT = "INSERT INTO events (json) VALUES (?)";
/** Events of a replay in one frame. */
const FRAME = 500;

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const [, name, what] = new URL(request.url).pathname.split("/");
    if (!name || name === "api") return new Response("ready");
    return what === undefined && request.method !== "POST"
      ? new Response("ready")
      : env.FLOOR.getByName(name).fetch(request);
  },
};

export class Floor {
  readonly #state: State;
  readonly #storage: State["storage"];
  readonly #env: Env;
  #seq = 0;

  constructor(state: State, env: Env) {
    this.#state = state;
    this.#storage = state.storage;
    this.#env = env;
  }

  async fetch(request: Request): Promise<Response> {
    const { sql } = this.#storage;
    sql.exec("CREATE TABLE IF NOT EXISTS messages (id INTEGER PRIMARY KEY, json TEXT) STRICT");
    sql.exec("CREATE TABLE IF NOT EXISTS events (seq INTEGER PRIMARY KEY, json TEXT) STRICT");
    const [, , what] = new URL(request.url).pathname.split("/");
    if (what === "ws") return this.#listen();
    if (what === "fill") return this.#fill((await request.json()) as FloorLog);
    if (what === "tell") return this.#tell((await request.json()) as FloorLog);
    return Response.json({ steps: await this.#loop((await request.json()) as FloorRun) });
  }

  /** The whole log, then whatever is told. */
  #listen(): Response {
    const { 0: theirs, 1: ours } = new WebSocketPair();
    this.#state.acceptWebSocket(ours);
    let frame: string[] = [];
    for (const { json } of this.#storage.sql.exec("SELECT json FROM events ORDER BY seq")) {
      if (frame.push(json) < FRAME) continue;
      ours.send(`{"type":"batch","frames":[${frame.join(",")}]}`);
      frame = [];
    }
    ours.send(`{"type":"batch","frames":[${frame.join(",")}]}`);
    return new Response(null, { status: 101, webSocket: theirs } as ResponseInit);
  }

  #fill({ events }: FloorLog): Response {
    this.#storage.transactionSync(() => {
      for (const json of events) this.#storage.sql.exec(INSERT, json);
    });
    return Response.json({ count: events.length });
  }

  /** One row and one frame an event; two at a time, as a step has them. */
  async #tell({ events }: FloorLog): Promise<Response> {
    for (const [i, json] of events.entries()) {
      this.#storage.sql.exec(INSERT, json);
      for (const socket of this.#state.getWebSockets()) socket.send(json);
      if (i % 2 === 1) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    return Response.json({ count: events.length });
  }

  async #loop({ model, fields, messages, result }: FloorRun): Promise<number> {
    const head = JSON.stringify({ model, ...fields }).slice(0, -1);
    // Kept as text: turning all of them into JSON again for every request would be most of the work of a long loop.
    const texts = messages.map((message) => JSON.stringify(message));
    for (let step = 1; ; step++) {
      const response = await fetch(`${this.#env.MODEL_URL}/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: "Bearer none" },
        body: `${head},"messages":[${texts.join(",")}]}`,
      });
      const { text, calls } = await readReply(response);
      const call = calls[0];
      if (!call || call.function.name === "complete_step") return step - 1;
      const reply = { role: "assistant", content: text === "" ? null : text, tool_calls: calls };
      const answer = { role: "tool", tool_call_id: call.id, content: result };
      const rows = [JSON.stringify(reply), JSON.stringify(answer)];
      this.#store(step, rows, call, result);
      texts.push(...rows);
    }
  }

  #store(step: number, rows: string[], call: ToolCall, result: string): void {
    const { sql } = this.#storage;
    const tool = {
      tool_call_id: call.id,
      function: call.function.name,
      args: call.function.arguments,
    };
    const events = [
      { event: "tool", data: { ...tool, status: "calling" } },
      { event: "tool", data: { ...tool, status: "called", content: { result } } },
    ];
    this.#storage.transactionSync(() => {
      rows.forEach((json, i) => {
        sql.exec("INSERT INTO messages (id, json) VALUES (?, ?)", 2 * step + i, json);
      });
      for (const event of events) {
        this.#seq += 1;
        const json = JSON.stringify({ seq: this.#seq, ts: new Date().toISOString(), ...event });
        sql.exec("INSERT INTO events (seq, json) VALUES (?, ?)", this.#seq, json);
      }
    });
  }
}

/** The stream of one reply, put together; good enough for the instant model and for nothing else. */
async function readReply(response: Response): Promise<{ text: string; calls: ToolCall[] }> {
  const decoder = new TextDecoder();
  const calls: ToolCall[] = [];
  let text = "";
  let buffer = "";
  for await (const bytes of response.body ?? []) {
    buffer += decoder.decode(bytes, { stream: true });
    const blocks = buffer.split("\n\n");
    buffer = blocks.pop() ?? "";
    for (const block of blocks) {
      if (!block.startsWith("data: ") || block === "data: [DONE]") continue;
      const delta = (JSON.parse(block.slice(6)) as Chunk).choices[0]?.delta;
      text += delta?.content ?? "";
      for (const part of delta?.tool_calls ?? []) take(calls, part);
    }
  }
  return { text, calls };
}

type Part = NonNullable<NonNullable<Chunk["choices"][0]["delta"]>["tool_calls"]>[0];

function take(calls: ToolCall[], { id, function: fn }: Part): void {
  if (id) {
    calls.push({ id, type: "function", function: { name: fn?.name ?? "", arguments: "" } });
  }
  const held = calls.at(-1);
  if (held) held.function.arguments += fn?.arguments ?? "";
}
