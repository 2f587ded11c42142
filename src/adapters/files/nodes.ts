/**
 * The rows of files and named folders: nothing but SQL. What is allowed is the store's business.
 *
 * N1  "Below a folder" is a range of the primary key, so a lookup reads what it finds and nothing else.
 */
import type { Sql } from "./sql.ts";

export type Node = {
  path: string;
  kind: "file" | "folder";
  /** Bytes; 0 for a folder. */
  size: number;
  /** Permission bits, as in chmod. */
  mode: number;
  /** Milliseconds since the epoch; 0 for a folder that has no row. */
  modified: number;
};
/** `content`: the number of its chunks, 0 when it has none. */
export type Row = Node & { content: number };

const COLUMNS = "path, kind, size, mode, modified, content";
/** "0" is the character after "/": the range holds exactly the paths that begin with `folder/`. */
const BELOW = "path > ? AND path < ?";
const below = (folder: string): [string, string] => [`${folder}/`, `${folder}0`];

export class Nodes {
  readonly #sql: Sql;
  #totals: { nodes: number; files: number; bytes: number } | null = null;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  get(path: string): Row | null {
    const rows = this.#sql.exec<Row>(`SELECT ${COLUMNS} FROM files WHERE path = ?`, path);
    return rows.toArray()[0] ?? null;
  }

  /** The node itself, if it has a row, and all below it, by path. */
  under(path: string): Row[] {
    const query = `SELECT ${COLUMNS} FROM files WHERE path = ? OR (${BELOW}) ORDER BY path`;
    return this.#sql.exec<Row>(query, path, ...below(path)).toArray();
  }

  hasBelow(path: string): boolean {
    const rows = this.#sql.exec(`SELECT 1 FROM files WHERE ${BELOW} LIMIT 1`, ...below(path));
    return rows.toArray().length > 0;
  }

  /** The first path among these that is a file. */
  fileAmong(paths: string[]): string | null {
    for (const path of paths) if (this.get(path)?.kind === "file") return path;
    return null;
  }

  put(row: Row): void {
    const old = this.get(row.path);
    this.#sql.exec(
      `INSERT OR REPLACE INTO files (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)`,
      row.path,
      row.kind,
      row.size,
      row.mode,
      row.modified,
      row.content,
    );
    if (old) this.#count(old, -1);
    this.#count(row, 1);
  }

  remove(row: Row): void {
    this.#sql.exec("DELETE FROM files WHERE path = ?", row.path);
    this.#count(row, -1);
  }

  move(row: Row, path: string): void {
    this.#sql.exec("UPDATE files SET path = ? WHERE path = ?", path, row.path);
  }

  /** Read once, then kept: a quota check must not read every row. */
  totals(): { nodes: number; files: number; bytes: number } {
    this.#totals ??= this.#sql
      .exec<{ nodes: number; files: number; bytes: number }>(
        `SELECT count(*) AS nodes, coalesce(sum(kind = 'file'), 0) AS files,
                coalesce(sum(size), 0) AS bytes FROM files`,
      )
      .one();
    return this.#totals;
  }

  /** After an error or a rollback: count again when next asked. */
  forget(): void {
    this.#totals = null;
  }

  #count(row: Row, sign: 1 | -1): void {
    if (!this.#totals) return;
    this.#totals.nodes += sign;
    this.#totals.files += row.kind === "file" ? sign : 0;
    this.#totals.bytes += sign * row.size;
  }
}
