/** The part of a Durable Object's SQL that the file store uses, over Node's own SQLite. */
import { DatabaseSync } from "node:sqlite";
import { FILES_SCHEMA } from "../../src/adapters/files/schema.ts";
import { FileStore } from "../../src/adapters/files/store.ts";

export function memoryFiles(): FileStore {
  const db = new DatabaseSync(":memory:");
  for (const statement of FILES_SCHEMA) db.exec(statement);
  const exec = (query: string, ...values: (string | number | Uint8Array)[]) => {
    const rows = db.prepare(query).all(...values);
    return { toArray: () => rows, one: () => rows[0] };
  };
  return new FileStore({ exec } as unknown as SqlStorage, { now: () => Date.now() });
}
