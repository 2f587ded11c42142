/**
 * One scripted reply of the mock model: its format, and how it becomes bytes.
 *
 * A scenario file is YAML: a list of replies, or `{replies: [...], wrap: true}` to begin again at the end.
 * Every field is optional:
 *
 *   text: "…"              what the model says
 *   thinking: "…"          sent as reasoning_content, before the text
 *   tool_calls:            calls, in order
 *     - name: shell_exec
 *       arguments: {command: ls}      an object, or a string that is sent exactly as it is
 *       id: c1                        default: call_<number of the request>_<n>
 *   finish: stop           default: tool_calls with calls, else stop; null: the stream ends without one
 *   usage: {…}             default: estimated; null: none is sent
 *   model: "…"             default: the request's
 *   status: 429            with `body` (text, or an object sent as JSON) and `headers`: a plain HTTP reply
 *   delay_ms: 100          before the first byte
 *   chunk_delay_ms: 20     between two chunks
 *   raw: ["…", {…}]        the stream itself: text goes out verbatim, an object as `data: <json>`; nothing is added
 *   hang: true             send what there is, then neither end nor close
 *   cut: true              send what there is, then break the connection
 */
export interface MockCall {
  name: string;
  arguments?: unknown;
  id?: string;
}

export interface MockReply {
  text?: string;
  thinking?: string;
  tool_calls?: MockCall[];
  finish?: string | null;
  usage?: Record<string, unknown> | null;
  model?: string;
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
  delay_ms?: number;
  chunk_delay_ms?: number;
  raw?: unknown[] | string;
  hang?: boolean;
  cut?: boolean;
}

export interface Asked {
  /** Number of the request, from 1. */
  n: number;
  model: string;
  /** Characters of the request: the estimate of its tokens. */
  size: number;
  includeUsage: boolean;
}

const TEXT_CHARS = 8;
const ARGUMENT_CHARS = 16;

/** The pieces of the event stream, in the order in which they are written. */
export function streamOf(reply: MockReply, asked: Asked): string[] {
  if (reply.raw !== undefined) {
    const parts = Array.isArray(reply.raw) ? reply.raw : [reply.raw];
    return parts.map((part) => (typeof part === "string" ? part : data(part)));
  }
  const chunk = (delta: unknown, finish: string | null = null): string =>
    data({ ...head(reply, asked), choices: [{ index: 0, delta, finish_reason: finish }] });
  const parts = [chunk({ role: "assistant", content: "" })];
  for (const piece of cutUp(reply.thinking ?? "", TEXT_CHARS)) {
    parts.push(chunk({ reasoning_content: piece }));
  }
  for (const piece of cutUp(reply.text ?? "", TEXT_CHARS)) parts.push(chunk({ content: piece }));
  callsOf(reply, asked).forEach((call, index) => {
    const { id, type } = call;
    const first = { index, id, type, function: { name: call.function.name, arguments: "" } };
    parts.push(chunk({ tool_calls: [first] }));
    for (const piece of cutUp(call.function.arguments, ARGUMENT_CHARS)) {
      parts.push(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }));
    }
  });
  const finish = finishOf(reply);
  if (finish !== null) parts.push(chunk({}, finish));
  const usage = usageOf(reply, asked);
  if (asked.includeUsage && usage) parts.push(data({ ...head(reply, asked), choices: [], usage }));
  if (finish !== null) parts.push("data: [DONE]\n\n");
  return parts;
}

/** The same reply as one JSON completion. */
export function completionOf(reply: MockReply, asked: Asked): unknown {
  const calls = callsOf(reply, asked);
  const message = {
    role: "assistant",
    content: reply.text ?? null,
    ...(reply.thinking === undefined ? {} : { reasoning_content: reply.thinking }),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  const usage = usageOf(reply, asked);
  return {
    ...head(reply, asked),
    object: "chat.completion",
    choices: [{ index: 0, message, finish_reason: finishOf(reply) }],
    ...(usage ? { usage } : {}),
  };
}

const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;

const head = (reply: MockReply, asked: Asked) => ({
  id: `chatcmpl-${asked.n}`,
  object: "chat.completion.chunk",
  created: 0,
  model: reply.model ?? asked.model,
});

const finishOf = (reply: MockReply): string | null =>
  reply.finish === undefined ? (reply.tool_calls?.length ? "tool_calls" : "stop") : reply.finish;

const callsOf = (reply: MockReply, asked: Asked) =>
  (reply.tool_calls ?? []).map((call, i) => ({
    id: call.id ?? `call_${asked.n}_${i + 1}`,
    type: "function",
    function: {
      name: call.name,
      arguments:
        typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments ?? {}),
    },
  }));

function usageOf(reply: MockReply, asked: Asked): Record<string, unknown> | null {
  if (reply.usage !== undefined) return reply.usage;
  const said = JSON.stringify([reply.text, reply.thinking, reply.tool_calls]).length;
  const input = Math.ceil(asked.size / 4);
  const output = Math.ceil(said / 4);
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

/** By code point: half a character in a chunk would be a fault of its own. */
function cutUp(text: string, size: number): string[] {
  const points = [...text];
  const pieces: string[] = [];
  for (let at = 0; at < points.length; at += size)
    pieces.push(points.slice(at, at + size).join(""));
  return pieces;
}
