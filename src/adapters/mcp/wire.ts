/**
 * The way to one MCP server: every request of the client library goes through this `fetch`, which decides whether it
 * may leave and notes how far it came. Only here is it known whether a call that failed can have been done.
 *
 * W1  A request to an address that is not allowed never leaves; each hop of a redirect is judged again.
 * W2  No stream is held open for messages that nobody asked for: it would keep a session awake. A stream that broke
 *     under an answer is taken up again.
 * W3  An answer is bounded.
 */
import { LIMITS } from "../../core/limits.ts";

/** How far one call came. */
export interface Trace {
  /** It was handed to the network. */
  sent: boolean;
  /** The connection was not made, so nothing can have been done. (Not every platform tells.) */
  refused: boolean;
  /** HTTP status of the answer. */
  status: number | null;
  sessionId: string | null;
}

export interface Traced {
  trace: Trace;
  /** Marks the call's request; it does not leave this machine. */
  headers: Record<string, string>;
  /** Rejects when the answer's stream has ended and the library will not take it up again. */
  lost: Promise<never>;
  /** Must be called: it lets go of the timers. */
  end(): void;
}

export interface Wire {
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
  traced(): Traced;
  /** The last request, whatever it was for. */
  readonly last: Trace & { blocked: boolean };
}

const MARK = "x-dormouse-call";
/** A stream that ended may still be read: how long until a call without an answer counts as lost. */
const LOST_MS = 250;
/** Codes of Node: the connection was never made. */
const NEVER_MADE =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;

function neverMade(error: unknown): boolean {
  for (let at = error, n = 0; at instanceof Error && n < 5; at = at.cause, n++) {
    if (NEVER_MADE.test(String((at as { code?: unknown }).code))) return true;
  }
  return false;
}

export class LostAnswer extends Error {}
export class TooLarge extends Error {}
export class Blocked extends Error {}

const fresh = (): Trace => ({ sent: false, refused: false, status: null, sessionId: null });

interface Open {
  trace: Trace;
  ended(resumable: boolean): void;
}

/** `refusal`: why a URL may not be asked; null: it may. */
export function createWire(refusal: (url: URL) => string | null): Wire {
  const calls = new Map<string, Open>();
  const last = { ...fresh(), blocked: false };
  let count = 0;

  async function send(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    const call = calls.get(headers.get(MARK) ?? "");
    headers.delete(MARK);
    if (init.method === "GET" && !headers.has("last-event-id")) {
      return new Response(null, { status: 405 });
    }
    const note = (seen: Partial<Trace>) => {
      Object.assign(last, seen);
      if (call) Object.assign(call.trace, seen);
    };
    Object.assign(last, fresh(), { blocked: refusal(new URL(url)) !== null });
    if (last.blocked) throw new Blocked();
    note({ sent: true, sessionId: headers.get("mcp-session-id") });
    try {
      const response = await fetch(url, { ...init, headers });
      note({ status: response.status });
      return watched(response, (resumable) => call?.ended(resumable));
    } catch (error) {
      note({ refused: neverMade(error) });
      throw error;
    }
  }

  function traced(): Traced {
    const id = String(++count);
    const trace = fresh();
    const lost = Promise.withResolvers<never>();
    // Whoever has its answer does not wait for this any longer.
    lost.promise.catch(() => {});
    const timers: ReturnType<typeof setTimeout>[] = [];
    const ended = (resumable: boolean): void => {
      if (!resumable) timers.push(setTimeout(() => lost.reject(new LostAnswer()), LOST_MS));
    };
    calls.set(id, { trace, ended });
    const end = (): void => {
      calls.delete(id);
      for (const timer of timers) clearTimeout(timer);
    };
    return { trace, headers: { [MARK]: id }, lost: lost.promise, end };
  }
  return { fetch: send, traced, last };
}

/** The same response, bounded, with a word when its body is over. */
function watched(response: Response, ended: (resumable: boolean) => void): Response {
  if (!response.body) return response;
  const reader = response.body.getReader();
  const stream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const decoder = new TextDecoder();
  let size = 0;
  let resumable = false;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          controller.close();
          ended(resumable);
          return;
        }
        size += value.byteLength;
        if (size > LIMITS.mcpBytes) {
          await reader.cancel();
          throw new TooLarge();
        }
        // An event with an id can be asked for again from there.
        if (stream && /(^|\n)id:/.test(decoder.decode(value))) resumable = true;
        controller.enqueue(value);
      } catch (error) {
        controller.error(error);
        ended(resumable && !(error instanceof TooLarge));
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}
