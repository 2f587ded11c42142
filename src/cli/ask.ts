/** Asks the person at the terminal what the session waits for. */
import { isCancel, select, text } from "@clack/prompts";
import type { Wait } from "../core/events.ts";
import { oneLine, tame } from "./escape.ts";
import { type Reply, replyTo } from "./reply.ts";
import type { Say } from "./strings.ts";

/** null: left with Ctrl-C, or the signal came because somebody else has answered. */
export async function ask(wait: Wait, say: Say, signal: AbortSignal): Promise<Reply | null> {
  const { wait_id, kind, options = [] } = wait;
  if (kind !== "question") return approve(wait, say, signal);
  if (options.length > 0) {
    const chosen = await select({
      message: tame(say("waiting")),
      options: [
        ...options.map((option, i) => ({ value: i, label: oneLine(option) })),
        { value: -1, label: say("other") },
      ],
      showInstructions: false,
      signal,
    });
    if (isCancel(chosen)) return null;
    const given = options[chosen];
    if (given !== undefined) return { type: "answer", given: { wait_id, text: given } };
  }
  const typed = await text({
    message: say("yourAnswer"),
    validate: (value) => (value?.trim() ? undefined : say("yourAnswer")),
    signal,
  });
  return isCancel(typed) ? null : replyTo({ ...wait, options: [] }, typed);
}

/** “No” stands first: a key pressed too early allows nothing. */
async function approve(
  { wait_id, tool, text: asked }: Wait,
  say: Say,
  signal: AbortSignal,
): Promise<Reply | null> {
  const approved = await select({
    message: tool ? say("approveWhat", oneLine(tool.function)) : oneLine(asked),
    options: [
      { value: false, label: say("no") },
      { value: true, label: say("yes") },
    ],
    showInstructions: false,
    signal,
  });
  return isCancel(approved) ? null : { type: "answer", given: { wait_id, approved } };
}
