/** The statements that make a session's tables, by the release that brought them. */
import { FILES_SCHEMA } from "../adapters/files/schema.ts";

/** Numbered; a session made by an older program runs the ones it lacks when it is opened. */
export const MIGRATIONS: readonly (readonly string[])[] = [
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
  // The messages that came with a commit's events; what older programs stored stays in `memory`.
  ["ALTER TABLE log ADD COLUMN rows TEXT"],
];

/** How far the tables of today are; a release that raises it saves sessions anew (scripts/save-sessions.ts). */
export const TABLES: number = MIGRATIONS.length;
