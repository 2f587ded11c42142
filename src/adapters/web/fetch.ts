/**
 * The guarded fetch: whatever is asked outside on behalf of a model goes through here.
 *
 * W1  Each address is judged before its request leaves, the target of each redirect as well; what was judged is what
 *     is asked, byte for byte.
 * W2  It ends: after so many redirects, so many bytes (counted after decompression), so long in all or in silence.
 * W3  Nothing of ours is sent, and what the caller sent for one origin (credentials, cookies) stays with it.
 * W4  Every ending is data with a sentence that says why; it never rejects.
 * W5  Its requests carry a mark by which the product knows its own, so that it never asks itself under another name.
 */
import { LIMITS } from "../../core/limits.ts";
import { type AddressRules, refusalOf } from "./address.ts";
import { type Clock, startClock } from "./clock.ts";

export interface Ask {
  url: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  signal: AbortSignal;
  /** Body bytes that are kept; more is not read. */
  maxBytes: number;
  maxHops?: number;
  timeoutMs?: number;
  idleMs?: number;
}

export interface Got {
  type: "got";
  /** Where the last redirect led. */
  url: string;
  status: number;
  headers: Headers;
  bytes: Uint8Array<ArrayBuffer>;
  /** False: the body went on beyond `maxBytes`. */
  whole: boolean;
}
/** `refused`: an address was not asked. `failed`: it was, and there is no answer. */
export type Fetched = Got | { type: "refused" | "failed"; why: string };

/** The header by which the Worker knows, and refuses, a request of its own sessions. */
export const FETCH_MARK = "x-dormouse-fetch";

/** May go to another origin than the one that the caller named. */
const HARMLESS = new Set(["accept", "accept-language", "content-type", "range", "user-agent"]);
/** The transport's own, or a claim about who asks. */
const NOT_OURS =
  /^(host|connection|content-length|transfer-encoding|upgrade|te|trailer|via|cf-.*)$/;
const FORWARDED = /^(x-forwarded-.*|forwarded|x-real-ip|proxy-.*|x-dormouse-.*)$/;

interface Hop {
  url: URL;
  method: string;
  headers: Headers;
  body: string | undefined;
}

export async function guardedFetch(ask: Ask, rules: AddressRules): Promise<Fetched> {
  const { timeoutMs = LIMITS.fetchMs, idleMs = LIMITS.fetchIdleMs } = ask;
  const clock = startClock(timeoutMs, idleMs, ask.signal);
  try {
    return await follow(ask, rules, clock);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return { type: "failed", why: clock.why() ?? `The host did not answer: ${text.slice(0, 300)}` };
  } finally {
    clock.clear();
  }
}

async function follow(ask: Ask, rules: AddressRules, clock: Clock): Promise<Fetched> {
  const max = ask.maxHops ?? LIMITS.fetchHops;
  let url: URL | null = ask.url.length > LIMITS.urlChars ? null : URL.parse(ask.url);
  let hop: Omit<Hop, "url"> = {
    method: (ask.method ?? "GET").toUpperCase(),
    headers: clean(ask.headers ?? {}),
    body: ask.body,
  };
  for (let hops = 0; ; hops++) {
    const why = refusalOf(url ?? "", rules);
    if (!url || why) return { type: "refused", why: hops === 0 ? `${why}` : `A redirect: ${why}` };
    const response = await clock.race(send({ ...hop, url }, clock.signal));
    clock.touch();
    const location = isRedirect(response.status) ? response.headers.get("location") : null;
    if (location === null) return read(url, response, ask.maxBytes, clock);
    void response.body?.cancel().catch(() => undefined);
    if (hops === max) return { type: "failed", why: `Too many redirects: more than ${max}.` };
    const target = location.length > LIMITS.urlChars ? null : URL.parse(location, url.href);
    hop = after(hop, response.status, target?.origin === url.origin);
    url = target;
  }
}

const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status);

function send({ url, method, headers, body }: Hop, signal: AbortSignal): Promise<Response> {
  const init = { method, headers, redirect: "manual", signal } as const;
  return fetch(url.href, body === undefined ? init : { ...init, body });
}

/** As browsers do it: a form that was sent is not sent again to where a 301, 302 or 303 leads. */
function after(hop: Omit<Hop, "url">, status: number, same: boolean): Omit<Hop, "url"> {
  const dropBody = status === 303 ? hop.method !== "HEAD" : status < 303 && hop.method === "POST";
  const headers = new Headers(hop.headers);
  for (const name of [...headers.keys()]) {
    if (!same && !HARMLESS.has(name) && name !== FETCH_MARK) headers.delete(name);
  }
  if (!dropBody) return { ...hop, headers };
  headers.delete("content-type");
  return { method: "GET", headers, body: undefined };
}

function clean(sent: Record<string, string>): Headers {
  const headers = new Headers({ accept: "*/*", "user-agent": "Dormouse/1.0 (agent)" });
  for (const [name, value] of Object.entries(sent)) {
    const lower = name.toLowerCase();
    if (!NOT_OURS.test(lower) && !FORWARDED.test(lower)) headers.set(name, value);
  }
  headers.set(FETCH_MARK, "1");
  return headers;
}

async function read(url: URL, response: Response, max: number, clock: Clock): Promise<Got> {
  const parts: Uint8Array[] = [];
  const reader = response.body?.getReader();
  let size = 0;
  while (reader && size <= max) {
    const part = await clock.race(reader.read());
    clock.touch();
    if (part.done) break;
    parts.push(part.value);
    size += part.value.byteLength;
  }
  const whole = size <= max;
  if (!whole) void reader?.cancel().catch(() => undefined);
  const { status, headers } = response;
  return { type: "got", url: url.href, status, headers, bytes: join(parts, size, max), whole };
}

function join(parts: Uint8Array[], size: number, max: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Math.min(size, max));
  let at = 0;
  for (const part of parts) {
    bytes.set(part.subarray(0, bytes.byteLength - at), at);
    at += Math.min(part.byteLength, bytes.byteLength - at);
  }
  return bytes;
}
