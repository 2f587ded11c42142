/**
 * The Durable Object of one session: an adapter between the platform's events and the drive.
 *
 * O1  One wake job is stored before any work starts; it is gone once the session rests and its list knows.
 * O2  No handler ever waits for the work itself.
 * O3  At rest there is no timer, no fetch, no alarm: the object hibernates with its sockets open.
 * O4  A session is its owner's: to anyone else it does not exist.
 */
import { DurableObject } from "cloudflare:workers";
import { Lifecycle, type LifecycleJobContext } from "agents/lifecycle";
import { LIMITS } from "../core/limits.ts";
import type { Change } from "../core/ports.ts";
import { type NewSession, newSession, type Session } from "../core/session.ts";
import type { SettingsLayer } from "../core/settings.ts";
import type { AnswerBody, MessageBody, PatchBody, SessionView } from "../core/wire.ts";
import { outerLayers } from "./config.ts";
import { directoryStub } from "./directory.ts";
import { createEngine, type Engine } from "./engine.ts";
import type { Bindings } from "./env.ts";
import * as files from "./files.ts";
import { EXPIRE, Jobs } from "./jobs.ts";
import { type Answer, HttpProblem, NO_SESSION, yes } from "./problem.ts";
import { type Ack, answer, type Page, page, patch, say, stop } from "./requests.ts";
import { leave, Sockets } from "./sockets.ts";
import { SessionStore } from "./store.ts";
import { openingOf, takeFrame } from "./upgrade.ts";
import { infoOf, viewOf } from "./wire.ts";

/** Sleeps shorter than this are slept in memory; longer ones by the alarm, so that the object may go. */
const SHORT_SLEEP_MS = 2_000;

export class SessionObject extends DurableObject<Bindings> {
  readonly lifecycle = Lifecycle.install(this);
  readonly #sockets = new Sockets(this.ctx);
  readonly #jobs = new Jobs(this.lifecycle);
  #engine: Engine | null = null;
  /** Deleted in this life of the object: its alarms are off for good. */
  #gone = false;

  /** Makes the session; one that is there already is given back, one that was just deleted here is refused. */
  async create(n: Omit<NewSession, "at">): Promise<Answer<SessionView>> {
    if (this.#gone) return NO_SESSION;
    const made = this.#mine(n.owner);
    if (made) return yes(this.#view(made));
    const session = newSession({ ...n, at: Date.now() });
    const engine = this.#start(SessionStore.create(this.ctx.storage, session));
    if (n.ephemeral) await this.#jobs.expireAt(Date.now() + LIMITS.ephemeralMs);
    return yes(this.#view(engine));
  }

  async view(owner: string): Promise<Answer<SessionView>> {
    return this.#for(owner, (engine) => yes(this.#view(engine)));
  }

  async patch(owner: string, change: PatchBody): Promise<Answer<SessionView>> {
    return this.#for(owner, (engine) => {
      const patched = patch(engine, change);
      return patched.ok ? yes(this.#view(engine)) : patched;
    });
  }

  async say(owner: string, body: MessageBody & { id: string }): Promise<Answer<Ack>> {
    return this.#working(owner, (engine, dry) =>
      say(engine, this.#layers(engine, body), body, dry),
    );
  }
  async answer(owner: string, body: AnswerBody & { id: string }): Promise<Answer<Ack>> {
    return this.#working(owner, (engine, dry) => answer(engine, body, dry));
  }
  async stop(owner: string, id: string): Promise<Answer<Ack>> {
    return this.#for(owner, (engine) => stop(engine, id));
  }
  async events(owner: string, after: number, epoch: string, limit: number): Promise<Answer<Page>> {
    return this.#for(owner, (engine) => yes(page(engine.store, after, epoch, limit)));
  }

  async listFiles(owner: string): Promise<Answer<files.Listing>> {
    return this.#for(owner, files.list);
  }
  async readFile(
    owner: string,
    path: string,
    range?: files.ByteRange,
  ): Promise<Answer<files.Download>> {
    return this.#for(owner, (engine) => files.read(engine, path, range));
  }
  async writeFile(owner: string, path: string, bytes: Uint8Array): Promise<Answer<files.Upload>> {
    return this.#for(owner, (engine) => files.write(engine, path, bytes));
  }
  async removeFile(owner: string, path: string): Promise<Answer<null>> {
    return this.#for(owner, (engine) => files.remove(engine, path));
  }

  /** Everything of it is gone when this returns: rows, files, alarm. */
  async remove(owner: string): Promise<Answer<null>> {
    return this.#for(owner, async (engine) => {
      this.#close();
      await engine.box.destroy();
      this.#sockets.closeAll(4004, "the session was deleted");
      // The lifecycle lets go of its table too: a job may be what removes the session.
      this.#gone = true;
      await this.lifecycle.disableAlarms();
      await this.ctx.storage.deleteAll();
      // Whoever looked meanwhile has opened it once more.
      this.#close();
      return yes(null);
    });
  }

