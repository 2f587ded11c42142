/**
 * Pairing: the one property of a history that every provider insists on.
 *
 * H1  Every call of a reply has exactly one result, before anything else is said.
 * H2  Nothing is ever dropped to make a history valid: what is missing is put in, at its reserved row.
 */

import type { MemoryName, Row } from "./memory.ts";
import { NOT_RUN } from "./prompt.ts";

export const toolMessage = (callId: string, content: string): string =>
  JSON.stringify({ role: "tool", tool_call_id: callId, content });

/** The call ids of a reply, in order; rows of other kinds have none. */
function callIds(row: Row): string[] {
  if (row.kind !== "reply" || !row.json.includes('"tool_calls"')) return [];
  const message = JSON.parse(row.json) as { tool_calls?: { id: string }[] };
  return message.tool_calls?.map((c) => c.id) ?? [];
}

const lostResult = (memory: MemoryName, id: number, callId: string): Row => ({
  id,
  memory,
  kind: "result",
  json: toolMessage(callId, NOT_RUN.lost),
});

/** Results that a damaged history lacks, at the rows that their reply had reserved. Empty for a sound one. */
export function missingResults(rows: readonly Row[]): Row[] {
  const held = new Set(rows.map((r) => r.id));
  return rows.flatMap((row) =>
    callIds(row)
      .map((id, i) => lostResult(row.memory, row.id + 1 + i, id))
      .filter((r) => !held.has(r.id)),
  );
}

/** Results that answer no call of a reply before them. None in a sound history. */
export function orphans(rows: readonly Row[]): Row[] {
  const reserved = new Set<number>();
  return rows.filter((row) => {
    callIds(row).forEach((_, i) => void reserved.add(row.id + 1 + i));
    return row.json.startsWith('{"role":"tool"') && !reserved.has(row.id);
  });
}

/**
 * Rows from elsewhere, taken in one after another by number: a reply's results must stand at the rows that it
 * reserves. `take` gives the rows to store, with what was missing before this one; null when it has no place.
 */
export function pairing() {
  let owed: { id: number; memory: MemoryName; callId: string }[] = [];
  let last = 0;
  const settle = (count: number): Row[] =>
    owed.splice(0, count).map(({ id, memory, callId }) => lostResult(memory, id, callId));
  return {
    take(row: Row): Row[] | null {
      const { role, tool_call_id: callId } = JSON.parse(row.json) as {
        role: string;
        tool_call_id?: string;
      };
      if (role === "tool") {
        const at = owed.findIndex(
          (o) => o.id === row.id && o.memory === row.memory && o.callId === callId,
        );
        if (at < 0) return null;
        const before = settle(at);
        owed.shift();
        return [...before, row];
      }
      if (row.id <= last) return null;
      const ids = callIds(row);
      const rows = [...settle(owed.length), row];
      owed = ids.map((id, i) => ({ id: row.id + 1 + i, memory: row.memory, callId: id }));
      last = row.id + ids.length;
      return rows;
    },
    /** What is missing behind the last row. */
    end: (): Row[] => settle(owed.length),
    last: (): number => last,
  };
}
