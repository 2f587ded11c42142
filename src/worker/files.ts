/** File requests of a session, over the store that its tools use too. A running sandbox is never needed. */
import type { FileInfo } from "../core/events.ts";
import { ROOT, resolvePath } from "../tools/paths.ts";
import type { Engine } from "./engine.ts";
import { type Answer, no, yes } from "./problem.ts";

export interface Listing {
  files: FileInfo[];
}
/** Bytes `start` to `end`, both included, as HTTP says it; a missing start counts from the end. */
export interface ByteRange {
  start?: number;
  end?: number;
}
export interface Download {
  info: FileInfo;
  bytes: Uint8Array;
  /** Set when a part was asked for: first and last byte sent. */
  part?: { start: number; end: number };
}
export interface Upload {
  info: FileInfo;
  created: boolean;
}

const missing = (path: string) =>
  no(404, "file_not_found", `There is no file ${path}. List them with GET …/files.`);

export function list({ files, fileInfo }: Engine): Answer<Listing> {
  return yes({
    files: files.list(ROOT).flatMap((node) => fileInfo(node.path) ?? []),
  });
}

export function read(engine: Engine, path: string, range?: ByteRange): Answer<Download> {
  const resolved = resolvePath(path);
  if (!resolved.ok) return no(400, "invalid_path", resolved.error);
  const info = engine.fileInfo(resolved.path);
  if (!info) return missing(resolved.path);
  const part = range ? within(range, info.size) : undefined;
  if (part === null) return no(416, "range_not_satisfiable", `The file has ${info.size} bytes.`);
  const bytes = engine.files.read(
    resolved.path,
    part ? { start: part.start, end: part.end + 1 } : undefined,
  );
  return bytes ? yes({ info, bytes, ...(part ? { part } : {}) }) : missing(resolved.path);
}

function within({ start, end }: ByteRange, size: number): { start: number; end: number } | null {
  if (start === undefined) {
    const length = Math.min(end ?? 0, size);
    return length > 0 ? { start: size - length, end: size - 1 } : null;
  }
  const last = Math.min(end ?? size - 1, size - 1);
  return start <= last ? { start, end: last } : null;
}

/** What the model has read of the files may be out of date, and a machine that is running has to learn of them. */
function touched({ store, drive, box }: Engine, path: string): void {
  box.outside(path);
  if (store.session().seen.length > 0) drive.keep({ type: "touched" });
}

export function write(engine: Engine, path: string, bytes: Uint8Array): Answer<Upload> {
  const resolved = resolvePath(path);
  if (!resolved.ok) return no(400, "invalid_path", resolved.error);
  if (resolved.path === ROOT) return no(400, "invalid_path", "A file needs a name.");
  const written = engine.files.write(resolved.path, bytes);
  if (!written.ok) {
    if (written.code === "EFBIG") return no(413, "too_large", written.error);
    if (written.code === "ENOSPC") return no(507, "storage_full", written.error);
    return no(409, "path_conflict", written.error);
  }
  touched(engine, resolved.path);
  const info = engine.fileInfo(resolved.path);
  return info ? yes({ info, created: written.created }) : missing(resolved.path);
}

export function remove(engine: Engine, path: string): Answer<null> {
  const resolved = resolvePath(path);
  if (!resolved.ok) return no(400, "invalid_path", resolved.error);
  if (resolved.path === ROOT) return no(400, "invalid_path", "Name the file to delete.");
  if (!engine.files.remove(resolved.path)) return missing(resolved.path);
  touched(engine, resolved.path);
  return yes(null);
}
