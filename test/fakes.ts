/**
 * The one set of fakes: a scripted model, a store that can fail, tools with a ledger of effects, a clock.
 * A scripted test lists the exact replies, drives the real flow, and looks at events and requests; the history
 * oracle is held against every request, the event oracle against every log.
 */
import { readFileSync } from "node:fs";
import * as z from "zod";
import { createDrive, type Drive } from "../src/core/drive.ts";
import type { Errand } from "../src/core/errand.ts";
import type { Delivery, Event } from "../src/core/events.ts";
import type { Fact } from "../src/core/facts.ts";
import { hookedModel, hookedTools } from "../src/core/hooked.ts";
import type { Hooks } from "../src/core/hooks.ts";
import type { MemoryName, Row } from "../src/core/memory.ts";
import type { Outcome } from "../src/core/outcome.ts";
import type {
  Change,
  Flight,
  LiveFrame,
  ModelFailure,
  ModelOutcome,
  Ports,
  Reply,
  ToolFlight,
  ToolRun,
} from "../src/core/ports.ts";
import { PRESETS } from "../src/core/profile.ts";
import type { Kit } from "../src/core/roles.ts";
import { parametersOf, parserOf } from "../src/core/schema.ts";
import type { Absence, Listed, ListedTool, Server } from "../src/core/servers.ts";
import { type Mode, newSession, type Session } from "../src/core/session.ts";
import type { SettingsLayer } from "../src/core/settings.ts";
import { mergeSettings } from "../src/core/settings-merge.ts";
import type { Asks, Recovery, ToolResult, ToolSpec } from "../src/core/tool.ts";
import { NO_USAGE, type Usage } from "../src/core/usage.ts";
import { checkEvents } from "./support/event-oracle.ts";
import { checkHistory } from "./support/history-oracle.ts";

// ---------------------------------------------------------------- replies

