/**
 * Talking with a session in a terminal.
 *
 * T1  Whatever is typed while it works goes to it as a message; it says how that is read.
 * T2  Ctrl-C stops the turn under way, a second one leaves. What works goes on without the terminal.
 */
import { writeFile } from "node:fs/promises";
import { type Frame, newId, type Talk, talk } from "../client/index.ts";
import type { Status, Wait } from "../core/events.ts";
import { routeOf } from "../core/route.ts";
import type { SessionView } from "../core/wire.ts";
import { ask } from "./ask.ts";
import { oneLine } from "./escape.ts";
import { type Paint, painter } from "./paint.ts";
import { Renderer } from "./render.ts";
import { Screen } from "./screen.ts";
import { createSession, type Server, type Wanted, wordsFor } from "./server.ts";
import type { Say } from "./strings.ts";

export interface ChatOptions {
  server: Server;
  session: SessionView | null;
  wanted: Wanted;
  say: Say;
  colour: boolean;
  input: NodeJS.ReadStream;
  output: NodeJS.WriteStream;
}

/** Two presses within this time are one wish to leave. */
const TWICE_MS = 3_000;

export class Chat {
  readonly #options: ChatOptions;
  readonly #say: Say;
  readonly #paint: Paint;
  readonly #screen: Screen;
  readonly #ended = Promise.withResolvers<number>();
  #renderer: Renderer;
  #wanted: Wanted;
  #talk: Talk | null = null;
  #status: Status = "idle";
  #wait: Wait | null = null;
  /** Aborted when the question that is being asked is no longer open. */
  #asking: AbortController | null = null;
  /** Client id of the `/new` that was typed last: it is followed. */
  #leaving: string | null = null;
  #pressed = 0;
  #offline = false;
  /** Lines are worked on one after another: the first one may have to make the session. */
  #last: Promise<void> = Promise.resolve();

