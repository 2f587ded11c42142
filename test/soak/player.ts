/**
 * The person behind one session: makes it, speaks, answers, stops, and sends everything again until it was taken.
 *
 * P1  What was acknowledged once is written down as accepted; the end of the soak asks for each.
 */
import { randomUUID } from "node:crypto";
import { pause, type StoredEvent, type View } from "../support/client-node.ts";
import type { Dice } from "./dice.ts";
import { Follower, visit, type Way } from "./follower.ts";

export interface Accepted {
  id: string;
  kind: "message" | "answer";
  text: string;
}
export interface Shape {
  kind: string;
  mode: string;
  settings?: Record<string, unknown>;
}

const ENDED = ["completed", "failed", "stopped"];
/** What a server that is just starting or restarting answers. */
const PASSES = new Set([429, 500, 502, 503, 504]);

/** An answer with all of its body, or null: the server may die at any byte of it. */
async function whole(url: string, init: RequestInit): Promise<Response | null> {
  try {
    const response = await fetch(url, init);
    const { status, headers } = response;
    const body = await response.arrayBuffer();
    return new Response(body.byteLength === 0 ? null : body, { status, headers });
  } catch {
    return null;
  }
}

export class Player {
  readonly shape: Shape;
  readonly name: string;
  readonly chance: Dice;
  readonly accepted: Accepted[] = [];
  readonly faults: string[] = [];
  id = "";
  deleted = false;
  follower!: Follower;
  readonly #url: string;
  readonly #left: () => number;
  readonly #calm: number;

  /** `left`: milliseconds until nobody waits for anything any more. */
  constructor(
    url: string,
    shape: Shape,
    n: number,
    chance: Dice,
    left: () => number,
    calm: number,
  ) {
    this.#url = url;
    this.shape = shape;
    this.name = `${shape.kind}-${n}`;
    this.chance = chance;
    this.#left = left;
    this.#calm = calm;
  }
  get at(): string {
    return `${this.#url}/api/sessions/${this.id}`;
  }

  /** Again and again, until there is a reply that stands. */
  async send(url: string, init: RequestInit = {}): Promise<Response> {
    for (;;) {
      const response = await whole(url, { ...init, signal: AbortSignal.timeout(60_000) });
      if (response && !PASSES.has(response.status)) return response;
      if (this.#left() === 0) throw new Error(`${this.name}: no answer from ${url}`);
      await pause(this.chance.between(50, 400));
    }
  }
  async json<T>(
    path: string,
    method = "GET",
    body?: unknown,
  ): Promise<{ status: number; body: T }> {
    const init = { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const response = await this.send(`${this.at}${path}`, init);
    const text = await response.text();
    return { status: response.status, body: (text ? JSON.parse(text) : null) as T };
  }

  /** Bound to a key: one that was made, but whose reply was lost, is found again. */
  async begin(settings: Record<string, unknown>): Promise<void> {
    const body = { mode: this.shape.mode, key: this.name, settings };
    const response = await this.send(`${this.#url}/api/sessions`, {
      method: "POST",
      body: JSON.stringify(body),
    });
    const view = (await response.json()) as View;
    if (!response.ok) throw new Error(`${this.name}: not made, ${JSON.stringify(view)}`);
    this.id = view.id;
    const way = this.chance.pick<Way>(["socket", "socket", "stream", "pages"]);
    this.follower = new Follower(this.at, way, this.chance, this.#calm);
    this.follower.come();
  }

  async say(text: string, more: Record<string, unknown> = {}): Promise<void> {
    const id = randomUUID();
    if (this.chance.hits(0.4) && more.attachments === undefined)
      await this.#byFrame(id, text, more);
    const { status, body } = await this.json<{ delivery?: string }>("/messages", "POST", {
      ...{ id, text },
      ...more,
    });
    if (status !== 202) return this.#refused("a message", status, body);
    const kind = body.delivery === "answer" ? "answer" : "message";
    this.accepted.push({ id, kind, text });
  }
  /** Over a socket of its own, and gone at once: whether it arrived is not known, so it is sent again. */
  async #byFrame(id: string, text: string, more: Record<string, unknown>): Promise<void> {
    const { end, over } = visit(
      `${this.at}/ws?after=0`,
      (frame) => {
        if ((frame.type as string) === "ack" && frame.id === id) end();
      },
      (ws) => {
        ws.send(JSON.stringify({ type: "message", id, text, ...more }));
        if (this.chance.hits(0.3)) end();
      },
    );
    const timer = setTimeout(end, 3_000);
    await over;
    clearTimeout(timer);
  }

  /** Somebody else may have been quicker: then there is nothing to answer any more. */
  async answer(reply: { text?: string; approved?: boolean }): Promise<void> {
    const wait = this.follower.events.findLast((e) => e.event === "wait");
    const id = randomUUID();
    const sent = { id, wait_id: wait?.data.wait_id, ...reply };
    const { status, body } = await this.json("/answers", "POST", sent);
    if (status === 202) this.accepted.push({ id, kind: "answer", text: reply.text ?? "" });
    else this.#refused("an answer", status, body);
  }
  async stop(): Promise<void> {
    const { status, body } = await this.json("/stop", "POST", { id: randomUUID() });
    if (status !== 202) this.#refused("a stop", status, body);
  }
  #refused(what: string, status: number, body: unknown): void {
    this.faults.push(`${what} was refused: ${status} ${JSON.stringify(body)}`);
  }

  sees(what: string, check: (events: StoredEvent[]) => boolean): Promise<void> {
    return this.follower.sees(what, check, this.#left());
  }
  /** The nth turn is over. */
  ended(run = 1): Promise<void> {
    return this.sees(`the end of turn ${run}`, (events) => endsOf(events) >= run);
  }
  /** The nth turn waits for an answer, or is over without (a fault may have seen to that). */
  async waits(run = 1): Promise<boolean> {
    const asks = (events: StoredEvent[]): boolean => {
      const last = events.findLast((e) => e.event === "status_update" || e.event === "answer");
      return last?.data.status === "waiting";
    };
    await this.sees("a wait", (events) => asks(events) || endsOf(events) >= run);
    return asks(this.follower.events);
  }
}

const endsOf = (events: StoredEvent[]): number =>
  events.filter((e) => e.event === "status_update" && ENDED.includes(String(e.data.status))).length;
