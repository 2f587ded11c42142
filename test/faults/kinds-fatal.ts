/** Faults that no retry helps: the turn ends loudly and soon, and the next message works once they are gone. */
import type { Answer, Kind } from "./kind.ts";
import { JUNK } from "./kind.ts";
import { errorBody } from "./server.ts";

const http =
  (status: number, body: string, headers: Record<string, string> = {}) =>
  (): Answer => ({ type: "http", status, headers, body });
const always = { times: Number.POSITIVE_INFINITY, formats: ["sse"], alone: true } as const;
const F = { ...always, group: "fatal" } as const;
const E = { ...always, group: "for ever" } as const;

export const FATAL: readonly Kind[] = [
  {
    ...F,
    name: "401",
    loud: ["provider_auth"],
    strike: http(
      401,
      errorBody("Incorrect API key provided: sk-test-0000.", "", "invalid_api_key"),
    ),
  },
  {
    ...F,
    name: "403",
    loud: ["provider_auth"],
    strike: http(403, errorBody("Your key may not use this model.", "permission_error")),
  },
  {
    ...F,
    name: "404 unknown model",
    loud: ["provider_error"],
    strike: http(404, errorBody("The model `m1` does not exist.", "", "model_not_found")),
  },
  {
    ...F,
    name: "429 insufficient_quota",
    loud: ["provider_quota"],
    strike: http(
      429,
      errorBody("You exceeded your current quota.", "insufficient_quota", "insufficient_quota"),
    ),
  },
  { ...F, name: "402", loud: ["provider_quota"], strike: http(402, errorBody("No credit.")) },
  {
    ...F,
    name: "400 bad request",
    loud: ["provider_error"],
    strike: http(400, errorBody("Invalid value for temperature.")),
  },
  {
    ...F,
    name: "Retry-After: 86400",
    loud: ["rate_limited"],
    strike: http(429, errorBody("Slow down.", "rate_limit_error"), { "retry-after": "86400" }),
  },
  {
    ...F,
    name: "bad key inside a 200",
    loud: ["provider_auth"],
    strike: http(200, errorBody("Invalid key.", "authentication_error", "invalid_api_key")),
  },
  {
    ...F,
    name: "redirect",
    loud: ["provider_error"],
    strike: http(301, "", { location: "https://example.com/v1" }),
  },
  {
    ...F,
    name: "context_length_exceeded for ever",
    loud: ["context_overflow"],
    strike: http(
      400,
      errorBody("maximum context length is 10 tokens", "", "context_length_exceeded"),
    ),
  },
];

/** Not one fault but one that never ends: bounded, and told. */
export const FOR_EVER: readonly Kind[] = [
  {
    ...E,
    name: "500 for ever",
    loud: ["provider_error"],
    meets: 5,
    strike: http(500, errorBody("Internal error.", "server_error")),
  },
  {
    ...E,
    name: "429 for ever",
    loud: ["rate_limited"],
    meets: 5,
    strike: http(429, errorBody("Slow down.", "rate_limit_error"), { "retry-after": "2" }),
  },
  {
    ...E,
    name: "bare text for ever, but for the planner",
    positions: ["middle"],
    loud: ["retry_exhausted"],
    notice: "replans_exhausted",
    meets: 28,
    strike: ({ body }) =>
      body.tools?.some((t) => t.function.name.endsWith("_plan"))
        ? null
        : { type: "say", spoken: { text: `${JUNK} hm.`, calls: [], finish: "stop" } },
  },
  {
    ...E,
    name: "bare text for ever",
    loud: ["retry_exhausted"],
    meets: 8,
    strike: () => ({ type: "say", spoken: { text: `${JUNK} hm.`, calls: [], finish: "stop" } }),
  },
  {
    ...E,
    name: "empty for ever",
    loud: ["retry_exhausted"],
    meets: 8,
    strike: () => ({ type: "say", spoken: { calls: [], finish: "stop" } }),
  },
  {
    ...E,
    name: "cut for ever",
    loud: ["retry_exhausted"],
    meets: 8,
    strike: ({ right }) => ({ type: "say", spoken: { ...right, finish: "length" } }),
  },
  {
    ...E,
    name: "unknown tool for ever",
    loud: ["retry_exhausted"],
    meets: 8,
    strike: ({ right }) => ({
      type: "say",
      spoken: { ...right, calls: right.calls.map((c) => ({ ...c, name: "web_browse" })) },
    }),
  },
];
