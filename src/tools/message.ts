/** The message toolkit: schema only. The core performs these itself; they never reach a sandbox and have no `brief`. */
import * as z from "zod";
import type { ToolResult } from "../core/tool.ts";
import { defineTool } from "./define.ts";

/** A programmer's error, said as data: a turn must not die of it. */
const performedByCore = async (): Promise<ToolResult> => ({
  ok: false,
  text: "This call is performed by the conversation itself and cannot be run as a tool.",
});

export const messageNotifyUser = defineTool({
  name: "message_notify_user",
  toolkit: "message",
  description:
    "Tell the user something without waiting for a reply: progress, or a finding worth knowing now. Not for the final result.",
  args: () =>
    z.object({ text: z.string().min(1).describe("The message, in the user's language.") }),
  effect: false,
  recovery: "rerun",
  run: performedByCore,
});

export const messageAskUser = defineTool({
  name: "message_ask_user",
  toolkit: "message",
  description:
    "Ask the user a question and wait for the answer, for hours or days if need be. Only when the work cannot go on without it. Calls after it in the same reply are not run.",
  args: () =>
    z.object({
      text: z.string().min(1).describe("The question, in the user's language."),
      options: z
        .array(z.string())
        .optional()
        .describe("Answers to choose from; the user may also write freely."),
    }),
  effect: false,
  recovery: "rerun",
  run: performedByCore,
});
