/**
 * Rows that cannot be what the product wrote. Whoever reads them says so; mend.ts makes the session sound again.
 *
 * A healthy product never meets this: it is for a disk, a migration or a program that went wrong.
 */
import { type Event, PHASES, STATUSES } from "../core/events.ts";

/** What of a session cannot be read. */
export class Damaged extends Error {
  constructor(what: string) {
    super(`rows of the session are damaged: ${what}`);
  }
}

/** The value of a JSON text, or undefined. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isList = (value: unknown): boolean => Array.isArray(value);

/** What each part of a head must look like to be worked with. */
const SHAPES: Record<string, (value: unknown) => boolean> = {
  state: (s) =>
    isObject(s) &&
    ["id", "owner", "epoch", "title"].every((key) => typeof s[key] === "string") &&
    ["seq", "row", "run"].every((key) => Number.isInteger(s[key])) &&
    STATUSES.some((status) => status === s.status) &&
    PHASES.some((phase) => phase === s.phase),
  plan: (p) => p === null || (isObject(p) && isList(p.steps)),
  queue: isList,
  settings: isObject,
  turn: (t) => t === null || (isObject(t) && isObject(t.settings)),
  toolbox: (t) => t === null || isList(t),
  migration: Number.isInteger,
};

/** The readable parts of a head by name, and the names of those that are not. */
export function headOf(rows: { part: string; json: string }[]): {
  held: Record<string, unknown>;
  lost: string[];
} {
  const values = rows.map(({ part, json }) => [part, jsonOf(json)] as const);
  const fits = ([part, value]: (typeof values)[number]) => SHAPES[part]?.(value) ?? true;
  return {
    held: Object.fromEntries(values.filter(fits)),
    lost: values.filter((value) => !fits(value)).map(([part]) => part),
  };
}

/** The events of one log row. */
export function eventsIn(json: string): Event[] {
  const events = jsonOf(`[${json}]`);
  if (!Array.isArray(events)) throw new Damaged("an event");
  return events as Event[];
}

/** How an event of a session begins; quotes within texts are escaped, so it stands nowhere else. */
export const markOf = (id: string): string => `{"type":"event","session_id":"${id}","seq":`;

/** How many events a log row holds, without parsing it where it looks as it should. */
export function countIn(json: string, mark: string): number {
  let count = 0;
  for (let at = json.indexOf(mark); at >= 0; at = json.indexOf(mark, at + mark.length)) count++;
  return json.startsWith(mark) && json.endsWith("}}") ? count : eventsIn(json).length;
}
