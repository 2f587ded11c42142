/**
 * Pairing: the one property of a history that every provider insists on.
 *
 * H1  Every call of a reply has exactly one result, before anything else is said.
 * H2  Nothing is ever dropped to make a history valid: what is missing is put in, at its reserved row.
 */

import type { Row } from "./memory.ts";
import { NOT_RUN } from "./prompt.ts";

export const toolMessage = (callId: string, content: string): string =>
  JSON.stringify({ role: "tool", tool_call_id: callId, content });

/** The call ids of a reply, in order; rows of other kinds have none. */
function callIds(row: Row): string[] {
  if (row.kind !== "reply" || !row.json.includes('"tool_calls"')) return [];
  const message = JSON.parse(row.json) as { tool_calls?: { id: string }[] };
  return message.tool_calls?.map((c) => c.id) ?? [];
}

/** Results that a damaged history lacks, at the rows that their reply had reserved. Empty for a sound one. */
export function missingResults(rows: readonly Row[]): Row[] {
  const held = new Set(rows.map((r) => r.id));
  return rows.flatMap((row) =>
    callIds(row)
      .map((id, i) => ({
        id: row.id + 1 + i,
        memory: row.memory,
        kind: "result" as const,
        json: toolMessage(id, NOT_RUN.lost),
      }))
      .filter((r) => !held.has(r.id)),
  );
}
