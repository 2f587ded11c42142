/**
 * An answer in OpenAI's words: one `chat.completion`, or its `chat.completion.chunk`s.
 *
 * R1  Every chunk has the same id and time; every call has its `index`.
 * R2  Text is cut between words, never inside a character.
 * R3  Usage is the last request's, as the provider measured it; when it did not, there is none.
 */
import type { Answer } from "../core/complete.ts";
import type { Piece } from "../core/ports.ts";

export interface Form {
  id: string;
  /** Seconds since the epoch. */
  created: number;
  /** As it was asked for, until the provider names it. */
  model: string;
  includeUsage: boolean;
}

/** Characters of a piece, and how many pieces a long text has at the most. */
const PIECE = 24;
const PIECES = 400;

function piecesOf(text: string): string[] {
  const size = Math.max(PIECE, Math.ceil(text.length / PIECES));
  return text.match(new RegExp(`[^]{1,${size}}(?:\\s+|$)|[^]{1,${size}}`, "gu")) ?? [];
}

function usageOf(usage: Answer["usage"]) {
  if (!usage) return null;
  const { input_tokens: input, output_tokens: output, cached_tokens: cached } = usage;
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
  };
}

const callOf = ({ id, name, arguments: args }: Answer["calls"][number]) => ({
  id,
  type: "function",
  function: { name, arguments: args },
});

export function completionOf(answer: Answer, { id, created, model }: Form) {
  const { text, refusal, thinking, calls, finish } = answer;
  const usage = usageOf(answer.usage);
  const message = {
    role: "assistant",
    content: text,
    refusal,
    ...(thinking === "" ? {} : { reasoning_content: thinking }),
    ...(calls.length > 0 ? { tool_calls: calls.map(callOf) } : {}),
  };
  return {
    id,
    object: "chat.completion",
    created,
    model: answer.model || model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
    ...(usage ? { usage } : {}),
  };
}

export interface Chunks {
  /** A piece that is handed on while it streams. */
  piece(piece: Piece): unknown[];
  /** All that was not handed on yet, and the end. */
  end(answer: Answer): unknown[];
}

const deltasOfCall = (call: Answer["calls"][number], index: number): unknown[] => [
  { tool_calls: [{ index, ...callOf({ ...call, arguments: "" }) }] },
  ...piecesOf(call.arguments).map((part) => ({
    tool_calls: [{ index, function: { arguments: part } }],
  })),
];

export function chunksOf({ id, created, model, includeUsage }: Form): Chunks {
  let named = model;
  let begun = false;
  const spoken = { any: false, text: false };
  const chunk = (choices: unknown[], usage: unknown = null) => ({
    id,
    object: "chat.completion.chunk",
    created,
    model: named,
    choices,
    ...(includeUsage ? { usage } : {}),
  });
  const delta = (part: unknown, finish: string | null = null) =>
    chunk([{ index: 0, delta: part, logprobs: null, finish_reason: finish }]);
  const opening = (): unknown[] => {
    if (begun) return [];
    begun = true;
    return [delta({ role: "assistant", content: "" })];
  };
  return {
    piece({ text, thinking }) {
      spoken.any = true;
      spoken.text ||= Boolean(text);
      return [
        ...opening(),
        ...(thinking ? [delta({ reasoning_content: thinking })] : []),
        ...(text ? [delta({ content: text })] : []),
      ];
    },
    end(answer) {
      named = answer.model || model;
      const { text, thinking, refusal, calls, finish } = answer;
      const whole = spoken.any
        ? []
        : [
            ...piecesOf(thinking).map((part) => delta({ reasoning_content: part })),
            ...piecesOf(text ?? "").map((part) => delta({ content: part })),
          ];
      const usage = includeUsage ? usageOf(answer.usage) : null;
      return [
        ...opening(),
        ...whole,
        ...piecesOf((!spoken.text && refusal) || "").map((part) => delta({ refusal: part })),
        ...calls.flatMap(deltasOfCall).map((part) => delta(part)),
        delta({}, finish),
        ...(usage ? [chunk([], usage)] : []),
      ];
    },
  };
}
