/**
 * A conversation with one session: a task goes in, and what comes of it is told as it happens.
 *
 * T1  `run` and `answer` resolve when the turn ends or waits, over any number of lost connections; nothing is sent
 *     twice. They reject with an `ApiError` when the server refuses, or when the session is gone.
 * T2  Aborting a run stops its turn, and the run resolves as stopped: it is not left behind working.
 */
import type { Event } from "../core/events.ts";
import { Tally } from "../core/tally.ts";
import type { AnswerBody, MessageBody, SessionView, TurnResult } from "../core/wire.ts";
import { ApiError } from "./error.ts";
import { type Client, type ClientOptions, createClient } from "./http.ts";
import { newId } from "./id.ts";
import type { OpenSocket } from "./open.ts";
import { Connection, type ConnectionState, type Frame, type Outgoing } from "./socket.ts";

export interface TalkOptions extends ClientOptions {
  /** As it is now: its events are told from here on. */
  session: Pick<SessionView, "id" | "epoch" | "last_seq">;
  onFrames?(frames: Frame[]): void;
  onState?(state: ConnectionState): void;
  /** The session is gone, or may no longer be seen; nothing more comes. */
  onGone?(error: ApiError): void;
  open?: OpenSocket;
}
export interface RunOptions {
  onEvent?(event: Event): void;
  signal?: AbortSignal;
}
export type Task = string | Omit<MessageBody, "id" | "settings">;

export interface Talk {
  readonly id: string;
  /** Works on a task until the turn ends or waits for a person. */
  run(task: Task, options?: RunOptions): Promise<TurnResult>;
  /** Answers what it waits for, and goes on as `run` does. */
  answer(given: Omit<AnswerBody, "id">, options?: RunOptions): Promise<TurnResult>;
  /** Sends a frame, whatever the session does; resolves when it is durable. */
  send(frame: Outgoing): Promise<{ seq: number }>;
  stop(): Promise<void>;
  close(): void;
}

export function talk(options: TalkOptions): Talk {
  const { id, epoch, last_seq } = options.session;
  const watchers = new Set<Watcher>();
  const fail = (error: ApiError): void => {
    for (const watcher of watchers) watcher.failed(error);
  };
  const connection = new Connection({
    baseUrl: options.baseUrl,
    session: id,
    after: last_seq,
    epoch,
    keepalive: () => true,
    ...(options.token ? { token: options.token } : {}),
    ...(options.open ? { open: options.open } : {}),
    onFrames(frames) {
      options.onFrames?.(frames);
      for (const watcher of [...watchers]) for (const frame of frames) watcher.take(frame);
    },
    onState(state) {
      options.onState?.(state);
      if (state === "offline") void probe(createClient(options), id, gone);
    },
  });
  const gone = (error: ApiError): void => {
    connection.close();
    fail(error);
    options.onGone?.(error);
  };
  const send = async (frame: Outgoing): Promise<{ seq: number }> => {
    const receipt = await connection.send(frame);
    if (receipt.ok) return receipt;
    throw new ApiError(0, receipt.code, receipt.message);
  };
  const follow = (frame: Outgoing, run: RunOptions = {}): Promise<TurnResult> => {
    const watcher = watch(connection.lastSeq, run.onEvent);
    watchers.add(watcher);
    const stop = (): void => void connection.send({ type: "stop", id: newId() });
    run.signal?.addEventListener("abort", stop, { once: true });
    send(frame).then(({ seq }) => {
      watcher.sent(seq);
      if (run.signal?.aborted) stop();
    }, watcher.failed);
    return watcher.result.finally(() => {
      watchers.delete(watcher);
      run.signal?.removeEventListener("abort", stop);
    });
  };
  return {
    id,
    run: (task, run) =>
      follow(
        { type: "message", id: newId(), ...(typeof task === "string" ? { text: task } : task) },
        run,
      ),
    answer: (given, run) => follow({ type: "answer", id: newId(), ...given }, run),
    send,
    stop: async () => void (await send({ type: "stop", id: newId() })),
    close() {
      connection.close();
      fail(new ApiError(0, "closed", "The connection was closed"));
    },
  };
}

const FINAL: ReadonlySet<number> = new Set([401, 403, 404, 410]);
/** A socket does not say why it was refused; asking over HTTP does. What passes by itself is waited for. */
async function probe(client: Client, id: string, gone: (error: ApiError) => void): Promise<void> {
  try {
    await client.getSession(id);
  } catch (error) {
    if (error instanceof ApiError && FINAL.has(error.status)) gone(error);
  }
}

interface Watcher {
  result: Promise<TurnResult>;
  take(frame: Frame): void;
  /** What was sent is durable, as that event. */
  sent(seq: number): void;
  failed(error: ApiError): void;
}

/** Waits for the first end or wait that comes no earlier than what was sent; events may come before its receipt. */
function watch(after: number, onEvent?: (event: Event) => void): Watcher {
  const tally = new Tally(after);
  const { promise, resolve, reject } = Promise.withResolvers<TurnResult>();
  let sent = Number.POSITIVE_INFINITY;
  let ended: { result: TurnResult; seq: number } | null = null;
  const settle = (): void => {
    if (ended && ended.seq >= sent) resolve(ended.result);
  };
  return {
    result: promise,
    take(frame) {
      if (frame.type === "reset") {
        reject(new ApiError(0, "reset", "The session was replaced; open it again."));
      }
      if (frame.type !== "event" || frame.seq <= tally.seq) return;
      onEvent?.(frame);
      const outcome = tally.take(frame);
      if (outcome) ended = { result: tally.result(outcome), seq: frame.seq };
      settle();
    },
    sent(seq) {
      sent = seq;
      settle();
    },
    failed: reject,
  };
}
