/** Faults of the wire: statuses, bodies, broken and slow connections, and the ways in which streams differ. */
import { type Answer, JUNK, type Kind, type Struck, say } from "./kind.ts";
import { read } from "./model.ts";
import { bytesOf, errorBody } from "./server.ts";
import { completionOf, type Manner, type Spoken, streamOf } from "./spoken.ts";

const T = "transport";
const SSE = ["sse"] as const;
/** Short enough to wait for; long enough for a busy machine. */
const PATIENCE = { limits: { modelTimeoutMs: 1_000 } };

const http =
  (status: number, body: string, headers: Record<string, string> = {}) =>
  (): Answer => ({
    type: "http",
    status,
    headers,
    body,
  });
const limited = (headers: Record<string, string>, words = "Rate limit reached.") =>
  http(429, errorBody(words, "rate_limit_error", "rate_limit_exceeded"), headers);
const down = http(500, errorBody("Internal error.", "server_error"));
const HTML = "<!doctype html><html><body><h1>502 Bad Gateway</h1></body></html>";

/** The right reply, in another manner. */
const inManner =
  (manner: Manner) =>
  ({ right }: Struck): Answer =>
    say(right, manner);
/** The right stream as other bytes. */
const asBytes =
  (change: (parts: string[]) => (string | Uint8Array)[], gapMs?: number) =>
  ({ right }: Struck): Answer => ({
    type: "bytes",
    parts: change(streamOf(right)),
    ...(gapMs === undefined ? {} : { gapMs }),
    end: "end",
  });
/** The beginning of the right stream, and then something else. */
const broken =
  (end: "end" | "reset" | "hang", share = 0.6, tail: string[] = []) =>
  ({ right, format }: Struck): Answer => {
    const parts = bytesOf(right, format);
    const whole = parts.join("");
    const head =
      format === "json"
        ? [whole.slice(0, Math.floor(whole.length * share))]
        : parts.slice(0, Math.floor(parts.length * share));
    return { type: "bytes", parts: [...head, ...tail], end };
  };
/** A read beside the right call, where reads are offered. */
const two = ({ right, body }: Struck): Spoken =>
  body.tools?.some((t) => t.function.name === "ledger_read")
    ? { ...right, calls: [...read(2).calls.map((c) => ({ ...c, id: "a1" })), ...right.calls] }
    : right;

const INSIDE = `data: ${errorBody("The server had an error.", "server_error")}\n\n`;

