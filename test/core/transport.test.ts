/** Every kind of what an endpoint may do, each once, by name: what comes of it, and that one request was made. */
import { describe, expect, it } from "vitest";
import type { Hint } from "../../src/core/profile.ts";
import type { MockReply } from "../support/mock-model.ts";
import { call, mockOf, serve, sse } from "../support/openai-call.ts";

const DONE = "data: [DONE]\n\n";
const TEXT = sse({ content: "héllo 🚀" });
const STOP = sse({}, "stop");
const toolDelta = (call: object) => sse({ tool_calls: [call] });
const fn = (name: string | undefined, args: unknown) => ({ function: { name, arguments: args } });
const raw = (...parts: string[]): MockReply => ({ raw: parts });
const completion = (message: object, finish: string | null = "stop"): MockReply => ({
  body: { choices: [{ index: 0, message, finish_reason: finish }] },
});

interface Good {
  text?: string;
  thinking?: string;
  calls?: [string, string][];
  finish?: string | null;
}
const LS: Good = { calls: [["shell", '{"a":1}']], finish: "tool_calls" };
const TWO: Good = {
  calls: [
    ["shell", '{"a":1}'],
    ["shell", '{"b":2}'],
  ],
};
const HELLO: Good = { text: "héllo 🚀", finish: "stop" };

