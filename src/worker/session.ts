/**
 * The Durable Object of one session: what its owner asks of it, and the platform's events. What keeps it alive
 * between the two is in host.ts.
 *
 * O4  A session is its owner's: to anyone else it does not exist.
 * O5  A request that may start work is checked without effect, let in by the owner's list, then the wake job is stored,
 *     then it is done.
 */
import { DurableObject } from "cloudflare:workers";
import { Lifecycle, type LifecycleJobContext } from "agents/lifecycle";
import { isFull } from "../adapters/files/sql.ts";
import { LIMITS } from "../core/limits.ts";
import { restOf } from "../core/rest.ts";
import { type NewSession, newSession } from "../core/session.ts";
import type { SettingsLayer } from "../core/settings.ts";
import type { PatchBody } from "../core/settings-patch.ts";
import type {
  AnswerBody,
  MessageBody,
  QueueBody,
  SessionView,
  SettingsLayers,
  SharedView,
} from "../core/wire.ts";
import { outerLayers } from "./config.ts";
import { Damaged } from "./damage.ts";
import type { Engine } from "./engine.ts";
import type { Bindings } from "./env.ts";
import * as files from "./files.ts";
import { Host } from "./host.ts";
import type { Pass } from "./link.ts";
import { pack, restingPoint } from "./pack.ts";
import { type Answer, FULL, HttpProblem, NO_SESSION, type Problem, yes } from "./problem.ts";
import type { Ack, Message, Page } from "./requests.ts";
import { answer, page, patch, requeue, say, stop } from "./requests.ts";
import { type Origin, originOf } from "./rotation.ts";
import * as shares from "./shares.ts";
import { leave } from "./sockets.ts";
import { SessionStore } from "./store.ts";
import type { Birth } from "./unpack.ts";
import { openingOf, takeFrame } from "./upgrade.ts";
import { type Copied, layersOf, type Made, viewOf } from "./wire.ts";

export class SessionObject extends DurableObject<Bindings> {
  readonly lifecycle = Lifecycle.install(this);
  readonly #host = new Host(this.ctx, this.env, this.lifecycle);

