/**
 * Any model that speaks the OpenAI chat completions API. The `openai` package reads the event stream; its client is
 * not used: one per call costs more than the whole rest of a call, and its retries and timeouts are not ours.
 *
 * O1  The request's body goes out byte for byte: a repeated request must hit the provider's cache.
 * O2  Never rejects; every ending is an outcome. Nothing is retried here: the core owns the policy.
 * O3  A stream without a finish reason is no reply, whatever had come; one with it is, however it ended.
 * O4  Silence ends a call, length does not: see watch.ts.
 */
import { _iterSSEMessages } from "openai/core/streaming";
import type { ModelOutcome, ModelRequest, Piece } from "../../core/ports.ts";
import { type Accumulator, accumulate } from "./accumulator.ts";
import {
  badAddress,
  badKey,
  broken,
  cancelled,
  inside,
  onTheWire,
  type Place,
  type Refusal,
  refused,
  type Wire,
} from "./failure.ts";
import { BodyTooLong, type Bytes, openBody, readText, startWatch, type Watch } from "./watch.ts";

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
/** After `[DONE]` comes the end of the body: a stream that is read to there leaves its connection fit for the next call. */
const END_MS = 50;

/** One call while it is under way. */
interface Talk {
  request: ModelRequest;
  endpoint: Endpoint;
  url: URL;
  place: Place;
  watch: Watch;
  heard: Accumulator;
  live(piece: Piece): void;
  /** An answer other than 2xx. */
  refusal: Refusal | null;
  /** The response head has come. */
  answered: boolean;
}

export const callOpenAI: CallModel = async (request, endpoint, live, signal) => {
  const { apiKey } = endpoint;
  const url = addressOf(endpoint.baseURL);
  if (url === null) return { type: "failed", failure: badAddress() };
  const place = { host: url.host, model: request.model, apiKey, body: request.body };
  if (!/^[\x21-\x7e]*$/.test(apiKey)) return { type: "failed", failure: badKey(place) };
  const watch = startWatch(request.timeoutMs, signal);
  let open = true;
  const talk: Talk = {
    request,
    endpoint,
    url,
    place,
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

/** Where chat completions are asked for; null: the base URL is no address to use. */
function addressOf(baseURL: string): URL | null {
  const url = URL.parse(baseURL);
  // fetch refuses an address with credentials, and they would end up in logs.
  const sound = url && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
  if (!sound) return null;
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/chat/completions`;
  return url;
}

async function converse(talk: Talk): Promise<ModelOutcome> {
  if (talk.watch.ending()) return ended(talk, "reset");
  try {
    const response = await post(talk);
    const { kind, bytes } = await openBody(response.body, talk.watch, MAX_BODY);
    if (kind === "sse") return await readStream(talk, bytes);
    if (kind === "json") return await readWhole(talk, bytes);
    return failed(talk, kind);
  } catch (error) {
    return thrown(talk, error);
  }
}

/** A redirect is not followed: a POST would arrive as a GET, or with the key at another host. */
async function post(talk: Talk): Promise<Response> {
  const { apiKey, fetch: given } = talk.endpoint;
  const send: Fetch = given ?? ((to, options) => fetch(to, options));
  const response = await send(talk.url.href, {
    method: "POST",
    body: talk.request.body,
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "user-agent": "Dormouse",
      ...(talk.request.trace === undefined ? {} : { traceparent: talk.request.trace }),
      ...(apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` }),
    },
    redirect: "manual",
    signal: talk.watch.controller.signal,
  });
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
  refusal.text = (await readText(response.body?.getReader(), talk.watch, MAX_ERROR_BODY)).text;
  throw new Error("refused");
}

async function readStream(talk: Talk, bytes: Bytes): Promise<ModelOutcome> {
  const { controller } = talk.watch;
  let [said, winding] = [false, false];
  // Of the response only the reader of its body is asked for; a real one around it would cost as much as the parser.
  const response = { body: { getReader: () => bytes } } as unknown as Response;
  for await (const message of _iterSSEMessages(response, controller)) {
    const data = message.data.trim();
    // An event without data is a sign of life.
    if (data === "") continue;
    if (data === "[DONE]") {
      if (talk.heard.finish() === null) break;
      talk.watch.wind(END_MS);
      said = true;
      continue;
    }
    // Nothing of the reply stands behind its end.
    if (said) break;
    const chunk: unknown = JSON.parse(data);
    const error = errorIn(chunk) ?? (message.event === "error" ? chunk : undefined);
    if (error !== undefined && talk.heard.finish() === null) {
      controller.abort();
      return { type: "failed", failure: inside(talk.place, error, Date.now()) };
    }
    take(talk, chunk);
    if (talk.heard.full()) controller.abort();
    if (talk.heard.finish() !== null && !winding) {
      talk.watch.wind(Math.min(EXTRAS_MS, talk.request.timeoutMs));
      winding = true;
    }
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
async function readWhole(talk: Talk, bytes: Bytes): Promise<ModelOutcome> {
  const { text, whole } = await readText(bytes, talk.watch, MAX_BODY);
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
