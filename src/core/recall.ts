/** How a call is run: by the head, and by the memories where that is not all of it. */
import type { Call } from "./call.ts";
import { head } from "./chars.ts";
import { LIMITS } from "./limits.ts";
import type { Store, ToolRun } from "./ports.ts";
import { REPEATED } from "./prompt.ts";
import { routeOf } from "./route.ts";
import { settingsOf } from "./session.ts";
import type { JsonObject } from "./tool.ts";

export function toolRunOf(store: Store, call: Call): ToolRun {
  const { limits } = settingsOf(store.session());
  return {
    id: call.id,
    name: call.name,
    args: call.cut ? wholeArguments(store, call) : call.args,
    reopened: call.reopened === true,
    ...(call.answer ? { answer: call.answer } : {}),
    ...(call.once === undefined ? {} : { idempotencyKey: call.once }),
    timeoutMs: limits.toolTimeoutMs,
    retries: limits.maxToolRetries,
    maxChars: limits.maxToolResultChars,
  };
}

/** Arguments too large for the head stand in the reply's row. */
function wholeArguments(store: Store, call: Call): JsonObject {
  const { batch, turn, mode } = store.session();
  // No model wrote it: it is what the turn began with.
  const route = call.kind === "own" ? routeOf(turn?.message ?? "", mode) : null;
  if (route?.type === "shell") return { command: route.command };
  const row = batch && store.rows(batch.memory).find((r) => r.id === batch.row);
  if (!row) throw new Error("the reply of an open call is missing");
  const message = JSON.parse(row.json) as { tool_calls: { function: { arguments: string } }[] };
  return JSON.parse(message.tool_calls[call.index]?.function.arguments ?? "{}") as JsonObject;
}

/** The result that stands in that row, and that it was given before. */
export function repeatedResult(store: Store, id: number): string {
  const { batch } = store.session();
  const row = batch && store.rows(batch.memory).find((r) => r.id === id);
  const content = row ? (JSON.parse(row.json) as { content: string }).content : "";
  return `${REPEATED}\n${head(content, LIMITS.repeatedChars)}`;
}
