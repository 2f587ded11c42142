/**
 * Any model that speaks the OpenAI chat completions API, over the `openai` package.
 *
 * O1  The request's body goes out byte for byte: a repeated request must hit the provider's cache.
 * O2  Never rejects; every ending is an outcome. Nothing is retried here: the core owns the policy.
 * O3  A stream without a finish reason is no reply, whatever had come; one with it is, however it ended.
 * O4  Silence ends a call, length does not: see watch.ts.
 */
import type { OpenAI } from "openai";
import type { ModelOutcome, ModelRequest, Piece } from "../../core/ports.ts";
import { type Accumulator, accumulate } from "./accumulator.ts";
import {
  badAddress,
  broken,
  cancelled,
  inside,
  onTheWire,
  type Place,
  type Refusal,
  refused,
  type Wire,
} from "./failure.ts";
import { BodyTooLong, openBody, readText, startWatch, type Watch } from "./watch.ts";

export type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

export interface Endpoint {
  baseURL: string;
  /** "" sends no Authorization header. */
  apiKey: string;
  fetch?: Fetch;
}

export type CallModel = (
  request: ModelRequest,
  endpoint: Endpoint,
  live: (piece: Piece) => void,
  signal: AbortSignal,
) => Promise<ModelOutcome>;

/** Bytes of one line of a stream, or of a whole JSON reply. */
const MAX_BODY = 16 * 1024 * 1024;
const MAX_ERROR_BODY = 64 * 1024;
/** Usage may follow the finish reason; a server that then just stays silent is not waited for. */
const EXTRAS_MS = 5_000;
/** The longest timer there is: the package's own timeout would be a total up to the headers. */
const NEVER_MS = 2 ** 31 - 1;

/** One call while it is under way. */
interface Talk {
  request: ModelRequest;
  endpoint: Endpoint;
  place: Place;
  watch: Watch;
  heard: Accumulator;
  live(piece: Piece): void;
  /** An answer other than 2xx, kept whole: the package only passes on part of it. */
  refusal: Refusal | null;
  /** The response head has come. */
  answered: boolean;
}

export const callOpenAI: CallModel = async (request, endpoint, live, signal) => {
  const host = hostOf(endpoint.baseURL);
  if (host === null) return { type: "failed", failure: badAddress() };
  const watch = startWatch(request.timeoutMs, signal);
  let open = true;
  const talk: Talk = {
    request,
    endpoint,
    place: { host, model: request.model, apiKey: endpoint.apiKey },
    watch,
    heard: accumulate(request.model),
    live: (piece) => {
      if (open && (piece.text || piece.thinking)) live(piece);
    },
    refusal: null,
    answered: false,
  };
  try {
    // The race: a network that ignores the abort must not hold the session.
    return await Promise.race([converse(talk), watch.ended.then(() => ended(talk, "reset"))]);
  } finally {
    open = false;
    watch.close();
  }
};

function hostOf(baseURL: string): string | null {
  const url = URL.parse(baseURL);
  // fetch refuses an address with credentials, and they would end up in logs.
  const sound = url && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
  return sound ? url.host : null;
}

async function converse(talk: Talk): Promise<ModelOutcome> {
  if (talk.watch.ending()) return ended(talk, "reset");
  try {
    const { OpenAI } = await import("openai");
    const client = clientFor(OpenAI, talk);
    const response = await post(client, talk);
    const { kind, stream } = await openBody(response.body, talk.watch, MAX_BODY);
    if (kind === "sse") return await readStream(client, talk, stream);
    if (kind === "json") return await readWhole(talk, stream);
    return failed(talk, kind);
  } catch (error) {
    return thrown(talk, error);
  }
}

function clientFor(Client: typeof OpenAI, talk: Talk): OpenAI {
  return new Client({
    apiKey: talk.endpoint.apiKey || "none",
    baseURL: talk.endpoint.baseURL,
    // Without these the package reads them from the environment.
    organization: null,
    project: null,
    adminAPIKey: null,
    maxRetries: 0,
    timeout: NEVER_MS,
    logLevel: "off",
    fetch: (url, init) =>
      fetchWatched(talk, url instanceof Request ? url.url : url.toString(), init),
  });
}

const post = (client: OpenAI, talk: Talk): Promise<Response> =>
  client
    .post("/chat/completions", {
      // A string passes unchanged, but only beside a content type of our own.
      body: talk.request.body,
      headers: {
        "content-type": "application/json",
        ...(talk.endpoint.apiKey === "" ? { authorization: null } : {}),
      },
      stream: true,
      signal: talk.watch.controller.signal,
    })
    .asResponse();

