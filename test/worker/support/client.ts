/**
 * A client of the Worker in the test pool. Whatever it makes is looked after: when a test ends, the log of every
 * session is held against the event oracle, every socket against its cursor, every model request against the
 * history oracle, every reply and frame against the API's description. Tests take their `it` from here, so none can forget.
 */
import { env, exports } from "cloudflare:workers";
import { it as base, expect, vi } from "vitest";
import type { Event, EventData, EventName } from "../../../src/core/events.ts";
import type { SessionView } from "../../../src/core/wire.ts";
import type { SessionObject } from "../../../src/worker/session.ts";
import { checkEvents, type LoggedEvent } from "../../support/event-oracle.ts";
import { replyFaults } from "./contract.ts";
import { Socket } from "./socket.ts";
import {
  forgetModels,
  installUpstream,
  type Model,
  refused,
  type Scripted,
  scripted,
  setVars,
} from "./upstream.ts";

export const ORIGIN = "http://localhost";
let clients: Client[] = [];
let sockets: Socket[] = [];

export interface Failure {
  error: { code: string; message: string; details?: unknown };
}
export interface Receipt {
  id: string;
  seq: number;
  duplicate: boolean;
  delivery?: string;
}
export interface Page {
  events: Event[];
  last_seq: number;
  epoch: string;
  reset?: boolean;
}

/** One request to the Worker; a body that is no text is sent as JSON. */
export async function api(path: string, init: RequestInit & { json?: unknown } = {}) {
  const { json, ...rest } = init;
  const response = await exports.default.fetch(`${ORIGIN}${path}`, {
    ...rest,
    ...(json === undefined ? {} : { method: rest.method ?? "POST", body: JSON.stringify(json) }),
  });
  const method = rest.method ?? (json === undefined ? "GET" : "POST");
  undescribed.push(...(await replyFaults(method, `${ORIGIN}${path}`, response)));
  return response;
}
/** Replies that were not as the API's description says. */
const undescribed: string[] = [];
export const failureOf = async (response: Response): Promise<Failure["error"]> =>
  ((await response.json()) as Failure).error;

/** Waits for what happens by itself; the time is a bound for a test that fails, never an expectation. */
export const until = (check: () => void | Promise<void>): Promise<void> =>
  vi.waitFor(check, { timeout: 30_000, interval: 4 });

export interface Options {
  mode?: "agent" | "chat" | "workflow" | "direct";
  settings?: Record<string, unknown>;
  headers?: Record<string, string>;
}

export class Client {
  readonly id: string;
  readonly epoch: string;
  readonly model: Model;
  readonly headers: Record<string, string>;
  /** The log holds a `repair` on purpose, or the session is gone. */
  damaged = false;
  deleted = false;

  constructor(view: SessionView, model: Model, headers: Record<string, string>) {
    this.id = view.id;
    this.epoch = view.epoch;
    this.model = model;
    this.headers = headers;
    clients.push(this);
  }

  static async create(script: Scripted[], options: Options = {}): Promise<Client> {
    const model = scripted(script);
    const settings = { provider: "custom", model: model.name, ...options.settings };
    const headers = options.headers ?? {};
    const json = { mode: options.mode ?? "agent", settings };
    const response = await api("/api/sessions", { json, headers });
    expect(response.status).toBe(201);
    return new Client(await response.json<SessionView>(), model, headers);
  }

