/**
 * Many sessions at once against a real `wrangler dev` whose models, tools, storage and whole process fail, with clients
 * that come and go. At the end everything is left to drain, and then held against check.ts.
 *
 * K1  It waits for what happens, never for a time: the server is killed when so much of the work is done, and the drain
 *     is over when the owner's list says that nothing runs.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pause, until } from "../support/client-node.ts";
import { McpServer } from "../support/mcp-server.ts";
import { type MockModel, type MockRequest, startMockModel } from "../support/mock-model.ts";
import { checkPlayer, type Listed, type Verdict } from "./check.ts";
import { dice } from "./dice.ts";
import { spoiler } from "./faults.ts";
import { Ledger } from "./ledger.ts";
import { rightReply } from "./model.ts";
import { Player } from "./player.ts";
import { SCENARIOS, type Scenario } from "./scenarios.ts";
import { leftToDo, Server } from "./server.ts";

export interface Options {
  sessions: number;
  seed: number;
  kills: number;
  /** Share of the transactions that fail. */
  storageFaults: number;
  /** What the whole may take, before it counts as stuck. */
  minutes: number;
  /** Milliseconds over which the sessions begin. */
  rampMs: number;
  port?: number;
  say?: (line: string) => void;
}
export interface Report {
  violations: string[];
  rows: [name: string, value: number | string][];
}

/** Requests of one session to the model, about: when to kill follows from it. */
const REQUESTS_EACH = 5;
/** Sessions whose clients may come and go as they like; with more of them each does so less often. */
const CROWD = 50;
/** Sessions that may be at their very beginning at once: the dearest moment of each. */
const BEGINNERS = 12;
/** Between two looks at the list, which is long. */
const LOOK_MS = 300;
/** For the last look at everything. */
const REPORT_MS = 60_000;
/** Milliseconds that a model or a tool may be silent, in a small crowd. */
const SILENCE_MS = 4_000;
/** Share of the turns that may fail: with more of them it is the machine that is too slow, and little was tried. */
const FAILED = 0.1;
/** So few may be chance, in a small crowd. */
const FEW = 3;

