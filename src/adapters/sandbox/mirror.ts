/**
 * The files of a container and the session's file store, kept alike: what a command changed comes out, what people
 * uploaded goes in. The store is the truth once a container is gone.
 *
 * I1  Bounded: by size and number, without the folders that can be made again. What is left out is told, not hidden.
 * I2  A file counts as deleted when the container knew it and no longer has it; never because a list was cut short.
 * I3  A file that changed on both sides keeps what people put there.
 * I4  Nothing is marked as known before it is in the store: what a crash interrupts is seen again.
 */
import { LIMITS, MIRROR_SKIPS } from "../../core/limits.ts";
import { ROOT, resolvePath } from "../../tools/paths.ts";
import type { FileStore } from "../files/store.ts";
import { fromBase64 } from "./base64.ts";
import { type Machine, textOf } from "./machine.ts";
import { padAfter, TAR_END, tarHeader, tarReader } from "./tar.ts";

/** Bytes in one call: base64 makes a third more of it, and a call may carry 12 MiB in and 32 MiB out. */
const CHUNK = 6 * 1024 * 1024;
const PACK_MS = 120_000;
const MAX_RECORDS = 2 * LIMITS.mirrorFiles + 1_000;
const TOLD_PATHS = 10;
/** "+" new or changed, "-" as it was before, "!" too large; size, time, mode, path. */
const RECORD = /^([+!-])(\d+) (\S+) (\d+) (.+)$/s;

interface Seen {
  path: string;
  size: number;
  /** Seconds as the container says them, with a fraction. */
  time: string;
  mode: number;
}
interface Scan {
  changed: Seen[];
  deleted: string[];
  /** Too large to be kept. */
  large: Seen[];
  whole: boolean;
}

const nulls = (paths: string[]): Uint8Array =>
  new TextEncoder().encode(paths.map((path) => `${path}\0`).join(""));
const relative = (path: string): string => path.slice(ROOT.length + 1);

export class Mirror {
  readonly #machine: Machine;
  readonly #files: FileStore;
  /** Told before: once is enough for a file. */
  readonly #complained = new Set<string>();
  #queue: Promise<unknown> = Promise.resolve();

  constructor(machine: Machine, files: FileStore) {
    this.#machine = machine;
    this.#files = files;
    machine.fill = () => this.#push(files.list().map((node) => node.path));
  }

  /** What changed in the container comes into the store. */
  pull(): Promise<void> {
    return this.#alone(() => this.#pull());
  }

  /** These paths, as they are in the store, go into the container; what is no longer there is deleted there too. */
  push(paths: string[]): Promise<void> {
    return this.#alone(() => this.#push(paths));
  }

  /** A path changed in the store from outside. */
  outside(path: string): void {
    const { pending, ready } = this.#machine.kept;
    if (ready && !pending.includes(path)) this.#machine.keep({ pending: [...pending, path] });
  }

  /** What changed from outside goes in before a command. */
  async settle(): Promise<void> {
    const { pending } = this.#machine.kept;
    if (pending.length === 0) return;
    await this.push(pending);
    const left = this.#machine.kept.pending.filter((path) => !pending.includes(path));
    this.#machine.keep({ pending: left });
  }

