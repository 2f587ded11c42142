/**
 * The box over a machine: commands, background commands and files of a container.
 *
 * K1  A command runs once. Sent again, looked up after a crash, it is the same one; when its container was lost under
 *     it, its outcome is unknown and it is said so.
 * K2  A call ends in time whatever the container does, with the output so far; the next one works.
 * K3  Files: in the container while it is up, in the store always. A container is started by commands alone.
 * K4  At rest there is no container.
 */
import { LIMITS, MIRROR_SKIPS } from "../../core/limits.ts";
import type { Box, BoxFile, ExecRequest, ExecResult, Job, Jobs } from "../../tools/box.ts";
import { type Cutoff, cutoff } from "../../tools/cutoff.ts";
import type { FileStore } from "../files/store.ts";
import { toBase64 } from "./base64.ts";
import { Capture } from "./capture.ts";
import { aborted, Follower, type State } from "./follow.ts";
import { Machine, type MachineParts, textOf } from "./machine.ts";
import { fetchParts, Mirror } from "./mirror.ts";

/** How long a command may take to end after it was told to, and how long its files may take to come out. */
const GRACE_MS = 8_000;
/** How long the start of a command is waited for before its time begins to run. */
const START_MS = 10_000;
const MIRROR_MS = 6_000;
const REST_MS = 60_000;
/** What a background command does at once is shown with its start. */
const FIRST_MS = 1_000;
const STOPPED: ExecResult = { output: "", exitCode: 124, timedOut: false };

export const CONTAINER_ABOUT = [
  "Commands run with bash as root in a Linux container (Ubuntu) with the usual tools, git, curl, jq, Node.js and npm,",
  "and with network access. There is no Python unless you install it (apt-get update && apt-get install -y python3).",
  "Every call is a new shell: variables and `cd` do not last, files do. Nobody can type into a command: a command that",
  "asks ends at once, so pass options like -y. Run servers and long builds with `background`, look at them with",
  "shell_view and shell_wait. The container stops when you ask the user or end the task: files under /workspace are kept",
  "then, up to 25 MB each, but not node_modules, .git, virtual environments and caches, nor installed packages,",
  "files elsewhere or running processes.",
].join(" ");

class MachineBox implements Box {
  readonly kind = "container";
  readonly about = CONTAINER_ABOUT;
  readonly jobs: Jobs;
  readonly #machine: Machine;
  readonly #mirror: Mirror;
  readonly #files: FileStore;
  /** Calls under way: no rest while there are any. */
  #active = 0;
  #resting: Promise<void> | null = null;

  constructor(files: FileStore, parts: MachineParts) {
    this.#files = files;
    this.#machine = new Machine(parts);
    this.#mirror = new Mirror(this.#machine, files);
    this.jobs = {
      start: (request, signal) => this.#working(() => this.#startJob(request, signal)),
      view: (id, waitMs, signal) => this.#working(() => this.#viewJob(id, waitMs, signal)),
      write: (id, text) => this.#working(() => this.#writeJob(id, text)),
      kill: (id) => this.#working(() => this.#killJob(id)),
    };
  }

  exec(
    request: ExecRequest,
    live: (text: string) => void,
    signal: AbortSignal,
  ): Promise<ExecResult> {
    if (signal.aborted) return Promise.resolve(STOPPED);
    const long = tooLong(request.command);
    if (long) return Promise.resolve({ output: long, exitCode: 126, timedOut: false });
    return this.#working(async () => {
      const capture = new Capture(live);
      const follower = new Follower(this.#machine, request.id, capture);
      const command = { ...request, background: false };
      await follower.ready(command, this.#prepare);
      const first = follower.start(command, this.#prepare);
      // Its own time begins when it does, or when the container takes too long to say so.
      await within(Promise.race([first, aborted(signal)]), START_MS);
      const cut = cutoff(request.timeoutMs, GRACE_MS, signal);
      try {
        const ended = await Promise.race([follower.end(first, cut.signal), cut.late]);
        return resultOf(ended, capture, cut);
      } finally {
        cut.clear();
        follower.leave();
      }
    });
  }

  async read(path: string): Promise<Uint8Array | null> {
    const inside = this.#machine.inside(path);
    const size = this.#machine.up ? await this.#machine.ask("size", [inside]) : null;
    if (!size) return this.#files.read(path);
    if (size.exitCode !== 0) return null;
    const bytes = Number(size.stdout);
    if (bytes > LIMITS.fileBytes) {
      throw new Error(
        `${path} has ${bytes} bytes, more than can be read whole (${LIMITS.fileBytes}). Read parts of it with a command.`,
      );
    }
    const out = new Uint8Array(bytes);
    let at = 0;
    const whole = await fetchParts(this.#machine, this.#machine.inside(path), bytes, (part) => {
      out.set(part.subarray(0, bytes - at), at);
      at += part.byteLength;
    });
    return whole ? out : this.#files.read(path);
  }

