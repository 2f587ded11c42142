import { describe, expect, it } from "vitest";
import { LIMITS } from "../../src/core/limits.ts";
import type { Piece } from "../../src/core/ports.ts";
import {
  call,
  failure,
  KEY,
  mockOf,
  reply,
  serve,
  sse,
  streaming,
} from "../support/openai-call.ts";

describe("the request", () => {
  it("O1: reaches the wire byte for byte, with the key and as JSON", async () => {
    const mock = await mockOf({ text: "ok" });
    const body = `{"model":"m1",  "stream":true,\n"x":1e3,"messages":[{"role":"user","content":"ü🚀 \\u00e9 </x>"}]}`;
    reply(await call(mock.url, { body }));
    expect(mock.requests).toHaveLength(1);
    expect(mock.requests[0]?.raw).toBe(body);
    expect(mock.requests[0]?.path).toBe("/v1/chat/completions");
    expect(mock.requests[0]?.headers["content-type"]).toBe("application/json");
    expect(mock.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  });

  it("sends no Authorization without a key, and takes a base URL with a slash at its end", async () => {
    const mock = await mockOf({ text: "ok" });
    reply(await call(`${mock.url}/`, { apiKey: "" }));
    expect(mock.requests[0]?.headers.authorization).toBeUndefined();
    expect(mock.requests[0]?.path).toBe("/v1/chat/completions");
  });

  it("goes nowhere when the base URL is no http address", async () => {
    for (const url of ["", "not a url", "ftp://host/v1", "file:///etc", "http://joe:pw@host/v1"]) {
      const said = failure(await call(url));
      expect(said).toMatchObject({ code: "provider_error", retryable: false });
      expect(said.message).not.toContain("pw");
    }
  });

  it("does not follow a redirect with the key", async () => {
    let calls = 0;
    const url = await serve((_req, res) => {
      calls++;
      res.writeHead(307, { location: "/elsewhere" }).end();
    });
    const said = failure(await call(url));
    expect(said).toMatchObject({ code: "provider_error", retryable: false });
    expect(said.message).toContain("redirect");
    expect(calls).toBe(1);
  });
});

describe("a reply", () => {
  it("comes with text, thinking, calls, usage and live pieces", async () => {
    const mock = await mockOf({
      thinking: "let me see",
      text: "Hello, 世界 🚀",
      tool_calls: [{ id: "c1", name: "shell", arguments: { command: "ls" } }],
      usage: { prompt_tokens: 9, completion_tokens: 4 },
      model: "m1-2026",
    });
    const pieces: Piece[] = [];
    const got = reply(await call(mock.url, { live: (p) => pieces.push(p) }));
    expect(got).toEqual({
      text: "Hello, 世界 🚀",
      thinking: "let me see",
      calls: [{ id: "c1", name: "shell", arguments: '{"command":"ls"}' }],
      finish: "tool_calls",
      model: "m1-2026",
      usage: { input_tokens: 9, output_tokens: 4, cached_tokens: 0 },
    });
    expect(pieces.map((p) => p.text ?? "").join("")).toBe("Hello, 世界 🚀");
    expect(pieces.map((p) => p.thinking ?? "").join("")).toBe("let me see");
    expect(pieces.length).toBeGreaterThan(3);
  });

  it("is taken as one JSON completion too, whatever its content type says", async () => {
    const completion = {
      model: "m9",
      choices: [{ index: 0, message: { role: "assistant", content: "hi" } }],
      usage: { prompt_tokens: 1, completion_tokens: 1 },
    };
    for (const type of ["application/json", "text/event-stream", "text/plain"]) {
      const body = `\ufeff\n ${JSON.stringify(completion)}`;
      const mock = await mockOf({ body, headers: { "content-type": type } });
      expect(reply(await call(mock.url))).toMatchObject({
        text: "hi",
        finish: "stop",
        model: "m9",
      });
    }
  });

  it("A12: calls without an index and finish stop are two calls", async () => {
    const delta = (id: string) => ({
      tool_calls: [{ id, function: { name: "shell", arguments: "{}" } }],
    });
    const url = await streaming(
      sse(delta("a1")),
      sse(delta("a2")),
      sse({}, "stop"),
      "data: [DONE]\n\n",
    );
    expect(reply(await call(url)).calls.map((c) => c.id)).toEqual(["a1", "a2"]);
  });

  it("A13: three calls at index 0 are three calls", async () => {
    const delta = (id: string, x: number) => ({
      tool_calls: [{ index: 0, id, function: { name: "shell", arguments: `{"x":${x}}` } }],
    });
    const url = await streaming(
      sse(delta("a1", 1)),
      sse(delta("a2", 2)),
      sse(delta("a3", 3)),
      sse({}, "tool_calls"),
    );
    expect(reply(await call(url)).calls.map((c) => c.arguments)).toEqual([
      '{"x":1}',
      '{"x":2}',
      '{"x":3}',
    ]);
  });

  it("A14: survives empty choices, comments, null content and usage at the end", async () => {
    const url = await streaming(
      `data: {"choices":[],"prompt_filter_results":[]}\n\n`,
      ": keep-alive\n\n",
      sse({ content: null, role: null }),
      `data: {"choices":[{"delta":{}}]}\n\n`,
      sse({ content: "hi" }),
      sse({}, "stop"),
      `data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}\n\n`,
      "data: [DONE]\n\n",
    );
    const pieces: Piece[] = [];
    const got = reply(await call(url, { live: (p) => pieces.push(p) }));
    expect(got.text).toBe("hi");
    expect(got.usage).toEqual({ input_tokens: 3, output_tokens: 1, cached_tokens: 0 });
    expect(pieces).toEqual([{ text: "hi" }]);
  });

  it("takes CRLF, fields without a space, and a stream without [DONE] or a last blank line", async () => {
    const lines = (sse({ content: "one " }) + sse({ content: "two" }, "stop"))
      .replaceAll("\n", "\r\n")
      .replaceAll("data: ", "data:")
      .trimEnd();
    expect(reply(await call(await streaming(lines)))).toMatchObject({
      text: "one two",
      finish: "stop",
    });
  });

  it("joins characters and lines that are split anywhere between two packets", async () => {
    const bytes = Buffer.from(sse({ content: "ü世🚀" }) + sse({}, "stop"));
    const bits = [...bytes].map((b) => Buffer.from([b]));
    expect(reply(await call(await streaming(...bits))).text).toBe("ü世🚀");
  });

  it("takes a byte order mark and blank lines before the first event", async () => {
    expect(
      reply(await call(await streaming("\ufeff", "\n\n", sse({ content: "x" }, "stop")))).text,
    ).toBe("x");
  });

  it("O3: counts when the connection breaks after the finish reason", async () => {
    const mock = await mockOf({ raw: [sse({ content: "all" }), sse({}, "stop")], cut: true });
    expect(reply(await call(mock.url))).toMatchObject({ text: "all", finish: "stop", usage: null });
  });

  it("O3: counts when nothing but comments follow the finish reason, for ever", async () => {
    const url = await serve((_req, res) => {
      res.writeHead(200, { "content-type": "text/event-stream" });
      res.write(sse({ content: "all" }, "stop"));
      const timer = setInterval(() => res.write(": still here\n\n"), 20);
      res.once("close", () => clearInterval(timer));
    });
    expect(reply(await call(url, { timeoutMs: 100 })).text).toBe("all");
  });

  it("keeps the finish reason length, and says length beyond the caps", async () => {
    const mock = await mockOf({ text: "half", finish: "length" });
    expect(reply(await call(mock.url)).finish).toBe("length");
    const size = Math.ceil(LIMITS.replyChars * 0.3);
    const big = sse({ content: "x".repeat(size) });
    const long = reply(await call(await streaming(big, big, big, big, big)));
    expect(long.finish).toBe("length");
    expect(long.text.length).toBe(3 * size);
  });
});

describe("silence", () => {
  it("O4: before the first byte ends the call", async () => {
    const url = await serve(() => {});
    const said = failure(await call(url, { timeoutMs: 60 }));
    expect(said).toMatchObject({ code: "provider_error", retryable: true });
    expect(said.message).toContain("sent nothing for");
  });

  it("O4: in the middle of a stream ends the call, and nothing of it is a reply", async () => {
    const mock = await mockOf({ raw: [sse({ content: "half" })], hang: true });
    const said = failure(await call(mock.url, { timeoutMs: 80 }));
    expect(said).toMatchObject({ code: "provider_error", retryable: true });
  });

  it("O4: in the middle of a refusal's body still gives the status", async () => {
    const url = await serve((_req, res) => {
      res.writeHead(401, { "content-type": "application/json" });
      res.write('{"error":');
    });
    expect(failure(await call(url, { timeoutMs: 80 })).code).toBe("provider_auth");
  });

  it("O4: any byte counts, so a stream of comments longer than the limit is not cut off", async () => {
    const raw = [
      ...Array.from({ length: 12 }, () => ": still there\n\n"),
      sse({ content: "late" }, "stop"),
    ];
    const mock = await mockOf({ raw, chunk_delay_ms: 40 });
    expect(reply(await call(mock.url, { timeoutMs: 250 })).text).toBe("late");
  });
});