  constructor(options: ChatOptions) {
    this.#options = options;
    this.#say = options.say;
    this.#wanted = options.wanted;
    this.#paint = painter(options.colour);
    this.#screen = new Screen(options.input, options.output, {
      line: (text) => this.#queue(() => this.#line(text)),
      interrupt: (typed) => this.#interrupt(typed),
      end: () => this.#leave(0),
    });
    this.#renderer = this.#fresh();
  }

  /** Resolves with the exit code when the person leaves. */
  run(): Promise<number> {
    const { server, session } = this.#options;
    this.#screen.open();
    this.#quiet(this.#say("hello", `Dormouse ${server.config.version}`));
    this.#quiet(
      server.config.practice
        ? this.#say("practice")
        : this.#say("provider", server.config.provider),
    );
    if (session) this.#join(session);
    else this.#quiet(this.#say("fresh"));
    return this.#ended.promise;
  }

  #fresh(): Renderer {
    const { say, colour } = this.#options;
    const print = (line: string) => this.#screen.print(line);
    return new Renderer({
      say,
      paint: this.#paint,
      colour,
      live: true,
      columns: () => this.#screen.columns,
      progress: print,
      answer: print,
    });
  }
  #quiet(text: string): void {
    this.#screen.print(this.#paint("quiet", text));
  }

  #join(session: SessionView): void {
    const { server } = this.#options;
    this.#talk?.close();
    this.#renderer = this.#fresh();
    this.#quiet(`${this.#say("session", session.id)}  ${oneLine(session.title)}`);
    if (session.preview) this.#quiet(oneLine(session.preview));
    this.#talk = talk({
      baseUrl: server.url,
      ...(server.token ? { token: server.token } : {}),
      session,
      onFrames: (frames) => this.#take(frames),
      onState: (state) => this.#connection(state === "offline"),
      onGone: (error) => {
        this.#screen.print(this.#paint("bad", wordsFor(error, server.url, this.#say)));
        this.#begin();
      },
    });
    this.#status = session.status;
    if (session.wait) this.#renderer.wait(session.wait);
    this.#opened(session.wait);
  }

  #connection(offline: boolean): void {
    if (offline === this.#offline) return;
    this.#offline = offline;
    this.#quiet(this.#say(offline ? "offline" : "online"));
  }

  #take(frames: Frame[]): void {
    this.#renderer.take(frames);
    for (const frame of frames) {
      if (frame.type === "event" && frame.event === "status_update")
        this.#status = frame.data.status;
      if (frame.type === "event" && frame.event === "wait") this.#opened(frame.data);
      if (
        frame.type === "event" &&
        frame.event === "moved" &&
        frame.data.client_id === this.#leaving
      )
        this.#follow(frame.data.to);
      const over = frame.type === "event" && (frame.event === "answer" || frame.event === "done");
      if (over) this.#opened(null);
    }
  }

  /** On into the new session, from its beginning. */
  #follow(to: string): void {
    this.#queue(async () => {
      const session = await this.#options.server.client.getSession(to);
      this.#opened(null);
      this.#join({ ...session, preview: "", last_seq: 0 });
    });
  }

  /** A question was opened, or is open no longer. */
  #opened(wait: Wait | null): void {
    this.#wait = wait;
    this.#asking?.abort();
    if (wait) this.#queue(() => this.#answer());
  }

  /** Asks until the question is answered, here or elsewhere. */
  async #answer(): Promise<void> {
    for (let wait = this.#wait; wait; wait = this.#wait) {
      const asking = new AbortController();
      this.#asking = asking;
      this.#screen.leave();
      const reply = await ask(wait, this.#say, asking.signal).finally(() => {
        this.#asking = null;
        this.#screen.open();
      });
      if (asking.signal.aborted) continue;
      if (!reply) return this.#interrupt(false);
      const id = newId();
      if (reply.type === "unclear") this.#quiet(this.#say("yesOrNo"));
      else if (reply.type === "message") await this.#send(id, reply.text);
      else {
        this.#renderer.mine.add(id);
        await this.#talk?.send({ type: "answer", id, ...reply.given });
        this.#wait = null;
      }
    }
  }

  #queue(act: () => Promise<void>): void {
    this.#last = this.#last.then(act).catch((error: unknown) => {
      const { server } = this.#options;
      this.#screen.print(this.#paint("bad", wordsFor(error, server.url, this.#say)));
    });
  }

  async #line(text: string): Promise<void> {
    const [word = "", file = ""] = text.trim().split(/\s+/, 2);
    if (text.trim() === "") return;
    if (word === "/quit" || word === "/exit") return this.#leave(0);
    if (word === "/new" && !this.#talk) return this.#quiet(this.#say("fresh"));
    if (word === "/export") return this.#export(file);
    if (word === "/help") this.#quiet(this.#say("localHelp"));
    if (!this.#talk) this.#join(await createSession(this.#options.server, this.#wanted));
    await this.#send(newId(), text);
  }
  async #send(id: string, text: string): Promise<void> {
    const route = routeOf(text, "agent");
    if (route.type === "command" && route.name === "new") this.#leaving = id;
    this.#renderer.mine.add(id);
    await this.#talk?.send({ type: "message", id, text });
  }

  #begin(): void {
    // A name stays bound to the session that is gone.
    this.#wanted = { ...this.#wanted, key: undefined, session: undefined };
    this.#talk?.close();
    this.#talk = null;
    this.#status = "idle";
    this.#opened(null);
    this.#quiet(this.#say("fresh"));
  }

  async #export(name: string): Promise<void> {
    const { server } = this.#options;
    if (!this.#talk) return this.#quiet(this.#say("nothingYet"));
    const response = await server.client.exportSession(this.#talk.id);
    const path = name || `dormouse-${this.#talk.id}.jsonl`;
    // Never over a file that is there.
    await writeFile(path, Buffer.from(await response.arrayBuffer()), { flag: "wx" });
    this.#quiet(this.#say("exported", path));
  }

  #interrupt(typed: boolean): void {
    if (typed) return;
    const again = Date.now() - this.#pressed < TWICE_MS;
    this.#pressed = Date.now();
    const works = this.#status === "running" || this.#status === "waiting";
    if (again) return this.#leave(works ? 130 : 0);
    this.#quiet(this.#say(works ? "stopping" : "again"));
    if (works) this.#talk?.stop().catch(() => {});
  }

  #leave(code: number): void {
    this.#talk?.close();
    this.#screen.leave();
    this.#ended.resolve(code);
  }
}
