/** The part of a Durable Object's SQL that the file store uses, over Node's own SQLite. */
import { DatabaseSync } from "node:sqlite";
import { FILES_SCHEMA } from "../../src/adapters/files/schema.ts";
import type { Sql } from "../../src/adapters/files/sql.ts";
import { FileStore } from "../../src/adapters/files/store.ts";

export function memoryFiles(): FileStore {
  const db = new DatabaseSync(":memory:");
  for (const statement of FILES_SCHEMA) db.exec(statement);
  const exec: Sql["exec"] = (query, ...values) => {
    const rows = db.prepare(query).all(...(values as string[])) as never[];
    return {
      toArray: () => rows,
      one: () => {
        if (rows.length !== 1) throw new Error(`${rows.length} rows in place of one`);
        return rows[0] as never;
      },
    };
  };
  return new FileStore({ exec }, { now: () => Date.now() });
}
