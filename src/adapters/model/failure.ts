/**
 * Every way in which a model call fails, as data: typed, and in words for a person.
 *
 * L1  What failed is decided by where it failed (refused, inside a reply, on the wire), never by an error's class.
 * L2  No message holds a key, a header or an address with credentials, even when the provider repeats them.
 * L3  A refusal that is about one part of the request says which (`hint`); the same bytes would be refused again.
 * L4  `retryable` means that the same bytes may succeed later; a spent quota, a bad key or a long prompt may not.
 */
import { clean, head } from "../../core/chars.ts";
import type { ModelFailure } from "../../core/ports.ts";
import { aboutRequest, hintIn } from "./hint.ts";

/** Where a call went: for the words, and for what must not appear in them. */
export interface Place {
  host: string;
  model: string;
  apiKey: string;
  /** The request that was sent: a refusal may be about a part of it. */
  body: string;
}

/** An answer that is not a reply: status and body as they came. */
export interface Refusal {
  status: number;
  header(name: string): string | null;
  text: string;
}

/** What may go wrong on the wire, without any word from the provider. */
export type Wire = "unreachable" | "reset" | "stalled" | "cut" | "html" | "empty" | "malformed";

const OVERFLOW =
  /context[ _-]?(length|window|size)|maximum context|prompt is too long|input is too long|too many (input )?tokens|(input|prompt|request)[^.]{0,40}exceeds[^.]{0,40}(tokens|context)|reduce the length/i;
const QUOTA =
  /insufficient[ _](quota|balance|credits?|funds)|exceeded your [a-z ]*quota|quota[a-z ]* (exceeded|exhausted)|exceeded[a-z ]* quota|out of (credits?|quota)|credit balance is too low|check your plan and billing|billing_(hard_limit|not_active)/i;
/** A limit that refills by itself, though its text speaks of a quota. */
const REFILLS = /per[ _-]?minute|per[ _-]?second|rate_limit_exceeded/i;

export const cancelled = (): ModelFailure => ({
  code: "provider_error",
  message: "The model call was cancelled.",
  retryable: false,
});

export const noProvider = (message: string): ModelFailure => ({
  code: "no_provider",
  message,
  retryable: false,
});

/** Something is wrong in this program, not outside. */
export const broken = (): ModelFailure => ({
  code: "internal",
  message: "The model call failed inside the harness. Try again; if it stays, report it.",
  retryable: false,
});

/** A key with a line break or a letter beyond ASCII cannot stand in a header. */
export const badKey = (place: Place): ModelFailure => ({
  code: "provider_auth",
  message: `The API key for ${place.host} holds characters that a key cannot have. Set it again.`,
  retryable: false,
});

export function badAddress(): ModelFailure {
  const message =
    "The provider's base URL is not an http(s) address without credentials in it. Correct it in the deployment's variables.";
  return { code: "provider_error", message, retryable: false };
}

export function onTheWire(place: Place, wire: Wire, timeoutMs = 0): ModelFailure {
  const what: Record<Wire, string> = {
    unreachable: `The model provider ${place.host} could not be reached. Check the network and the base URL.`,
    reset: `The connection to ${place.host} broke before the reply was complete.`,
    stalled: `${place.host} sent nothing for ${Math.round(timeoutMs / 100) / 10} s. It may be overloaded; try again, or raise modelTimeoutMs.`,
    cut: `The reply of ${place.host} ended in the middle, without a finish reason.`,
    html: `${place.host} answered with a web page in place of a reply. Check the base URL, or try again.`,
    empty: `${place.host} answered with nothing. Try again; check the base URL if it stays.`,
    malformed: `${place.host} sent something that is no chat completion. Check that the base URL speaks the OpenAI API.`,
  };
  return { code: "provider_error", message: what[wire], retryable: true };
}

/** A status other than 2xx. */
export function refused(place: Place, refusal: Refusal, now: number): ModelFailure {
  const { status, text } = refusal;
  const said = saying(place, text);
  const wait = retryAfter(refusal, now);
  if (status >= 300 && status < 400) return redirected(place);
  if (status === 401 || status === 403) return auth(place, status, said);
  if (status === 402 || isQuota(status, text)) return quota(place, said);
  if (status === 429) return limited(place, said, wait);
  if (status === 413 || (status < 500 && OVERFLOW.test(text))) return overflow(place, said);
  if (status >= 500 || status === 408 || status === 409 || status === 425) {
    const message = `${place.host} has a problem of its own (HTTP ${status})${said}. Try again later.`;
    return {
      code: "provider_error",
      message,
      retryable: true,
      ...(wait === null ? {} : { retryAfterMs: wait }),
    };
  }
  return rejected(place, `HTTP ${status}`, refusal.text, status);
}

/** An `error` object inside a reply that began with 200. */
export function inside(place: Place, error: unknown, now: number): ModelFailure {
  const text = JSON.stringify({ error }) ?? "";
  const said = saying(place, text);
  const status = statusOf(error);
  if (status !== null) return refused(place, { status, header: () => null, text }, now);
  if (OVERFLOW.test(text)) return overflow(place, said);
  if (isQuota(429, text)) return quota(place, said);
  if (/rate[ _-]?limit|too many requests/i.test(text))
    return limited(place, said, spokenWait(text));
  if (/authentication|invalid_api_key|permission_(error|denied)|unauthorized/i.test(text)) {
    return auth(place, 401, said);
  }
  if (/invalid_request|not_found_error|model_not_found|tool_use_failed/i.test(text)) {
    return rejected(place, "an error inside the reply", text, 400);
  }
  const message = `${place.host} broke its reply off with an error${said}. Try again.`;
  return { code: "provider_error", message, retryable: true };
}

