/**
 * The tables of a session's files. Run by the session's create (and its numbered migrations), never by a lookup.
 *
 * A file costs one row and one per started MiB; a folder costs a row only when it was made by name. Contents are
 * numbered apart from paths, so that a rename writes one row and a replaced content is never half visible.
 */
export const FILES_SCHEMA: readonly string[] = [
  `CREATE TABLE files (
     path TEXT PRIMARY KEY,
     kind TEXT NOT NULL,
     size INTEGER NOT NULL,
     mode INTEGER NOT NULL,
     modified INTEGER NOT NULL,
     content INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE file_chunks (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT`,
];
