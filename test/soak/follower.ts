/**
 * A client that follows one session and comes and goes: over WebSocket, over an event stream, by asking for pages. It
 * keeps every event it was given, and holds each against its cursor.
 *
 * F1  What it is given goes on exactly where its cursor stands: a gap, a double or a log that began anew is a fault.
 */
import type { StoredEvent } from "../support/client-node.ts";
import { pause, until } from "../support/client-node.ts";
import type { Dice } from "./dice.ts";

export type Way = "socket" | "stream" | "pages";
export interface Frame extends StoredEvent {
  frames?: Frame[];
  epoch?: string;
  id?: string;
  reset?: boolean;
}

/** Milliseconds that it stays, and that it is away, in a small crowd. */
const STAYS = [300, 4_000] as const;
const AWAY = [20, 800] as const;

export class Follower {
  readonly events: StoredEvent[] = [];
  readonly faults: string[] = [];
  connections = 0;
  epoch = "";
  readonly #at: string;
  readonly #way: Way;
  readonly #chance: Dice;
  readonly #calm: number;
  #over = false;
  #leave: () => void = () => {};
  #gone: Promise<void> | null = null;

  /** `calm`: so many times longer, so that a large crowd does not do nothing but come and go. */
  constructor(at: string, way: Way, chance: Dice, calm: number) {
    this.#at = at;
    this.#way = way;
    this.#chance = chance;
    this.#calm = calm;
  }
  #ms([from, to]: readonly [number, number]): number {
    return this.#chance.between(from, to) * this.#calm;
  }

  /** Comes, and goes on coming until it is told to leave. */
  come(): void {
    this.#over = false;
    this.#gone ??= this.#live();
  }
  /** Leaves for good, or until it comes again. */
  async leave(): Promise<void> {
    this.#over = true;
    this.#leave();
    await this.#gone;
    this.#gone = null;
  }
  async sees(what: string, check: (events: StoredEvent[]) => boolean, ms: number): Promise<void> {
    await until(`${this.#at}: ${what}`, () => check(this.events), ms);
  }

  async #live(): Promise<void> {
    while (!this.#over) {
      this.connections += 1;
      await this.#visit().catch(() => {});
      if (!this.#over) await pause(this.#ms(AWAY));
    }
  }
  #visit(): Promise<void> {
    if (this.#way === "pages") return this.#page();
    return this.#way === "socket" ? this.#socket() : this.#stream();
  }
  get #cursor(): string {
    return `after=${this.events.length}&epoch=${this.epoch}`;
  }

  #socket(): Promise<void> {
    const { end, over } = visit(`${this.#at}/ws?${this.#cursor}`, (frame) => this.#take(frame));
    const timer = setTimeout(end, this.#ms(STAYS));
    this.#leave = end;
    return over.finally(() => clearTimeout(timer));
  }

  async #stream(): Promise<void> {
    const leaving = new AbortController();
    const timer = setTimeout(() => leaving.abort(), this.#ms(STAYS));
    this.#leave = () => leaving.abort();
    try {
      const response = await fetch(`${this.#at}/events?epoch=${this.epoch}`, {
        headers: { accept: "text/event-stream", "last-event-id": String(this.events.length) },
        signal: leaving.signal,
      });
      let text = "";
      for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        const blocks = (text + part).split("\n\n");
        text = blocks.pop() ?? "";
        for (const block of blocks) {
          const data = /^data: (.*)$/m.exec(block)?.[1];
          if (data) this.#take(JSON.parse(data) as Frame);
        }
      }
    } finally {
      clearTimeout(timer);
    }
  }

  async #page(): Promise<void> {
    const response = await fetch(`${this.#at}/events?${this.#cursor}&limit=40`);
    if (!response.ok) return;
    const page = (await response.json()) as { events: Frame[]; epoch: string; reset?: boolean };
    if (page.reset) this.#fault("the cursor could not be served");
    this.epoch = page.epoch;
    for (const event of page.events) this.#take(event);
  }

  #take(frame: Frame): void {
    const type = frame.type as string;
    if (type === "batch") for (const inner of frame.frames ?? []) this.#take(inner);
    if (type === "hello") this.epoch = frame.epoch ?? "";
    if (type === "reset") this.#fault("the log began anew");
    if (type !== "event") return;
    if (frame.seq === this.events.length + 1) this.events.push(frame);
    else this.#fault(`event ${frame.seq} after ${this.events.length}`);
  }
  #fault(text: string): void {
    // The first ones say it all.
    if (this.faults.length < 3) this.faults.push(`${this.#way}: ${text}`);
  }
}

/** A socket until somebody ends it. (Closing one again that failed would never come to an end itself.) */
export function visit(
  url: string,
  take: (frame: Frame) => void,
  open: (ws: WebSocket) => void = () => {},
): { end(): void; over: Promise<void> } {
  const ws = new WebSocket(url.replace(/^http/, "ws"));
  const { promise: over, resolve } = Promise.withResolvers<void>();
  let ended = false;
  const end = (): void => {
    if (ended) return;
    ended = true;
    ws.close();
    resolve();
  };
  ws.addEventListener("open", () => open(ws));
  // What still comes after the end is not looked at: it comes again, after the cursor.
  ws.addEventListener("message", (m) => {
    if (!ended) take(JSON.parse(String(m.data)) as Frame);
  });
  ws.addEventListener("close", end);
  ws.addEventListener("error", end);
  return { end, over };
}
