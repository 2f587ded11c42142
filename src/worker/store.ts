/**
 * One session in its object's SQLite.
 *
 * W1  An outcome is one transaction: changed parts of the head, and one log row with its events and its messages.
 * W2  Opening reads the head alone, whatever the length of the log.
 * W3  The tables are made by `create` (tables.ts); looking for a session that is not there writes nothing.
 * W4  Every value stays below SQLite's 2 MiB: texts were bounded on their way in, and a log row is split.
 */

import { isFull } from "../adapters/files/sql.ts";
import type { Event } from "../core/events.ts";
import { LIMITS } from "../core/limits.ts";
import type { MemoryName, Row } from "../core/memory.ts";
import type { Change, ClientMark, Refusal, Store } from "../core/ports.ts";
import { type Rest, restOf } from "../core/rest.ts";
import { COLD_PARTS, type Session, upgrade } from "../core/session.ts";
import { countIn, Damaged, eventsIn, headOf, markOf } from "./damage.ts";
import { Memories, packedRows, putRow } from "./memories.ts";
import { TABLES } from "./migrations.ts";
import { makeTables, migrate, put } from "./tables.ts";

type Part = "state" | (typeof COLD_PARTS)[number];

export function partsOf(s: Session): Record<Part, unknown> {
  const { plan, queue, settings, turn, toolbox, ...state } = s;
  return { state, plan, queue, settings, turn, toolbox };
}

export const newer = () => new Error("this session was written by a newer version of Dormouse");

export const partsIn = (sql: SqlStorage): { part: string; json: string }[] =>
  sql.exec<{ part: string; json: string }>("SELECT part, json FROM head").toArray();

export class SessionStore implements Store {
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  readonly #memories: Memories;
  #session: Session;
  /** Called after each commit, once it is durable, with the session before it. */
  onCommit: (change: Change, before: Session) => void = () => {};

  private constructor(storage: DurableObjectStorage, session: Session) {
    this.#storage = storage;
    this.#sql = storage.sql;
    this.#memories = new Memories(storage.sql);
    this.#session = session;
  }

  /** The stored session, or null: there is none here. */
  static open(storage: DurableObjectStorage): SessionStore | null {
    const { sql } = storage;
    const tables = sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'head'").toArray();
    if (tables.length === 0) return null;
    const { held, lost } = headOf(partsIn(sql));
    if (!held.state && !held.settings && lost.length === 0) return null;
    if (!held.state || !held.migration || lost.length > 0) throw new Damaged("the saved state");
    if ((held.migration as number) > TABLES) throw newer();
    migrate(storage, held.migration as number);
    const session = upgrade({ ...held.state, ...pick(held) } as Session);
    if (!session) throw newer();
    return new SessionStore(storage, session);
  }

  static create(storage: DurableObjectStorage, session: Session): SessionStore {
    storage.transactionSync(() => {
      makeTables(storage);
      for (const [part, value] of Object.entries(partsOf(session))) {
        // What is empty is written when it is not, for the first time. Settings always: they tell a lost state from none.
        if (part === "settings" || !isEmpty(value)) put(storage.sql, part, value);
      }
    });
    return new SessionStore(storage, session);
  }

  session(): Session {
    return this.#session;
  }

  commit(change: Change): void {
    const before = this.#session;
    try {
      this.#storage.transactionSync(() => this.#write(change, before));
    } catch (error) {
      // There are rows where the head says that there are none yet.
      throw /SQLITE_CONSTRAINT/.test(String(error)) ? new Damaged("rows beyond the head") : error;
    }
    this.#session = change.session;
    this.#memories.add(change.rows);
    this.onCommit(change, before);
  }

