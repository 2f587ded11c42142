/**
 * A guarded completion on its way: requests go to the model, and what passes goes to the client as JSON or as a stream.
 *
 * P1  A client that leaves takes its model call with it.
 * P2  A stream's head waits for the first bytes worth sending, so a quick failure still has its own status; after
 *     that a failure is a frame. Meanwhile comments keep the connection open.
 * P3  Nothing is stored but what each reply has cost.
 */
import {
  type Ask,
  begin,
  type Failure,
  isOpen,
  type Next,
  nextRequest,
  take,
} from "../core/complete.ts";
import type { Model, Piece, Reply } from "../core/ports.ts";
import { errorBody, errorOf, errorResponse, failureError } from "./openai-error.ts";
import { type Chunks, chunksOf, completionOf, type Form } from "./proxy-reply.ts";

export interface Job {
  ask: Ask;
  model: Model;
  /** Milliseconds to the first byte and between bytes. */
  timeoutMs: number;
  /** The client is gone. */
  signal: AbortSignal;
  /** Told of every reply of the model, refused ones included. Never throws. */
  spent(reply: Reply, bodyChars: number): void;
}
type End = Exclude<Next, { type: "again" }>;

const KEEP_ALIVE_MS = 10_000;
const GONE: Failure = { code: "internal", message: "The client closed the request." };

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  scheduler.wait(ms, { signal }).catch(() => {});

/** One request to the model, cancelled with the client. */
async function asked(job: Job, body: string, live: (piece: Piece) => void) {
  const { provider, model } = job.ask.target;
  const flight = job.model.call({ provider, model, body, timeoutMs: job.timeoutMs }, live);
  const cancel = () => flight.cancel();
  job.signal.addEventListener("abort", cancel);
  if (job.signal.aborted) cancel();
  try {
    const outcome = await flight.outcome;
    if (outcome.type === "reply") job.spent(outcome.reply, body.length);
    return outcome;
  } finally {
    job.signal.removeEventListener("abort", cancel);
  }
}

/** Until the reply has passed or failed. `live`: takes what may be handed on at once; absent: everything waits. */
async function complete(job: Job, live?: (piece: Piece) => void): Promise<End> {
  let run = begin(job.ask);
  let begun = false;
  const hear = (piece: Piece): void => {
    if (!live || !isOpen(run)) return;
    begun = true;
    live(piece);
  };
  for (;;) {
    const outcome = await asked(job, nextRequest(run), hear);
    if (job.signal.aborted) return { type: "failed", failure: GONE };
    const next = take(run, outcome, begun);
    if (next.type !== "again") return next;
    await pause(next.waitMs, job.signal);
    run = next.run;
  }
}

export async function jsonReply(job: Job, form: Form): Promise<Response> {
  const end = await complete(job);
  if (end.type === "failed") return errorResponse(failureError(end.failure));
  return Response.json(completionOf(end.answer, form));
}

/** The client's side of a stream. */
function openStream(gone: AbortController) {
  const encoder = new TextEncoder();
  const opened = Promise.withResolvers<null>();
  let sink: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      sink = controller;
    },
    cancel: () => gone.abort(),
  });
  const write = (text: string): void => {
    if (gone.signal.aborted) return;
    sink?.enqueue(encoder.encode(text));
    opened.resolve(null);
  };
  const close = (): void => {
    if (!gone.signal.aborted) sink?.close();
  };
  return { body, opened: opened.promise, write, close };
}

const frame = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;

function lastFrames(end: End, chunks: Chunks): string {
  if (end.type === "failed") return frame(errorBody(failureError(end.failure)));
  return `${chunks.end(end.answer).map(frame).join("")}data: [DONE]\n\n`;
}

export async function streamReply(
  job: Job,
  form: Form,
  keepAliveMs = KEEP_ALIVE_MS,
): Promise<Response> {
  const gone = new AbortController();
  job.signal.addEventListener("abort", () => gone.abort());
  const { body, opened, write, close } = openStream(gone);
  const chunks = chunksOf(form);
  const timer = setInterval(() => write(": keep-alive\n\n"), keepAliveMs);
  const live = (piece: Piece): void => write(chunks.piece(piece).map(frame).join(""));
  const ended = complete({ ...job, signal: gone.signal }, live).finally(() => clearInterval(timer));
  const first = await Promise.race([opened, ended]);
  if (first?.type === "failed") return errorResponse(failureError(first.failure));
  ended
    .then((end) => lastFrames(end, chunks))
    .catch((error: unknown) => frame(errorBody(errorOf(error))))
    .then(write)
    .finally(close)
    .catch(() => {});
  return new Response(body, {
    headers: { "content-type": "text/event-stream", "cache-control": "no-cache" },
  });
}