const isQuota = (status: number, text: string): boolean =>
  (status === 429 || status === 400 || status === 403) && QUOTA.test(text) && !REFILLS.test(text);

const auth = (place: Place, status: number, said: string): ModelFailure => ({
  code: "provider_auth",
  message: `${place.host} refused the API key (HTTP ${status})${said}. Check the key and what it is allowed to use.`,
  retryable: false,
});

const quota = (place: Place, said: string): ModelFailure => ({
  code: "provider_quota",
  message: `The quota or credit at ${place.host} is spent${said}. Add credit or choose another provider.`,
  retryable: false,
});

const overflow = (place: Place, said: string): ModelFailure => ({
  code: "context_overflow",
  message: `The conversation is too long for ${place.model || "the model"}${said}. Lower maxContextTokens or start a new session.`,
  retryable: false,
});

const limited = (place: Place, said: string, wait: number | null): ModelFailure => ({
  code: "rate_limited",
  message: `${place.host} asks to slow down (rate limit)${said}. It is tried again later.`,
  retryable: true,
  ...(wait === null ? {} : { retryAfterMs: wait }),
});

const redirected = (place: Place): ModelFailure => ({
  code: "provider_error",
  message: `${place.host} answers with a redirect. Set the base URL to the final address.`,
  retryable: false,
});

function rejected(place: Place, how: string, text: string, status: number): ModelFailure {
  const said = saying(place, text);
  if (/tool_use_failed|failed_generation/i.test(text)) {
    // The server could not read its own model's call: another try is another call.
    const message = `The model at ${place.host} wrote a tool call that the server could not read${said}.`;
    return { code: "provider_error", message, retryable: true };
  }
  const advice =
    status === 404
      ? `Check the base URL and that the model ${JSON.stringify(place.model)} exists there`
      : "Check the model's name and what it supports";
  const message = `${place.host} refused the request (${how})${said}. ${advice}.`;
  const hint = hintIn(text, place.body);
  return { code: "provider_error", message, retryable: false, status, ...(hint ? { hint } : {}) };
}

/** The provider's own words, short and without secrets, as `: "…"`; empty when it said nothing readable. */
function saying(place: Place, text: string): string {
  const words = redact(providerWords(text), place.apiKey).replace(/\s+/g, " ").trim();
  return words === "" ? "" : `: "${head(clean(words), 300)}"`;
}

function providerWords(text: string): string {
  if (/^\s*</.test(text)) return "";
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return text;
  }
  // Some gateways wrap the error object in a list.
  const first: unknown = Array.isArray(body) ? body[0] : body;
  if (typeof first === "string") return first;
  const outer = (first ?? {}) as Record<string, unknown>;
  const error = outer.error;
  if (typeof error === "string") return error;
  const inner = (error ?? outer) as Record<string, unknown>;
  const words = inner.message ?? inner.detail ?? outer.message ?? outer.detail ?? inner.code;
  if (words === undefined || words === null) return "";
  return typeof words === "string" ? words : aboutRequest(JSON.stringify({ detail: words }));
}

function redact(text: string, apiKey: string): string {
  const known = apiKey.length >= 4 ? text.replaceAll(apiKey, "***") : text;
  return known
    .replace(/\b(sk|pk|rk)[-_][\w*.-]{4,}/gi, "***")
    .replace(/\bAIza[\w-]{10,}/g, "***")
    .replace(/\b(bearer)\s+\S+/gi, "$1 ***")
    .replace(/([?&](?:api[_-]?key|key|token)=)[^&\s"]+/gi, "$1***")
    .replace(/\/\/[^/@\s]+@/g, "//***@");
}

function statusOf(error: unknown): number | null {
  if (typeof error !== "object" || error === null) return null;
  const { status, code } = error as Record<string, unknown>;
  const found = [status, code].map(Number).find((n) => Number.isInteger(n) && n >= 400 && n < 600);
  return found ?? null;
}

/** Milliseconds that the provider asks us to wait, from its headers or its words. */
export function retryAfter(refusal: Refusal, now: number): number | null {
  const ms = Number.parseFloat(refusal.header("retry-after-ms") ?? "");
  if (Number.isFinite(ms)) return Math.max(0, Math.round(ms));
  const raw = refusal.header("retry-after")?.trim() ?? "";
  if (/^\d+(\.\d+)?$/.test(raw)) return Math.round(Number(raw) * 1000);
  if (/^\d+(\.\d+)?\s*(ms|s|m|h)$/i.test(raw)) return duration(raw);
  const at = raw === "" ? Number.NaN : Date.parse(raw);
  if (Number.isFinite(at)) return Math.max(0, at - now);
  return spokenWait(refusal.text);
}

const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** "try again in 1m30.5s", "retry in 59s", `"retryDelay": "59s"`. */
function spokenWait(text: string): number | null {
  const said = /(?:try again|retry)(?: after| in)\s+((?:\d+(?:\.\d+)?\s*(?:ms|s|m|h)[a-z]*\s*)+)/i;
  const words = said.exec(text)?.[1] ?? /retryDelay\W{1,6}(\d+(?:\.\d+)?s)/i.exec(text)?.[1];
  return words === undefined ? null : duration(words);
}

function duration(words: string): number {
  let total = 0;
  for (const [, number, unit] of words.matchAll(/(\d+(?:\.\d+)?)\s*(ms|s|m|h)/gi)) {
    total += Number(number) * (UNIT_MS[(unit ?? "").toLowerCase()] ?? 0);
  }
  return Math.round(total);
}
