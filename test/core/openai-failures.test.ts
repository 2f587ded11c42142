import { describe, expect, it } from "vitest";
import { refused } from "../../src/adapters/model/failure.ts";
import type { ModelFailure, Piece } from "../../src/core/ports.ts";
import type { MockReply } from "../support/mock-model.ts";
import { answered, call, failure, KEY, mockOf, sse } from "../support/openai-call.ts";

describe("a stream that goes wrong", () => {
  const cut = { code: "provider_error", retryable: true };

  it("O3: without a finish reason is a failure, however it ends", async () => {
    const raw = [
      sse({ content: "half" }),
      sse({ tool_calls: [{ index: 0, id: "a", function: { name: "shell", arguments: "{}" } }] }),
    ];
    expect(failure(await call((await mockOf({ raw })).url))).toMatchObject(cut);
    expect(failure(await call((await mockOf({ raw, cut: true })).url))).toMatchObject(cut);
    expect(
      failure(await call((await mockOf({ raw: [...raw, "data: [DONE]\n\n"] })).url)),
    ).toMatchObject(cut);
  });

  it("is a failure when it is empty, HTML, or not JSON", async () => {
    expect(await answered({ raw: [] })).toMatchObject(cut);
    expect(await answered({ body: "<html><body>Bad gateway</body></html>" })).toMatchObject(cut);
    expect(await answered({ raw: ["data: {broken\n\n"] })).toMatchObject(cut);
    expect(await answered({ body: '{"choices":[' })).toMatchObject(cut);
    expect(await answered({ body: { hello: "world" } })).toMatchObject(cut);
  });

  it("is a failure when it holds an error object, of the kind that the error names", async () => {
    const error = (e: unknown): MockReply => ({ raw: [sse({ content: "half" }), { error: e }] });
    expect(
      await answered(error({ message: "Overloaded", type: "overloaded_error" })),
    ).toMatchObject(cut);
    expect(await answered(error({ message: "slow down", code: 429 }))).toMatchObject({
      code: "rate_limited",
      retryable: true,
    });
    expect(await answered(error({ message: "no", code: "insufficient_quota" }))).toMatchObject({
      code: "provider_quota",
      retryable: false,
    });
    expect(await answered(error({ message: "maximum context length is 8192" }))).toMatchObject({
      code: "context_overflow",
    });
    expect(await answered(error({ message: "bad", type: "invalid_request_error" }))).toMatchObject({
      code: "provider_error",
      retryable: false,
    });
    expect(await answered(error("plain words"))).toMatchObject(cut);
  });

  it("is a failure when a JSON reply with 200 is an error", async () => {
    const said = await answered({ body: { error: { message: "Invalid key", code: 401 } } });
    expect(said).toMatchObject({ code: "provider_auth", retryable: false });
  });

  it("is tried again when nobody listens at the address", async () => {
    const said = failure(await call("http://127.0.0.1:1/v1"));
    expect(said).toMatchObject({ code: "provider_error", retryable: true });
    expect(said.message).toContain("could not be reached");
  });

  it("is a failure of our own when the listener throws", async () => {
    const live = () => {
      throw new Error("bug");
    };
    const said = failure(await call((await mockOf({ text: "hi" })).url, { live }));
    expect(said).toMatchObject({ code: "internal", retryable: false });
  });
});

