/**
 * The memories of one session in its object's SQLite, and in memory while the object lives.
 *
 * M1  A message is stored with the events of its commit, in one row of the log: `rows` is the list of them. What comes
 *     with a copy, without events, or is large stands in the table `memory`.
 * M2  All of them are loaded together, when the first is wanted; whoever only looks at the session loads none.
 * M3  A message keeps its exact text.
 */
import { orphans } from "../core/history.ts";
import { LIMITS } from "../core/limits.ts";
import type { MemoryName, Row } from "../core/memory.ts";
import { Damaged, jsonOf } from "./damage.ts";

type Packed = [id: number, memory: MemoryName, kind: Row["kind"], json: string];

/** Messages as they stand beside the events of a commit; null: they do not. */
export function packedRows(rows: readonly Row[]): string | null {
  if (rows.length === 0) return null;
  const packed = rows.map(({ id, memory, kind, json }): Packed => [id, memory, kind, json]);
  const text = JSON.stringify(packed);
  return text.length <= LIMITS.frameChars ? text : null;
}

export const putRow = (sql: SqlStorage, { id, memory, kind, json }: Row): void => {
  const query = "INSERT INTO memory (id, memory, kind, json) VALUES (?, ?, ?, ?)";
  sql.exec(query, id, memory, kind, json);
};

const isPacked = (one: unknown): one is Packed =>
  Array.isArray(one) &&
  Number.isInteger(one[0]) &&
  one.slice(1).every((text) => typeof text === "string") &&
  one.length === 4;

/** Every stored message in order, and how many that stand in the log cannot be read. */
export function storedRows(sql: SqlStorage): { rows: Row[]; lost: number } {
  const query = "SELECT id, memory, kind, json FROM memory";
  const rows = sql.exec(query).toArray() as unknown as Row[];
  let lost = 0;
  const logged = "SELECT rows FROM log WHERE rows IS NOT NULL ORDER BY first_seq";
  for (const { rows: text } of sql.exec<{ rows: string }>(logged)) {
    const list = jsonOf(text);
    for (const one of Array.isArray(list) ? (list as unknown[]) : [list]) {
      if (!isPacked(one)) {
        lost += 1;
        continue;
      }
      const [id, memory, kind, json] = one;
      rows.push({ id, memory, kind, json });
    }
  }
  return { rows: rows.sort((a, b) => a.id - b.id), lost };
}

export class Memories {
  readonly #sql: SqlStorage;
  #held: Map<MemoryName, Row[]> | null = null;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Whether they are small enough to be loaded. */
  fit(): boolean {
    if (this.#held) return true;
    const size = (table: string, column: string) =>
      `(SELECT coalesce(sum(length(${column})), 0) FROM ${table})`;
    const query = `SELECT ${size("memory", "json")} + ${size("log", "rows")} AS chars`;
    return this.#sql.exec<{ chars: number }>(query).one().chars <= LIMITS.memoryChars;
  }

  /** One of them, in order. `last`: the newest number that was given out. The list is the same one as long as it is held. */
  of(memory: MemoryName, last: number): readonly Row[] {
    this.#held ??= this.#load(last);
    return listIn(this.#held, memory);
  }
  /** The messages of all of them, in order. */
  all(last: number): Row[] {
    this.#held ??= this.#load(last);
    return [...this.#held.values()].flat().sort((a, b) => a.id - b.id);
  }

  #load(last: number): Map<MemoryName, Row[]> {
    const { rows, lost } = storedRows(this.#sql);
    const held = new Map<MemoryName, Row[]>();
    for (const row of rows) listIn(held, row.memory).push(row);
    const sound =
      lost === 0 &&
      rows.every((row, i) => jsonOf(row.json) !== undefined && row.id !== rows[i - 1]?.id) &&
      (rows.at(-1)?.id ?? 0) <= last &&
      [...held.values()].every((list) => orphans(list).length === 0);
    if (!sound) throw new Damaged("a message of a memory");
    return held;
  }

  /** Takes in what was stored. */
  add(rows: readonly Row[]): void {
    if (!this.#held) return;
    for (const row of rows) {
      const list = listIn(this.#held, row.memory);
      // A result may come after a later one of its reply; its number says where it belongs.
      let at = list.length;
      while (at > 0 && (list[at - 1] as Row).id > row.id) at--;
      list.splice(at, 0, row);
    }
  }
}

function listIn(held: Map<MemoryName, Row[]>, memory: MemoryName): Row[] {
  const list = held.get(memory) ?? [];
  held.set(memory, list);
  return list;
}