/** A redirect is not followed: a POST would arrive as a GET, or with the key at another host. */
async function fetchWatched(talk: Talk, url: string, init?: RequestInit): Promise<Response> {
  const send: Fetch = talk.endpoint.fetch ?? ((to, options) => fetch(to, options));
  const response = await send(url, { ...init, redirect: "manual" });
  talk.watch.touch();
  talk.answered = true;
  if (response.ok) return response;
  // A body that breaks off does not make the status less true.
  const refusal: Refusal = {
    status: response.status,
    header: (n) => response.headers.get(n),
    text: "",
  };
  talk.refusal = refusal;
  refusal.text = (await readText(response.body, talk.watch, MAX_ERROR_BODY)).text;
  throw new Error("refused");
}

async function readStream(
  client: OpenAI,
  talk: Talk,
  stream: ReadableStream<Uint8Array>,
): Promise<ModelOutcome> {
  const { Stream } = await import("openai/core/streaming");
  const chunks = Stream.fromSSEResponse<unknown>(
    new Response(stream),
    talk.watch.controller,
    client,
    false,
    // Chunks as they are: an error object in one is judged here, not thrown by the package.
    "events",
  );
  for await (const chunk of chunks) {
    const error = errorIn(chunk);
    if (error !== undefined && talk.heard.finish() === null) {
      return { type: "failed", failure: inside(talk.place, error, Date.now()) };
    }
    take(talk, chunk);
    if (talk.heard.full()) break;
    if (talk.heard.finish() !== null) talk.watch.wind(Math.min(EXTRAS_MS, talk.request.timeoutMs));
  }
  return ended(talk, "cut");
}

/** A fault of our own must not look like one of the network, or it would be tried again and again. */
class OwnFault extends Error {}

function take(talk: Talk, chunk: unknown): void {
  try {
    talk.live(talk.heard.add(chunk));
  } catch (cause) {
    throw new OwnFault("taking a chunk in failed", { cause });
  }
}

/** Some servers answer with one JSON completion although a stream was asked for. */
async function readWhole(talk: Talk, stream: ReadableStream<Uint8Array>): Promise<ModelOutcome> {
  const { text, whole } = await readText(stream, talk.watch, MAX_BODY);
  if (!whole) return failed(talk, "malformed");
  const body = parse(text);
  const error = errorIn(body);
  if (error !== undefined) {
    return { type: "failed", failure: inside(talk.place, error, Date.now()) };
  }
  if (!hasChoices(body)) return failed(talk, "malformed");
  take(talk, body);
  const reply = talk.heard.reply();
  // A JSON text that parses was not cut, so a missing reason is only an omission.
  const finish = reply.finish ?? (reply.calls.length > 0 ? "tool_calls" : "stop");
  return { type: "reply", reply: { ...reply, finish } };
}

/** How a call ends that was not refused: by the watch, with a whole reply, or by the given fault. */
function ended(talk: Talk, fault: Wire): ModelOutcome {
  const ending = talk.watch.ending();
  if (ending === "cancelled") return { type: "failed", failure: cancelled() };
  if (talk.heard.finish() !== null) return { type: "reply", reply: talk.heard.reply() };
  if (talk.refusal) {
    return { type: "failed", failure: refused(talk.place, talk.refusal, Date.now()) };
  }
  return failed(talk, ending === "stalled" ? "stalled" : fault);
}

function thrown(talk: Talk, error: unknown): ModelOutcome {
  if (error instanceof OwnFault) return { type: "failed", failure: broken() };
  if (error instanceof SyntaxError || error instanceof BodyTooLong) return ended(talk, "malformed");
  return ended(talk, talk.answered ? "reset" : "unreachable");
}

const failed = (talk: Talk, fault: Wire): ModelOutcome => ({
  type: "failed",
  failure: onTheWire(talk.place, fault, talk.request.timeoutMs),
});

function parse(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    return null;
  }
}

function errorIn(chunk: unknown): unknown {
  const first: unknown = Array.isArray(chunk) ? chunk[0] : chunk;
  if (typeof first !== "object" || first === null) return undefined;
  const { error, object } = first as Record<string, unknown>;
  if (object === "error") return first;
  return error === null || error === "" ? undefined : error;
}

const hasChoices = (body: unknown): boolean =>
  typeof body === "object" &&
  body !== null &&
  Array.isArray((body as Record<string, unknown>).choices) &&
  ((body as Record<string, unknown>).choices as unknown[]).length > 0;
