/**
 * What keeps one session alive in its object: opened when it is wanted, looked after while it works, at rest without
 * a trace. The requests of people are in session.ts.
 *
 * O1  One wake job is stored before any work starts; it is gone once the session rests and its list knows.
 * O2  No handler ever waits for the work itself.
 * O3  At rest there is no timer, no fetch, no alarm: the object hibernates with its sockets open.
 */
import type { Lifecycle, LifecycleJobContext } from "agents/lifecycle";
import { LIMITS } from "../core/limits.ts";
import type { Change } from "../core/ports.ts";
import type { Session } from "../core/session.ts";
import type { SettingsLayer } from "../core/settings.ts";
import { directoryStub } from "./directory.ts";
import { createEngine, type Engine } from "./engine.ts";
import type { Bindings } from "./env.ts";
import { EXPIRE, Jobs, WEBHOOK } from "./jobs.ts";
import { log } from "./log.ts";
import { problem } from "./problem.ts";
import { Sockets } from "./sockets.ts";
import { SessionStore } from "./store.ts";
import { type Birth, birthIn, unpack } from "./unpack.ts";
import { Webhook } from "./webhook.ts";
import { infoOf } from "./wire.ts";

/** Sleeps shorter than this are slept in memory; longer ones by the alarm, so that the object may go. */
const SHORT_SLEEP_MS = 2_000;
const RESTARTING = problem(
  503,
  "restarting",
  "Your settings could not be read just now; nothing was lost. Send the request again with the same id.",
);

export interface Unpacked {
  engine: Engine;
  /** Lines that were left out. */
  skipped: number;
}

export class Host {
  readonly sockets: Sockets;
  readonly jobs: Jobs;
  readonly #ctx: DurableObjectState;
  readonly #env: Bindings;
  readonly #lifecycle: Lifecycle;
  readonly #webhook: Webhook;
  #engine: Engine | null = null;
  #own: SettingsLayer | null = null;
  #reading: Promise<SettingsLayer> | null = null;
  /** Deleted in this life of the object: its alarms are off for good. */
  gone = false;

  constructor(ctx: DurableObjectState, env: Bindings, lifecycle: Lifecycle) {
    this.#ctx = ctx;
    this.#env = env;
    this.#lifecycle = lifecycle;
    this.sockets = new Sockets(ctx);
    this.#webhook = new Webhook(ctx.storage, env);
    this.jobs = new Jobs(lifecycle);
  }