const REPLIES: Record<string, [MockReply, Good]> = {
  "plain stream": [raw(TEXT, STOP, DONE), HELLO],
  CRLF: [raw(`${TEXT}${STOP}${DONE}`.replaceAll("\n", "\r\n")), HELLO],
  "CR only": [raw(`${TEXT}${STOP}${DONE}`.replaceAll("\n", "\r")), HELLO],
  "no space after data:": [
    raw(TEXT.replace("data: ", "data:"), STOP.replace("data: ", "data:")),
    HELLO,
  ],
  "no [DONE]": [raw(TEXT, STOP), HELLO],
  "no blank line at the end": [raw(TEXT, STOP.trimEnd()), HELLO],
  "[DONE] with spaces": [raw(TEXT, STOP, "data:  [DONE] \n\n"), HELLO],
  "comments between": [
    raw(": ping\n\n", TEXT, ":\n\n", ": OPENROUTER PROCESSING\n\n", STOP, DONE),
    HELLO,
  ],
  "pings without data": [
    raw("event: ping\n\n", TEXT, "data:\n\n", "id: 7\nretry: 10\n\n", STOP, DONE),
    HELLO,
  ],
  "named events": [raw(`event: chunk\nid: 1\n${TEXT}`, "event: ping\ndata: {}\n\n", STOP), HELLO],
  "data over several lines": [raw(TEXT.replace('"choices":', '"choices":\ndata: '), STOP), HELLO],
  "empty choices": [
    raw('data: {"choices":[]}\n\n', TEXT, STOP, 'data: {"choices":[],"usage":null}\n\n'),
    HELLO,
  ],
  "choices null, delta null": [
    raw('data: {"choices":null}\n\n', 'data: {"choices":[{"delta":null}]}\n\n', TEXT, STOP),
    HELLO,
  ],
  "an error after the end": [raw(TEXT, STOP, 'data: {"error":{"message":"late"}}\n\n'), HELLO],
  "nonsense after the end": [raw(TEXT, STOP, "data: {broken\n\n"), HELLO],
  "reset after the end": [{ ...raw(TEXT, STOP), cut: true }, HELLO],
  "silence after the end": [{ ...raw(TEXT, STOP), hang: true }, HELLO],
  "content as parts": [
    raw(
      sse({ content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }] }),
      sse({
        content: [
          { type: "reasoning", text: "m" },
          { type: "text", text: "héllo 🚀" },
        ],
      }),
      STOP,
    ),
    { ...HELLO, thinking: "hmm" },
  ],
  "reasoning in either field": [
    raw(sse({ reasoning_content: "a" }), sse({ reasoning: "b" }), TEXT, STOP),
    { ...HELLO, thinking: "ab" },
  ],
  "reasoning only": [
    raw(sse({ reasoning_content: "a" }), STOP),
    { text: "", thinking: "a", finish: "stop" },
  ],
  refusal: [
    raw(sse({ refusal: "I will " }), sse({ refusal: "not." }), STOP),
    { text: "I will not.", finish: "refusal" },
  ],
  "refusal after text": [raw(TEXT, sse({ refusal: "No." }), STOP), { ...HELLO, finish: "refusal" }],
  "refusal as a part": [
    completion({ content: [{ type: "refusal", refusal: "No." }] }),
    { text: "No.", finish: "refusal" },
  ],
  "content filter": [raw(TEXT, sse({}, "content_filter")), { ...HELLO, finish: "content_filter" }],
  "output limit": [raw(TEXT, sse({}, "length")), { ...HELLO, finish: "length" }],
  "whole JSON": [completion({ content: "héllo 🚀" }), HELLO],
  "whole JSON without a finish reason": [completion({ content: "héllo 🚀" }, null), HELLO],
  "whole JSON with calls": [
    completion({ content: null, tool_calls: [{ id: "a", ...fn("shell", '{"a":1}') }] }, null),
    LS,
  ],
  "legacy function_call in JSON": [
    completion(
      { content: null, ...{ function_call: { name: "shell", arguments: '{"a":1}' } } },
      "function_call",
    ),
    { ...LS, finish: "function_call" },
  ],
  "legacy function_call in deltas": [
    raw(
      sse({ function_call: { name: "shell", arguments: "" } }),
      sse({ function_call: { arguments: '{"a"' } }),
      sse({ function_call: { arguments: ":1}" } }, "function_call"),
    ),
    { ...LS, finish: "function_call" },
  ],
  "no index": [
    raw(
      toolDelta({ id: "a", ...fn("shell", '{"a":1}') }),
      toolDelta({ id: "b", ...fn("shell", '{"b":2}') }),
      STOP,
    ),
    { ...TWO, finish: "stop" },
  ],
  "same index for all": [
    raw(
      toolDelta({ index: 0, id: "a", ...fn("shell", '{"a":1}') }),
      toolDelta({ index: 0, id: "b", ...fn("shell", '{"b":2}') }),
      sse({}, "tool_calls"),
    ),
    TWO,
  ],
  "name and id in every delta": [
    raw(
      toolDelta({ index: 0, id: "a", ...fn("shell", '{"a"') }),
      toolDelta({ index: 0, id: "a", ...fn("shell", ":1}") }),
      sse({}, "tool_calls"),
    ),
    LS,
  ],
  "name sent again at the end": [
    raw(
      toolDelta({ index: 0, id: "a", ...fn("shell", '{"a":1}') }),
      toolDelta({ index: 0, id: "a", ...fn("shell", "") }),
      sse({}, "tool_calls"),
    ),
    LS,
  ],
  "numeric ids": [
    raw(
      toolDelta({ id: 1, ...fn("shell", '{"a":1}') }),
      toolDelta({ id: 2, ...fn("shell", '{"b":2}') }),
      STOP,
    ),
    TWO,
  ],
  "arguments as an object": [
    raw(toolDelta({ index: 0, id: "a", ...fn("shell", { a: 1 }) }), sse({}, "tool_calls")),
    LS,
  ],
  "a delta with metadata only": [
    raw(
      toolDelta({ index: 0, id: "a", ...fn("shell", '{"a":1}') }),
      toolDelta({ extra_content: {} }),
      sse({}, "tool_calls"),
    ),
    LS,
  ],
  "keep-alive longer than the timeout": [
    {
      raw: [...Array.from({ length: 8 }, () => ": still here\n\n"), TEXT, STOP],
      chunk_delay_ms: 60,
    },
    HELLO,
  ],
  "slow drip longer than the timeout": [
    { raw: [...(`${TEXT}${STOP}`.match(/[\s\S]{1,30}/gu) ?? [])], chunk_delay_ms: 60 },
    HELLO,
  ],
};

