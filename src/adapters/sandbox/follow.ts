/**
 * One command of a container, from its start to its end, by looking at the files that it writes.
 *
 * W1  `start` may be sent again; once it may have run, a container that does not know it means "unknown", never "again".
 * W2  Output goes to the capture in order and once, whatever was asked twice or answered late.
 */
import { BoxUnavailable } from "../../tools/box.ts";
import { fromBase64, toBase64 } from "./base64.ts";
import type { Capture } from "./capture.ts";
import type { Answer, Machine } from "./machine.ts";
import { KEPT_HEAD } from "./machine-script.ts";

/** An exit code; gone: the container that knew it is not there any more. */
export type State = number | "running" | "gone";

export interface Command {
  id: string;
  command: string;
  /** Absolute, as the session has it. */
  cwd: string;
  background: boolean;
  /** It was started before a crash, perhaps. */
  reopened: boolean;
}

/** Bytes in one answer. */
const PART = 512 * 1024;
/** How long one look waits for something new, and what it may take beyond that. */
const WAIT_MS = 8_000;
/** A quick command has ended within its first look. */
const FIRST_MS = 300;
const EXTRA_MS = 5_000;
/** Between two looks at a flood. */
const FLOOD_MS = 200;

export class Follower {
  readonly #machine: Machine;
  readonly #id: string;
  readonly #capture: Capture;
  #offset = 0;
  #all = 0;
  #mayHaveRun = false;
  /** Counts looks: an answer to an older one is late and not taken. */
  #turn = 0;
  #left = false;

  constructor(machine: Machine, id: string, capture: Capture) {
    this.#machine = machine;
    this.#id = id;
    this.#capture = capture;
  }

  /** Brings its container up, unless it may be running in one already. */
  async ready(command: Command, prepare: () => Promise<void>): Promise<void> {
    this.#mayHaveRun = command.reopened && this.#machine.kept.ready;
    if (!this.#mayHaveRun) await prepare();
  }

  /** Starts it, or finds it again; when its container was lost before it could begin, in a new one. */
  async start(command: Command, prepare: () => Promise<void>): Promise<State> {
    for (;;) {
      const state = await this.#unlessLost(this.#start(command));
      if (state !== "gone" || this.#mayHaveRun) return state;
      await prepare();
    }
  }

  /** Until it has ended and all of its output is here; a stop kills it first. */
  end(first: Promise<State>, signal: AbortSignal): Promise<State> {
    return this.#unlessLost(this.#end(first, signal));
  }

  async #end(first: Promise<State>, signal: AbortSignal): Promise<State> {
    const stopped = aborted(signal);
    let state = (await Promise.race([first, stopped])) ?? "running";
    let killed = false;
    while (!this.#done(state) && !this.#left) {
      if (signal.aborted && !killed) {
        killed = true;
        await this.kill();
      }
      if (this.#offset > KEPT_HEAD) await aborted(signal, FLOOD_MS);
      const look = this.look(killed ? 0 : WAIT_MS);
      state = killed ? await look : ((await Promise.race([look, stopped])) ?? state);
    }
    return state;
  }

  /** Until it has ended, but no longer than that. */
  async watch(ms: number, signal: AbortSignal): Promise<State> {
    const end = Date.now() + ms;
    for (;;) {
      const left = signal.aborted ? 0 : Math.max(0, end - Date.now());
      const state = await this.look(Math.min(left, WAIT_MS));
      const drained = this.#offset >= this.#all;
      if (this.#done(state) || (left === 0 && drained)) return state;
    }
  }

  async look(waitMs: number): Promise<State> {
    const turn = ++this.#turn;
    const args = [this.#id, this.#offset, PART, waitMs];
    const answer = await this.#machine.ask("follow", args, waitMs + EXTRA_MS);
    return this.#turn === turn ? this.#take(answer) : "running";
  }

  async kill(): Promise<void> {
    await this.#machine.ask("kill", [this.#id]);
  }

  /** Nobody listens any longer: what comes late is not taken. */
  leave(): void {
    this.#left = true;
    this.#turn += 1;
  }

  async #start({ id, command, cwd, background }: Command): Promise<State> {
    const turn = ++this.#turn;
    const inside = this.#machine.inside(cwd);
    const args = [id, inside, toBase64(command), background ? 1 : 0, PART, FIRST_MS];
    const again = () => {
      this.#mayHaveRun = true;
    };
    const answer = await this.#machine.ask("start", args, FIRST_MS + EXTRA_MS, again);
    if (answer) this.#mayHaveRun = true;
    return this.#turn === turn ? this.#take(answer) : "running";
  }

  /** A container that fails under a command is no error any more: what came of it is unknown. */
  async #unlessLost(act: Promise<State>): Promise<State> {
    try {
      return await act;
    } catch (error) {
      if (this.#mayHaveRun && error instanceof BoxUnavailable) return "gone";
      throw error;
    }
  }

  #done(state: State): boolean {
    return state === "gone" || (typeof state === "number" && this.#offset >= this.#all);
  }

  /** "state size from", a newline, and the output from there on as base64. */
  #take(answer: Answer | null): State {
    const [head = "", data = ""] = answer?.stdout.split("\n") ?? [];
    const [state = "none", all, from] = head.split(" ");
    if (!answer || state === "none" || answer.exitCode !== 0) return "gone";
    this.#all = Number(all);
    if (Number(from) > this.#offset) this.#capture.skip(Number(from) - this.#offset);
    const bytes = fromBase64(data);
    this.#capture.bytes(bytes);
    this.#offset = Number(from) + bytes.byteLength;
    return state === "running" ? state : Number(state);
  }
}

/** null when it is aborted, or when the time is over. */
export function aborted(signal: AbortSignal, ms?: number): Promise<null> {
  if (signal.aborted) return Promise.resolve(null);
  return new Promise((resolve) => {
    const timer = ms === undefined ? undefined : setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve(null);
    }
    signal.addEventListener("abort", done, { once: true });
  });
}
