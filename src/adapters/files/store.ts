/**
 * The files of one session in its Durable Object's SQLite: the one truth that routes, tools and sandboxes share.
 *
 * F1  Synchronous; paths are absolute, normalised and under /workspace (see tools/paths.ts).
 * F2  A file is replaced whole: a new content is written first, then the node points at it, then the old one goes.
 * F3  A refused write has changed nothing and says why as data; the limits stand in core/limits.ts.
 * F4  Nothing is written by a look: the tables are made by `FILES_SCHEMA`, from create alone.
 * F5  A folder exists when it was made by name or when something is below it. /workspace always exists, without a row.
 * F6  Totals are kept in memory: call `forget` after a transaction around these calls was rolled back.
 */
import type { FileInfo } from "../../core/events.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Clock } from "../../core/ports.ts";
import { ancestors, ROOT } from "../../tools/paths.ts";
import { Chunks } from "./chunks.ts";
import { fileInfo } from "./info.ts";
import { type Node, Nodes, type Row } from "./nodes.ts";
import { isFull, type Sql } from "./sql.ts";

export type FileErrorCode =
  | "EFBIG"
  | "ENOSPC"
  | "ENOENT"
  | "EEXIST"
  | "EISDIR"
  | "ENOTDIR"
  | "EINVAL";
export interface FileFailure {
  ok: false;
  code: FileErrorCode;
  /** For whoever asked: names the path and the rule. */
  error: string;
}
/** `created`: there was no such file before. */
export type WriteResult = { ok: true; created: boolean } | FileFailure;
export type Changed = { ok: true } | FileFailure;
/** Bytes `start` to `end`, not included. */
export interface Range {
  start: number;
  end: number;
}

const FILE_MODE = 0o644;
const FOLDER_MODE = 0o755;

const fail = (code: FileErrorCode, error: string): FileFailure => ({ ok: false, code, error });

export class FileStore {
  readonly #clock: Clock;
  readonly #chunks: Chunks;
  readonly #nodes: Nodes;

  constructor(sql: Sql, clock: Clock) {
    this.#clock = clock;
    this.#chunks = new Chunks(sql);
    this.#nodes = new Nodes(sql);
  }