  /** The session of this object, or null: there is none here. */
  open(): Engine | null {
    if (this.#engine) return this.#engine;
    const store = SessionStore.open(this.#ctx.storage);
    if (!store) return null;
    const engine = this.start(store);
    engine.drive.wake();
    return engine;
  }
  /** … if it is this owner's: to anyone else it does not exist. */
  mine(owner: string): Engine | null {
    const engine = this.open();
    return engine?.store.session().owner === owner ? engine : null;
  }

  /**
   * The owner's layer of settings, read anew each time; what is asked meanwhile shares the reading, so messages keep
   * their order. A list that cannot be reached: what it said last in this life of the object.
   */
  own(owner: string): Promise<SettingsLayer> {
    this.#reading ??= directoryStub(this.#env, owner)
      .settings()
      .then((layer) => {
        this.#own = layer;
        return layer;
      })
      .catch((error: unknown) => {
        log("error", "settings_unread", {}, error);
        if (this.#own) return this.#own;
        throw RESTARTING;
      })
      .finally(() => {
        this.#reading = null;
      });
    return this.#reading;
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
  async remove(engine: Engine | null): Promise<void> {
    this.#close();
    // What it has spent is the owner's to know, whatever becomes of it. Nothing is deleted when that fails.
    if (engine) await this.#report(engine.store.session());
    await engine?.destroy();
    this.sockets.closeAll(4004, "the session was deleted");
    // The lifecycle lets go of its table too: a job may be what removes the session.
    this.gone = true;
    await this.#lifecycle.disableAlarms();
    await this.#ctx.storage.deleteAll();
    // Whoever looked meanwhile has opened it once more.
    this.#close();
  }
  #close(): void {
    this.#engine?.drive.halt();
    this.#engine = null;
  }

  /** The wake job: looks after a drive that works, revives one that was lost, and leaves when all is at rest. */
  async onJob({ job }: LifecycleJobContext): Promise<{ rescheduleAt: number } | undefined> {
    if (job.fn === WEBHOOK) return this.#tellWebhook(job.id);
    const engine = this.open();
    if (job.fn === EXPIRE) return engine ? this.#expire(engine) : this.#unborn();
    if (!engine) return undefined;
    this.jobs.fired();
    engine.drive.kick();
    if (engine.store.session().status !== "running") await engine.rest();
    // A job that fails three times is given up by the lifecycle, so a list that cannot be told must not fail it.
    const told = engine.store.session().status === "running" || (await this.#tell());
    await this.#armWebhook();
    // Read again: whoever spoke while the list was told has relied on this very job.
    const { status, retry } = engine.store.session();
    if (status === "running" || !told) return { rescheduleAt: Jobs.next(retry?.at) };
    this.jobs.ended();
    return undefined;
  }

  /** An ephemeral session goes an hour after its last turn, unless it works or waits. Unlisted first: no ghost stays. */
  async #expire(engine: Engine): Promise<{ rescheduleAt: number } | undefined> {
    const s = engine.store.session();
    // The job of a copy that was whole when its maker died.
    if (!s.ephemeral) return undefined;
    const busy = s.status === "running" || s.status === "waiting";
    const due = (busy ? Date.now() : Date.parse(s.updated_at)) + LIMITS.ephemeralMs;
    if (due > Date.now()) return { rescheduleAt: due };
    try {
      await directoryStub(this.#env, s.owner).remove(s.id);
    } catch (error) {
      log("error", "session_not_unlisted", { session: s.id }, error);
      return { rescheduleAt: Date.now() + LIMITS.wakeMs };
    }
    await this.remove(engine);
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
  /** A copy that broke off an hour ago: unlisted first, as ever. */
  async #unborn(): Promise<{ rescheduleAt: number } | undefined> {
    const birth = birthIn(this.#ctx.storage);
    if (!birth) return undefined;
    try {
      await directoryStub(this.#env, birth.owner).remove(birth.id);
    } catch (error) {
      log("error", "session_not_unlisted", { session: birth.id }, error);
      return { rescheduleAt: Date.now() + LIMITS.wakeMs };
    }
    await this.remove(null);
    return undefined;
  }

  #committed(change: Change, before: Session): void {
    const { session, events } = change;
    const changed = session.status !== before.status;
    // A command is a whole turn in one commit: the status may be the same before and after.
    const ended = events.some((e) => e.event === "status_update" && e.data.status !== "running");
    this.sockets.events(events, ended ? { session_id: session.id, run: session.run } : null);
    const renamed = session.title !== before.title || session.pinned !== before.pinned;
    if (ended) this.#webhook.note(change);
    if (ended) this.#ctx.waitUntil(this.#rest());
    else if (changed || renamed) this.#ctx.waitUntil(this.#tell());
  }

  /** Nothing is going to run: the sandbox rests, the list knows, the wake job goes. */
  async #rest(): Promise<void> {
    const engine = this.#engine;
    if (!engine) return;
    await engine.rest();
    await this.#armWebhook();
    const told = await this.#tell();
    const { status, ephemeral } = engine.store.session();
    if (!told || status === "running" || this.#engine !== engine) return;
    await this.jobs.disarm();
    if (ephemeral && status !== "waiting") {
      await this.jobs.expireAt(Date.now() + LIMITS.ephemeralMs);
    }
  }

  async #report(s: Session): Promise<void> {
    await directoryStub(this.#env, s.owner).update(infoOf(s), s.ledger);
  }
  async #armWebhook(): Promise<void> {
    for (const job of this.#webhook.jobs(Date.now())) await this.jobs.push(job);
  }
  async #tellWebhook(id: string): Promise<{ rescheduleAt: number } | undefined> {
    const at = await this.#webhook.deliver(id, Date.now);
    return at === null ? undefined : { rescheduleAt: at };
  }

  /** Tells the owner's list; what it does not acknowledge is sent again by the wake job. */
  async #tell(): Promise<boolean> {
    try {
      const s = this.#engine?.store.session();
      if (s) await this.#report(s);
      return true;
    } catch (error) {
      log("error", "list_not_told", { session: this.#engine?.store.session().id }, error);
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
    log("error", "session_restarted", { session: this.#engine?.store.session().id }, error);
    this.#engine = null;
    this.#ctx.abort("the session is restarted");
  }
}
