/**
 * A container with our program in it: brought up when it is needed, asked verb by verb, known again after a crash.
 *
 * Y1  What is known of it is stored before the container hears of it: an object that wakes knows which boot it left.
 * Y2  A container that comes up empty gets the session's files first; only then is it ready for commands.
 * Y3  A call that was interrupted or hangs is sent again, which is safe for every verb but `write` (see the script).
 * Y4  A container that does not answer any more is ended, and the next command gets a new one.
 */
import { LIMITS, MIRROR_SKIPS } from "../../core/limits.ts";
import { BoxUnavailable } from "../../tools/box.ts";
import { ROOT } from "../../tools/paths.ts";
import { fromBase64, toBase64 } from "./base64.ts";
import type { Link, Reply } from "./link.ts";
import { callLine, GONE, installLine, PLACES, type Places, type Verb } from "./machine-script.ts";

/** What is stored of the container, so that it survives this life of the object. */
export interface Kept {
  /** Names the boot that was brought up last; empty: none is up. */
  boot: string;
  /** Its files are there: commands may have been started in it. */
  ready: boolean;
  /** There was one before: a new one has lost what that one knew. */
  used: boolean;
  /** Background commands that were started and not seen to end. */
  jobs: string[];
  /** Paths that changed in the file store behind the container's back. */
  pending: string[];
}
export interface Keeper {
  get(): Kept | undefined;
  put(kept: Kept): void;
}

export type BoxNotice = "sandbox_starting" | "sandbox_restored";
export interface MachineParts {
  link: Link;
  keeper: Keeper;
  /** Tells people; never throws. */
  notice(code: BoxNotice): void;
  places?: Places;
}

export interface Answer {
  exitCode: number;
  stdout: string;
}

const NONE: Kept = { boot: "", ready: false, used: false, jobs: [], pending: [] };
const TRIES = 3;
const PAUSE_MS = 200;
/** What a short verb may take in the container. */
const SHORT_MS = 30_000;
const PROBE_MS = 5_000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export class Machine {
  readonly places: Places;
  /** Fills an empty container; set by whoever has the files. */
  fill: () => Promise<void> = () => Promise.resolve();
  readonly #parts: MachineParts;
  #kept: Kept;
  #booting: Promise<void> | null = null;
  /** Found to be gone or to hang in this life of the object. */
  #lost = false;
  #suspect = false;
  #over = false;
  readonly #untold: string[] = [];

  constructor(parts: MachineParts) {
    this.#parts = parts;
    this.places = parts.places ?? PLACES;
    this.#kept = { ...NONE, ...parts.keeper.get() };
  }

  get kept(): Kept {
    return this.#kept;
  }
  /** A container is believed to be up. */
  get up(): boolean {
    return this.#kept.ready && !this.#lost;
  }

  /** … and has answered when it was last asked. */
  get sound(): boolean {
    return this.up && !this.#suspect;
  }

  keep(change: Partial<Kept>): void {
    if (this.#over) return;
    this.#kept = { ...this.#kept, ...change };
    this.#parts.keeper.put(this.#kept);
  }

  /** For the model: told once. */
  tell(text: string): void {
    this.#untold.push(text);
  }
  news(): string | null {
    return this.#untold.length > 0 ? this.#untold.splice(0).join("\n") : null;
  }

  /** A path as the container has it. */
  inside(path: string): string {
    return this.places.root + path.slice(ROOT.length);
  }

  /** One verb; null: the container that knew us is gone, and nothing was done. `again`: it is sent once more. */
  async ask(
    verb: Verb,
    args: readonly (string | number)[],
    ms = SHORT_MS,
    again?: () => void,
  ): Promise<Answer | null> {
    const { ready, boot } = this.#kept;
    const line = callLine(this.places, ready ? boot : "-", verb, args);
    const reply = await this.#send(() => this.#parts.link.exec(line, ms), verb !== "write", again);
    if (reply.exitCode !== GONE) return reply;
    this.#lost = true;
    return null;
  }

  /** A file for the program, below its own folder. */
  async put(name: string, bytes: Uint8Array): Promise<void> {
    await this.#send(() => this.#parts.link.put(`${this.places.run}/${name}`, bytes), true);
  }

  /** Makes sure that there is a container with our files. Throws `BoxUnavailable`. */
  async ensure(): Promise<void> {
    if (this.#over) throw new BoxUnavailable("The session and its sandbox are gone.");
    if (this.#suspect) await this.#probe();
    if (this.up) return;
    this.#booting ??= this.#boot().finally(() => {
      this.#booting = null;
    });
    await this.#booting;
  }

  /** Ends the container. What must survive was taken out of it before. */
  async end(jobs: string[]): Promise<void> {
    if (await this.#parts.link.destroy()) {
      this.keep({ boot: "", ready: false, used: true, jobs, pending: [] });
    }
  }
  /** The session is deleted. */
  async destroy(): Promise<void> {
    this.#over = true;
    if (this.#kept.boot !== "") await this.#parts.link.destroy();
  }

  async #boot(): Promise<void> {
    const { used, ready, jobs } = this.#kept;
    const again = used || ready;
    const boot = crypto.randomUUID();
    const slow = setTimeout(() => this.#parts.notice("sandbox_starting"), LIMITS.boxStartingMs);
    try {
      this.keep({ boot, ready: false, used: again, pending: [] });
      const line = installLine(this.places, toBase64);
      const { exitCode } = await this.#send(
        () => this.#parts.link.exec(line, LIMITS.boxStartMs),
        true,
      );
      if (exitCode !== 0)
        throw new BoxUnavailable(`The sandbox could not be set up (${exitCode}).`);
      this.#lost = false;
      await this.fill();
      await this.ask("ready", [boot]);
      this.keep({ ready: true, jobs: [] });
    } finally {
      clearTimeout(slow);
    }
    if (!again) return;
    this.tell(restored(jobs));
    this.#parts.notice("sandbox_restored");
  }

  /** The last call hung: does it answer at all? */
  async #probe(): Promise<void> {
    const line = callLine(this.places, "-", "jobs", []);
    const reply = await this.#parts.link.exec(line, PROBE_MS);
    if (reply.ok || reply.why !== "hung") {
      this.#suspect = false;
      return;
    }
    await this.#parts.link.destroy();
    this.#lost = true;
    this.#suspect = false;
  }

  async #send(
    send: () => Promise<Reply>,
    repeatable: boolean,
    again: () => void = () => {},
  ): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      if (this.#over) throw new BoxUnavailable("The session and its sandbox are gone.");
      const reply = await send();
      if (reply.ok) return reply;
      if (reply.why === "hung") this.#suspect = true;
      if (reply.why !== "unavailable") again();
      if (reply.why === "unavailable" || !repeatable || attempt === TRIES) {
        throw new BoxUnavailable(reply.message);
      }
      await pause(PAUSE_MS * attempt);
    }
  }
}

const restored = (jobs: string[]): string =>
  [
    "[The sandbox was started anew. Files under /workspace are back, except those in",
    `${MIRROR_SKIPS.slice(0, 3).join(", ")} and the like; installed packages, files elsewhere and running processes are gone.`,
    ...(jobs.length > 0 ? [`Background commands that ended with it: ${jobs.join(", ")}.`] : []),
  ]
    .join(" ")
    .concat("]");

export const textOf = (answer: Answer): string =>
  new TextDecoder().decode(fromBase64(answer.stdout));
