/** The tables of a session, and the parts of its head. */
import { MIGRATIONS } from "./migrations.ts";

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
  const has = (query: string) => storage.sql.exec(query).toArray().length > 0;
  const rests = has("SELECT 1 FROM sqlite_master WHERE name = 'rests'");
  const rows = has("SELECT 1 FROM pragma_table_info('log') WHERE name = 'rows'");
  const made = rows ? MIGRATIONS.length : rests ? 2 : 1;
  migrate(storage, made);
  put(storage.sql, "migration", MIGRATIONS.length);
}
