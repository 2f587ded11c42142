/** A client's end of a session's socket: frames in order, batches opened. */
import { expect } from "vitest";
import type { Event } from "../../../src/core/events.ts";
import type { ServerFrame } from "../../../src/core/wire.ts";
import { until } from "./client.ts";
import { frameFaults } from "./contract.ts";

/** Frames of one socket that are held against their description; some tests make very many. */
const LOOKED_AT = 100;

type Of<T extends ServerFrame["type"]> = Extract<ServerFrame, { type: T }>;

export class Socket {
  readonly ws: WebSocket;
  readonly frames: ServerFrame[] = [];
  /** As they came. */
  readonly texts: string[] = [];
  closed: { code: number; reason: string } | null = null;

  constructor(ws: WebSocket) {
    this.ws = ws;
    ws.addEventListener("message", (m) => {
      this.texts.push(String(m.data));
      this.#open(JSON.parse(String(m.data)) as ServerFrame);
    });
    ws.addEventListener("close", ({ code, reason }) => {
      this.closed = { code, reason };
    });
    ws.accept();
  }
  #open(frame: ServerFrame): void {
    if (frame.type === "batch") for (const inner of frame.frames) this.#open(inner);
    else this.frames.push(frame);
  }

  send(frame: unknown): void {
    this.ws.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  }
  close(): void {
    if (!this.closed) this.ws.close(1000, "done");
  }
  all<T extends ServerFrame["type"]>(type: T): Of<T>[] {
    return this.frames.filter((f): f is Of<T> => f.type === type);
  }
  get events(): Event[] {
    return this.all("event");
  }
  get seqs(): number[] {
    return this.events.map((e) => e.seq);
  }
  /** The live text of a message, as a client would hold it. */
  get live(): Map<string, string> {
    const held = new Map<string, string>();
    for (const frame of this.all("live")) {
      if (frame.event === "delta_reset") held.delete(frame.data.message_id);
      if (frame.event !== "message_delta") continue;
      const { message_id, text } = frame.data;
      held.set(message_id, (held.get(message_id) ?? "") + text);
    }
    return held;
  }
  async has<T extends ServerFrame["type"]>(type: T, n = 1): Promise<Of<T>[]> {
    await until(() => expect(this.all(type).length).toBeGreaterThanOrEqual(n));
    return this.all(type);
  }
  async ack(id: string): Promise<Of<"ack">> {
    await until(() => expect(this.all("ack").map((a) => a.id)).toContain(id));
    return this.all("ack").find((a) => a.id === id) as Of<"ack">;
  }
  async status(status: string): Promise<void> {
    const statuses = () =>
      this.events.flatMap((e) => (e.event === "status_update" ? [e.data.status] : []));
    await until(() => expect(statuses().at(-1)).toBe(status));
  }
  async ended(n = 1): Promise<void> {
    await this.has("stream_end", n);
  }

  /** Every seq once and in order, from the cursor on; every frame below 1 MiB. */
  faults(): string[] {
    const first = this.frames.find((f) => f.type === "hello" || f.type === "reset");
    const after = first?.type === "hello" ? first.after : 0;
    const faults: string[] = [];
    this.seqs.forEach((seq, i) => {
      if (seq !== after + 1 + i) faults.push(`socket: seq ${seq} in place ${after + 1 + i}`);
    });
    for (const text of this.texts.slice(0, LOOKED_AT))
      faults.push(...frameFaults(JSON.parse(text)));
    for (const text of this.texts) {
      const bytes = new TextEncoder().encode(text).byteLength;
      if (bytes > 1024 * 1024) faults.push(`socket: a frame of ${bytes} bytes`);
    }
    return faults;
  }
}
