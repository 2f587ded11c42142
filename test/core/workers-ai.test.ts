/** Workers AI through its binding. No real one can be had in a test: the fakes answer in both of its known forms. */
import { describe, expect, it } from "vitest";
import { createModel, providers } from "../../src/adapters/model/providers.ts";
import type { AiBinding } from "../../src/adapters/model/workers-ai.ts";
import type { ModelOutcome, Piece } from "../../src/core/ports.ts";

interface Asked {
  model: string;
  inputs: Record<string, unknown>;
  signal: AbortSignal | undefined;
}
function binding(answer: (asked: Asked) => Response | Promise<Response>) {
  const asked: Asked[] = [];
  const AI: AiBinding = {
    async run(model, inputs, options) {
      const one = { model, inputs, signal: options.signal };
      asked.push(one);
      return answer(one);
    },
  };
  return { AI, asked };
}

/** A stream in pieces of three bytes: lines, and characters, are cut anywhere. */
function stream(...lines: string[]): Response {
  const bytes = new TextEncoder().encode(lines.map((line) => `${line}\n\n`).join(""));
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + 3));
      at += 3;
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
const data = (value: unknown) => `data: ${JSON.stringify(value)}`;

async function call(
  AI: AiBinding,
  live: (piece: Piece) => void = () => {},
  signal = new AbortController().signal,
): Promise<ModelOutcome> {
  const body = JSON.stringify({ model: "@cf/x/y", stream: true, tools: [], messages: [] });
  const request = { provider: "workers-ai", model: "@cf/x/y", body, timeoutMs: 5_000 };
  return createModel({ AI })(request, live, signal);
}

describe("the binding as a provider", () => {
  it("is there when it is bound, and an account's token goes before it", () => {
    const { AI } = binding(() => new Response());
    expect(providers({ AI }).map((p) => p.id)).toEqual(["workers-ai", "practice"]);
    expect(providers({ AI: "no binding" }).map((p) => p.id)).toEqual(["practice"]);
    const both = { AI, WORKERS_AI_ACCOUNT_ID: "abc", WORKERS_AI_API_KEY: "k" };
    expect(providers(both)[0]).toMatchObject({ apiKey: "k" });
    expect(providers(both)[0]?.fetch).toBeUndefined();
  });

  it("is asked for the model with all else of the request", async () => {
    const { AI, asked } = binding(() => stream("data: [DONE]"));
    await call(AI);
    expect(asked[0]?.model).toBe("@cf/x/y");
    expect(asked[0]?.inputs).toEqual({ stream: true, tools: [], messages: [] });
  });
});

describe("a reply", () => {
  it("W1: in OpenAI's form is taken as it is", async () => {
    const chunk = (delta: unknown, finish_reason: string | null = null) =>
      data({ choices: [{ index: 0, delta, finish_reason }] });
    const { AI } = binding(() =>
      stream(chunk({ content: "汉字 🚀" }), chunk({}, "stop"), "data: [DONE]"),
    );
    expect(await call(AI)).toMatchObject({
      type: "reply",
      reply: { text: "汉字 🚀", finish: "stop" },
    });
  });

  it("W1, W2: in the older form is written anew, as it streams", async () => {
    const { AI } = binding(() =>
      stream(
        data({ response: "汉" }),
        data({ response: "字 🚀" }),
        data({ response: "", usage: { prompt_tokens: 7, completion_tokens: 3 } }),
        "data: [DONE]",
      ),
    );
    const pieces: string[] = [];
    const outcome = await call(AI, (piece) => pieces.push(piece.text ?? ""));
    expect(outcome).toMatchObject({
      type: "reply",
      reply: { text: "汉字 🚀", finish: "stop", usage: { input_tokens: 7, output_tokens: 3 } },
    });
    expect(pieces).toEqual(["汉", "字 🚀"]);
  });

  it("W1: with calls in the older form keeps each of them", async () => {
    const { AI } = binding(() =>
      stream(
        data({ response: null, tool_calls: [{ name: "a", arguments: { x: 1 } }] }),
        data({ tool_calls: [{ name: "b", arguments: '{"y":2}' }] }),
        "data: [DONE]",
      ),
    );
    const outcome = await call(AI);
    expect(outcome).toMatchObject({ type: "reply", reply: { finish: "tool_calls" } });
    const calls = outcome.type === "reply" ? outcome.reply.calls : [];
    expect(calls.map(({ name, arguments: args }) => [name, args])).toEqual([
      ["a", '{"x":1}'],
      ["b", '{"y":2}'],
    ]);
  });

  it("that is not streamed is read whole, in both forms", async () => {
    for (const body of [
      { result: { response: "hello", tool_calls: [] } },
      { response: "hello" },
      { choices: [{ message: { role: "assistant", content: "hello" }, finish_reason: "stop" }] },
    ]) {
      const { AI } = binding(() => Response.json(body));
      expect(await call(AI)).toMatchObject({ type: "reply", reply: { text: "hello" } });
    }
  });

  it("W2: that breaks off is no reply", async () => {
    const { AI } = binding(() => stream(data({ response: "half of" })));
    expect(await call(AI)).toMatchObject({ type: "failed", failure: { retryable: true } });
  });

  it("that is nonsense is a failure, never an exception", async () => {
    const { AI } = binding(() => stream("data: {nonsense", "data: [DONE]"));
    expect((await call(AI)).type).toBe("failed");
  });
});

describe("W3: what the binding throws", () => {
  for (const [message, retryable, code] of [
    ["5007: No such model @cf/x/y or task", false, "provider_error"],
    ["3040: Capacity temporarily exceeded, please try again.", true, "rate_limited"],
    ["InferenceUpstreamError: something passing", true, "provider_error"],
  ] as const) {
    it(`is judged by its code: ${message}`, async () => {
      const { AI } = binding(() => {
        throw new Error(message);
      });
      expect(await call(AI)).toMatchObject({ type: "failed", failure: { code, retryable } });
    });
  }

  it("after a stop is a stop", async () => {
    const stop = new AbortController();
    const { AI } = binding(({ signal }) => {
      stop.abort();
      throw signal?.reason ?? new Error("the signal did not come");
    });
    expect(await call(AI, () => {}, stop.signal)).toMatchObject({
      type: "failed",
      failure: { retryable: false },
    });
  });
});