  stat(path: string): Node | null {
    const row = this.#nodes.get(path);
    if (row) return row;
    if (path !== ROOT && !this.#nodes.hasBelow(path)) return null;
    return { path, kind: "folder", size: 0, mode: FOLDER_MODE, modified: 0 };
  }

  /** null when there is no such file. A range is cut to the file. */
  read(path: string, range?: Range): Uint8Array<ArrayBuffer> | null {
    const row = this.#nodes.get(path);
    if (row?.kind !== "file") return null;
    const end = Math.min(range?.end ?? row.size, row.size);
    return this.#chunks.read(row.content, Math.min(range?.start ?? 0, end), end);
  }

  write(path: string, bytes: Uint8Array): WriteResult {
    const old = this.#nodes.get(path);
    const refused = this.#refuse(path, old, bytes.byteLength);
    if (refused) return refused;
    return this.#guard(path, () => {
      this.#put(path, old, bytes.byteLength, this.#chunks.create(bytes));
      if (old) this.#chunks.remove(old.content);
      return { ok: true, created: !old };
    });
  }

  /** Costs what is added, not what is there. */
  append(path: string, bytes: Uint8Array): WriteResult {
    const old = this.#nodes.get(path);
    if (!old) return this.write(path, bytes);
    const refused = this.#refuse(path, old, old.size + bytes.byteLength);
    if (refused) return refused;
    return this.#guard(path, () => {
      // The chunk first: bytes beyond the node's size are not seen.
      const content = this.#chunks.append(old.content, old.size, bytes);
      this.#put(path, old, old.size + bytes.byteLength, content);
      return { ok: true, created: false };
    });
  }

  /** A file, or a folder with everything below it. False when there was nothing. */
  remove(path: string): boolean {
    const rows = this.#nodes.under(path);
    for (const row of rows) {
      this.#nodes.remove(row);
      this.#chunks.remove(row.content);
    }
    return rows.length > 0;
  }

  /** Takes the place of a file at the target. Contents do not move. */
  rename(from: string, to: string): Changed {
    const source = this.stat(from);
    if (!source || from === ROOT) return fail("ENOENT", `${from}: no such file or folder`);
    if (from === to) return { ok: true };
    if (to.startsWith(`${from}/`)) return fail("EINVAL", `${to}: is inside ${from}`);
    const target = this.stat(to);
    if (target?.kind === "folder") return fail("EEXIST", `${to}: is a folder`);
    if (target && source.kind === "folder") return fail("ENOTDIR", `${to}: is not a folder`);
    const refused = this.#badParent(to);
    if (refused) return refused;
    this.remove(to);
    return this.#guard<{ ok: true }>(to, () => {
      for (const row of this.#nodes.under(from)) {
        this.#nodes.move(row, to + row.path.slice(from.length));
      }
      return { ok: true };
    });
  }

  /** The folders above it need no rows. An existing folder is fine. */
  mkdir(path: string): Changed {
    const old = this.#nodes.get(path);
    if (old?.kind === "file") return fail("EEXIST", `${path}: is a file`);
    if (old || path === ROOT) return { ok: true };
    const refused = this.#badParent(path) ?? this.#noRoom(path, 1, 0);
    if (refused) return refused;
    const modified = this.#clock.now();
    return this.#guard<{ ok: true }>(path, () => {
      this.#nodes.put({ path, kind: "folder", size: 0, mode: FOLDER_MODE, modified, content: 0 });
      return { ok: true };
    });
  }

  /** Mode and time of what has a row; a folder that has none keeps its defaults. */
  touch(path: string, change: { mode?: number; modified?: number }): Changed {
    const row = this.#nodes.get(path);
    if (!row && !this.stat(path)) return fail("ENOENT", `${path}: no such file or folder`);
    return this.#guard<{ ok: true }>(path, () => {
      if (row) this.#nodes.put({ ...row, ...change });
      return { ok: true };
    });
  }

  /** Every file at or below a path, sorted by path. */
  list(folder: string = ROOT): Node[] {
    return this.#nodes.under(folder).filter((row) => row.kind === "file");
  }

  /** Changes whenever the file does; null when there is no such file. */
  version(path: string): string | null {
    const row = this.#nodes.get(path);
    return row?.kind === "file" ? `${row.content}.${row.size}.${row.modified}` : null;
  }

  /** Everything that has a row, folders too, sorted by path. */
  nodes(): Node[] {
    return this.#nodes.under(ROOT);
  }

  /** What stands directly in a folder, sorted by name. */
  children(folder: string): { name: string; kind: "file" | "folder" }[] {
    const found = new Map<string, "file" | "folder">();
    for (const row of this.#nodes.under(folder)) {
      if (row.path === folder) continue;
      const [name = "", ...deeper] = row.path.slice(folder.length + 1).split("/");
      found.set(name, deeper.length > 0 ? "folder" : row.kind);
    }
    const names = [...found].map(([name, kind]) => ({ name, kind }));
    return names.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Files alone. */
  count(): number {
    return this.#nodes.totals().files;
  }

  totals(): { files: number; bytes: number } {
    const { files, bytes } = this.#nodes.totals();
    return { files, bytes };
  }

  /** null when there is no such file. */
  info(path: string, urlOf: (path: string) => string): FileInfo | null {
    const node = this.#nodes.get(path);
    return node?.kind === "file" ? fileInfo(node, urlOf) : null;
  }

  forget(): void {
    this.#nodes.forget();
  }

  #put(path: string, old: Row | null, size: number, content: number): void {
    const mode = old?.mode ?? FILE_MODE;
    this.#nodes.put({ path, kind: "file", size, mode, modified: this.#clock.now(), content });
  }

  #refuse(path: string, old: Row | null, size: number): FileFailure | null {
    if (old?.kind === "folder" || (!old && this.stat(path))) {
      return fail("EISDIR", `${path}: is a folder`);
    }
    if (size > LIMITS.fileBytes) {
      return fail("EFBIG", `${path}: a file may have at most ${LIMITS.fileBytes} bytes`);
    }
    return this.#badParent(path) ?? this.#noRoom(path, old ? 0 : 1, size - (old?.size ?? 0));
  }

  #badParent(path: string): FileFailure | null {
    const file = this.#nodes.fileAmong(ancestors(path));
    return file ? fail("ENOTDIR", `${file}: is a file, not a folder`) : null;
  }

  #noRoom(path: string, nodes: number, bytes: number): FileFailure | null {
    const now = this.#nodes.totals();
    if (nodes > 0 && now.nodes + nodes > LIMITS.filesCount) {
      return fail("ENOSPC", `${path}: a session may have at most ${LIMITS.filesCount} files`);
    }
    if (bytes > 0 && now.bytes + bytes > LIMITS.filesBytes) {
      const limit = `${LIMITS.filesBytes} bytes`;
      return fail("ENOSPC", `${path}: the files of a session may have at most ${limit} together`);
    }
    return null;
  }

  /** The object's own storage can be full before our quota is: that is data too. */
  #guard<T extends { ok: true }>(path: string, write: () => T): T | FileFailure {
    try {
      return write();
    } catch (error) {
      this.#nodes.forget();
      if (!isFull(error)) throw error;
      return fail("ENOSPC", `${path}: the storage of this session is full`);
    }
  }
}
