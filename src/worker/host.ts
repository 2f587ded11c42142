/**
 * What keeps one session alive in its object: opened when it is wanted, looked after while it works, at rest without
 * a trace. The requests of people are in session.ts.
 *
 * O1  One wake job is stored before any work starts; it is gone once the session rests and its list knows.
 * O2  No handler ever waits for the work itself.
 * O3  At rest there is no timer, no fetch, no alarm: the object hibernates with its sockets open.
 */
import type { Lifecycle, LifecycleJobContext } from "agents/lifecycle";
import { isFull } from "../adapters/files/sql.ts";
import { LIMITS } from "../core/limits.ts";
import type { Change } from "../core/ports.ts";
import type { Session } from "../core/session.ts";
import { Damaged } from "./damage.ts";
import { createEngine, type Engine } from "./engine.ts";
import type { Bindings } from "./env.ts";
import { expire, expireUnborn, goLater } from "./expiry.ts";
import { EXPIRE, Jobs, WEBHOOK } from "./jobs.ts";
import { heed, OwnerLink } from "./link.ts";
import { log } from "./log.ts";
import { knownTo, mend } from "./mend.ts";
import { FULL } from "./problem.ts";
import { Sockets } from "./sockets.ts";
import { SessionStore } from "./store.ts";
import { type Birth, birthIn, unpack } from "./unpack.ts";
import { Webhook } from "./webhook.ts";

/** Sleeps shorter than this are slept in memory; longer ones by the alarm, so that the object may go. */
const SHORT_SLEEP_MS = 2_000;
/** How long a session whose storage is full is not tried again. */
const FULL_MS = 1_000;

/** Something goes on, or is to: the wake job stays. */
const works = ({ status, errands }: Session): boolean => status === "running" || errands.length > 0;

export interface Unpacked {
  engine: Engine;
  /** Lines that were left out. */
  skipped: number;
}

export class Host {
  readonly sockets: Sockets;
  readonly jobs: Jobs;
  readonly list: OwnerLink;
  readonly #ctx: DurableObjectState;
  readonly #env: Bindings;
  readonly #lifecycle: Lifecycle;
  readonly #webhook: Webhook;
  #engine: Engine | null = null;
  /** Deleted in this life of the object: its alarms are off for good. */
  gone = false;
  /** Since when the storage has been too full to go on; 0: it is not. The session can be read all the same. */
  #full = 0;
  /** The list has not taken what it was told last. */
  #untold = false;
  /** The damage that was mended last: whoever met it may hear of it twice. */
  #mended: Damaged | null = null;

  constructor(ctx: DurableObjectState, env: Bindings, lifecycle: Lifecycle) {
    this.#ctx = ctx;
    this.#env = env;
    this.#lifecycle = lifecycle;
    this.sockets = new Sockets(ctx);
    this.list = new OwnerLink(ctx.storage, env);
    this.#webhook = new Webhook(ctx.storage, env);
    this.jobs = new Jobs(lifecycle, ctx.storage);
  }