  /** A new stub each time: one that was made before an abort is broken. */
  get stub(): DurableObjectStub<SessionObject> {
    return env.SESSION.getByName(this.id);
  }
  async fetch(path: string, init: RequestInit & { json?: unknown } = {}): Promise<Response> {
    const headers = { ...this.headers, ...(init.headers as Record<string, string>) };
    return api(`/api/sessions/${this.id}${path}`, { ...init, headers });
  }
  async post<T = Receipt>(path: string, json: unknown, status = 202): Promise<T> {
    const response = await this.fetch(path, { json });
    const body = await response.json<T>();
    expect({ status: response.status, body }).toEqual({ status, body });
    return body;
  }
  say(text: string, more: Record<string, unknown> = {}): Promise<Receipt> {
    return this.post("/messages", { text, ...more });
  }
  async answer(text: string, id?: string): Promise<Receipt> {
    const { wait } = await this.view();
    return this.post("/answers", { wait_id: wait?.wait_id ?? "none", text, ...(id ? { id } : {}) });
  }
  stop(): Promise<Receipt> {
    return this.post("/stop", {});
  }
  async view(): Promise<SessionView> {
    return (await this.fetch("")).json<SessionView>();
  }
  async page(query = ""): Promise<Page> {
    const response = await this.fetch(`/events${query}`);
    expect(response.status).toBe(200);
    return response.json<Page>();
  }
  async events(): Promise<Event[]> {
    const all: Event[] = [];
    for (;;) {
      const { events, last_seq } = await this.page(`?after=${all.length}`);
      all.push(...events);
      if (events.length === 0 || all.length >= last_seq) return all;
    }
  }
  async of<N extends EventName>(name: N): Promise<EventData<N>[]> {
    return (await this.events()).filter((e) => e.event === name).map((e) => e.data as EventData<N>);
  }
  async log(): Promise<string[]> {
    return (await this.events()).filter((e) => e.event !== "usage").map(short);
  }
  async status(...wanted: string[]): Promise<SessionView> {
    let view = await this.view();
    await until(async () => {
      view = await this.view();
      expect(wanted).toContain(view.status);
    });
    return view;
  }
  readonly sockets: Socket[] = [];
  async socket(query = ""): Promise<Socket> {
    const socket = await openSocket(`/api/sessions/${this.id}/ws${query}`, this.headers);
    this.sockets.push(socket);
    return socket;
  }
}

export async function openSocket(
  path: string,
  headers: Record<string, string> = {},
): Promise<Socket> {
  const response = await api(path, { headers: { upgrade: "websocket", ...headers } });
  if (!response.webSocket) throw new Error(`no socket: ${response.status}`);
  const socket = new Socket(response.webSocket);
  sockets.push(socket);
  return socket;
}

/** An event in a few words: what the contract's exact orders are written in. */
export function short(e: Event): string {
  const d = e.data as Record<string, unknown>;
  const detail = { message: d.kind ?? d.role, plan: d.op, notice: d.code, error: d.code }[
    e.event as "plan"
  ];
  const mark = detail ?? d.status ?? d.outcome ?? d.reason;
  return mark === undefined || e.event === "title" ? e.event : `${e.event}(${mark})`;
}

async function inspect(): Promise<void> {
  const faults = [...refused.splice(0).map((r) => `refused: ${r}`), ...undescribed.splice(0)];
  for (const socket of sockets) faults.push(...socket.faults());
  for (const client of clients.filter((c) => !c.deleted)) {
    const events = (await client.events()) as unknown as LoggedEvent[];
    faults.push(...checkEvents(events, client.damaged));
  }
  for (const model of forgetModels()) faults.push(...model.faults);
  expect(faults).toEqual([]);
}

const undos: (() => void)[] = [];
/** Variables for the rest of this test. */
export function useVars(vars: Record<string, unknown>): () => void {
  const undo = setVars(vars);
  undos.push(undo);
  return undo;
}

/** What a test left running is stopped: it would run into the next. */
async function reset(): Promise<void> {
  for (const socket of sockets) socket.close();
  for (const client of clients.filter((c) => !c.deleted)) {
    await client.fetch("/stop", { method: "POST" });
  }
  clients = [];
  sockets = [];
  // The last first: each puts back what was there before it.
  for (const undo of undos.splice(0).reverse()) undo();
}

/** vitest's `it` with the oracles behind every test. */
export function it(name: string, body: () => Promise<void>, timeout?: number): void {
  base(
    name,
    async () => {
      installUpstream();
      try {
        await body();
        await inspect();
      } finally {
        await reset();
        forgetModels();
        refused.length = 0;
        undescribed.length = 0;
      }
    },
    timeout,
  );
}
