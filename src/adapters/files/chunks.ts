/**
 * Contents as rows of at most 1 MiB: a value over 2 MiB fails in a Durable Object's SQLite.
 *
 * K1  Chunk n of content c has the id c * 64 + n: one billed row per chunk, no index, up to 64 MiB a content.
 * K2  A content is written whole under a new number; only `append` ever changes one.
 */
import type { Sql } from "./sql.ts";

const CHUNK = 1024 * 1024;
const PER_CONTENT = 64;

export class Chunks {
  readonly #sql: Sql;
  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The number of the new content; 0 stands for "no bytes" and has no rows. */
  create(bytes: Uint8Array): number {
    if (bytes.byteLength === 0) return 0;
    const last = this.#sql
      .exec<{ id: number | null }>("SELECT max(id) AS id FROM file_chunks")
      .one();
    const content = Math.floor((last.id ?? 0) / PER_CONTENT) + 1;
    try {
      this.#extend(content, 0, bytes);
    } catch (error) {
      this.remove(content);
      throw error;
    }
    return content;
  }

  /** Adds bytes behind the first `size`; returns the content's number, a new one when there was none. */
  append(content: number, size: number, bytes: Uint8Array): number {
    if (content === 0) return this.create(bytes);
    const used = size % CHUNK;
    if (used === 0) {
      this.#extend(content, size / CHUNK, bytes);
      return content;
    }
    const n = Math.floor(size / CHUNK);
    const joined = new Uint8Array(Math.min(CHUNK, used + bytes.byteLength));
    joined.set(this.#chunk(content, n).subarray(0, used));
    joined.set(bytes.subarray(0, CHUNK - used), used);
    this.#put(content, n, joined);
    this.#extend(content, n + 1, bytes.subarray(CHUNK - used));
    return content;
  }

  /** Bytes `start` to `end` (not included); both within the content. */
  read(content: number, start: number, end: number): Uint8Array<ArrayBuffer> {
    const out = new Uint8Array(Math.max(0, end - start));
    for (let n = Math.floor(start / CHUNK); n * CHUNK < end && out.byteLength > 0; n++) {
      const from = Math.max(start, n * CHUNK);
      const part = this.#chunk(content, n).subarray(from - n * CHUNK, end - n * CHUNK);
      out.set(part, from - start);
    }
    return out;
  }

  remove(content: number): void {
    const id = content * PER_CONTENT;
    if (content)
      this.#sql.exec("DELETE FROM file_chunks WHERE id >= ? AND id < ?", id, id + PER_CONTENT);
  }

  #extend(content: number, first: number, bytes: Uint8Array): void {
    for (let at = 0, n = first; at < bytes.byteLength; at += CHUNK, n++) {
      this.#put(content, n, bytes.subarray(at, at + CHUNK));
    }
  }

  #put(content: number, n: number, bytes: Uint8Array): void {
    const id = content * PER_CONTENT + n;
    this.#sql.exec("INSERT OR REPLACE INTO file_chunks (id, bytes) VALUES (?, ?)", id, bytes);
  }

  #chunk(content: number, n: number): Uint8Array {
    const rows = this.#sql.exec<{ bytes: ArrayBuffer }>(
      "SELECT bytes FROM file_chunks WHERE id = ?",
      content * PER_CONTENT + n,
    );
    return new Uint8Array(rows.one().bytes);
  }
}
