/**
 * The sockets of one session. They hibernate: what must be known of one is its tags, by which the platform finds it.
 *
 * S1  Replay and attach are one synchronous step, so nothing falls between them and nothing comes twice.
 * S2  Stored events are sent after their commit, in order; live frames are joined, the first at once. What a loop does
 *     step by step may be joined in the same way; what people do, wait for or end with is sent at once.
 * S3  The log is never parsed for a replay: its stored texts are joined.
 */
import type { Event } from "../core/events.ts";
import { LIMITS } from "../core/limits.ts";
import type { LiveFrame } from "../core/ports.ts";
import type { ServerFrame } from "../core/wire.ts";
import type { SessionStore } from "./store.ts";

/** Frames joined into one batch at the most, and their characters: small enough to read between two paints. */
const BATCH_FRAMES = 500;
const BATCH_CHARS = 128 * 1024;

/** `live`: it is told everything; `stored`: it wants no live frames, as the Worker's own streams do not. */
export type Wants = "live" | "stored";
/** A person may be behind it: a client's socket or stream, not a request that only waits for its reply. */
const ATTENDS = "attends";

/** Events of a loop at work: bursts of them go out together. */
const BURSTS: ReadonlySet<Event["event"]> = new Set(["tool", "step", "usage", "nudge"]);

type Spoken = Extract<LiveFrame, { data: { text: string } }>;

