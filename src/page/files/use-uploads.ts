/** Files on their way into a session, as chips above the composer: several at once, each with its own end. */
import { useEffect, useRef, useState } from "preact/hooks";
import { newId } from "../../client/index.ts";
import { api } from "../api.ts";
import { bytes } from "../numbers.ts";
import { t } from "../strings.ts";
import type { Attached } from "../use-outbox.ts";
import { FOLDER, fitName, freeName, MOST_BYTES, put, takenNames, uploadWords } from "./upload.ts";

export interface Upload {
  key: string;
  name: string;
  size: number;
  /** Bytes that have left. */
  sent: number;
  state: "sending" | "done" | "failed";
  /** Once it is there. */
  path?: string;
  problem?: string;
}
export interface Uploads {
  list: Upload[];
  busy: boolean;
  add(files: readonly File[]): void;
  remove(key: string): void;
  /** What goes with the message that is being sent; the chips are gone then. */
  take(): Attached[];
}

/** At the same time; browsers open no more than six connections to a host. */
const AT_ONCE = 3;
const tooLarge = () => t("fileTooLarge", { most: bytes(MOST_BYTES) });

/** `session` is asked when the first file comes: it may have to be made. */
export function useUploads(session: () => Promise<string>): Uploads {
  const [list, setList] = useState<Upload[]>([]);
  const aborts = useRef(new Map<string, () => void>());
  const queue = useRef(new Line());
  const at = useRef<string | null>(null);
  useEffect(
    () => () => {
      for (const abort of aborts.current.values()) abort();
    },
    [],
  );
  const change = (key: string, part: Partial<Upload>) =>
    setList((now) => now.map((u) => (u.key === key ? { ...u, ...part } : u)));
  const send = async (upload: Upload, file: File, names: Promise<Set<string>>) => {
    try {
      const id = await session();
      at.current = id;
      const taken = await names;
      const name = freeName(upload.name, taken);
      taken.add(name);
      const url = api.fileUrl(id, `${FOLDER}/${name}`);
      const sending = put(url, file, (sent) => change(upload.key, { sent }));
      aborts.current.set(upload.key, sending.abort);
      const info = await sending.done;
      change(upload.key, { state: "done", sent: file.size, name: info.name, path: info.path });
    } catch (error) {
      change(upload.key, { state: "failed", problem: uploadWords(error, tooLarge()) });
    } finally {
      aborts.current.delete(upload.key);
    }
  };
  const add = (files: readonly File[]) => {
    const fresh = files.map(begin);
    setList((now) => [...now, ...fresh]);
    const fit = fresh.flatMap((upload, i) =>
      upload.state === "sending" ? [[upload, i] as const] : [],
    );
    if (fit.length === 0) return;
    const names = session().then((id) => queue.current.names(id));
    // Each upload says what went wrong itself.
    names.catch(() => undefined);
    for (const [upload, i] of fit) {
      queue.current.push(() => send(upload, files[i] as File, names));
    }
  };
  const remove = (key: string) => {
    aborts.current.get(key)?.();
    const gone = list.find((u) => u.key === key);
    // Nobody has been told of it yet: what was taken out of the message leaves the workspace too.
    if (gone?.path && at.current) api.deleteFile(at.current, gone.path).catch(() => undefined);
    setList((now) => now.filter((u) => u.key !== key));
  };
  const take = () => {
    const ready = list.flatMap((u) =>
      u.path ? [{ path: u.path, name: u.name, size: u.size }] : [],
    );
    setList([]);
    return ready;
  };
  return { list, busy: list.some((u) => u.state === "sending"), add, remove, take };
}

function begin(file: File): Upload {
  const upload = { key: newId(), name: fitName(file.name), size: file.size, sent: 0 };
  return file.size > MOST_BYTES
    ? { ...upload, state: "failed", problem: tooLarge() }
    : { ...upload, state: "sending" };
}

/** A few at once, and one set of taken names for all of them. */
class Line {
  readonly #waiting: (() => Promise<void>)[] = [];
  #running = 0;
  #names: Promise<Set<string>> | null = null;

  names(session: string): Promise<Set<string>> {
    this.#names ??= takenNames(api, session).catch((error: unknown) => {
      this.#names = null;
      throw error;
    });
    return this.#names;
  }
  push(act: () => Promise<void>): void {
    this.#waiting.push(act);
    this.#next();
  }
  #next(): void {
    if (this.#running >= AT_ONCE) return;
    const act = this.#waiting.shift();
    if (!act) return;
    this.#running++;
    void act().finally(() => {
      this.#running--;
      if (this.#running === 0) this.#names = null;
      this.#next();
    });
    this.#next();
  }
}
