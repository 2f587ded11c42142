/**
 * A session on its way in, line by line: a fork, or an export that may have been damaged or made up.
 *
 * I1  A line that is wrong or has no place is left out and counted; the rest makes a sound session at rest.
 * I2  The head is written last: what broke off is no session, and its rows go with the job that was set for them.
 * I3  One line is held at a time, whatever the size of the whole.
 */
import { FileStore } from "../adapters/files/store.ts";
import { head, utf8Bytes } from "../core/chars.ts";
import type { Event } from "../core/events.ts";
import { pairing } from "../core/history.ts";
import { LIMITS } from "../core/limits.ts";
import { relog } from "../core/relog.ts";
import { type Rest, restOf, sessionAt } from "../core/rest.ts";
import type { Session } from "../core/session.ts";
import { localeOf, words } from "../core/text.ts";
import { ROOT, resolvePath } from "../tools/paths.ts";
import { SESSION_ID } from "./ids.ts";
import { putRow } from "./memories.ts";
import { EventLine, FORMAT, Header, Line } from "./pack-format.ts";
import { problem } from "./problem.ts";
import { fromOutside } from "./secrets.ts";
import { putLog, putRest, SessionStore } from "./store.ts";
import { makeTables, put } from "./tables.ts";
import { parseJson } from "./validate.ts";

export interface Birth {
  id: string;
  owner: string;
  epoch: string;
  /** A fork: its title says so. */
  fork: boolean;
  /** Where the product is served. */
  host: string;
}

/** UTF-8 bytes of one value; SQLite takes 2 MiB. */
const VALUE_BYTES = 1_900_000;
/** Events that are written together. */
const EVENTS = 200;

interface Incoming {
  path: string;
  size: number;
  written: number;
  mode: number;
  modified: number;
}

class Unpacker {
  /** Lines that were left out. */
  skipped = 0;
  readonly #storage: DurableObjectStorage;
  readonly #files: FileStore;
  readonly #birth: Birth;
  readonly #log;
  readonly #pairs = pairing();
  #header: Header["session"] | null = null;
  #events: Event[] = [];
  #file: Incoming | null = null;

  constructor(storage: DurableObjectStorage, birth: Birth) {
    this.#storage = storage;
    this.#birth = birth;
    this.#files = new FileStore(storage.sql, { now: () => Date.now() });
    this.#log = relog(birth.id);
  }

  take(line: string | null): void {
    if (!this.#header) this.#open(line);
    else if (line === null || (line.trim() !== "" && !this.#read(line, this.#header.id)))
      this.skipped += 1;
  }

  #open(line: string | null): void {
    const value = line === null ? undefined : jsonIn(line);
    const version = (value as { dormouse?: unknown } | undefined)?.dormouse;
    if (typeof version === "number" && version > FORMAT) {
      throw problem(
        400,
        "invalid_import",
        "This export was written by a newer version of Dormouse. Update this one, then import it.",
      );
    }
    const parsed = Header.safeParse(value);
    if (!parsed.success) {
      throw problem(
        400,
        "invalid_import",
        "This is no export of Dormouse: its first line must be the header that GET …/export begins with.",
      );
    }
    this.#header = parsed.data.session;
  }

  /** False: the line is wrong, or has no place here. */
  #read(text: string, from: string): boolean {
    const moved = SESSION_ID.test(from)
      ? text.replaceAll(`/api/sessions/${from}/files/`, `/api/sessions/${this.#birth.id}/files/`)
      : text;
    const value = jsonIn(moved) as { type?: unknown } | undefined;
    if (value?.type === "event") return this.#event(value);
    const parsed = Line.safeParse(value);
    if (!parsed.success) return false;
    const line = parsed.data;
    switch (line.type) {
      case "rest":
        return this.#rest(line.rest);
      case "memory":
        return this.#memory(line);
      case "file":
        return this.#begin(line);
      case "chunk":
        return this.#chunk(line.data);
      case "end":
        return true;
    }
  }

  #event(value: unknown): boolean {
    const parsed = EventLine.safeParse(value);
    if (!parsed.success || utf8Bytes(JSON.stringify(parsed.data)) > VALUE_BYTES) return false;
    const before = this.#log.last();
    this.#keep(this.#log.take(parsed.data));
    return this.#log.last() > before;
  }
  #keep(events: Event[]): void {
    this.#events.push(...events);
    if (this.#events.length >= EVENTS) this.#flush();
  }
  #flush(): void {
    putLog(this.#storage.sql, this.#events);
    this.#events = [];
  }

