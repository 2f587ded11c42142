/**
 * The WebSocket of one session, kept alive over everything that happens to sockets.
 *
 * W1  Every stored event is handed on exactly once and in order, over any number of reconnects: what was seen
 *     is dropped, and a hole makes the connection start again from the last seq.
 * W2  A frame that was sent and not acknowledged is sent again, with the same id, after a reconnect.
 * W3  `send` never rejects: a refusal is a receipt like any other.
 * W4  Frames of one socket message are handed on together, so that a replay costs its reader one update.
 */
import type { ClientFrame, ServerFrame } from "../core/wire.ts";
import { backoff, cancel, type Timer } from "./backoff.ts";
import { type OpenSocket, openSocket, type SocketLike } from "./open.ts";

/** Any frame from the server, with batches already unpacked. */
export type Frame = Exclude<ServerFrame, { type: "batch" }>;
export type Outgoing = Exclude<ClientFrame, { type: "ping" }>;
export type Receipt =
  | { ok: true; seq: number; duplicate: boolean }
  | { ok: false; code: string; message: string };
export type ConnectionState = "connecting" | "open" | "offline";

export interface ConnectOptions {
  /** `http(s)://…` of the product, without a slash at its end. */
  baseUrl: string;
  session: string;
  token?: string;
  /** The cursor to start from; both or none. */
  after?: number;
  epoch?: string;
  onFrames(frames: Frame[]): void;
  onState?(state: ConnectionState): void;
  /** Pings are sent while this says true; without it there are none. */
  keepalive?(): boolean;
  open?: OpenSocket;
  random?(): number;
}

const PING_MS = 25_000;
const PONG_MS = 10_000;
/** A connection that lived less long does not reset the back-off. */
const STABLE_MS = 5_000;

const CLOSED: Receipt = { ok: false, code: "closed", message: "The connection was closed" };

export class Connection {
  readonly #options: ConnectOptions;
  readonly #outbox = new Map<string, { frame: Outgoing; settle: (receipt: Receipt) => void }>();
  #socket: SocketLike | null = null;
  #seq: number;
  #epoch: string;
  #state: ConnectionState = "connecting";
  #tries = 0;
  #openedAt = 0;
  /** The log began anew: its first event may carry any number. */
  #fresh = false;
  #closed = false;
  #retry: Timer;
  #ping: Timer;
  #pong: Timer;

  constructor(options: ConnectOptions) {
    this.#options = options;
    this.#seq = options.after ?? 0;
    this.#epoch = options.epoch ?? "";
    this.#open();
  }

  get state(): ConnectionState {
    return this.#state;
  }
  get lastSeq(): number {
    return this.#seq;
  }

