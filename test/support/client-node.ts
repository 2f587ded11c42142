/** A client of a served product for end-to-end tests: plain HTTP and Node's own WebSocket, no code of the product. */
import assert from "node:assert/strict";
import { checkEvents } from "./event-oracle.ts";
import type { MockModel, MockReply, MockRequest } from "./mock-model.ts";

export interface StoredEvent {
  type: "event";
  seq: number;
  ts: string;
  event: string;
  data: Record<string, unknown>;
}
export interface Frame {
  type: string;
  [field: string]: unknown;
}
export interface View {
  id: string;
  status: string;
  last_seq: number;
  wait: {
    wait_id: string;
    kind: string;
    text: string;
    options?: string[];
    specialist?: string;
  } | null;
}

export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

/** Waits for what happens by itself. The time is a bound for a test that fails, never an expectation. */
export async function until(what: string, check: () => unknown, ms = 60_000): Promise<void> {
  const end = Date.now() + ms;
  while (!(await check())) {
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`);
    await pause(15);
  }
}

/** Replies by the name of the model, so that every session has a script of its own. */
export class Scripts {
  readonly #replies = new Map<string, MockReply[]>();
  readonly #mock: MockModel;
  constructor(mock: MockModel) {
    this.#mock = mock;
    mock.script((request) => this.#next(request));
  }
  #next(request: MockRequest): MockReply {
    return this.#replies.get(request.body.model ?? "")?.shift() ?? { hang: true, finish: null };
  }
  set(model: string, ...replies: MockReply[]): void {
    this.#replies.set(model, replies);
  }
  asked(model: string): MockRequest[] {
    return this.#mock.requests.filter((r) => r.body.model === model);
  }
}

/** One session, on whichever server it lives now. */
export class Remote {
  url: string;
  readonly id: string;
  constructor(url: string, id: string) {
    this.url = url;
    this.id = id;
  }
  static async create(url: string, model: string, mode = "agent"): Promise<Remote> {
    const response = await fetch(`${url}/api/sessions`, {
      method: "POST",
      body: JSON.stringify({ mode, settings: { provider: "custom", model } }),
    });
    assert.equal(response.status, 201);
    return new Remote(url, ((await response.json()) as View).id);
  }
  get at(): string {
    return `${this.url}/api/sessions/${this.id}`;
  }
  async post(path: string, body: unknown): Promise<{ status: number; body: Frame }> {
    const response = await fetch(`${this.at}${path}`, {
      method: "POST",
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Frame };
  }
  async say(text: string): Promise<void> {
    assert.equal((await this.post("/messages", { text })).status, 202);
  }
  async view(): Promise<View> {
    return (await (await fetch(this.at)).json()) as View;
  }
  async status(wanted: string, ms?: number): Promise<void> {
    await until(`${this.id} ${wanted}`, async () => (await this.view()).status === wanted, ms);
  }
  async events(): Promise<StoredEvent[]> {
    const page = (await (await fetch(`${this.at}/events`)).json()) as { events: StoredEvent[] };
    return page.events;
  }
  async of(name: string): Promise<Record<string, unknown>[]> {
    return (await this.events()).filter((e) => e.event === name).map((e) => e.data);
  }
  /** The log as the event oracle sees it. */
  async check(): Promise<void> {
    assert.deepEqual(checkEvents(await this.events()), []);
  }
  async connect(query = ""): Promise<Wire> {
    const wire = new Wire(`${this.at.replace(/^http/, "ws")}/ws${query}`);
    await wire.opened;
    return wire;
  }
}

/** A socket that keeps every frame, batches opened. */
export class Wire {
  readonly frames: Frame[] = [];
  readonly ws: WebSocket;
  readonly opened: Promise<void>;
  /** The code of its end, once both sides have closed. */
  closed: number | null = null;
  /** We have left. */
  left = false;
  constructor(url: string) {
    this.ws = new WebSocket(url);
    this.ws.addEventListener("message", (m) => this.#take(JSON.parse(String(m.data)) as Frame));
    this.ws.addEventListener("close", ({ code }) => {
      this.closed = code;
    });
    this.opened = new Promise((resolve, reject) => {
      this.ws.addEventListener("open", () => resolve(), { once: true });
      this.ws.addEventListener("error", () => reject(new Error("the socket did not open")), {
        once: true,
      });
    });
  }
  #take(frame: Frame): void {
    if (frame.type !== "batch") this.frames.push(frame);
    else for (const inner of frame.frames as Frame[]) this.#take(inner);
  }
  send(frame: unknown): void {
    this.ws.send(JSON.stringify(frame));
  }
  get events(): StoredEvent[] {
    return this.frames.filter((f) => f.type === "event") as unknown as StoredEvent[];
  }
  /** Live text by message id, as a client holds it. */
  get live(): Map<string, string> {
    const held = new Map<string, string>();
    for (const frame of this.frames.filter((f) => f.type === "live")) {
      const { message_id, text } = frame.data as { message_id: string; text: string };
      if (frame.event === "delta_reset") held.delete(message_id);
      if (frame.event === "message_delta") {
        held.set(message_id, (held.get(message_id) ?? "") + text);
      }
    }
    return held;
  }
  async has(what: string, find: (frame: Frame) => boolean, ms?: number): Promise<Frame> {
    await until(what, () => this.frames.some(find), ms);
    return this.frames.find(find) as Frame;
  }
  event(name: string, ms?: number): Promise<Frame> {
    return this.has(name, (f) => f.type === "event" && f.event === name, ms);
  }
  /** Every seq once, in order, from the cursor on. */
  whole(after: number): void {
    assert.deepEqual(
      this.events.map((e) => e.seq),
      this.events.map((_, i) => after + 1 + i),
    );
  }
  close(): void {
    this.left = true;
    this.ws.close(1000);
  }
}

export const call = (name: string, args: unknown): MockReply => ({
  tool_calls: [{ name, arguments: args }],
});
export const plan = (...steps: string[]): MockReply =>
  call("create_plan", {
    message: "I will.",
    language: "en",
    title: "The task",
    goal: "It is done",
    steps: steps.map((description, i) => ({ id: String(i + 1), description })),
  });
export const write = (path: string): MockReply =>
  call("file_write", { path, content: "x", brief: "write" });
export const complete = (): MockReply => call("complete_step", { success: true, result: "done" });
export const HANG: MockReply = { hang: true, finish: null };