  /** Makes the session; one that is there already is given back, one that was just deleted here is refused. */
  async create(n: Omit<NewSession, "at">): Promise<Answer<Made>> {
    const own = await this.#host.list.settings(n.owner);
    if (this.#host.gone) return NO_SESSION;
    const made = this.#host.mine(n.owner);
    if (made) return yes({ view: this.#view(made, own), made: false });
    const session = newSession({ ...n, at: Date.now() });
    const engine = this.#host.start(SessionStore.create(this.ctx.storage, session));
    if (n.ephemeral) await this.#host.jobs.expireAt(Date.now() + LIMITS.ephemeralMs);
    return yes({ view: this.#view(engine, own), made: true });
  }

  async view(owner: string): Promise<Answer<SessionView>> {
    return this.#with(owner, (engine, own) => yes(this.#view(engine, own)));
  }

  /** What a new session in its place begins with; secrets included, so never for a reply. */
  async origin(owner: string): Promise<Answer<Origin>> {
    return this.#for(owner, ({ store }) => yes(originOf(store.session())));
  }

  async settings(owner: string): Promise<Answer<SettingsLayers>> {
    return this.#with(owner, ({ store }, own) => {
      const { settings } = store.session();
      return yes(layersOf(settings, outerLayers(this.env, own, settings.profile)));
    });
  }
  async patch(owner: string, change: Omit<PatchBody, "key">): Promise<Answer<SessionView>> {
    return this.#changed(owner, (engine) => patch(engine, change));
  }
  /** Changes a message that waits, or takes it back (null). */
  async requeue(owner: string, id: string, change: QueueBody | null): Promise<Answer<SessionView>> {
    return this.#changed(owner, (engine) => requeue(engine, id, change));
  }

  async say(owner: string, body: Message): Promise<Answer<Ack>> {
    return this.#with(owner, (_, own) =>
      this.#working(owner, (engine, pass) =>
        say(engine, this.#layers(engine, own, body), body, pass),
      ),
    );
  }
  async answer(owner: string, body: AnswerBody & { id: string }): Promise<Answer<Ack>> {
    return this.#working(owner, (engine, pass) => answer(engine, body, pass));
  }
  async stop(owner: string, id: string): Promise<Answer<Ack>> {
    // One that waits has no job; what is to be told to others by a stop needs one.
    const waits = this.#host.mine(owner)?.store.session().status === "waiting";
    if (waits) return this.#working(owner, (engine, pass) => stop(engine, id, pass === null));
    return this.#for(owner, (engine) => stop(engine, id, false));
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
    const room = await this.#for(owner, (e) =>
      this.#host.list.admit(e.store.session(), ["storedBytes"]),
    );
    return room.ok ? this.#filed(owner, (engine) => files.write(engine, path, bytes)) : room;
  }
  async removeFile(owner: string, path: string): Promise<Answer<null>> {
    return this.#filed(owner, (engine) => files.remove(engine, path));
  }
  #filed<T>(owner: string, act: (engine: Engine) => Answer<T>): Promise<Answer<T>> {
    return this.#for(owner, (engine) => {
      const done = act(engine);
      this.#host.filesChanged();
      return done;
    });
  }

  async remove(owner: string): Promise<Answer<null>> {
    return this.#for(owner, async (engine) => {
      await this.#host.remove(engine);
      return yes(null);
    });
  }

  async share(owner: string): Promise<Answer<shares.Link>> {
    return this.#for(owner, shares.share);
  }
  async unshare(owner: string): Promise<Answer<null>> {
    return this.#for(owner, ({ store }) => {
      store.dropShares();
      return yes(null);
    });
  }
  /** For whoever holds the secret of a link. */
  async sharedView(secret: string): Promise<Answer<SharedView>> {
    return this.#linked((e) => shares.sharedView(e, secret));
  }
  async sharedEvents(secret: string, after: number, limit: number): Promise<Answer<Page>> {
    return this.#linked((e) => shares.sharedEvents(e, secret, after, limit));
  }
  async sharedFile(
    secret: string,
    path: string,
    range?: files.ByteRange,
  ): Promise<Answer<files.Download>> {
    return this.#linked((e) => shares.sharedFile(e, secret, path, range));
  }
  async #linked<T>(act: (engine: Engine) => Answer<T>): Promise<Answer<T>> {
    const engine = await this.#host.opened();
    if (!engine) return shares.noShare();
    return this.#for(engine.store.session().owner, act);
  }

  /** What is due is the lifecycle's, but for a look at work that goes on. */
  override async alarm(): Promise<void> {
    if (!(await this.#host.looked())) await this.lifecycle.alarm();
  }

  /** Its lines, as they are now, without secrets. */
  async pack(owner: string): Promise<Answer<ReadableStream<Uint8Array>>> {
    return this.#for(owner, (e) => yes(pack(e, restOf(e.store.session()), false)));
  }
  /** Its lines as of the last resting point at or before an event, for a copy of the same owner's. */
  async packFork(
    owner: string,
    after: number | undefined,
  ): Promise<Answer<ReadableStream<Uint8Array>>> {
    return this.#for(owner, (e) => {
      const rest = restingPoint(e, after);
      return rest.ok ? yes(pack(e, rest.value, true)) : rest;
    });
  }
  /** Makes the session of such lines. */
  async unpack(birth: Birth, stream: ReadableStream<Uint8Array>): Promise<Answer<Copied>> {
    try {
      const own = await this.#host.list.settings(birth.owner);
      const { engine, skipped } = await this.#host.unpack(birth, stream);
      return yes({ view: this.#view(engine, own), skipped });
    } catch (error) {
      return this.#failed(error);
    }
  }

  /** The WebSocket of a client, or of the Worker on behalf of one; the Worker has checked who it is. */
  override async fetch(request: Request): Promise<Response> {
    const owner = decodeURIComponent(request.headers.get("x-dormouse-owner") ?? "");
    const query = new URL(request.url).searchParams;
    const { 0: client, 1: server } = new WebSocketPair();
    const on = (name: string) => query.get(name) !== "0";
    const how = { wants: on("live") ? "live" : "stored", attends: on("attends") } as const;
    const attached = await this.#with(owner, (engine, own) => {
      // To the end in one step: nothing falls between replay and live.
      const { opening, after } = openingOf(engine.store, this.#view(engine, own), query);
      this.#host.sockets.attach(server, how, opening, engine.store, after);
      return yes(null);
    });
    if (attached.ok) return new Response(null, { status: 101, webSocket: client });
    return Response.json(attached.problem, { status: attached.problem.status });
  }

  override async webSocketMessage(ws: WebSocket, message: string | ArrayBuffer): Promise<void> {
    const { owner } = (await this.#host.opened())?.store.session() ?? { owner: "" };
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

  async onJob(context: LifecycleJobContext): Promise<{ rescheduleAt: number } | undefined> {
    return this.#host.onJob(context);
  }
  /** The platform killed the object for its memory, again and again: the turn ends, instead of a loop. */
  async onAlarmMemoryLimit({ sealed }: { sealed: boolean }): Promise<void> {
    if (sealed) this.#host.open()?.drive.keep({ type: "out_of_memory" });
  }

  /** The settings around a message's own; its profile, if it names one, stands in place of the session's. */
  #layers({ store }: Engine, own: SettingsLayer, { settings }: MessageBody) {
    return outerLayers(this.env, own, settings?.profile ?? store.session().settings.profile);
  }
  #view({ store, files }: Engine, own: SettingsLayer): SessionView {
    const s = store.session();
    return viewOf(s, outerLayers(this.env, own, s.settings.profile), files.count());
  }

  #changed(owner: string, act: (engine: Engine) => Answer<null>): Promise<Answer<SessionView>> {
    return this.#with(owner, (engine, own) => {
      const done = act(engine);
      return done.ok ? yes(this.#view(engine, own)) : done;
    });
  }

  /** For what shows or takes settings: the owner's own are read first, so that nothing falls in between. */
  async #with<T>(
    owner: string,
    act: (engine: Engine, own: SettingsLayer) => Answer<T> | Promise<Answer<T>>,
  ): Promise<Answer<T>> {
    return this.#for(owner, async () => {
      const own = await this.#host.list.settings(owner);
      return this.#for(owner, (engine) => act(engine, own));
    });
  }

  async #for<T>(
    owner: string,
    act: (engine: Engine) => Answer<T> | Promise<Answer<T>>,
  ): Promise<Answer<T>> {
    const attempt = async () => {
      const engine = this.#host.mine(owner);
      return engine ? await act(engine) : NO_SESSION;
    };
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Damaged)) return this.#failed(error);
      return (await this.#host.mend(owner, error)) ? attempt() : NO_SESSION;
    }
  }

  /** An error class does not survive the way to the Worker. */
  #failed(error: unknown): { ok: false; problem: Problem } {
    if (error instanceof HttpProblem) return { ok: false, problem: error.problem };
    if (isFull(error) || this.#host.full()) return FULL;
    throw error;
  }

  async #working(
    owner: string,
    act: (engine: Engine, pass: Pass | null) => Answer<Ack>,
  ): Promise<Answer<Ack>> {
    const checked = await this.#for(owner, (engine) => act(engine, null));
    if (!checked.ok || checked.value.duplicate) return checked;
    const { needs = [] } = checked.value;
    const pass = await this.#for(owner, (e) => this.#host.list.admit(e.store.session(), needs));
    if (!pass.ok) return pass;
    const armed = await this.#for(owner, async () => yes(await this.#host.jobs.arm()));
    if (!armed.ok) return armed;
    return this.#for(owner, (e) => act(e, pass.value));
  }
}
