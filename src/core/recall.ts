/** What a memory has of a call that the head does not: its whole arguments, and the result of one like it. */
import type { Call } from "./call.ts";
import { head } from "./chars.ts";
import { LIMITS } from "./limits.ts";
import type { Store } from "./ports.ts";
import { REPEATED } from "./prompt.ts";
import { routeOf } from "./route.ts";
import type { JsonObject } from "./tool.ts";

/** Arguments too large for the head stand in the reply's row. */
export function wholeArguments(store: Store, call: Call): JsonObject {
  const { batch, turn, mode } = store.session();
  // No model wrote it: it is what the turn began with.
  const route = call.kind === "own" ? routeOf(turn?.message ?? "", mode) : null;
  if (route?.type === "shell") return { command: route.command };
  const row = batch && store.rows(batch.memory).find((r) => r.id === batch.row);
  if (!row) throw new Error("the reply of an open call is missing");
  const message = JSON.parse(row.json) as { tool_calls: { function: { arguments: string } }[] };
  return JSON.parse(message.tool_calls[call.index]?.function.arguments ?? "{}") as JsonObject;
}

/** The result of a read that was made before, for the memory of the batch. */
export function resultAgain(store: Store, id: number): string {
  const { batch } = store.session();
  const row = batch && store.rows(batch.memory).find((r) => r.id === id);
  const content = row ? (JSON.parse(row.json) as { content: string }).content : "";
  return `${REPEATED}\n${head(content, LIMITS.repeatedChars)}`;
}
