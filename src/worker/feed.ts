/**
 * A stream that the Worker holds for an HTTP client over a hibernatable socket to the session: the session sleeps
 * while the stream stays open, and the stream ends with its client.
 */
import type { Event } from "../core/events.ts";
import { Tally } from "../core/tally.ts";
import type { Usage } from "../core/usage.ts";
import type { ServerFrame, TurnResult } from "../core/wire.ts";
import type { SessionStub } from "./ids.ts";

/** How the Worker asks for a socket on behalf of an owner; a header takes ASCII alone. */
export const upgradeOf = (owner: string): Record<string, string> => ({
  upgrade: "websocket",
  "x-dormouse-owner": encodeURIComponent(owner),
});

/** Opens a socket to the session as its owner. `live=0`: stored events only. */
export async function connect(
  stub: SessionStub,
  owner: string,
  query: string,
): Promise<WebSocket | null> {
  const response = await stub.fetch(`https://session/ws?live=0&${query}`, {
    headers: upgradeOf(owner),
  });
  return response.webSocket;
}

/** Calls `take` with each frame in order, batches opened. */
export function listen(ws: WebSocket, take: (frame: ServerFrame) => void): void {
  const open = (frame: ServerFrame): void => {
    if (frame.type === "batch") for (const inner of frame.frames) open(inner);
    else take(frame);
  };
  ws.addEventListener("message", (m) => open(JSON.parse(String(m.data)) as ServerFrame));
  ws.accept();
}

const KEEP_ALIVE_MS = 20_000;
/** Between two tries to listen to a session that closed the socket. */
const RETRY_MS = 500;

/** Server-sent events: `id:` the seq, `event:` the name, `data:` the whole event. */
export function eventStream(ws: WebSocket): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let timer: ReturnType<typeof setInterval> | undefined;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const write = (text: string) => controller.enqueue(encoder.encode(text));
      const close = () => {
        clearInterval(timer);
        try {
          controller.close();
        } catch {
          // Already cancelled by the client.
        }
      };
      write(": open\n\n");
      timer = setInterval(() => write(": keep-alive\n\n"), KEEP_ALIVE_MS);
      ws.addEventListener("close", close);
      ws.addEventListener("error", close);
      listen(ws, (frame) => {
        if (frame.type === "event") {
          write(`id: ${frame.seq}\nevent: ${frame.event}\ndata: ${JSON.stringify(frame)}\n\n`);
        }
        // A cursor that could not be served: what follows starts over.
        if (frame.type === "reset") write(`event: reset\ndata: ${JSON.stringify(frame)}\n\n`);
      });
    },
    cancel() {
      clearInterval(timer);
      ws.close(1000, "the client left");
    },
  });
}

/** What some events say of a turn: its last words, its files, what went wrong. */
export function wordsOf(
  events: readonly Event[],
): Pick<TurnResult, "message" | "attachments" | "error"> {
  const tally = new Tally(0);
  for (const event of events) tally.take(event);
  return tally.result("completed");
}

export interface Listening {
  /** Called with each event, and what the turn has spent by then. */
  heard?: (event: Event, spent: Usage) => void;
  /** Aborted when nobody wants to know any longer. */
  signal?: AbortSignal;
}

/**
 * One socket's worth of waiting: the result, or null when the socket closed or the time is over. A wait that was
 * answered since is none.
 */
function hear(
  ws: WebSocket,
  tally: Tally,
  seq: number,
  ms: number,
  { heard, signal }: Listening,
): Promise<TurnResult | null> {
  return new Promise((resolve) => {
    const finish = (result: TurnResult | null) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", leave);
      ws.close(1000, "done");
      resolve(result);
    };
    const leave = () => finish(null);
    const timer = setTimeout(leave, ms);
    signal?.addEventListener("abort", leave);
    ws.addEventListener("close", leave);
    /** The newest event when the socket was opened: up to there it is past. */
    let known = 0;
    let rests: TurnResult["outcome"] | null = null;
    listen(ws, (frame) => {
      if (frame.type === "hello" || frame.type === "reset") known = frame.last_seq;
      if (frame.type !== "event" || frame.seq <= tally.seq) return;
      const outcome = tally.take(frame);
      heard?.(frame, tally.usage);
      if (frame.event === "status_update") rests = frame.seq >= seq ? outcome : null;
      if (rests && (rests !== "waiting" || frame.seq >= known)) finish(tally.result(rests));
    });
  });
}

/**
 * Waits until the turn that took in a message ends or waits, at most `seconds`; null when it goes on. Reads from the
 * turn's first event, so that usage is the whole turn's; a session that is restarted meanwhile is listened to again.
 */
export async function awaitTurn(
  stub: SessionStub,
  owner: string,
  ack: { seq: number; from: number },
  seconds: number,
  listening: Listening = {},
): Promise<TurnResult | null> {
  const tally = new Tally(ack.from - 1);
  const deadline = Date.now() + seconds * 1000;
  const over = () => listening.signal?.aborted === true;
  for (let left = seconds * 1000; left > 0 && !over(); left = deadline - Date.now()) {
    const ws = await connect(stub, owner, `after=${tally.seq}&attends=0`).catch(() => null);
    const result = ws && (await hear(ws, tally, ack.seq, left, listening));
    if (result || over()) return result;
    await scheduler.wait(Math.min(RETRY_MS, Math.max(0, deadline - Date.now())));
  }
  return null;
}
