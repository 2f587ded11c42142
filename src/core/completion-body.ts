/** The body of `POST /v1/chat/completions`, as far as the harness itself reads it. */
import * as z from "zod";
import { SettingsLayer } from "./settings.ts";

const Tool = () =>
  z.looseObject({
    type: z.string(),
    function: z
      .looseObject({
        name: z.string().min(1),
        description: z.string().nullish(),
        parameters: z.looseObject({}).nullish(),
      })
      .optional(),
  });
/** Only what the harness itself reads; all else is between the client and the model. */
export const CompletionBody = z.lazy(() =>
  z.looseObject({
    model: z.string().nullish(),
    messages: z.array(z.looseObject({ role: z.string() })).min(1),
    tools: z.array(Tool()).nullish(),
    tool_choice: z.union([z.string(), z.looseObject({})]).nullish(),
    response_format: z.looseObject({ type: z.string() }).nullish(),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
    n: z.literal(1, "only one choice can be asked for").nullish(),
    functions: z.null("is the old form: send `tools`").optional(),
    dormouse: SettingsLayer.unwrap().pick({ harness: true }).nullish(),
  }),
);
export type CompletionBody = z.infer<typeof CompletionBody>;
