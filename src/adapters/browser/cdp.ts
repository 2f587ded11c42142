/**
 * The DevTools protocol over one socket: commands with answers, and events, of the browser and of its targets.
 *
 * P1  Every command ends: with its answer, an error of the browser, after its time, or when the socket is gone.
 * P2  A message that cannot be read is dropped; the command it belonged to runs into its time.
 */
import { LIMITS } from "../../core/limits.ts";
import type { Socket } from "./binding.ts";

export type Params = Record<string, unknown>;
export interface CdpEvent {
  method: string;
  params: Params;
  /** The target that it comes from; absent for the browser itself. */
  session?: string;
}

/** The browser refused a command. */
export class CdpError extends Error {}
/** There was no answer in time, or there will be none. */
export class CdpSilent extends Error {}
/** The socket is gone. */
export class CdpGone extends Error {}

interface Pending {
  session?: string | undefined;
  resolve(result: Params): void;
  reject(error: Error): void;
  timer: ReturnType<typeof setTimeout>;
}

export class Cdp {
  readonly #socket: Socket;
  readonly #pending = new Map<number, Pending>();
  readonly #take: (event: CdpEvent) => void;
  #last = 0;
  #open = true;

  constructor(socket: Socket, take: (event: CdpEvent) => void) {
    this.#socket = socket;
    this.#take = take;
    socket.addEventListener("message", ({ data }) => this.#message(data));
    socket.addEventListener("close", () => this.close());
    socket.addEventListener("error", () => this.close());
  }

  get open(): boolean {
    return this.#open;
  }

  send(
    method: string,
    params: Params = {},
    session?: string,
    ms: number = LIMITS.browserAnswerMs,
  ): Promise<Params> {
    if (!this.#open) return Promise.reject(new CdpGone(`${method}: the browser is gone`));
    const id = ++this.#last;
    const answer = Promise.withResolvers<Params>();
    const timer = setTimeout(() => {
      this.#pending.delete(id);
      answer.reject(new CdpSilent(`${method}: no answer within ${ms} ms`));
    }, ms);
    this.#pending.set(id, { session, resolve: answer.resolve, reject: answer.reject, timer });
    try {
      this.#socket.send(
        JSON.stringify({ id, method, params, ...(session ? { sessionId: session } : {}) }),
      );
    } catch {
      this.close();
    }
    return answer.promise;
  }

  /** For commands whose failure changes nothing. */
  tell(method: string, params: Params = {}, session?: string): void {
    this.send(method, params, session).catch(() => {});
  }

  /** A target is gone: whoever waits for it is told. */
  left(session: string, error: Error): void {
    this.#reject(error, (pending) => pending.session === session);
  }

  /** Everything that waits is told. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    try {
      this.#socket.close();
    } catch {
      // It is closed already.
    }
    this.#reject(new CdpGone("the browser is gone"), () => true);
  }

  #reject(error: Error, which: (pending: Pending) => boolean): void {
    for (const [id, pending] of this.#pending) {
      if (!which(pending)) continue;
      this.#pending.delete(id);
      clearTimeout(pending.timer);
      pending.reject(error);
    }
  }

  #message(data: unknown): void {
    const message = parsed(data);
    if (!message) return;
    if (typeof message.id !== "number") {
      const { method, params = {}, sessionId } = message;
      if (!method) return;
      this.#take({ method, params, ...(sessionId ? { session: sessionId } : {}) });
      return;
    }
    const waiting = this.#pending.get(message.id);
    if (!waiting) return;
    this.#pending.delete(message.id);
    clearTimeout(waiting.timer);
    if (message.error) waiting.reject(new CdpError(message.error.message));
    else waiting.resolve(message.result ?? {});
  }
}

interface Message {
  id?: number;
  method?: string;
  params?: Params;
  sessionId?: string;
  result?: Params;
  error?: { message: string };
}

function parsed(data: unknown): Message | null {
  const text = typeof data === "string" ? data : new TextDecoder().decode(data as ArrayBuffer);
  try {
    return JSON.parse(text) as Message;
  } catch {
    return null;
  }
}