describe("a refusal", () => {
  const error = (status: number, message: string, more: object = {}): MockReply => ({
    status,
    body: { error: { message, ...more } },
  });

  it.each<[MockReply, Partial<ModelFailure>]>([
    [error(401, "Incorrect API key"), { code: "provider_auth", retryable: false }],
    [error(403, "not allowed"), { code: "provider_auth", retryable: false }],
    [error(404, "no such model"), { code: "provider_error", retryable: false }],
    [error(400, "bad tool schema"), { code: "provider_error", retryable: false }],
    [error(422, "unprocessable"), { code: "provider_error", retryable: false }],
    [
      error(400, "too long", { code: "context_length_exceeded" }),
      { code: "context_overflow", retryable: false },
    ],
    [
      error(400, "This model's maximum context length is 8192 tokens"),
      { code: "context_overflow" },
    ],
    [
      error(400, "prompt is too long: 210000 tokens > 200000 maximum"),
      { code: "context_overflow" },
    ],
    [error(413, "Request too large"), { code: "context_overflow" }],
    [error(402, "Insufficient Balance"), { code: "provider_quota", retryable: false }],
    [error(400, "Your credit balance is too low"), { code: "provider_quota" }],
    [error(429, "x", { code: "insufficient_quota" }), { code: "provider_quota", retryable: false }],
    [
      error(429, "You exceeded your current quota. Please retry in 59s."),
      { code: "provider_quota" },
    ],
    [
      error(429, "Rate limit reached", { code: "rate_limit_exceeded" }),
      { code: "rate_limited", retryable: true },
    ],
    [
      error(429, "Quota exceeded for requests per minute, retry in 59s"),
      { code: "rate_limited", retryAfterMs: 59_000 },
    ],
    [error(500, "boom"), { code: "provider_error", retryable: true }],
    [error(503, "overloaded"), { code: "provider_error", retryable: true }],
    [error(408, "timeout"), { code: "provider_error", retryable: true }],
    [
      { status: 502, body: "<html>Bad gateway</html>" },
      { code: "provider_error", retryable: true },
    ],
    [
      { status: 500, body: "" },
      { code: "provider_error", retryable: true },
    ],
    [
      { status: 400, body: '{"detail":"vLLM says no"}' },
      { code: "provider_error", retryable: false },
    ],
    [
      { status: 429, body: '[{"error":{"message":"RESOURCE_EXHAUSTED"}}]' },
      { code: "rate_limited" },
    ],
  ])("A33: %j", async (answer, expected) => {
    const mock = await mockOf(answer);
    expect(failure(await call(mock.url))).toMatchObject(expected);
    // Nothing is tried again down here.
    expect(mock.requests).toHaveLength(1);
  });

  it("A33: says how long to wait, from seconds, milliseconds, a date or words", async () => {
    const wait = async (headers: Record<string, string>, message = "slow") =>
      (await answered({ ...error(429, message), headers })).retryAfterMs;
    expect(await wait({ "retry-after": "2" })).toBe(2_000);
    expect(await wait({ "retry-after": "86400" })).toBe(86_400_000);
    expect(await wait({ "retry-after-ms": "1500", "retry-after": "2" })).toBe(1_500);
    expect(await wait({}, "Please try again in 1m30.5s.")).toBe(90_500);
    expect(await wait({}, "try again in 250ms")).toBe(250);
    expect(await wait({})).toBeUndefined();
    expect(await wait({ "retry-after": "soon" })).toBeUndefined();
    const now = Date.parse("2026-01-01T00:00:00Z");
    const place = { host: "h", model: "m", apiKey: "", body: "" };
    const dated = (date: string) =>
      refused(
        place,
        { status: 503, text: "", header: (n) => (n === "retry-after" ? date : null) },
        now,
      );
    expect(dated("Thu, 01 Jan 2026 00:01:00 GMT").retryAfterMs).toBe(60_000);
    expect(dated("Wed, 31 Dec 2025 00:00:00 GMT").retryAfterMs).toBe(0);
  });

  it("L2: quotes every shape of error, and hides a key of any shape", async () => {
    const quote = async (body: unknown, apiKey = KEY) =>
      failure(await call((await mockOf({ status: 400, body })).url, { apiKey })).message;
    expect(await quote([{ error: { message: "in a list" } }])).toContain('"in a list"');
    expect(await quote({ error: "as text" })).toContain('"as text"');
    expect(await quote({ detail: "as detail" })).toContain('"as detail"');
    expect(await quote("plain text")).toContain('"plain text"');
    expect(await quote("<html>a page</html>")).not.toContain("page");
    expect(await quote({ message: "key Abc123Xyz is bad" }, "Abc123Xyz")).toContain(
      '"key *** is bad"',
    );
  });

  it("L2: quotes the provider, short and without keys", async () => {
    const message = `Key ${KEY} is wrong, Bearer abc.def, sk-proj-other****789, http://joe:pw@host/ ${"x".repeat(5000)}`;
    const said = await answered(error(401, message));
    expect(said.message).toContain("refused the API key");
    expect(said.message).toContain("is wrong");
    for (const secret of [KEY, "abc.def", "sk-proj", "joe:pw"])
      expect(said.message).not.toContain(secret);
    expect(said.message.length).toBeLessThan(600);
  });
});

describe("an abort", () => {
  const gone = { code: "provider_error", retryable: false };

  it("A24: reaches the server in the middle of a stream, and nothing is said afterwards", async () => {
    const mock = await mockOf({ text: "word ".repeat(200), chunk_delay_ms: 10 });
    const controller = new AbortController();
    const pieces: Piece[] = [];
    const outcome = call(mock.url, {
      signal: controller.signal,
      live: (p) => {
        pieces.push(p);
        if (pieces.length === 3) controller.abort();
      },
    });
    expect(failure(await outcome)).toMatchObject(gone);
    expect(pieces).toHaveLength(3);
    await expect.poll(() => mock.requests[0]?.aborted).toBe(true);
  });

  it("A24: reaches the server before the first byte", async () => {
    const mock = await mockOf({ text: "never", delay_ms: 60_000 });
    const controller = new AbortController();
    const outcome = call(mock.url, { signal: controller.signal });
    await expect.poll(() => mock.requests.length).toBe(1);
    controller.abort();
    expect(failure(await outcome)).toMatchObject(gone);
    await expect.poll(() => mock.requests[0]?.aborted).toBe(true);
  });

  it("A24: before the call sends nothing", async () => {
    const mock = await mockOf({ text: "never" });
    expect(failure(await call(mock.url, { signal: AbortSignal.abort() }))).toMatchObject(gone);
    expect(mock.requests).toHaveLength(0);
  });

  it("O2: ends the call even when the network does not react", async () => {
    const controller = new AbortController();
    const outcome = call("http://host.invalid/v1", {
      signal: controller.signal,
      fetch: () => new Promise(() => {}),
    });
    controller.abort();
    expect(failure(await outcome)).toMatchObject(gone);
    const stalled = call("http://host.invalid/v1", {
      timeoutMs: 30,
      fetch: () => new Promise(() => {}),
    });
    expect(failure(await stalled)).toMatchObject({ code: "provider_error", retryable: true });
  });
});