const TIMEOUT_MS = 1_000;

describe("a reply comes of", () => {
  it.each(Object.entries(REPLIES))("%s", async (_, [answer, expected]) => {
    const mock = await mockOf(answer);
    const outcome = await call(mock.url, { timeoutMs: TIMEOUT_MS });
    if (outcome.type === "failed") throw new Error(outcome.failure.message);
    const { calls, ...reply } = outcome.reply;
    const { calls: wanted, ...rest } = expected;
    expect(reply).toMatchObject(rest);
    expect(calls.map((c) => [c.name, c.arguments])).toEqual(wanted ?? []);
    expect(mock.requests).toHaveLength(1);
  });
});

const AGAIN = { code: "provider_error", retryable: true };
const NEVER = { code: "provider_error", retryable: false };
const error = (status: number, message: string, more: object = {}, headers = {}): MockReply => ({
  status,
  body: { error: { message, ...more } },
  headers,
});
const limited = (retryAfterMs?: number) => ({
  code: "rate_limited",
  retryable: true,
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});

const FAILURES: Record<string, [MockReply, object]> = {
  "no finish reason": [raw(TEXT, DONE), AGAIN],
  "a call without a finish reason": [
    raw(toolDelta({ index: 0, id: "a", ...fn("shell", "{}") })),
    AGAIN,
  ],
  "reset in the middle": [{ ...raw(TEXT), cut: true }, AGAIN],
  "stall before the first byte": [{ text: "never", delay_ms: 60_000 }, AGAIN],
  "stall after the headers": [{ raw: [], hang: true }, AGAIN],
  "stall in the middle": [{ ...raw(TEXT), hang: true }, AGAIN],
  "empty body": [{ body: "" }, AGAIN],
  "empty stream": [{ raw: [] }, AGAIN],
  "[DONE] alone": [raw(DONE), AGAIN],
  "HTML with 200": [
    { body: "<!doctype html><p>Sign in", headers: { "content-type": "text/html" } },
    AGAIN,
  ],
  "HTML with 502": [{ status: 502, body: "<html>Bad gateway</html>" }, AGAIN],
  "text with 200": [{ body: "upstream timed out" }, AGAIN],
  "broken JSON": [{ body: '{"choices":[' }, AGAIN],
  "JSON without choices": [{ body: { choices: [] } }, AGAIN],
  "a broken chunk": [raw(TEXT, "data: {broken\n\n", STOP), AGAIN],
  "error inside 200": [{ body: { error: { message: "overloaded" } } }, AGAIN],
  "error inside the stream": [raw(TEXT, 'data: {"error":{"message":"overloaded"}}\n\n'), AGAIN],
  "error as a named event": [raw(TEXT, 'event: error\ndata: {"message":"Overloaded"}\n\n'), AGAIN],
  "rate limit inside the stream": [
    raw(TEXT, 'data: {"error":{"message":"slow down, retry in 59s","code":429}}\n\n'),
    limited(59_000),
  ],
  "bad request inside 200": [{ body: { error: { message: "bad", code: 400 } } }, NEVER],
  "500": [error(500, "boom"), AGAIN],
  "503 with Retry-After": [
    error(503, "busy", {}, { "retry-after": "3" }),
    { ...AGAIN, retryAfterMs: 3_000 },
  ],
  "529 overloaded": [error(529, "overloaded"), AGAIN],
  "408": [error(408, "timeout"), AGAIN],
  "429": [error(429, "slow"), limited()],
  "429, Retry-After in seconds": [error(429, "slow", {}, { "retry-after": "2" }), limited(2_000)],
  "429, Retry-After in fractions": [error(429, "slow", {}, { "retry-after": "0.5" }), limited(500)],
  "429, Retry-After as a date": [
    error(429, "slow", {}, { "retry-after": "Wed, 31 Dec 2025 00:00:00 GMT" }),
    limited(0),
  ],
  "429, Retry-After with a unit": [
    error(429, "slow", {}, { "retry-after": "1500ms" }),
    limited(1_500),
  ],
  "429, retry-after-ms": [error(429, "slow", {}, { "retry-after-ms": "250" }), limited(250)],
  "429, words: retry in 59s": [error(429, "retry in 59s"), limited(59_000)],
  "429, retryDelay in details": [
    error(429, "slow", { details: [{ retryDelay: "7s" }] }),
    limited(7_000),
  ],
  "429, quota per minute": [error(429, "Quota exceeded: requests per minute"), limited()],
  "429, quota spent": [
    error(429, "no", { code: "insufficient_quota" }),
    { code: "provider_quota", retryable: false },
  ],
  "429, quota spent, with a time": [
    error(429, "You exceeded your current quota, retry in 59s"),
    { code: "provider_quota", retryable: false },
  ],
  "402": [error(402, "Insufficient Balance"), { code: "provider_quota", retryable: false }],
  "401": [error(401, "Incorrect API key"), { code: "provider_auth", retryable: false }],
  "403": [error(403, "no access"), { code: "provider_auth", retryable: false }],
  "unknown model": [
    error(404, "The model `m1` does not exist", { code: "model_not_found" }),
    NEVER,
  ],
  "bad request": [error(400, "bad"), NEVER],
  redirect: [{ status: 307, body: "", headers: { location: "/x" } }, NEVER],
  "context too long": [
    error(400, "x", { code: "context_length_exceeded" }),
    { code: "context_overflow" },
  ],
  "a tool call that the server could not read": [
    error(400, "Failed to call a function.", { code: "tool_use_failed", failed_generation: "<x" }),
    AGAIN,
  ],
};

