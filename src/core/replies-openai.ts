/** What clients of `/v1` get, as zod: OpenAI's forms, as far as they are used here. Run by descriptions and tests alone. */
import * as z from "zod";

const Call = z.object({
  id: z.string(),
  type: z.literal("function"),
  function: z.object({ name: z.string(), arguments: z.string() }),
});
const Spent = z.object({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  prompt_tokens_details: z.object({ cached_tokens: z.int() }),
});
const Head = { id: z.string(), created: z.int(), model: z.string() };

export const Completion = z.object({
  ...Head,
  object: z.literal("chat.completion"),
  choices: z.array(
    z.object({
      index: z.int(),
      message: z.object({
        role: z.literal("assistant"),
        content: z.string().nullable(),
        refusal: z.string().nullable(),
        reasoning_content: z.string().optional(),
        tool_calls: z.array(Call).optional(),
      }),
      logprobs: z.null(),
      finish_reason: z.string(),
    }),
  ),
  usage: Spent.optional(),
});
export const Chunk = z.object({
  ...Head,
  object: z.literal("chat.completion.chunk"),
  choices: z.array(
    z.object({
      index: z.int(),
      delta: z.object({
        role: z.literal("assistant").optional(),
        content: z.string().optional(),
        refusal: z.string().optional(),
        reasoning_content: z.string().optional(),
        tool_calls: z
          .array(
            z.object({
              index: z.int(),
              id: z.string().optional(),
              type: z.literal("function").optional(),
              function: z.object({ name: z.string().optional(), arguments: z.string() }),
            }),
          )
          .optional(),
      }),
      logprobs: z.null(),
      finish_reason: z.string().nullable(),
    }),
  ),
  usage: Spent.nullable().optional(),
});
export const Model = z.object({
  id: z.string(),
  object: z.literal("model"),
  created: z.int(),
  owned_by: z.string(),
});
export const ModelList = z.object({ object: z.literal("list"), data: z.array(Model) });
export const OpenAIFailure = z.object({
  error: z.object({
    message: z.string(),
    type: z.string(),
    param: z.string().nullable(),
    code: z.string(),
  }),
});