export const TRANSPORT: readonly Kind[] = [
  {
    name: "429 with Retry-After in seconds",
    group: T,
    formats: SSE,
    costs: 1,
    waitsMs: 2_900,
    strike: limited({ "retry-after": "3" }),
  },
  {
    name: "429 with Retry-After as a date",
    group: T,
    formats: SSE,
    costs: 1,
    waitsMs: 18_000,
    strike: () => limited({ "retry-after": new Date(Date.now() + 20_000).toUTCString() })(),
  },
  {
    name: "429 with retry-after-ms",
    group: T,
    formats: SSE,
    costs: 1,
    waitsMs: 2_400,
    strike: limited({ "retry-after-ms": "2500" }),
  },
  {
    name: "429 that says when in words",
    group: T,
    formats: SSE,
    costs: 1,
    waitsMs: 6_900,
    strike: limited({}, "Rate limit reached for requests per minute. Please try again in 7s."),
  },
  { name: "429 without a time", group: T, formats: SSE, costs: 1, strike: limited({}) },
  {
    name: "429 with a Retry-After that is past",
    group: T,
    formats: SSE,
    costs: 1,
    strike: limited({ "retry-after": "Thu, 01 Jan 2015 00:00:00 GMT" }),
  },
  {
    name: "429 with a Retry-After that says nothing",
    group: T,
    formats: SSE,
    costs: 1,
    strike: limited({ "retry-after": "soon", "retry-after-ms": "-5x" }),
  },
  { name: "500 once", group: T, formats: SSE, costs: 1, strike: down },
  { name: "500 three times in a row", group: T, formats: SSE, costs: 3, times: 3, strike: down },
  {
    name: "500 four times in a row",
    group: T,
    formats: SSE,
    costs: 4,
    times: 4, // With one more fault beside it the tries are spent.
    alone: true,
    strike: down,
  },
  {
    name: "503 with Retry-After",
    group: T,
    formats: SSE,
    costs: 1,
    waitsMs: 3_900,
    strike: http(503, "", { "retry-after": "4" }),
  },
  {
    name: "529 overloaded",
    group: T,
    formats: SSE,
    costs: 1,
    strike: http(529, '{"type":"error"}'),
  },
  { name: "408", group: T, formats: SSE, costs: 1, strike: http(408, "") },
  {
    name: "502 as a web page",
    group: T,
    formats: SSE,
    costs: 1,
    strike: http(502, HTML, { "content-type": "text/html" }),
  },
  {
    name: "web page with 200",
    group: T,
    formats: SSE,
    costs: 1,
    strike: http(200, HTML, { "content-type": "text/html" }),
  },
  { name: "empty body with 200", group: T, formats: SSE, costs: 1, strike: http(200, "") },
  { name: "JSON that is no completion", group: T, formats: SSE, costs: 1, strike: http(200, "{}") },
  {
    name: "error inside a 200, JSON",
    group: T,
    formats: SSE,
    costs: 1,
    strike: http(200, errorBody("The server is overloaded.", "server_error")),
  },
  {
    name: "error inside a 200, stream",
    group: T,
    formats: SSE,
    costs: 1,
    strike: broken("end", 0, [INSIDE]),
  },
  {
    name: "error in the middle of a stream",
    group: T,
    formats: SSE,
    costs: 1,
    strike: broken("end", 0.8, [INSIDE]),
  },
  {
    name: "reset before headers",
    group: T,
    formats: SSE,
    costs: 1,
    strike: () => ({ type: "drop" }),
  },
  { name: "reset after headers", group: T, costs: 1, strike: broken("reset", 0) },
  { name: "reset mid-stream", group: T, costs: 1, strike: broken("reset") },
  { name: "end without finish", group: T, costs: 1, strike: broken("end") },
  {
    name: "whole call, end without finish",
    group: T,
    formats: SSE,
    costs: 1,
    strike: asBytes((parts) => parts.slice(0, -3)),
  },
  {
    name: "broken JSON in a chunk",
    group: T,
    formats: SSE,
    costs: 1,
    strike: broken("end", 0.5, ["data: {broken\n\n"]),
  },
  {
    name: "stall before the head",
    group: T,
    formats: SSE,
    costs: 1,
    settings: PATIENCE,
    strike: () => ({ type: "hang" }),
  },
  {
    name: "stall before the first byte",
    group: T,
    costs: 1,
    settings: PATIENCE,
    strike: broken("hang", 0),
  },
  { name: "stall mid-stream", group: T, costs: 1, settings: PATIENCE, strike: broken("hang") },
  {
    name: "silence after the finish",
    group: T,
    formats: SSE,
    costs: 0,
    settings: PATIENCE,
    strike: ({ right }) => ({ type: "bytes", parts: streamOf(right), end: "hang" }),
  },
  {
    name: "reset after the finish",
    group: T,
    formats: SSE,
    costs: 0,
    strike: ({ right }) => ({ type: "bytes", parts: streamOf(right).slice(0, -1), end: "reset" }),
  },
  {
    name: "keep-alive comments, longer than the timeout",
    group: T,
    formats: SSE,
    costs: 0,
    settings: PATIENCE,
    strike: asBytes((parts) => [...Array<string>(8).fill(": keep-alive\n\n"), parts.join("")], 60),
  },
  {
    name: "slow drip, longer than the timeout",
    group: T,
    formats: SSE,
    costs: 0,
    settings: PATIENCE,
    strike: asBytes((parts) => {
      const whole = parts.join("");
      const size = Math.ceil(whole.length / 9);
      return Array.from({ length: 9 }, (_, i) => whole.slice(i * size, (i + 1) * size));
    }, 55),
  },
  {
    name: "CRLF",
    group: T,
    formats: SSE,
    costs: 0,
    strike: asBytes((parts) => [parts.join("").replaceAll("\n", "\r\n")]),
  },
  {
    name: "comments and pings",
    group: T,
    formats: SSE,
    costs: 0,
    strike: asBytes((parts) =>
      parts.flatMap((p) => [": OPENROUTER PROCESSING\n\n", p, "event: ping\n\n"]),
    ),
  },
  {
    name: "no space after data:",
    group: T,
    formats: SSE,
    costs: 0,
    strike: asBytes((parts) => parts.map((p) => p.replace("data: ", "data:"))),
  },
  {
    name: "split UTF-8",
    group: T,
    formats: SSE,
    costs: 0,
    strike: asBytes((parts) => {
      const bytes = Buffer.from(parts.join(""));
      const odd = [...bytes.entries()].filter(([, b]) => b >= 0xc0);
      const cuts = [0, ...odd.slice(0, 12).map(([i]) => i + 1), bytes.length];
      return cuts.slice(1).map((to, i) => bytes.subarray(cuts[i], to));
    }, 1),
  },
  { name: "no [DONE]", group: T, formats: SSE, costs: 0, strike: inManner({ noDone: true }) },
  {
    name: "empty choices",
    group: T,
    formats: SSE,
    costs: 0,
    strike: inManner({ emptyChoices: true }),
  },
  {
    name: "no index",
    group: T,
    formats: SSE,
    costs: 0,
    strike: (s) => say({ ...two(s), finish: "stop" }, { index: "none" }),
  },
  {
    name: "same index for all",
    group: T,
    formats: SSE,
    costs: 0,
    strike: (s) => say(two(s), { index: "same" }),
  },
  {
    name: "name in every delta",
    group: T,
    formats: SSE,
    costs: 0,
    strike: inManner({ repeatNames: true }),
  },
  {
    name: "indexes from 7",
    group: T,
    formats: SSE,
    costs: 0,
    strike: (s) => say(two(s), { index: "high" }),
  },
  {
    name: "deltas of two calls in turns",
    group: T,
    formats: SSE,
    costs: 0,
    strike: (s) => say(two(s), { index: "turns" }),
  },
  {
    name: "name in pieces",
    group: T,
    formats: SSE,
    costs: 1,
    strike: inManner({ index: "names" }),
  },
  {
    name: "a second choice beside the first",
    group: T,
    formats: SSE,
    costs: 0,
    strike: asBytes((parts) =>
      parts.flatMap((p) => [
        p,
        `data: ${JSON.stringify({ choices: [{ index: 1, delta: { content: JUNK }, finish_reason: null }] })}\n\n`,
      ]),
    ),
  },
  {
    name: "usage out of this world",
    group: T,
    costs: 0,
    strike: ({ right, format }) => ({
      type: "bytes",
      parts: [
        bytesOf(right, format)
          .join("")
          .replace('"prompt_tokens":900', '"prompt_tokens":900000000')
          .replace('"completion_tokens":20', '"completion_tokens":"many"'),
      ],
      end: "end",
    }),
  },
  {
    name: "no usage",
    group: T,
    formats: SSE,
    costs: 0,
    strike: asBytes((parts) => parts.filter((p) => !p.includes('"usage"'))),
  },
  {
    name: "unknown fields",
    group: T,
    formats: SSE,
    costs: 0,
    strike: inManner({ unknownFields: true }),
  },
  {
    name: "JSON in place of a stream",
    group: T,
    formats: SSE,
    costs: 0,
    strike: ({ right }) => ({ type: "http", status: 200, body: completionOf(right) }),
  },
  {
    name: "stream of another content type",
    group: T,
    formats: SSE,
    costs: 0,
    strike: ({ right }) => ({
      type: "bytes",
      parts: ["\uFEFF", ...streamOf(right)],
      contentType: "application/octet-stream",
      end: "end",
    }),
  },
];
