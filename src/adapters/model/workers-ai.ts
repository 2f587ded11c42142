/**
 * Workers AI through its binding, as if it were an endpoint that speaks the OpenAI chat completions API: a request's
 * body goes in, a response of that API comes out, so that everything around a call is the same as anywhere.
 *
 * W1  Newer models answer in OpenAI's own form, which passes through untouched; older ones in Workers AI's
 *     (`{response, tool_calls, usage}`), which is written anew, line by line, as it streams.
 * W2  An old stream has no finish reason: its `[DONE]` is one. A stream that breaks off has neither.
 * W3  What the binding throws is an answer with a status, so that it is judged like any other refusal.
 */
import type { Fetch } from "./openai.ts";

/** What is used of the `AI` binding. */
export interface AiBinding {
  run(
    model: string,
    inputs: Record<string, unknown>,
    options: { returnRawResponse: true; signal?: AbortSignal },
  ): Promise<Response>;
}

export const isAiBinding = (value: unknown): value is AiBinding =>
  typeof value === "object" && value !== null && typeof (value as AiBinding).run === "function";

/** The address under which the binding's errors are told. */
export const BINDING_URL = "https://workers-ai.binding/v1";

export const aiFetch =
  (ai: AiBinding): Fetch =>
  async (_, init) => {
    const { model, ...inputs } = JSON.parse(String(init?.body)) as Record<string, unknown>;
    const signal = init?.signal ?? undefined;
    const options = { returnRawResponse: true as const, ...(signal ? { signal } : {}) };
    let response: Response;
    try {
      response = await ai.run(String(model), inputs, options);
    } catch (error) {
      if (signal?.aborted) throw error;
      return refusalOf(error);
    }
    if (!response.ok || !response.body) return response;
    const type = response.headers.get("content-type") ?? "";
    if (!type.includes("event-stream")) return whole(response);
    const body = response.body
      .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
      .pipeThrough(new TransformStream(translator(String(model))))
      .pipeThrough(new TextEncoderStream());
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };

/** The binding says `5007: No such model …` and the like; 3xxx are about load, 5xxx about the request. */
function refusalOf(error: unknown): Response {
  const message = error instanceof Error ? error.message : String(error);
  const code = Number(/\b([35]\d{3})\b/.exec(message)?.[1] ?? 0);
  const status =
    code === 3036 || code === 3040 ? 429 : code === 5007 ? 404 : code >= 5000 ? 400 : 503;
  return Response.json({ error: { message, code: code || null } }, { status });
}

interface OldReply {
  response?: unknown;
  tool_calls?: { name?: unknown; arguments?: unknown; id?: unknown; function?: unknown }[];
  usage?: unknown;
}

/** A call in the old form is `{name, arguments}`, its arguments an object. */
const callOf = (call: NonNullable<OldReply["tool_calls"]>[number], index: number) => {
  const fn = (call.function ?? call) as { name?: unknown; arguments?: unknown };
  const args = typeof fn.arguments === "string" ? fn.arguments : JSON.stringify(fn.arguments ?? {});
  const id = typeof call.id === "string" ? call.id : `call_${index}`;
  return { index, id, type: "function", function: { name: String(fn.name), arguments: args } };
};

const textOf = (response: unknown): string =>
  typeof response === "string" ? response : response == null ? "" : JSON.stringify(response);

async function whole(response: Response): Promise<Response> {
  const value = (await response.json()) as { result?: unknown };
  const body = (value.result ?? value) as OldReply & { choices?: unknown };
  if (body.choices !== undefined) return Response.json(body);
  const calls = (body.tool_calls ?? []).map(callOf);
  const message = { role: "assistant", content: textOf(body.response), tool_calls: calls };
  const finish_reason = calls.length > 0 ? "tool_calls" : "stop";
  const choices = [{ index: 0, message, finish_reason }];
  return Response.json({ object: "chat.completion", choices, usage: body.usage });
}

/** Works on whole lines; what is no data line of the old form passes as it is. */
function translator(model: string): Transformer<string, string> {
  let rest = "";
  let calls = 0;
  let old = false;
  const chunk = (delta: unknown, finish_reason: string | null, usage?: unknown): string =>
    `data: ${JSON.stringify({ object: "chat.completion.chunk", model, choices: [{ index: 0, delta, finish_reason }], ...(usage ? { usage } : {}) })}\n`;
  const line = (text: string): string => {
    const data = /^data:\s*(.*?)\s*$/.exec(text)?.[1];
    if (data === undefined) return `${text}\n`;
    if (data === "[DONE]") {
      return old ? `${chunk({}, calls > 0 ? "tool_calls" : "stop")}\ndata: [DONE]\n` : `${text}\n`;
    }
    const value = JSON.parse(data) as OldReply & { choices?: unknown; error?: unknown };
    if (value.choices !== undefined || value.error !== undefined) return `${text}\n`;
    old = true;
    const found = (value.tool_calls ?? []).map((call, i) => callOf(call, calls + i));
    calls += found.length;
    const delta = {
      content: textOf(value.response),
      ...(found.length > 0 ? { tool_calls: found } : {}),
    };
    return chunk(delta, null, value.usage);
  };
  return {
    transform(text, controller) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      if (lines.length > 0)
        controller.enqueue(lines.map((l) => line(l.replace(/\r$/, ""))).join(""));
    },
    flush(controller) {
      if (rest !== "") controller.enqueue(line(rest));
    },
  };
}