describe("a failure comes of", () => {
  it.each(Object.entries(FAILURES))("%s", async (_, [answer, expected]) => {
    const mock = await mockOf(answer);
    const outcome = await call(mock.url, { timeoutMs: TIMEOUT_MS });
    expect(outcome).toMatchObject({ type: "failed", failure: expected });
    expect(outcome).not.toHaveProperty("failure.hint");
    expect(mock.requests).toHaveLength(1);
  });

  it("a reset before the headers", async () => {
    let requests = 0;
    const url = await serve((req) => {
      requests++;
      req.socket.destroy();
    });
    expect(await call(url)).toMatchObject({ type: "failed", failure: AGAIN });
    expect(requests).toBe(1);
  });

  it("a key that no header can hold, without a request", async () => {
    const mock = await mockOf();
    const outcome = await call(mock.url, { apiKey: "sk-å\nx" });
    expect(outcome).toMatchObject({ failure: { code: "provider_auth", retryable: false } });
    expect(mock.requests).toHaveLength(0);
  });
});

/** Words that providers really use, and what they are about. `sent`: the tool_choice of the request. */
const HINTS: [string | object, Hint | null, unknown?][] = [
  ["deepseek-reasoner does not support this tool_choice", "tool_choice", "required"],
  ["Thinking mode does not support this tool_choice", "tool_choice_named", { type: "function" }],
  ["Thinking may not be enabled when tool_choice forces tool use.", "tool_choice", "required"],
  ["No endpoints found that support the provided 'tool_choice' value.", "tool_choice", "required"],
  [
    "Invalid tool_choice type: 'object'. Supported string values: none, auto, required",
    "tool_choice_named",
    { type: "function" },
  ],
  ["tool_choice is not supported", "tool_choice_auto", "auto"],
  ["tool_choice is not supported", null],
  [
    '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    null,
    "auto",
  ],
  [
    "Unsupported parameter: 'parallel_tool_calls' is not supported with this model.",
    "parallel_tool_calls",
  ],
  [
    "The reasoning_content in the thinking mode must be passed back to the API.",
    "reasoning_missing",
  ],
  [
    "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
    "reasoning_missing",
  ],
  ["Unknown field: messages.1.reasoning_content", "reasoning_unknown"],
  [
    "'messages.1' : for 'role:assistant' property 'reasoning_content' is unsupported",
    "reasoning_unknown",
  ],
  ["Please remove the reasoning_content from the input messages", "reasoning_unknown"],
  [
    {
      detail: [
        {
          type: "extra_forbidden",
          loc: ["body", "messages", 1, "assistant", "reasoning_content"],
          msg: "Extra inputs are not permitted",
          input: "hm",
        },
      ],
    },
    "reasoning_unknown",
  ],
  ["stream_options is not supported", "stream_options"],
  [
    {
      detail: [
        {
          type: "extra_forbidden",
          loc: ["body", "stream_options"],
          msg: "Extra inputs are not permitted",
        },
      ],
    },
    "stream_options",
  ],
  ["Invalid value for 'content': expected a string, got null.", "null_content"],
  ["messages.1.content must be a string", "null_content"],
  [
    "AiError: Bad input: Error: oneOf at '/' not met: Type mismatch of '/messages/1/content', 'null' not in 'string'",
    "null_content",
  ],
  ["invalid message content type: <nil>", "null_content"],
  [
    {
      detail: [
        {
          loc: ["body", "messages", 1, "assistant", "content"],
          msg: "Input should be a valid string",
          input: null,
        },
      ],
    },
    "null_content",
  ],
  ["missing field `content` at line 1", "null_content"],
  ["messages.1: all messages must have non-empty content", "null_content"],
  [
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    "max_tokens_field",
  ],
  ["max_tokens is too large: 100000. This model supports at most 16384", null],
  ["Invalid schema for function 'x': array schema missing items.", "schema"],
  ["tools.0.custom.input_schema: JSON schema is invalid", "schema"],
  [
    "Invalid JSON payload received. Unknown name \"$schema\" at 'tools[0].function_declarations[0].parameters': Cannot find field.",
    "schema",
  ],
  ["tools[3].function.parameters.properties[x].items: missing field.", "schema"],
  [
    "Invalid schema for function 'x': In context=(), 'additionalProperties' is required to be supplied and to be false.",
    "strict",
  ],
  [
    {
      detail: [
        { loc: ["body", "tools", 0, "function", "strict"], msg: "Extra inputs are not permitted" },
      ],
    },
    "strict",
  ],
  ["This model does not support tools", null],
  ["Unsupported parameter: 'reasoning_effort'", null],
  ["An assistant message with 'tool_calls' must be followed by tool messages", null],
  // What the person said is not what the refusal is about.
  [{ detail: [{ loc: ["body", "n"], msg: "bad", input: "stream_options tool_choice" }] }, null],
];

describe("the hint of a refusal", () => {
  it.each(HINTS)("%j is %s", async (said, hint, sent) => {
    for (const status of [400, 422]) {
      const body = typeof said === "string" ? { error: { message: said } } : said;
      const mock = await mockOf({ status, body });
      const request = {
        messages: [{ role: "user", content: "hi" }],
        ...(sent ? { tool_choice: sent } : {}),
      };
      const outcome = await call(mock.url, { body: JSON.stringify(request) });
      expect(outcome).toMatchObject({ failure: NEVER });
      expect(outcome.type === "failed" ? (outcome.failure.hint ?? null) : "").toBe(hint);
      expect(mock.requests).toHaveLength(1);
    }
  });

  it("is read from an error that a gateway wraps in another", async () => {
    const inner = JSON.stringify({ error: { message: "stream_options: not permitted" } });
    const body = {
      error: { message: "Provider returned error", code: 400, metadata: { raw: inner } },
    };
    const mock = await mockOf({ status: 400, body });
    expect(await call(mock.url)).toMatchObject({ failure: { hint: "stream_options" } });
  });
});