export async function soak(options: Options): Promise<Report> {
  const folder = await mkdtemp(join(tmpdir(), "dormouse-soak-"));
  const model = await startMockModel();
  const ledgers = await McpServer.start();
  const ledger = new Ledger(dice(options.seed, "ledger"));
  const faults = { FAULTS: String(options.storageFaults) };
  const vars = { PROVIDER: "custom", CUSTOM_BASE_URL: model.url, ...faults };
  const server = await Server.start(folder, vars, options.port);
  try {
    const run = new Run(options, server, model, ledger, ledgers.open(ledger));
    await run.play();
    await run.drain();
    return await run.report();
  } finally {
    await server.stop("SIGKILL");
    await ledgers.close();
    await model.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Comes back with the cursor that it left with, and is brought up to date. */
async function catchUp(p: Player, last: number): Promise<void> {
  if (p.deleted) return;
  p.follower.come();
  await p
    .sees("the rest of the log", (events) => events.length >= last)
    .catch((error: unknown) => p.faults.push(String(error)));
  await p.follower.leave();
}

const scenarioOf = (n: number): Scenario => SCENARIOS[n % SCENARIOS.length] as Scenario;

function tooManyFailed(verdicts: Verdict[]): string[] {
  const of = (outcome: string) => verdicts.reduce((n, v) => n + (v.turns[outcome] ?? 0), 0);
  const [failed, well] = [of("failed"), of("completed") + of("stopped")];
  return failed > Math.max(FEW, FAILED * (failed + well))
    ? [`${failed} of ${failed + well} turns failed: the faults alone do not explain so many`]
    : [];
}

class Run {
  readonly #options: Options;
  readonly #server: Server;
  readonly #ledger: Ledger;
  readonly #model: MockModel;
  readonly #spoiler;
  readonly #players: Player[];
  readonly #settings: Record<string, unknown>;
  #end: number;
  readonly #began = Date.now();
  readonly #calm: number;
  #beginning = 0;
  #requests = 0;
  #errors: string[] = [];

  constructor(options: Options, server: Server, model: MockModel, ledger: Ledger, url: string) {
    this.#options = options;
    this.#server = server;
    this.#model = model;
    this.#ledger = ledger;
    this.#end = Date.now() + options.minutes * 60_000;
    this.#calm = Math.max(1, options.sessions / CROWD);
    this.#spoiler = spoiler(dice(options.seed, "model"));
    const silence = SILENCE_MS * this.#calm;
    const limits = { modelTimeoutMs: silence, toolTimeoutMs: silence };
    this.#settings = { provider: "custom", limits, mcp: { servers: { ledger: { url } } } };
    this.#players = Array.from({ length: options.sessions }, (_, n) => this.#player(n));
    const last = new Map<string, MockRequest>();
    model.script((request) => {
      this.#requests += 1;
      const name = request.body.model ?? "";
      const before = last.get(name);
      // Thousands of whole requests would be most of this process's memory.
      if (before) Object.assign(before, { raw: "", body: { messages: [] } });
      last.set(name, request);
      return this.#spoiler.spoil(name, rightReply(request.body));
    });
  }
  #player(n: number): Player {
    const { kind, mode = "agent" } = scenarioOf(n);
    const chance = dice(this.#options.seed, `${kind}-${n}`);
    return new Player(this.#server.url, { kind, mode }, n, chance, this.#left, this.#calm);
  }
  #say(line: string): void {
    const s = ((Date.now() - this.#began) / 1_000).toFixed(1).padStart(6);
    this.#options.say?.(`${s} s  ${line}`);
  }

  /** Everybody plays, and the server dies in the middle. */
  async play(): Promise<void> {
    const killing = this.#kill().catch((error: unknown) => {
      this.#errors.push(`the server did not come back: ${String(error)}`);
      this.#end = Date.now();
    });
    await Promise.all(this.#players.map((p, n) => this.#act(p, n)));
    this.#say("everybody has played");
    await killing;
  }
  /** At most so many are at their beginning: how fast they come follows from how fast the machine takes them in. */
  async #act(p: Player, n: number): Promise<void> {
    const { play, settings } = scenarioOf(n);
    const { rampMs, sessions } = this.#options;
    await pause((rampMs * n) / sessions);
    await until("its turn to begin", () => this.#beginning < BEGINNERS, this.#left());
    this.#beginning += 1;
    let begins = true;
    const begun = (): void => {
      if (begins) this.#beginning -= 1;
      begins = false;
    };
    try {
      await p.begin({ ...this.#settings, ...settings, model: p.name });
      p.sees("its first words", (events) =>
        events.some((e) => e.event === "usage" || e.event === "done"),
      ).then(begun, begun);
      await play(p);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#errors.push(`${p.name} (${p.id}): ${why}`);
    } finally {
      begun();
    }
  }
  async #kill(): Promise<void> {
    const { kills, sessions } = this.#options;
    for (let n = 1; n <= kills; n++) {
      const due = (sessions * REQUESTS_EACH * n) / (kills + 1);
      await until(`${due} requests`, () => this.#requests >= due, this.#left());
      await this.#server.kill();
      this.#say(`killed and started again after ${this.#requests} requests to the model`);
    }
  }
  #left = (): number => Math.max(0, this.#end - Date.now());

  /** No more faults, nobody connected but those who look at the list: all must come to an end by itself. */
  async drain(): Promise<void> {
    this.#spoiler.on = false;
    this.#ledger.trouble = false;
    await Promise.all(this.#players.map((p) => p.follower?.leave()));
    this.#storageFaults = await this.#server.heal();
    const running = async () => {
      await pause(LOOK_MS);
      return [...(await this.#list()).values()].filter(
        (s) => s.status === "running" || s.status === "waiting",
      );
    };
    await until("the drain", async () => (await running()).length === 0, this.#left()).catch(
      async () => {
        this.#errors.push(`still at work: ${JSON.stringify(await running()).slice(0, 2_000)}`);
      },
    );
    this.#say("drained");
  }
  #storageFaults = 0;

  async #list(): Promise<Map<string, Listed>> {
    const all = new Map<string, Listed>();
    for (let cursor = ""; ; ) {
      const url = `${this.#server.url}/api/sessions?limit=200&cursor=${cursor}`;
      const response = await fetch(url);
      const page = (await response.json()) as { sessions: Listed[]; next_cursor: string | null };
      for (const s of page.sessions) all.set(s.id, s);
      if (page.next_cursor === null) return all;
      cursor = encodeURIComponent(page.next_cursor);
    }
  }

  async report(): Promise<Report> {
    this.#end = Date.now() + REPORT_MS;
    const list = await this.#list();
    const made = this.#players.filter((p) => p.id !== "");
    await Promise.all(made.map((p) => catchUp(p, list.get(p.id)?.last_seq ?? 0)));
    const verdicts = [];
    for (const p of made) verdicts.push(await checkPlayer(p, this.#ledger, list));
    const known = new Set(made.map((p) => p.id));
    const strangers = [...list.keys()].filter((id) => !known.has(id));
    await this.#server.stop("SIGTERM");
    const violations = [
      ...this.#errors,
      ...verdicts.flatMap((v) => v.violations),
      ...this.#model.violations,
      ...strangers.map((id) => `nobody has made ${id}`),
      ...tooManyFailed(verdicts),
      ...leftToDo(this.#server.folder),
    ];
    return { violations, rows: this.#rows(verdicts) };
  }

  #rows(verdicts: Awaited<ReturnType<typeof checkPlayer>>[]): Report["rows"] {
    const seconds = (Date.now() - this.#began) / 1_000;
    const events = verdicts.reduce((sum, v) => sum + v.events, 0);
    const turns = (outcome: string) =>
      verdicts.reduce((sum, v) => sum + (v.turns[outcome] ?? 0), 0);
    const of = (count: (p: Player) => number) =>
      this.#players.reduce((sum, p) => sum + count(p), 0);
    const effects = [...this.#ledger.records.values()];
    return [
      ["sessions", this.#players.length],
      ["messages and answers accepted", of((p) => p.accepted.length)],
      ["turns completed", turns("completed")],
      ["turns stopped", turns("stopped")],
      ["turns failed, and told", turns("failed")],
      ["events", events],
      ["visits of clients", of((p) => p.follower?.connections ?? 0)],
      ["requests to the model", this.#requests],
      ["… spoilt", this.#spoiler.struck],
      ["calls to the ledger", this.#ledger.calls.length],
      ["… in trouble", this.#ledger.struck],
      ["effects, each once", effects.filter((n) => n === 1).length],
      ["effects more than once", effects.filter((n) => n > 1).length],
      ["faults of the storage", this.#storageFaults],
      ["kills of the server", this.#server.kills],
      ["seconds", seconds.toFixed(0)],
      ["events a second", (events / seconds).toFixed(0)],
      ["model calls a second", (this.#requests / seconds).toFixed(0)],
      ["peak memory of workerd, MiB", (this.#server.peak / 2 ** 20).toFixed(0)],
    ];
  }
}