  /** Into the store first, whose limits hold for both; a container that refuses it takes it back out. */
  write(path: string, bytes: Uint8Array): Promise<{ ok: true } | { ok: false; error: string }> {
    return this.#working(async () => {
      const old = this.#machine.up ? this.#files.read(path) : null;
      const written = this.#files.write(path, bytes);
      if (!written.ok) return { ok: false, error: `${written.code}: ${written.error}` };
      if (!this.#machine.up) return { ok: true };
      try {
        await this.#mirror.push([path]);
        return { ok: true };
      } catch (error) {
        if (old) this.#files.write(path, old);
        else this.#files.remove(path);
        return { ok: false, error: error instanceof Error ? error.message : String(error) };
      }
    });
  }

  async list(folder: string): Promise<BoxFile[]> {
    const parts = folder.split("/");
    const skips = MIRROR_SKIPS.filter((name) => !parts.includes(name));
    const inside = this.#machine.inside(folder);
    const args = [inside, LIMITS.filesCount, ...skips];
    const answer = this.#machine.up ? await this.#machine.ask("list", args) : null;
    if (!answer) return this.#files.list(folder).map(({ path, size }) => ({ path, size }));
    const found = textOf(answer)
      .split("\0")
      .flatMap((record) => {
        const [, size, path = ""] = /^(\d+) (.+)$/s.exec(record) ?? [];
        return size ? [{ path: folder + path.slice(inside.length), size: Number(size) }] : [];
      });
    return found.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  outside(path: string): void {
    this.#mirror.outside(path);
  }
  news(): string | null {
    return this.#machine.news();
  }

  async rest(): Promise<void> {
    if (this.#machine.kept.boot === "" || this.#active > 0) return;
    this.#resting ??= this.#stop().finally(() => {
      this.#resting = null;
    });
    await this.#resting;
  }

  destroy(): Promise<void> {
    return this.#machine.destroy();
  }

  async #stop(): Promise<void> {
    if (this.#machine.sound) await within(this.#mirror.pull(), REST_MS);
    await this.#machine.end(this.#machine.kept.jobs);
  }

  /** Whatever a call did, its files come out before its result is told. */
  async #working<T>(act: () => Promise<T>): Promise<T> {
    this.#active += 1;
    try {
      await this.#resting;
      const result = await act();
      if (this.#machine.sound)
        await within(this.#mirror.pull(), MIRROR_MS, (error) => {
          this.#machine.tell(`[Changed files could not be kept: ${String(error)}]`);
        });
      return result;
    } finally {
      this.#active -= 1;
    }
  }

  readonly #prepare = async (): Promise<void> => {
    await this.#machine.ensure();
    await this.#mirror.settle();
  };

  async #startJob(request: ExecRequest, signal: AbortSignal): Promise<Job> {
    const long = tooLong(request.command);
    if (long) return { output: long, exitCode: 126 };
    const capture = new Capture();
    const follower = new Follower(this.#machine, request.id, capture);
    const command = { ...request, background: true };
    await follower.ready(command, this.#prepare);
    const first = await follower.start(command, this.#prepare);
    if (first === "gone") return { output: "", exitCode: null, unknown: true };
    this.#note(request.id, true);
    return this.#seen(request.id, capture, await follower.watch(FIRST_MS, signal));
  }

  async #viewJob(id: string, ms: number, signal: AbortSignal): Promise<Job | null> {
    if (!this.#machine.up) return null;
    const capture = new Capture();
    const state = await new Follower(this.#machine, id, capture).watch(ms, signal);
    return state === "gone" ? null : this.#seen(id, capture, state);
  }

  async #killJob(id: string): Promise<Job | null> {
    if (!this.#machine.up) return null;
    await this.#machine.ask("kill", [id]);
    return this.#viewJob(id, 0, new AbortController().signal);
  }

  async #writeJob(id: string, text: string): Promise<"ok" | "full" | "ended" | null> {
    const answer = this.#machine.up ? await this.#machine.ask("write", [id, toBase64(text)]) : null;
    const word = answer?.stdout.trim();
    return word === "ok" || word === "full" || word === "ended" ? word : null;
  }

  #seen(id: string, capture: Capture, state: State): Job {
    const exitCode = typeof state === "number" ? state : null;
    if (exitCode !== null) this.#note(id, false);
    return { output: capture.output(), exitCode };
  }

  /** Stored, so that a new container can say what ended with the old one. */
  #note(id: string, runs: boolean): void {
    const { jobs } = this.#machine.kept;
    if (jobs.includes(id) === runs) return;
    this.#machine.keep({ jobs: runs ? [...jobs, id] : jobs.filter((job) => job !== id) });
  }
}

export const machineBox = (files: FileStore, parts: MachineParts): Box =>
  new MachineBox(files, parts);

/** A command travels on a command line, and those have an end. */
function tooLong(command: string): string | null {
  const size = new TextEncoder().encode(command).byteLength;
  if (size <= LIMITS.commandBytes) return null;
  return `Not run: a command may have at most ${LIMITS.commandBytes} bytes, and this one has ${size}. Write it to a file and run that.\n`;
}

function resultOf(ended: State | null, capture: Capture, cut: Cutoff): ExecResult {
  const output = capture.output();
  const timedOut = cut.timedOut();
  if (typeof ended === "number") {
    return { output, exitCode: cut.signal.aborted ? 124 : ended, timedOut };
  }
  return { output, exitCode: 124, timedOut, unknown: true };
}

/** Waits for it, but no longer than that; it goes on by itself. Its failure is told, not thrown. */
async function within(
  act: Promise<unknown>,
  ms: number,
  failed: (error: unknown) => void = () => {},
): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([act.catch(failed), late]);
  clearTimeout(timer);
}