  #write({ session, events, rows, client }: Change, before: Session): void {
    const parts = partsOf(session);
    put(this.#sql, "state", parts.state);
    for (const part of COLD_PARTS) {
      if (session[part] !== before[part]) put(this.#sql, part, parts[part]);
    }
    const packed = events.length > 0 ? packedRows(rows) : null;
    putLog(this.#sql, events, packed);
    if (packed === null) for (const row of rows) putRow(this.#sql, row);
    if (client) {
      const { id, ...mark } = client;
      this.#sql.exec("INSERT INTO client_ids (id, json) VALUES (?, ?)", id, JSON.stringify(mark));
    }
    // The end of a turn: where a fork may begin.
    if (events.some((e) => e.event === "done")) putRest(this.#sql, restOf(session));
  }

  refusal(error: unknown): Refusal | null {
    if (isFull(error)) return "full";
    return /SQLITE_TOOBIG|string or blob too big/i.test(String(error)) ? "too_large" : null;
  }
  fits(): boolean {
    return this.#memories.fit();
  }
  rows(memory: MemoryName): readonly Row[] {
    return this.#memories.of(memory, this.#session.row);
  }
  /** The messages of all memories up to a last one, in order. */
  rowsUpTo(last: number): Row[] {
    return this.#memories.all(this.#session.row).filter(({ id }) => id <= last);
  }

  /** The resting point of the turn whose last event this is. */
  restAt(upto: number): Rest | null {
    return this.#rest("upto = ?", upto);
  }
  /** The last one whose turn was done at or before an event. (Behind `done` there is one more event, the status.) */
  restBefore(seq: number): Rest | null {
    return this.#rest("upto <= ? ORDER BY upto DESC", seq + 1);
  }
  firstRest(): Rest | null {
    return this.#rest("upto > ? ORDER BY upto", 0);
  }
  #rest(where: string, upto: number): Rest | null {
    const rows = this.#sql.exec<{ json: string }>(
      `SELECT json FROM rests WHERE ${where} LIMIT 1`,
      upto,
    );
    return rows.toArray().map(({ json }) => JSON.parse(json) as Rest)[0] ?? null;
  }

  /** Live links to the session. Their form is the business of who keeps them. */
  shares<T>(): T[] {
    const rows = this.#sql.exec<{ json: string }>("SELECT json FROM shares ORDER BY id");
    return rows.toArray().map(({ json }) => JSON.parse(json) as T);
  }
  addShare<T>(share: T): void {
    this.#sql.exec("INSERT INTO shares (json) VALUES (?)", JSON.stringify(share));
  }
  dropShares(): void {
    this.#sql.exec("DELETE FROM shares");
  }

  /** The mark that a client's id left, when its frame was taken in before. */
  client(id: string): ClientMark | null {
    const row = this.#sql
      .exec<{ json: string }>("SELECT json FROM client_ids WHERE id = ?", id)
      .toArray()[0];
    return row ? { id, ...(JSON.parse(row.json) as Omit<ClientMark, "id">) } : null;
  }

  /** Whether the log can go on from a cursor: of its epoch, not ahead of it, with nothing trimmed in between. */
  follows(after: number, epoch: string): boolean {
    const { epoch: own, seq } = this.#session;
    if ((epoch !== "" && epoch !== own) || after > seq) return false;
    const query = "SELECT min(first_seq) AS first FROM log";
    const { first } = this.#sql.exec<{ first: number | null }>(query).one();
    return after + 1 >= (first ?? seq);
  }

  /**
   * Pieces of the log after a cursor, each the JSON texts of some events joined by commas, in order. Every seq up to the
   * newest is there, or it throws: nobody is sent a log with a hole.
   */
  *log(after: number): Generator<{ first: number; json: string }> {
    const { id, seq } = this.#session;
    const mark = markOf(id);
    const start = this.#sql
      .exec<{ seq: number | null }>(
        "SELECT max(first_seq) AS seq FROM log WHERE first_seq <= ?",
        after + 1,
      )
      .one().seq;
    const query = "SELECT first_seq, json FROM log WHERE first_seq >= ? ORDER BY first_seq";
    let next: number | null = start === null ? null : after + 1;
    for (const row of this.#sql.exec<{ first_seq: number; json: string }>(query, start ?? 0)) {
      const first = row.first_seq;
      const end = first + countIn(row.json, mark);
      if (next !== null && (first > next || end < next)) throw new Damaged("a part of the log");
      next = end;
      if (first > after) {
        yield { first, json: row.json };
        continue;
      }
      const tail = eventsIn(row.json).filter((e) => e.seq > after);
      if (tail.length > 0) yield { first: (tail[0] as Event).seq, json: joined(tail) };
    }
    if ((next ?? 1) !== seq + 1) throw new Damaged("the end of the log");
  }
  /** The same, read. */
  *events(after: number): Generator<Event[]> {
    for (const { json } of this.log(after)) yield eventsIn(json);
  }

  /** Throws unless every row of the log and of the memories can be read: for whoever is about to hand them all out. */
  verify(): void {
    const bad = (table: string, text: string) =>
      this.#sql.exec(`SELECT 1 FROM ${table} WHERE NOT json_valid(${text}) LIMIT 1`).toArray();
    if (bad("log", "'[' || json || ']'").length > 0) throw new Damaged("an event");
    for (const _ of this.log(0));
    this.#memories.all(this.#session.row);
  }
}

export const putRest = (sql: SqlStorage, rest: Rest): void => {
  sql.exec(
    "INSERT OR REPLACE INTO rests (upto, json) VALUES (?, ?)",
    rest.upto,
    JSON.stringify(rest),
  );
};
/** `packed`: the messages that came with the events. */
export const putLog = (sql: SqlStorage, events: Event[], packed: string | null = null): void => {
  for (const [i, { seq, json }] of logRows(events).entries()) {
    const query = "INSERT INTO log (first_seq, json, rows) VALUES (?, ?, ?)";
    sql.exec(query, seq, json, i === 0 ? packed : null);
  }
};
const isEmpty = (value: unknown): boolean =>
  value === null || (Array.isArray(value) && value.length === 0);

/** Parts that the program which stored it did not know are absent. */
const pick = (held: Record<string, unknown>) =>
  Object.fromEntries(COLD_PARTS.flatMap((part) => (part in held ? [[part, held[part]]] : [])));

const joined = (events: Event[]): string => events.map((e) => JSON.stringify(e)).join(",");

/** The events of one commit as log rows: one, unless they are very large together. */
function logRows(events: Event[]): { seq: number; json: string }[] {
  const rows: { seq: number; json: string }[] = [];
  for (const event of events) {
    const json = JSON.stringify(event);
    const last = rows.at(-1);
    if (last && last.json.length + json.length < LIMITS.frameChars) last.json += `,${json}`;
    else rows.push({ seq: event.seq, json });
  }
  return rows;
}