  /** The WebSocket of a client, or of the Worker on behalf of one; the Worker has checked who it is. */
  override async fetch(request: Request): Promise<Response> {
    const engine = this.#mine(decodeURIComponent(request.headers.get("x-dormouse-owner") ?? ""));
    if (!engine) return Response.json(NO_SESSION.problem, { status: 404 });
    const query = new URL(request.url).searchParams;
    const { 0: client, 1: server } = new WebSocketPair();
    const { opening, after } = openingOf(engine.store.session(), this.#view(engine), query);
    const attachment = {
      live: query.get("live") !== "0",
      attends: query.get("attends") !== "0",
    };
    this.#sockets.attach(server, attachment, opening, engine.store, after);
    return new Response(null, { status: 101, webSocket: client });
  }

  override async webSocketMessage(ws: WebSocket, message: string | ArrayBuffer): Promise<void> {
    const { owner } = this.#open()?.store.session() ?? { owner: "" };
    await takeFrame(ws, message, {
      say: (body) => this.say(owner, body),
      answer: (body) => this.answer(owner, body),
      stop: (id) => this.stop(owner, id),
    });
  }
  /** Answers the close. Without it a client that leaves waits ten seconds and sees 1006, not its own code. */
  override async webSocketClose(ws: WebSocket, code: number): Promise<void> {
    leave(ws, code);
  }

  /** The wake job: looks after a drive that works, revives one that was lost, and leaves when all is at rest. */
  async onJob({ job }: LifecycleJobContext): Promise<{ rescheduleAt: number } | undefined> {
    const engine = this.#open();
    if (!engine) return undefined;
    if (job.fn === EXPIRE) return this.#expire(engine);
    this.#jobs.fired();
    engine.drive.kick();
    if (engine.store.session().status !== "running") await engine.box.rest();
    // A job that fails three times is given up by the lifecycle, so a list that cannot be told must not fail it.
    const told = engine.store.session().status === "running" || (await this.#tell());
    // Read again: whoever spoke while the list was told has relied on this very job.
    const { status, retry } = engine.store.session();
    if (status === "running" || !told) return { rescheduleAt: Jobs.next(retry?.at) };
    this.#jobs.ended();
    return undefined;
  }

  /** An ephemeral session goes an hour after its last turn, unless it works or waits. Unlisted first: no ghost stays. */
  async #expire(engine: Engine): Promise<{ rescheduleAt: number } | undefined> {
    const s = engine.store.session();
    const busy = s.status === "running" || s.status === "waiting";
    const due = (busy ? Date.now() : Date.parse(s.updated_at)) + LIMITS.ephemeralMs;
    if (due > Date.now()) return { rescheduleAt: due };
    try {
      await directoryStub(this.env, s.owner).remove(s.id);
    } catch (error) {
      console.error("an ephemeral session could not be unlisted; tried again later", error);
      return { rescheduleAt: Date.now() + LIMITS.wakeMs };
    }
    await this.remove(s.owner);
    return undefined;
  }

  /** The platform killed the object for its memory, again and again: the turn ends, instead of a loop. */
  async onAlarmMemoryLimit({ sealed }: { sealed: boolean }): Promise<void> {
    if (sealed) this.#open()?.drive.keep({ type: "out_of_memory" });
  }

  /** The settings around a message's own; its profile, if it names one, stands in place of the session's. */
  #layers({ store }: Engine, { settings }: MessageBody): (SettingsLayer | undefined)[] {
    return outerLayers(this.env, settings?.profile ?? store.session().settings.profile);
  }
  #view({ store, files }: Engine): SessionView {
    const s = store.session();
    return viewOf(s, outerLayers(this.env, s.settings.profile), files.count());
  }

  #open(): Engine | null {
    if (this.#engine) return this.#engine;
    const store = SessionStore.open(this.ctx.storage);
    if (!store) return null;
    const engine = this.#start(store);
    engine.drive.wake();
    return engine;
  }

  #start(store: SessionStore): Engine {
    store.onCommit = (change, before) => this.#committed(change, before);
    this.#engine = createEngine({
      ctx: this.ctx,
      env: this.env,
      store,
      sockets: this.#sockets,
      wake: (at) => this.#wake(at),
      broken: (error) => this.#broken(error),
    });
    return this.#engine;
  }

  #close(): void {
    this.#engine?.drive.halt();
    this.#engine = null;
  }

  #mine(owner: string): Engine | null {
    const engine = this.#open();
    return engine?.store.session().owner === owner ? engine : null;
  }
  async #for<T>(
    owner: string,
    act: (engine: Engine) => Answer<T> | Promise<Answer<T>>,
  ): Promise<Answer<T>> {
    try {
      const engine = this.#mine(owner);
      return engine ? await act(engine) : NO_SESSION;
    } catch (error) {
      // An error class does not survive the way to the Worker.
      if (error instanceof HttpProblem) return { ok: false, problem: error.problem };
      throw error;
    }
  }

  /** For requests that may start work: checked without effect, then the wake job is stored, then done. */
  async #working(
    owner: string,
    act: (engine: Engine, dry: boolean) => Answer<Ack>,
  ): Promise<Answer<Ack>> {
    const checked = await this.#for(owner, (engine) => act(engine, true));
    if (!checked.ok || checked.value.duplicate) return checked;
    await this.#jobs.arm();
    return this.#for(owner, (e) => act(e, false));
  }

  #committed({ session, events }: Change, before: Session): void {
    const changed = session.status !== before.status;
    const ended = changed && session.status !== "running";
    this.#sockets.events(events, ended ? { session_id: session.id, run: session.run } : null);
    const renamed = session.title !== before.title || session.pinned !== before.pinned;
    if (ended) this.ctx.waitUntil(this.#rest());
    else if (changed || renamed) this.ctx.waitUntil(this.#tell());
  }

  /** Nothing is going to run: the sandbox rests, the list knows, the wake job goes. */
  async #rest(): Promise<void> {
    const engine = this.#engine;
    if (!engine) return;
    await engine.box.rest();
    const told = await this.#tell();
    const { status, ephemeral } = engine.store.session();
    if (!told || status === "running" || this.#engine !== engine) return;
    await this.#jobs.disarm();
    if (ephemeral && status !== "waiting") {
      await this.#jobs.expireAt(Date.now() + LIMITS.ephemeralMs);
    }
  }

  async #report(): Promise<void> {
    const s = this.#engine?.store.session();
    if (s) await directoryStub(this.env, s.owner).update(infoOf(s));
  }
  /** Tells the owner's list; what it does not acknowledge is sent again by the wake job. */
  async #tell(): Promise<boolean> {
    try {
      await this.#report();
      return true;
    } catch (error) {
      console.error("the list of sessions could not be told; the wake job tries again", error);
      await this.#jobs.arm();
      return false;
    }
  }

  #wake(at: number | null): void {
    if (at === null) {
      // A sleep that ended early (a stop, a replan): the job must not be due only at its end.
      this.ctx.waitUntil(this.#jobs.soonAgain());
      return;
    }
    const ms = at - Date.now();
    if (ms <= SHORT_SLEEP_MS) setTimeout(() => this.#engine?.drive.kick(), Math.max(0, ms));
    else this.ctx.waitUntil(this.#jobs.wakeAt(at));
  }

  /** The store or the platform failed under the drive: let the object die, the wake job brings it back. */
  #broken(error: unknown): void {
    console.error("the session is restarted", error);
    this.#engine = null;
    this.ctx.abort("the session is restarted");
  }
}