  /** One at a time: they share the container's exchange folder. */
  #alone<T>(act: () => Promise<T>): Promise<T> {
    const turn = this.#queue.then(act, act);
    this.#queue = turn.catch(() => {});
    return turn;
  }

  async #push(paths: string[]): Promise<void> {
    const here = paths.filter((path) => this.#files.stat(path)?.kind === "file");
    const gone = paths.filter((path) => this.#files.stat(path) === null);
    if (gone.length > 0) {
      await this.#machine.put("list", nulls(gone.map(relative)));
      await this.#machine.ask("remove", []);
    }
    if (here.length === 0) return;
    let part = 0;
    for (const chunk of chunked(archive(this.#files, here))) {
      await this.#machine.put(`in/${String(part++).padStart(6, "0")}`, chunk);
    }
    await this.#machine.put("list", nulls(here.map(relative)));
    const done = await this.#machine.ask("unpack", [], PACK_MS);
    if (done && done.exitCode !== 0) throw new Error(`tar: ${done.stdout.trim().slice(0, 500)}`);
  }

  async #pull(): Promise<void> {
    const scan = await this.#scan();
    if (!scan || (scan.changed.length === 0 && scan.deleted.length === 0)) return;
    const pending = new Set(this.#machine.kept.pending);
    if (scan.whole) {
      const again = new Set(scan.changed.map((seen) => seen.path));
      for (const path of scan.deleted) {
        if (again.has(path) || pending.has(path)) continue;
        if (this.#files.stat(path)?.kind === "file") this.#files.remove(path);
      }
    }
    const wanted = scan.changed.filter((seen) => !pending.has(seen.path) && !this.#same(seen));
    const { taken, left } = this.#choose(wanted);
    this.#complain([...left, ...scan.large]);
    if ((await this.#take(taken)) && scan.whole) await this.#machine.ask("commit", []);
  }

  async #scan(): Promise<Scan | null> {
    const args = [LIMITS.fileBytes, MAX_RECORDS, ...MIRROR_SKIPS];
    const answer = await this.#machine.ask("scan", args);
    if (!answer) return null;
    if (answer.exitCode !== 0) throw new Error("the changed files could not be listed");
    const records = textOf(answer).split("\0").slice(0, -1);
    const scan: Scan = { changed: [], deleted: [], large: [], whole: records.length < MAX_RECORDS };
    for (const record of records) {
      const [, kind, size, time = "", mode = "", name] = RECORD.exec(record) ?? [];
      const path = `${ROOT}/${name}`;
      const resolved = resolvePath(path);
      // A name that is no text, or that our own rules refuse, cannot be kept.
      if (!resolved.ok || resolved.path !== path || path.includes("\ufffd")) continue;
      const seen = { path, size: Number(size), time, mode: Number.parseInt(mode, 8) };
      if (kind === "+") scan.changed.push(seen);
      else if (kind === "-") scan.deleted.push(path);
      else scan.large.push(seen);
    }
    return scan;
  }

  /** It is what we put there ourselves: an archive keeps whole seconds, a command's file has a fraction. */
  #same({ path, size, time, mode }: Seen): boolean {
    const node = this.#files.stat(path);
    return (
      node?.kind === "file" &&
      node.size === size &&
      node.mode === mode &&
      Number(time) === Math.floor(node.modified / 1000)
    );
  }

  /** Smallest first, as far as the limits reach. */
  #choose(wanted: Seen[]): { taken: Seen[]; left: Seen[] } {
    const taken: Seen[] = [];
    const left: Seen[] = [];
    let room = Math.min(LIMITS.mirrorBytes, LIMITS.filesBytes - this.#files.totals().bytes);
    for (const seen of [...wanted].sort((a, b) => a.size - b.size)) {
      const grows = seen.size - (this.#files.stat(seen.path)?.size ?? 0);
      if (grows > room || taken.length >= LIMITS.mirrorFiles) left.push(seen);
      else {
        taken.push(seen);
        room -= grows;
      }
    }
    return { taken, left };
  }

  /** False: something that was asked for did not come. */
  async #take(taken: Seen[]): Promise<boolean> {
    if (taken.length === 0) return true;
    const open = new Map(taken.map((seen) => [relative(seen.path), seen]));
    await this.#machine.put("list", nulls([...open.keys()]));
    const packed = await this.#machine.ask("pack", [], PACK_MS);
    if (!packed) return false;
    const refused: Seen[] = [];
    const read = tarReader(LIMITS.fileBytes, ({ path }, bytes) => {
      const seen = open.get(path);
      if (!seen) return;
      open.delete(path);
      if (!this.#store(seen, bytes)) refused.push(seen);
    });
    const archive = `${this.#machine.places.run}/out.tar`;
    const whole = await fetchParts(this.#machine, archive, Number(packed.stdout), read);
    this.#complain(refused);
    return whole && open.size === 0;
  }

  #store({ path, time, mode }: Seen, bytes: Uint8Array): boolean {
    const written = this.#files.write(path, bytes);
    if (written.ok) this.#files.touch(path, { mode, modified: Math.floor(Number(time) * 1000) });
    return written.ok;
  }

  #complain(files: Seen[]): void {
    const fresh = files.filter(({ path }) => !this.#complained.has(path));
    if (fresh.length === 0) return;
    for (const { path } of fresh) this.#complained.add(path);
    const names = fresh.slice(0, TOLD_PATHS).map(({ path, size }) => `${path} (${size} bytes)`);
    const more = fresh.length > TOLD_PATHS ? ` and ${fresh.length - TOLD_PATHS} more` : "";
    this.#machine.tell(
      `[Too large to be kept when the sandbox stops, and not downloadable: ${names.join(", ")}${more}.]`,
    );
  }
}

/** A file of the container in parts; false: the container went away, or the file became shorter. */
export async function fetchParts(
  machine: Machine,
  path: string,
  size: number,
  take: (bytes: Uint8Array) => void,
): Promise<boolean> {
  for (let at = 0; at < size; ) {
    const answer = await machine.ask("chunk", [path, at, CHUNK]);
    const bytes = answer ? fromBase64(answer.stdout) : new Uint8Array();
    if (bytes.byteLength === 0) return false;
    take(bytes);
    at += bytes.byteLength;
  }
  return true;
}

function* archive(files: FileStore, paths: string[]): Generator<Uint8Array> {
  for (const path of paths) {
    const node = files.stat(path);
    const bytes = files.read(path);
    if (!node || !bytes) continue;
    const { mode, modified } = node;
    yield tarHeader({ path: relative(path), mode, modified, size: bytes.byteLength });
    yield bytes;
    yield padAfter(bytes.byteLength);
  }
  yield TAR_END;
}

/** The same bytes in pieces of CHUNK, the last one shorter. */
function* chunked(parts: Iterable<Uint8Array>): Generator<Uint8Array> {
  let held: Uint8Array[] = [];
  let size = 0;
  for (const part of parts) {
    for (let at = 0; at < part.byteLength; ) {
      const piece = part.subarray(at, at + CHUNK - size);
      held.push(piece);
      size += piece.byteLength;
      at += piece.byteLength;
      if (size < CHUNK) continue;
      yield joined(held, size);
      held = [];
      size = 0;
    }
  }
  if (size > 0) yield joined(held, size);
}

function joined(pieces: Uint8Array[], size: number): Uint8Array {
  const out = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    out.set(piece, at);
    at += piece.byteLength;
  }
  return out;
}