  /** The session of this object, or null: there is none here. */
  open(): Engine | null {
    if (this.#engine && !(this.#full > 0 && Date.now() - this.#full > FULL_MS)) return this.#engine;
    this.#close();
    const store = SessionStore.open(this.#ctx.storage);
    if (!store) return null;
    const engine = this.start(store);
    const working = store.session().status === "running";
    if (working && !engine.drive.sound()) {
      this.#close();
      throw new Damaged("the saved state");
    }
    try {
      engine.drive.wake();
    } catch (error) {
      // Too full to go on, but not to be read.
      if (!isFull(error)) throw error;
    }
    return engine;
  }
  readonly full = (): boolean => this.#full > 0;
  /** Room was made: whatever stood still for want of it goes on. */
  roomMade(): void {
    if (this.#full === 0) return;
    this.#full = 1;
    this.open();
  }
  /** … and, where its rows are damaged, mended first; null as well when they are so that nobody knows whose it is. */
  async opened(): Promise<Engine | null> {
    try {
      return this.open();
    } catch (error) {
      if (!(error instanceof Damaged)) throw error;
      return (await this.mend(null, error)) ? this.open() : null;
    }
  }

  /**
   * Makes a damaged session sound again. `asked`: whoever asks for it, whose list is believed where the session itself
   * cannot say whose it is. False: it is not theirs.
   */
  async mend(asked: string | null, cause?: Damaged): Promise<boolean> {
    if (cause && cause === this.#mended) return true;
    this.#mended = cause ?? null;
    const known = await knownTo(this.#ctx.storage.sql, this.#env, asked);
    if (!known) return false;
    this.#close();
    mend(this.#ctx.storage, known);
    log("error", "session_repaired", { session: known.id });
    this.sockets.closeAll(1012, "the session was repaired");
    this.#ctx.waitUntil(this.#rest());
    return true;
  }

  /** … if it is this owner's: to anyone else it does not exist. */
  mine(owner: string): Engine | null {
    const engine = this.open();
    return engine?.store.session().owner === owner ? engine : null;
  }

  start(store: SessionStore): Engine {
    store.onCommit = (change, before) => this.#committed(change, before);
    this.#engine = createEngine({
      ctx: this.#ctx,
      env: this.#env,
      store,
      sockets: this.sockets,
      wake: (at) => this.#wake(at),
      broken: (error) => this.#broken(error),
    });
    return this.#engine;
  }

  /** Everything of it is gone when this returns: rows, files, alarm. */
  readonly remove = async (engine: Engine | null): Promise<void> => {
    this.#close();
    // What it has spent is the owner's to know, whatever becomes of it. Nothing is deleted when that fails.
    if (engine) await this.list.report(engine.store.session());
    await engine?.destroy();
    this.sockets.closeAll(4004, "the session was deleted");
    // The lifecycle lets go of its table too: a job may be what removes the session.
    this.gone = true;
    await this.#lifecycle.disableAlarms();
    await this.#ctx.storage.deleteAll();
    // Whoever looked meanwhile has opened it once more.
    this.#close();
  };
  #close(): void {
    this.#engine?.drive.halt();
    this.#engine = null;
    this.#full = 0;
  }

  /** The alarm has come. True: the work goes on, and that was all there was to look after. */
  async looked(): Promise<boolean> {
    const engine = this.#engine;
    if (!engine || this.#full > 0 || this.#untold || this.#webhook.pending()) return false;
    engine.drive.kick();
    const { status, retry } = engine.store.session();
    const works = status === "running" && retry === null && engine.drive.busy();
    return works && this.jobs.lookAgain();
  }

  /** The wake job: looks after a drive that works, revives one that was lost, and leaves when all is at rest. */
  async onJob({ job }: LifecycleJobContext): Promise<{ rescheduleAt: number } | undefined> {
    if (job.fn === WEBHOOK) return this.#webhook.due(job.id);
    const engine = await this.opened();
    if (job.fn === EXPIRE) {
      return engine ? expire(this, engine) : expireUnborn(this, birthIn(this.#ctx.storage));
    }
    if (!engine) return undefined;
    this.jobs.fired();
    engine.drive.kick();
    if (engine.store.session().status !== "running") await engine.rest();
    // A job that fails three times is given up by the lifecycle, so a list that cannot be told must not fail it.
    const told = works(engine.store.session()) || (await this.#tell());
    await this.#webhook.arm(this.jobs);
    // Read again: whoever spoke while the list was told has relied on this very job.
    const s = engine.store.session();
    if (works(s) || !told) return { rescheduleAt: Jobs.next(s.retry?.at) };
    this.jobs.ended();
    await goLater(this.jobs, s);
    return undefined;
  }

  /**
   * Makes a session of what comes in. Should it break off, what was written of it goes: at once, or with the job that
   * is stored before. (A head that holds no state says whose it was to be.)
   */
  async unpack(birth: Birth, stream: ReadableStream<Uint8Array>): Promise<Unpacked> {
    await this.jobs.expireAt(Date.now() + LIMITS.ephemeralMs);
    try {
      const { store, skipped } = await unpack(this.#ctx.storage, birth, stream);
      const engine = this.start(store);
      await this.jobs.stay();
      await this.#tell();
      return { engine, skipped };
    } catch (error) {
      await this.remove(null);
      throw error;
    }
  }
  #committed(change: Change, before: Session): void {
    const { session, events } = change;
    const changed = session.status !== before.status;
    // A command is a whole turn in one commit: the status may be the same before and after.
    const ended = events.some((e) => e.event === "status_update" && e.data.status !== "running");
    this.sockets.events(events, ended ? { session_id: session.id, run: session.run } : null);
    const renamed = session.title !== before.title || session.pinned !== before.pinned;
    if (ended) this.#webhook.note(change);
    const freed = works(before) && !works(session);
    if (ended || freed) this.#ctx.waitUntil(this.#rest());
    else if (changed || renamed || this.list.spentMuch(session)) this.#ctx.waitUntil(this.#tell());
  }
  /** Files came or went. */
  filesChanged(): void {
    this.roomMade();
    if (this.list.grewMuch()) this.#ctx.waitUntil(this.#tell());
  }

  /** Nothing is going to run: the sandbox rests, the list knows, the wake job goes. */
  async #rest(): Promise<void> {
    const engine = this.#engine;
    if (!engine) return;
    await this.#webhook.arm(this.jobs);
    await engine.rest();
    const told = await this.#tell();
    const s = engine.store.session();
    if (!told || works(s) || this.#engine !== engine) return;
    await this.jobs.disarm();
    await goLater(this.jobs, s);
  }

  /** Tells the owner's list; what it does not acknowledge is sent again by the wake job. */
  async #tell(): Promise<boolean> {
    try {
      const engine = this.#engine;
      const s = engine?.store.session();
      const told = s && (await this.list.report(s));
      this.#untold = false;
      if (told && engine === this.#engine) heed(engine as Engine, s, told.left);
      return true;
    } catch (error) {
      log("error", "list_not_told", { session: this.#engine?.store.session().id }, error);
      this.#untold = true;
      await this.jobs.arm();
      return false;
    }
  }

  #wake(at: number | null): void {
    if (at === null) {
      // A sleep that ended early (a stop, a replan): the job must not be due only at its end.
      this.#ctx.waitUntil(this.jobs.soonAgain());
      return;
    }
    const ms = at - Date.now();
    if (ms <= SHORT_SLEEP_MS) setTimeout(() => this.#engine?.drive.kick(), Math.max(0, ms));
    else this.#ctx.waitUntil(this.jobs.wakeAt(at));
  }

  /** The store or the platform failed under the drive: let the object die, the wake job brings it back. */
  #broken(error: unknown): void {
    if (isFull(error)) {
      this.#full = Date.now();
      log("error", "storage_full", { session: this.#engine?.store.session().id }, error);
      this.sockets.tell({ type: "error", code: FULL.problem.code, message: FULL.problem.message });
      return;
    }
    if (error instanceof Damaged) {
      this.#ctx.waitUntil(this.mend(null, error));
      return;
    }
    log("error", "session_restarted", { session: this.#engine?.store.session().id }, error);
    this.sockets.flush();
    this.#engine = null;
    this.#ctx.abort("the session is restarted");
  }
}