  #rest(rest: Rest): boolean {
    const status = restStatus(this.#log.status());
    if (!status || this.#log.last() === 0) return false;
    const upto = this.#log.last();
    putRest(this.#storage.sql, { ...rest, upto, status, run: this.#log.run() });
    return true;
  }

  #memory({ id, memory, kind, message }: Extract<Line, { type: "memory" }>): boolean {
    const json = JSON.stringify(message);
    if (utf8Bytes(json) > VALUE_BYTES) return false;
    const rows = this.#pairs.take({ id, memory, kind, json });
    for (const row of rows ?? []) putRow(this.#storage.sql, row);
    return rows !== null;
  }

  #begin({ path, kind, size, mode, modified }: Extract<Line, { type: "file" }>): boolean {
    this.#endFile();
    const resolved = resolvePath(path);
    if (!resolved.ok || resolved.path !== path || path === ROOT || this.#files.stat(path)) {
      return false;
    }
    const made =
      kind === "file" ? this.#files.write(path, new Uint8Array()) : this.#files.mkdir(path);
    if (!made.ok) return false;
    if (kind === "file") this.#file = { path, size, written: 0, mode, modified };
    else this.#files.touch(path, { mode, modified });
    return true;
  }
  #chunk(data: string): boolean {
    const file = this.#file;
    if (!file) return false;
    const bytes = Uint8Array.fromBase64(data);
    file.written += bytes.byteLength;
    return file.written <= file.size && this.#files.append(file.path, bytes).ok;
  }
  /** A file of which something is missing is not kept. */
  #endFile(): void {
    const file = this.#file;
    this.#file = null;
    if (!file) return;
    const { path, mode, modified, size, written } = file;
    if (written === size && this.#files.stat(path)?.size === size)
      this.#files.touch(path, { mode, modified });
    else {
      this.#files.remove(path);
      this.skipped += 1;
    }
  }

  /** The session, at rest. What its log lacks for that is added. */
  finish(): Session {
    if (!this.#header) this.#open(null);
    const { rest, settings: stated } = this.#header as Header["session"];
    const settings = this.#birth.fork ? stated : fromOutside(stated);
    this.#endFile();
    for (const row of this.#pairs.end()) putRow(this.#storage.sql, row);
    const now = Date.now();
    const ts = new Date(now).toISOString();
    const closing = this.#log.close(ts, rest.plan?.steps ?? null);
    this.#keep(closing);
    const told = words(
      localeOf(settings.locale ?? "auto", rest.plan?.language ?? "", rest.preview),
    );
    if (this.skipped > 0) {
      const data = { code: "import_skipped", text: told.importSkipped(this.skipped) };
      this.#keep([this.#log.add({ event: "notice", data }, ts)]);
    }
    const marked = this.#birth.fork && rest.title !== "";
    const title = head(marked ? told.copyOf(rest.title) : rest.title, LIMITS.titleChars);
    if (marked) this.#keep([this.#log.add({ event: "title", data: { title } }, ts)]);
    this.#flush();
    const status = restStatus(this.#log.status()) ?? "stopped";
    const { id, owner, epoch, host } = this.#birth;
    const at: Rest = {
      ...rest,
      title,
      status,
      upto: this.#log.last(),
      row: this.#pairs.last(),
      run: this.#log.run(),
    };
    const session = sessionAt(at, {
      id,
      owner,
      epoch,
      settings,
      ephemeral: false,
      host,
      at: now,
    });
    if (closing.length > 0) putRest(this.#storage.sql, restOf(session));
    return session;
  }
}

const restStatus = (status: Session["status"]): Rest["status"] | null =>
  status === "running" || status === "waiting" ? null : status;

const jsonIn = (line: string): unknown => {
  try {
    return parseJson(line);
  } catch {
    return undefined;
  }
};

/** Lines as they come; null for one that is longer than any of ours. */
async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string | null> {
  const decoder = new TextDecoder();
  let held = "";
  let tooLong = false;
  for await (const bytes of stream) {
    const parts = decoder.decode(bytes, { stream: true }).split("\n");
    const rest = parts.pop() ?? "";
    for (const part of parts) {
      const line = held + part;
      yield tooLong || line.length > LIMITS.lineChars ? null : line;
      held = "";
      tooLong = false;
    }
    held += rest;
    if (held.length > LIMITS.lineChars) {
      held = "";
      tooLong = true;
    }
  }
  if (tooLong) yield null;
  else if (held !== "") yield held;
}

/** Whose session it was to be, of one that broke off. */
export function birthIn({ sql }: DurableObjectStorage): Birth | null {
  const made = sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'head'").toArray();
  if (made.length === 0) return null;
  const query = "SELECT json FROM head WHERE part = 'birth'";
  const row = sql.exec<{ json: string }>(query).toArray()[0];
  return row ? (JSON.parse(row.json) as Birth) : null;
}

/** Makes a session of the lines; throws an `HttpProblem` when they are none of ours. Its head is not there before. */
export async function unpack(
  storage: DurableObjectStorage,
  birth: Birth,
  stream: ReadableStream<Uint8Array>,
): Promise<{ store: SessionStore; skipped: number }> {
  makeTables(storage);
  put(storage.sql, "birth", birth);
  const unpacker = new Unpacker(storage, birth);
  for await (const line of linesOf(stream)) unpacker.take(line);
  const session = unpacker.finish();
  return { store: SessionStore.create(storage, session), skipped: unpacker.skipped };
}