export class Sockets {
  readonly #ctx: DurableObjectState;
  /** Live text so far by message or call, for whoever joins mid-stream. */
  readonly #soFar = new Map<string, Spoken>();
  /** Live frames, and stored events as text. */
  #pending: (LiveFrame | string)[] = [];
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx;
    ctx.setWebSocketAutoResponse(
      new WebSocketRequestResponsePair('{"type":"ping"}', '{"type":"pong"}'),
    );
  }

  get attended(): boolean {
    return this.#ctx.getWebSockets(ATTENDS).length > 0;
  }

  /** Accepts a socket and brings it up to date. `opening` comes before the replay. */
  attach(
    ws: WebSocket,
    { wants, attends }: { wants: Wants; attends: boolean },
    opening: ServerFrame[],
    store: SessionStore,
    after: number,
  ): void {
    // What is under way goes to the others first: the newcomer gets it within the log and the text so far.
    this.flush();
    // Read before the socket is: a log that cannot be read is mended first.
    const texts = [...replay(store, after)];
    this.#ctx.acceptWebSocket(ws, attends ? [wants, ATTENDS] : [wants]);
    for (const frame of opening) send(ws, JSON.stringify(frame));
    for (const text of texts) send(ws, text);
    if (wants !== "live") return;
    for (const frame of this.#soFar.values()) send(ws, JSON.stringify({ type: "live", ...frame }));
  }

  /** Events of one commit, and what ends a stream after them. */
  events(events: Event[], ended: { session_id: string; run: number } | null): void {
    this.#pending.push(...events.flatMap((e) => [...this.#replayed(e), JSON.stringify(e)]));
    for (const e of events) this.#settle(e);
    if (ended) this.#pending.push(JSON.stringify({ type: "stream_end", ...ended }));
    const burst = !ended && events.every((e) => BURSTS.has(e.event));
    if (!burst) this.flush();
    this.#soon();
  }

  live(frame: LiveFrame): void {
    if (frame.event === "delta_reset") this.#forget(frame.data.message_id);
    if ("text" in frame.data) this.#extend(frame as Spoken);
    if (!this.#join(frame)) this.#pending.push(frame);
    this.#soon();
  }

  /** The first at once, what follows within a short while together. */
  #soon(): void {
    if (this.#timer !== null || this.#pending.length === 0) return;
    const crowd = this.flush() > LIMITS.crowd;
    this.#timer = setTimeout(
      () => {
        this.#timer = null;
        this.#soon();
      },
      crowd ? LIMITS.crowdMs : LIMITS.liveMs,
    );
  }

  #extend(frame: Spoken): void {
    const key = keyOf(frame);
    const held = this.#soFar.get(key)?.data.text ?? "";
    const text = held + frame.data.text;
    const newest =
      text.length > 2 * LIMITS.liveChars ? text.slice(-LIMITS.liveChars).toWellFormed() : text;
    this.#soFar.set(key, { ...frame, data: { ...frame.data, text: newest } } as Spoken);
  }

  /** An answer that could not be streamed, because its reply was held back until it had passed, comes as live text. */
  #replayed(e: Event): string[] {
    if (e.event !== "message" || (e.data.kind !== "final" && e.data.kind !== "answer")) return [];
    const { message_id, content } = e.data;
    const frame: LiveFrame = { event: "message_delta", data: { message_id, text: content } };
    if (content === "" || this.#soFar.has(keyOf(frame))) return [];
    return [JSON.stringify({ type: "live", ...frame })];
  }

  /** What is stored need not be told as live text any more. */
  #settle(e: Event): void {
    if (e.event === "message") this.#forget(e.data.message_id);
    if (e.event === "tool" && e.data.status === "called") this.#forget(e.data.tool_call_id);
    if (e.event === "done") this.#soFar.clear();
  }
  #forget(target: string): void {
    for (const [key, held] of this.#soFar) if (targetOf(held) === target) this.#soFar.delete(key);
  }

  /** Adds a piece of text to the last pending one of the same kind and target. */
  #join(frame: LiveFrame): boolean {
    const last = this.#pending.at(-1);
    if (
      !last ||
      typeof last === "string" ||
      last.event !== frame.event ||
      !("text" in last.data) ||
      !("text" in frame.data)
    ) {
      return false;
    }
    if (targetOf(last) !== targetOf(frame)) return false;
    // A copy: the frame that was given belongs to whoever gave it.
    this.#pending[this.#pending.length - 1] = {
      ...last,
      data: { ...last.data, text: last.data.text + frame.data.text },
    } as LiveFrame;
    return true;
  }

  /** Sends what waits to be sent; tells to how many. */
  flush(): number {
    if (this.#pending.length === 0) return 0;
    const pending = this.#pending;
    this.#pending = [];
    const those = (wants: Wants) => this.#ctx.getWebSockets(wants);
    const [listening, others] = [those("live"), those("stored")];
    if (listening.length > 0) {
      const told = pending.map((p) =>
        typeof p === "string" ? p : JSON.stringify({ type: "live", ...p }),
      );
      for (const text of batches(told)) for (const ws of listening) send(ws, text);
    }
    if (others.length > 0) {
      const stored = pending.filter((p) => typeof p === "string");
      for (const text of batches(stored)) for (const ws of others) send(ws, text);
    }
    return listening.length + others.length;
  }

  /** To whoever listens: what stands in no log. */
  tell(frame: ServerFrame): void {
    for (const ws of this.#ctx.getWebSockets()) send(ws, JSON.stringify(frame));
  }
  closeAll(code: number, reason: string): void {
    for (const ws of this.#ctx.getWebSockets()) ws.close(code, reason);
  }
}

const targetOf = (frame: LiveFrame): string =>
  "message_id" in frame.data
    ? frame.data.message_id
    : "tool_call_id" in frame.data
      ? frame.data.tool_call_id
      : "";

const keyOf = (frame: Spoken): string => `${frame.event} ${targetOf(frame)}`;

/** A socket that is closing throws; its client comes back with its cursor. */
export function send(ws: WebSocket, text: string): void {
  try {
    ws.send(text);
  } catch {
    // Gone: nothing to do.
  }
}

/** The other half of a close. 1005 and 1006 say that none was given; they cannot be sent. */
export function leave(ws: WebSocket, code: number): void {
  try {
    if (code === 1005 || code === 1006) ws.close();
    else ws.close(code);
  } catch {
    // Already gone.
  }
}

function* batches(texts: string[]): Generator<string> {
  let group: string[] = [];
  let size = 0;
  for (const text of texts) {
    if (group.length > 0 && (group.length >= BATCH_FRAMES || size + text.length > BATCH_CHARS)) {
      yield envelope(group);
      group = [];
      size = 0;
    }
    group.push(text);
    size += text.length;
  }
  if (group.length > 0) yield envelope(group);
}
const envelope = (group: string[]): string =>
  group.length === 1 ? (group[0] as string) : `{"type":"batch","frames":[${group.join(",")}]}`;

/** The stored log after a cursor, as batch frames of joined texts. */
function* replay(store: SessionStore, after: number): Generator<string> {
  let group: string[] = [];
  let size = 0;
  for (const { json } of store.log(after)) {
    if (group.length > 0 && (group.length >= BATCH_FRAMES || size + json.length > BATCH_CHARS)) {
      yield `{"type":"batch","frames":[${group.join(",")}]}`;
      group = [];
      size = 0;
    }
    group.push(json);
    size += json.length;
  }
  if (group.length > 0) yield `{"type":"batch","frames":[${group.join(",")}]}`;
}
