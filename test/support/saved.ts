/** A session as it was saved: its tables, and its rows with their JSON as values, so that people can read them. */
export interface Saved {
  about: string;
  /** The session's id, and the name of the model that it was made with: both stand in many rows. */
  id: string;
  model: string;
  /** The statements that make its tables. */
  tables: string[];
  rows: Record<string, Record<string, unknown>[]>;
}

/** A row as it is kept in a file: JSON as a value where that gives the same text again, bytes as base64. */
export function textOf(row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => {
      if (value instanceof Uint8Array)
        return [column, { base64: Buffer.from(value).toString("base64") }];
      return [column, column === "json" ? readable(String(value)) : value];
    }),
  );
}
function readable(text: string): unknown {
  const events = text.startsWith('{"type":"event"');
  const value: unknown = JSON.parse(events ? `[${text}]` : text);
  if (jsonOf(value, events) !== text) throw new Error(`this text would not stay the same: ${text}`);
  return events ? { events: value } : value;
}
const jsonOf = (value: unknown, events: boolean): string => {
  const text = JSON.stringify(value);
  return events ? text.slice(1, -1) : text;
};

/** A row as it is stored. */
export function rowOf(kept: Record<string, unknown>): Record<string, string | number | Uint8Array> {
  return Object.fromEntries(
    Object.entries(kept).map(([column, value]) => {
      const held = value as { events?: unknown; base64?: string } | null;
      if (column !== "json" && typeof held?.base64 === "string") {
        return [column, Uint8Array.from(atob(held.base64), (ch) => ch.charCodeAt(0))];
      }
      if (column !== "json") return [column, value as string | number];
      return [column, held?.events ? jsonOf(held.events, true) : jsonOf(value, false)];
    }),
  );
}