  /** Resolves when the frame is durable, or was refused. */
  send(frame: Outgoing): Promise<Receipt> {
    if (this.#closed) return Promise.resolve(CLOSED);
    return new Promise((settle) => {
      this.#outbox.set(frame.id, { frame, settle });
      if (this.#state === "open") this.#write(frame);
    });
  }

  /** Does not wait out the back-off: the network is back, or the page is looked at again. */
  retryNow(): void {
    if (this.#socket || this.#retry === undefined) return;
    cancel(this.#retry);
    this.#open();
  }

  /** The network is gone, as far as the browser knows: the socket itself would be silent about it for a while. */
  lostNetwork(): void {
    if (this.#socket) this.#lost();
  }

  /** For good. What was not acknowledged is given up. */
  close(): void {
    this.#closed = true;
    this.#detach();
    cancel(this.#retry);
    this.#retry = undefined;
    for (const { settle } of this.#outbox.values()) {
      settle(CLOSED);
    }
    this.#outbox.clear();
  }

  #open(): void {
    this.#retry = undefined;
    const { baseUrl, session, token, open = openSocket } = this.#options;
    const cursor = new URLSearchParams({ after: String(this.#seq) });
    if (this.#epoch !== "") cursor.set("epoch", this.#epoch);
    const base = baseUrl.replace(/^http/, "ws");
    const url = `${base}/api/sessions/${encodeURIComponent(session)}/ws?${cursor}`;
    const socket = open(url, token ? { authorization: `Bearer ${token}` } : {});
    this.#socket = socket;
    const mine = (act: () => void) => () => {
      if (this.#socket === socket) act();
    };
    socket.addEventListener("message", ({ data }) => mine(() => this.#receive(data))());
    socket.addEventListener(
      "close",
      mine(() => this.#lost()),
    );
    socket.addEventListener(
      "error",
      mine(() => this.#lost()),
    );
  }

  #receive(data: unknown): void {
    cancel(this.#pong);
    let frames: Frame[];
    try {
      frames = unpack(JSON.parse(String(data)) as ServerFrame);
    } catch {
      // Something was lost on the way; the cursor gets it again.
      this.#lost();
      return;
    }
    const passed: Frame[] = [];
    let whole = true;
    for (const frame of frames) {
      const verdict = this.#take(frame);
      if (verdict === "pass") passed.push(frame);
      else if (verdict === "hole") whole = false;
      if (!whole) break;
    }
    if (passed.length > 0) this.#options.onFrames(passed);
    if (!whole) this.#lost();
  }

  #take(frame: Frame): "pass" | "drop" | "hole" {
    switch (frame.type) {
      case "hello":
      case "reset":
        if (frame.type === "reset") this.#seq = 0;
        this.#fresh = frame.type === "reset";
        this.#epoch = frame.epoch;
        this.#ready();
        return "pass";
      case "event":
        if (frame.seq <= this.#seq) return "drop";
        if (frame.seq > this.#seq + 1 && !this.#fresh) return "hole";
        this.#fresh = false;
        this.#seq = frame.seq;
        return "pass";
      case "ack":
        this.#settle(frame.id, { ok: true, seq: frame.seq, duplicate: frame.duplicate });
        return "pass";
      case "error":
        if (frame.id) {
          this.#settle(frame.id, { ok: false, code: frame.code, message: frame.message });
        }
        return "pass";
      default:
        return "pass";
    }
  }

  #settle(id: string, receipt: Receipt): void {
    this.#outbox.get(id)?.settle(receipt);
    this.#outbox.delete(id);
  }

  /** The first frame came: the cursor is agreed on, and what is still unacknowledged goes out. */
  #ready(): void {
    this.#openedAt = Date.now();
    this.#become("open");
    for (const { frame } of this.#outbox.values()) this.#write(frame);
    this.#schedulePing();
  }

  #schedulePing(): void {
    cancel(this.#ping);
    if (!this.#options.keepalive) return;
    this.#ping = setTimeout(() => {
      if (this.#options.keepalive?.()) {
        this.#write({ type: "ping" });
        cancel(this.#pong);
        this.#pong = setTimeout(() => this.#lost(), PONG_MS);
      }
      this.#schedulePing();
    }, PING_MS);
  }

  #write(frame: ClientFrame): void {
    try {
      this.#socket?.send(JSON.stringify(frame));
    } catch {
      // The socket died under us; its close event brings the frame back (W2).
    }
  }

  #lost(): void {
    const lived = this.#state === "open" ? Date.now() - this.#openedAt : 0;
    if (lived >= STABLE_MS) this.#tries = 0;
    this.#detach();
    cancel(this.#retry);
    const random = this.#options.random ?? Math.random;
    this.#retry = setTimeout(() => this.#open(), backoff(this.#tries++, random()));
    this.#become("offline");
  }

  #detach(): void {
    const socket = this.#socket;
    this.#socket = null;
    cancel(this.#ping);
    cancel(this.#pong);
    try {
      socket?.close(1000);
    } catch {
      // It was closed already.
    }
  }

  #become(state: ConnectionState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#options.onState?.(state);
  }
}

function unpack(frame: ServerFrame): Frame[] {
  return frame.type === "batch" ? frame.frames.flatMap(unpack) : [frame];
}
