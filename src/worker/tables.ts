/** The tables of a session, and the parts of its head. */
import { FILES_SCHEMA } from "../adapters/files/schema.ts";

/** Numbered; a session made by an older program runs the ones it lacks when it is opened. */
const MIGRATIONS: readonly (readonly string[])[] = [
  [
    "CREATE TABLE head (part TEXT PRIMARY KEY, json TEXT NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE TABLE memory (id INTEGER PRIMARY KEY, memory TEXT NOT NULL, kind TEXT NOT NULL, json TEXT NOT NULL) STRICT",
    "CREATE TABLE log (first_seq INTEGER PRIMARY KEY, json TEXT NOT NULL) STRICT",
    "CREATE TABLE client_ids (id TEXT PRIMARY KEY, json TEXT NOT NULL) STRICT, WITHOUT ROWID",
    ...FILES_SCHEMA,
  ],
  [
    "CREATE TABLE rests (upto INTEGER PRIMARY KEY, json TEXT NOT NULL) STRICT",
    "CREATE TABLE shares (id INTEGER PRIMARY KEY, json TEXT NOT NULL) STRICT",
  ],
];

export const put = (sql: SqlStorage, part: string, value: unknown): void => {
  sql.exec("INSERT OR REPLACE INTO head (part, json) VALUES (?, ?)", part, JSON.stringify(value));
};

/** The tables of a session that is going to be; one without a head is none yet. */
export function makeTables(storage: DurableObjectStorage): void {
  const made = storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'head'").toArray();
  if (made.length === 0) migrate(storage, 0);
}

/** Runs what a session made by an older program lacks. */
export function migrate(storage: DurableObjectStorage, from: number): void {
  if (from >= MIGRATIONS.length) return;
  storage.transactionSync(() => {
    for (const statement of MIGRATIONS.slice(from).flat()) storage.sql.exec(statement);
    put(storage.sql, "migration", MIGRATIONS.length);
  });
}

/** For a session whose own word on its tables cannot be read: they say themselves how far they are. */
export function remakeTables(storage: DurableObjectStorage): void {
  const rests = storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'rests'").toArray();
  migrate(storage, rests.length === 0 ? 1 : MIGRATIONS.length);
  put(storage.sql, "migration", MIGRATIONS.length);
}