export interface Scripted {
  text?: string;
  thinking?: string;
  calls?: [name: string, args: unknown][];
  finish?: string | null;
  usage?: Reply["usage"];
  fail?: ModelFailure;
  /** Never answers. */
  hang?: true;
  /** Answers when the model is told to (`release`). */
  held?: true;
}
export const call = (...calls: [name: string, args: unknown][]): Scripted => ({ calls });
export const text = (t: string): Scripted => ({ text: t });
export const fail = (
  code: ModelFailure["code"],
  retryable: boolean,
  retryAfterMs?: number,
): Scripted => ({
  fail: { code, message: code, retryable, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
});
export const plan = (...steps: string[]): Scripted =>
  call([
    "create_plan",
    {
      message: "ok",
      language: "en",
      title: "T",
      goal: "G",
      steps: steps.map((description, i) => ({ id: String(i + 1), description })),
    },
  ]);
export const update = (...steps: [id: string, description: string][]): Scripted =>
  call(["update_plan", { steps: steps.map(([id, description]) => ({ id, description })) }]);
export const work = (path = "a.txt"): Scripted =>
  call(["file_write", { path, content: "x", brief: "write" }]);
export const complete = (success: boolean, result = "done"): Scripted =>
  call(["complete_step", { success, result }]);
export const deliver = (message: string): Scripted => call(["deliver_result", { message }]);
export const review = (
  verdict: "pass" | "fail",
  next_action = "none",
  ...issues: string[]
): Scripted =>
  call(["submit_review", { verdict, score: verdict === "pass" ? 9 : 3, issues, next_action }]);
export const askUser = (question: string): Scripted =>
  call(["message_ask_user", { text: question }]);

// ---------------------------------------------------------------- model

export interface RequestBody {
  messages: {
    role: string;
    content: string | null;
    tool_calls?: { id: string; function: { name: string; arguments: string } }[];
    tool_call_id?: string;
  }[];
  tools?: { function: { name: string } }[];
  tool_choice?: unknown;
}

/** A model that answers by what it is offered. */
export type Rule = (request: RequestBody) => Scripted;

/** Replays a script. The same request bytes get the same reply again, as after a crash. */
export class ScriptedModel {
  readonly bodies: string[] = [];
  readonly faults: string[] = [];
  private readonly given = new Map<string, Scripted>();
  private readonly script: Scripted[];
  private readonly rule: Rule | null;
  /** Answers when the script is spent. */
  fallback: Rule | null = null;
  cancelled = 0;
  /** Lets the held reply go. */
  release: () => void = () => {};
  /** Turns of the event loop that the nth call takes. */
  ticks: (n: number) => number = () => 0;
  /** Marks (in `usage.output_tokens`) of replies whose call was cancelled before they came: none may be kept. */
  readonly voided = new Set<number>();
  private readonly marks = new Map<Scripted, number>();

  constructor(script: Scripted[] | Rule) {
    this.script = typeof script === "function" ? [] : [...script];
    this.rule = typeof script === "function" ? script : null;
  }
  get left(): number {
    return this.script.length;
  }
  /** Throws away what is left of the script. */
  skip(): void {
    this.script.length = 0;
  }
  add(...more: Scripted[]): void {
    this.script.push(...more);
  }

  call(body: string, live: (piece: { text?: string }) => void): Flight<ModelOutcome> {
    this.bodies.push(body);
    this.faults.push(
      ...checkHistory(JSON.parse(body)).map((f) => `request ${this.bodies.length}: ${f}`),
    );
    const known = this.given.get(body);
    const told = (rule: Rule | null) => rule?.(JSON.parse(body) as RequestBody);
    const fresh = () => told(this.rule) ?? this.script.shift() ?? told(this.fallback);
    const scripted = known ?? fresh() ?? { hang: true };
    // A failure is tried again with the same bytes: the next one in the script answers then.
    if (!scripted.fail && !scripted.hang) this.given.set(body, scripted);
    const mark = this.marks.get(scripted) ?? this.marks.size + 1;
    this.marks.set(scripted, mark);
    // Asked again with the same bytes, as after a crash: this time it may be kept.
    this.voided.delete(mark);
    let settle: (o: ModelOutcome) => void = () => {};
    let settled = false;
    const outcome = new Promise<ModelOutcome>((done) => {
      const resolve = (o: ModelOutcome) => {
        settled = true;
        done(o);
      };
      settle = resolve;
      if (scripted.hang) return;
      if (scripted.fail) return resolve({ type: "failed", failure: scripted.fail });
      if (scripted.text) live({ text: scripted.text });
      const reply = () => resolve({ type: "reply", reply: replyOf(scripted, mark) });
      if (scripted.held) this.release = reply;
      else later(this.ticks(this.bodies.length), reply);
    });
    const cancel = () => {
      this.cancelled += 1;
      if (!settled) this.voided.add(mark);
      settle({
        type: "failed",
        failure: { code: "provider_error", message: "cancelled", retryable: false },
      });
    };
    return { outcome, cancel };
  }
}

/** After n turns of the event loop; at once for none. */
function later(turns: number, act: () => void): void {
  if (turns <= 0) act();
  else setImmediate(() => later(turns - 1, act));
}

const replyOf = (s: Scripted, mark: number): Reply => ({
  text: s.text ?? "",
  thinking: s.thinking ?? "",
  calls: (s.calls ?? []).map(([name, args], i) => ({
    id: `x${i}`,
    name,
    arguments: typeof args === "string" ? args : JSON.stringify(args),
  })),
  finish: s.finish === undefined ? (s.calls ? "tool_calls" : "stop") : s.finish,
  model: "fake",
  usage:
    s.usage === undefined ? { input_tokens: 10, output_tokens: mark, cached_tokens: 0 } : s.usage,
});

// ---------------------------------------------------------------- tools

interface Facts {
  toolkit: string;
  parallelSafe?: boolean;
  effect?: boolean;
  recovery?: Recovery;
  brief?: boolean;
}
function spec(name: string, schema: z.ZodObject, facts: Facts): ToolSpec {
  const shape = facts.brief === false ? schema : schema.extend({ brief: z.string().optional() });
  const parameters = parametersOf(() => shape);
  return {
    name,
    description: name,
    toolkit: facts.toolkit,
    parallelSafe: facts.parallelSafe ?? false,
    volatile: false,
    effect: facts.effect ?? false,
    recovery: facts.recovery ?? "rerun",
    parameters: parameters(),
    parse: parserOf(() => shape, parameters),
  };
}
export const SPECS: ToolSpec[] = [
  spec("shell_exec", z.object({ command: z.string() }), {
    toolkit: "shell",
    effect: true,
    recovery: "report",
  }),
  spec("file_read", z.object({ path: z.string() }), { toolkit: "file", parallelSafe: true }),
  spec("file_write", z.object({ path: z.string(), content: z.string() }), {
    toolkit: "file",
    effect: true,
  }),
  spec("delegate_task", z.object({ profile: z.string(), task: z.string() }), {
    toolkit: "delegate",
    parallelSafe: true,
    effect: true,
    recovery: "reattach",
  }),
  spec("attach", z.object({ command: z.string() }), {
    toolkit: "shell",
    effect: true,
    recovery: "reattach",
  }),
  spec("message_notify_user", z.object({ text: z.string() }), { toolkit: "message", brief: false }),
  spec(
    "message_ask_user",
    z.object({ text: z.string(), options: z.array(z.string()).optional() }),
    { toolkit: "message", brief: false },
  ),
];

const prompt = (name: string) =>
  readFileSync(new URL(`../prompts/${name}.md`, import.meta.url), "utf8");
export const KIT: Kit = {
  tools: SPECS,
  prompts: {
    core: prompt("core"),
    planner: prompt("planner"),
    executor: prompt("executor"),
    reviewer: prompt("reviewer"),
    assistant: prompt("assistant"),
  },
  rules: { shell: "A test shell.", file: prompt("file_rules"), message: prompt("message_rules") },
  profile: () => PRESETS.practice,
  resolve: (provider, model) => ({ provider: provider || "fake", model: model || "fake-1" }),
};

/** What a tool run does: its result, or "hang" until it is released. */
export type Behaviour = (run: ToolRun) => ToolResult | "hang";
export const succeed = (t = "ok"): ToolResult => ({ ok: true, text: t });

/** Runs nothing; keeps a ledger of effects that outlives a crash, and of dispatches. */
export class FakeTools {
  readonly dispatched: ToolRun[] = [];
  /** `name:id` of each effect; a `reattach` tool finds its own again. */
  readonly effects: string[] = [];
  readonly cancelled: string[] = [];
  readonly open = new Map<string, (r: ToolResult) => void>();
  behaviour: Behaviour = () => succeed();

  run(run: ToolRun): Flight<ToolResult> {
    this.dispatched.push(run);
    const tool = SPECS.find((t) => t.name === run.name);
    const mark = `${run.name}:${run.id}`;
    const again = tool?.recovery === "reattach" && run.reopened && this.effects.includes(mark);
    if (tool?.effect && !again) this.effects.push(mark);
    const result = this.behaviour(run);
    const outcome = new Promise<ToolResult>((resolve) => {
      if (result === "hang") this.open.set(run.id, resolve);
      else resolve(result);
    });
    return {
      outcome,
      cancel: () => {
        this.cancelled.push(run.id);
        this.release(run.id, { ok: false, text: "cancelled" });
      },
    };
  }
  release(id: string, result: ToolResult = succeed()): void {
    this.open.get(id)?.(result);
    this.open.delete(id);
  }
}

/** What one call's specialist does: works, and asks in between, each time until it is answered. */
export interface Work {
  asks?: Omit<Asks, "id" | "who">[];
  spends?: Partial<Usage>;
  result?: ToolResult;
  /** It never ends by itself. */
  hang?: true;
}
interface Child {
  /** Tasks that were taken up, and those that were stopped. */
  begun: number;
  stopped: boolean;
  answers: { id: string; approved: boolean }[];
}

/** Specialists in a world of their own, which outlives crashes of the session that asks them. */
export class FakeSpecialists {
  readonly children = new Map<string, Child>();
  work: (run: ToolRun) => Work = () => ({});

  run(run: ToolRun): ToolFlight {
    const child = this.children.get(run.id) ?? { begun: 0, stopped: false, answers: [] };
    // Found again by the call's id, it goes on: the task is said once.
    if (!this.children.has(run.id)) child.begun += 1;
    this.children.set(run.id, child);
    const { asks = [], spends = {}, result = succeed("expert"), hang } = this.work(run);
    const known = child.answers.some((a) => a.id === run.answer?.id);
    if (run.answer && !known) child.answers.push(run.answer);
    const n = child.answers.length;
    const open = asks[n];
    const who = String(run.args.profile);
    const outcome = new Promise<ToolResult>((resolve) => {
      if (open) resolve({ ok: true, text: "", asks: { ...open, id: `w${n}`, who } });
      else if (!hang) resolve(result);
    });
    return { outcome, cancel: () => {}, spent: () => ({ ...NO_USAGE, ...spends }) };
  }
}

/** Does errands once each, by their ids, and remembers over crashes. */
export class FakeErrands {
  /** Client id of a `/new` → the session that was made for it. */
  readonly made = new Map<string, string>();
  readonly ran: Errand[] = [];
  /** Does nothing until it is released. */
  held: (() => void)[] | null = null;
  /** It cannot be done. */
  broken = false;
  private readonly specialists: FakeSpecialists;

  constructor(specialists: FakeSpecialists) {
    this.specialists = specialists;
  }
  async run(errand: Errand): Promise<{ to: string | null }> {
    this.ran.push(errand);
    if (this.held) await new Promise<void>((resolve) => this.held?.push(resolve));
    if (this.broken) return { to: null };
    if (errand.type === "release") {
      const child = this.specialists.children.get(errand.call);
      if (child) child.stopped = true;
      return { to: null };
    }
    const to = this.made.get(errand.client) ?? `new${this.made.size + 1}`;
    this.made.set(errand.client, to);
    return { to };
  }
  release(): void {
    for (const go of this.held?.splice(0) ?? []) go();
    this.held = null;
  }
}

/** MCP servers that list what they are told to; one that was told nothing is unreachable. */
export class FakeServers {
  readonly asked: string[][] = [];
  answers: Record<string, ListedTool[] | Absence | "hang"> = {};
  cancelled = 0;

  list(servers: readonly Server[]): Flight<Listed[]> {
    this.asked.push(servers.map((s) => s.name));
    const listed = servers.map(({ name }): Listed | "hang" => {
      const answer = this.answers[name] ?? { code: "unreachable" };
      if (answer === "hang") return "hang";
      return Array.isArray(answer)
        ? { server: name, tools: answer }
        : { server: name, absent: answer };
    });
    const whole = listed.filter((l) => l !== "hang");
    return {
      outcome: new Promise((resolve) => {
        if (whole.length === listed.length) resolve(whole);
      }),
      cancel: () => {
        this.cancelled += 1;
      },
    };
  }
}

// ---------------------------------------------------------------- store

/** What survives: everything as text, like SQLite. */
export class Disk {
  session = "";
  readonly rows: Row[] = [];
  readonly events: Event[] = [];
  commits = 0;
  /** Commits that fail, counted from 1: they change nothing. */
  readonly failAt = new Set<number>();
  /** Characters that a commit may have; more finds the disk full. */
  room = Number.POSITIVE_INFINITY;
  /** Commits after which the object dies, before anything that follows from them. */
  readonly dieAfter = new Set<number>();

  write(change: Change): void {
    this.commits += 1;
    if (this.failAt.has(this.commits)) throw new Error(`commit ${this.commits} fails`);
    const size = JSON.stringify([change.events, change.rows]).length;
    if (size > this.room) throw new Error("database or disk is full");
    this.session = JSON.stringify(change.session);
    this.rows.push(...change.rows);
    this.rows.sort((a, b) => a.id - b.id);
    this.events.push(...change.events);
  }
}

// ---------------------------------------------------------------- one session, driven

export interface Options {
  script?: Scripted[] | Rule;
  mode?: Mode;
  title?: string;
  settings?: SettingsLayer;
  kit?: Kit;
  hooks?: Hooks;
}

export class Harness {
  readonly disk = new Disk();
  readonly model: ScriptedModel;
  readonly tools = new FakeTools();
  readonly servers = new FakeServers();
  readonly specialists = new FakeSpecialists();
  readonly errands = new FakeErrands(this.specialists);
  readonly live: LiveFrame[] = [];
  readonly facts: Fact[] = [];
  now = Date.UTC(2026, 0, 1);
  wakeAt: number | null = null;
  broken = 0;
  attended = true;
  /** Memories are small enough to be loaded. */
  fits = true;
  /** Tokens that the owner may still use today; absent: nothing is said of it. */
  left?: number | null;
  private ids = 0;
  private drive!: Drive;
  private session!: Session;
  private readonly settings: SettingsLayer;
  private readonly kit: Kit;
  private readonly hooks: Hooks;

  constructor(options: Options = {}) {
    this.model = new ScriptedModel(options.script ?? []);
    this.settings = options.settings ?? {};
    this.hooks = options.hooks ?? {};
    this.kit = { ...(options.kit ?? KIT), hooks: this.hooks };
    this.session = newSession({
      id: "s1",
      owner: "local",
      epoch: "e1",
      mode: options.mode ?? "agent",
      title: options.title ?? "",
      settings: this.settings,
      ephemeral: false,
      host: "localhost",
      at: this.now,
    });
    this.disk.session = JSON.stringify(this.session);
    this.start();
  }

  /** A new object over the same disk: an eviction, a deploy, a crash. */
  private start(): void {
    this.session = JSON.parse(this.disk.session) as Session;
    const rows = new Map<MemoryName, Row[]>();
    const mine = { alive: true };
    const ports: Ports = {
      store: {
        session: () => this.session,
        commit: (change) => {
          if (!mine.alive) throw new Error("the object is dead");
          this.disk.write(change);
          this.session = change.session;
          rows.clear();
          if (this.disk.dieAfter.has(this.disk.commits)) {
            mine.alive = false;
            throw new Error("died after the commit");
          }
        },
        refusal: (error) => (/disk is full/.test(String(error)) ? "full" : null),
        fits: () => this.fits,
        rows: (memory) => {
          const held = rows.get(memory) ?? this.disk.rows.filter((r) => r.memory === memory);
          rows.set(memory, held);
          return held;
        },
      },
      model: hookedModel(
        { call: (request, live) => this.model.call(request.body, live) },
        this.hooks,
      ),
      tools: hookedTools(
        {
          run: (run) =>
            run.name === "delegate_task" ? this.specialists.run(run) : this.tools.run(run),
        },
        this.hooks,
      ),
      errands: this.errands,
      trace: this.hooks.trace,
      tell: (fact) => void this.facts.push(fact),
      servers: { list: (servers) => this.servers.list(servers) },
      clock: { now: () => this.now },
      attended: () => this.attended,
      live: (frame) => void this.live.push(frame),
      wake: (at) => {
        this.wakeAt = at;
      },
      broken: () => {
        this.broken += 1;
      },
    };
    this.drive = createDrive(ports, this.kit);
    this.dead = () => {
      mine.alive = false;
      this.drive.halt();
    };
  }
  private dead: () => void = () => {};

  /** Kills the object, wherever it is, and brings it back. */
  crash(): void {
    this.dead();
    for (const id of [...this.tools.open.keys()]) this.tools.open.delete(id);
    this.start();
    try {
      this.drive.wake();
    } catch {
      // Dead again at once; `broken` has been told.
    }
  }

  /** As an alarm does. */
  kick(): void {
    this.drive.kick();
  }
  keep(outcome: Outcome): Change {
    return this.drive.keep(outcome);
  }
  say(
    message: string,
    delivery: Delivery = "steer",
    clientId = `u${++this.ids}`,
    plain = false,
    before = "",
  ): Change {
    const settings = mergeSettings([this.settings]);
    return this.keep({
      type: "said",
      clientId,
      text: message,
      attachments: [],
      delivery,
      settings,
      plain,
      before,
      ...this.allotted,
    });
  }
  answer(message: string): Change {
    const clientId = `u${++this.ids}`;
    return this.keep({ type: "answered", clientId, text: message, ...this.allotted });
  }
  decide(approved: boolean): Change {
    return this.keep({ type: "decided", clientId: `u${++this.ids}`, approved, ...this.allotted });
  }
  private get allotted(): { left?: number | null } {
    return this.left === undefined ? {} : { left: this.left };
  }
  stop(): Change {
    return this.keep({ type: "stopped", clientId: `u${++this.ids}` });
  }

  /** Lets everything happen that can; sleeps are slept through by the clock. A broken object is woken anew. */
  async settle(): Promise<void> {
    const count = () =>
      this.disk.commits +
      this.model.bodies.length +
      this.tools.dispatched.length +
      this.errands.ran.length;
    for (let quiet = 0; quiet < 5; ) {
      const before = count();
      await new Promise((r) => setImmediate(r));
      if (this.broken > 0) {
        this.broken = 0;
        this.crash();
      }
      if (this.wakeAt !== null && this.head.status === "running") {
        this.now = Math.max(this.now, this.wakeAt);
        this.wakeAt = null;
        this.drive.kick();
      }
      quiet = before === count() ? quiet + 1 : 0;
    }
  }
  async run(message: string): Promise<this> {
    this.say(message);
    await this.settle();
    return this;
  }

  get head(): Session {
    return this.session;
  }
  get events(): Event[] {
    return this.disk.events;
  }
  get requests(): RequestBody[] {
    return this.model.bodies.map((b) => JSON.parse(b) as RequestBody);
  }
  /** `suat` for system, user, assistant, tool. */
  roles(n: number): string {
    return this.requests[n - 1]?.messages.map((m) => m.role[0]).join("") ?? "";
  }
  offered(n: number): string[] {
    return this.requests[n - 1]?.tools?.map((t) => t.function.name) ?? [];
  }
  /** The last message of request n, as text. */
  last(n: number): string {
    return this.requests[n - 1]?.messages.at(-1)?.content ?? "";
  }
  of<N extends Event["event"]>(name: N): Extract<Event, { event: N }>["data"][] {
    return this.events.filter((e) => e.event === name).map((e) => e.data as never);
  }
  /** The log in one word per event, `usage` left out: it may stand anywhere. */
  get log(): string[] {
    return this.events.filter((e) => e.event !== "usage").map(label);
  }
  /** Faults that the oracles found in requests and log, and replies nobody asked for. */
  faults(damaged = false): string[] {
    const left = this.model.left > 0 ? [`${this.model.left} scripted replies were not used`] : [];
    const ghosts = this.of("usage").filter((u) => this.model.voided.has(u.output_tokens));
    const spoke = ghosts.map((u) => `V2: reply ${u.output_tokens} of a cancelled call was kept`);
    return [...this.model.faults, ...checkEvents(this.events as never, damaged), ...left, ...spoke];
  }
}

export function label(e: Event): string {
  switch (e.event) {
    case "message":
      return `message(${e.data.role === "user" ? "user" : e.data.kind})`;
    case "plan":
      return `plan(${e.data.op})`;
    case "step":
      return `step(${e.data.id} ${e.data.status}${e.data.success === false ? " without success" : ""})`;
    case "tool":
      return `tool(${e.data.status})`;
    case "status_update":
      return `status(${e.data.status})`;
    case "nudge":
      return `nudge(${e.data.reason})`;
    case "notice":
      return `notice(${e.data.code})`;
    case "error":
      return `error(${e.data.code})`;
    case "done":
      return `done(${e.data.outcome})`;
    default:
      return e.event;
  }
}
