/** Endpoints that do not take a part of the request: it is left out from then on. */
import { type Answer, type Kind, type Struck, say } from "./kind.ts";
import { type Body, read } from "./model.ts";
import { errorBody } from "./server.ts";

/** From the first request on: it is the endpoint's way. */
const always = {
  group: "endpoint",
  times: Number.POSITIVE_INFINITY,
  formats: ["sse"],
  positions: ["first"],
} as const;
const refuse =
  (wrong: (body: Body) => boolean, message: string) =>
  ({ body }: Struck): Answer | null =>
    wrong(body) ? { type: "http", status: 400, body: errorBody(message) } : null;
const spoke = (body: Body) => body.messages.filter((m) => m.role === "assistant");

/** Only a request that has something to lose is too long. */
const LONG = 14_000;
const tooLong =
  (share: number) =>
  ({ raw, memo }: Struck): Answer | null => {
    if (memo.limit === undefined && raw.length < LONG) return null;
    memo.limit ??= raw.length * share;
    memo.refusals = (memo.refusals ?? 0) + 1;
    const once = share === 1 && memo.refusals > 1;
    if (once || memo.refusals > 2 || raw.length < memo.limit) return null;
    const message = "This model's maximum context length is 8192 tokens.";
    const body = errorBody(message, "invalid_request_error", "context_length_exceeded");
    return { type: "http", status: 400, body };
  };
const overflow = {
  group: "endpoint",
  formats: ["sse"],
  // The planner's first request holds one message: nothing can be made shorter.
  positions: ["middle", "last"],
  costs: 3,
  padding: 12_000,
  times: Number.POSITIVE_INFINITY,
} as const;

export const ENDPOINT: readonly Kind[] = [
  {
    ...always,
    name: "tool_choice refused",
    profile: { toolChoice: "named" },
    costs: 3,
    strike: refuse(
      (b) => b.tool_choice !== undefined && b.tool_choice !== "auto",
      "This model does not support this tool_choice.",
    ),
  },
  {
    ...always,
    name: "named tool_choice refused",
    // The small task has no summary, which alone names a function.
    size: "big",
    profile: { toolChoice: "named" },
    costs: 1,
    strike: refuse(
      (b) => typeof b.tool_choice === "object",
      "tool_choice: named functions are not supported.",
    ),
  },
  {
    ...always,
    name: "tool_choice refused, then bare text",
    positions: ["first"],
    costs: 2,
    strike: ({ body, memo }) => {
      if (body.tool_choice !== undefined && body.tool_choice !== "auto") {
        const text = errorBody("Thinking mode does not support this tool_choice");
        return { type: "http", status: 400, body: text };
      }
      memo.said = (memo.said ?? 0) + 1;
      if (memo.said > 1) return null;
      const spoken = { text: "Here is my plan: …", calls: [], finish: "stop" };
      return { type: "say", spoken };
    },
  },
  {
    ...always,
    name: "reasoning_content must be sent back",
    thinks: true,
    costs: 1,
    strike: refuse(
      (b) => spoke(b).some((m) => typeof m.reasoning_content !== "string"),
      "The reasoning_content in the thinking mode must be passed back to the API.",
    ),
  },
  {
    ...always,
    name: "reasoning_content refused",
    thinks: true,
    profile: { reasoning: "reasoning_content" },
    costs: 1,
    strike: refuse(
      (b) => spoke(b).some((m) => m.reasoning_content !== undefined),
      "messages: unknown field reasoning_content, extra inputs are not permitted",
    ),
  },
  {
    ...always,
    name: "stream_options refused",
    costs: 1,
    strike: refuse((b) => b.stream_options !== undefined, "Unrecognized field: stream_options"),
  },
  {
    ...always,
    name: "parallel_tool_calls refused",
    profile: { parallelToolCalls: "send-true" },
    costs: 1,
    strike: refuse((b) => b.parallel_tool_calls !== undefined, "Unknown name parallel_tool_calls"),
  },
  {
    ...always,
    name: "null content refused",
    profile: { emptyContent: "null" },
    costs: 1,
    strike: refuse(
      (b) => spoke(b).some((m) => m.content === null),
      "messages.2.content: content must be a string, not null",
    ),
  },
  {
    ...always,
    name: "max_tokens refused",
    profile: { maxTokens: 4_000 },
    costs: 1,
    strike: refuse(
      (b) => b.max_tokens !== undefined,
      "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
    ),
  },
  {
    ...overflow,
    name: "context_length_exceeded once",
    strike: tooLong(1),
  },
  {
    ...overflow,
    name: "context_length_exceeded until it is a fifth shorter",
    strike: tooLong(0.8),
  },
  {
    ...overflow,
    name: "context_length_exceeded, its bulk in the newest results",
    positions: ["middle"],
    strike: (struck) => {
      const { right, nth } = struck;
      if (nth > 0) return tooLong(0.8)(struck);
      const many = Array.from({ length: 12 }, (_, i) => read(i + 10).calls).flat();
      return say({ ...right, calls: [...many, ...right.calls] });
    },
    alone: true,
  },
];
