/**
 * One run: the real drive over a store in memory, the real model adapter over HTTP to the faulty server, the real
 * runner of tools over a ledger. Sleeps are slept through by the clock; everything else takes its real time.
 */
import * as z from "zod";
import { type McpServers, mcpServers } from "../../src/adapters/mcp/port.ts";
import { createModelPort, profileFor } from "../../src/adapters/model/providers.ts";
import { createDrive, type Drive } from "../../src/core/drive.ts";
import type { Event } from "../../src/core/events.ts";
import type { Row } from "../../src/core/memory.ts";
import type {
  Change,
  Flight,
  LiveFrame,
  Model,
  ModelOutcome,
  Ports,
  ToolRun,
} from "../../src/core/ports.ts";
import type { Kit } from "../../src/core/roles.ts";
import { serversOf } from "../../src/core/servers.ts";
import { newSession, type Session } from "../../src/core/session.ts";
import type { SettingsLayer } from "../../src/core/settings.ts";
import { mergeSettings, patchLayer } from "../../src/core/settings-merge.ts";
import type { ToolResult } from "../../src/core/tool.ts";
import type { Box } from "../../src/tools/box.ts";
import { defineTool, type Tool } from "../../src/tools/define.ts";
import { runTool } from "../../src/tools/run.ts";
import { KIT } from "../fakes.ts";
import type { McpServer } from "../support/mcp-server.ts";
import type { Format, Kind } from "./kind.ts";
import { McpLedger, toModel, toSession } from "./mcp-ledger.ts";
import type { Task } from "./model.ts";
import type { Desk, Fault, FaultyServer } from "./server.ts";

/** Nothing here takes a minute: a run that does has hung. */
const HANG_MS = 20_000;
const MAX_REQUESTS = 120;
const GRACE_MS = 40;
const NO_BOX = { news: () => null } as Partial<Box> as Box;

const noRun = (): Promise<ToolResult> => Promise.reject(new Error("runs in its world"));
const READ = defineTool({
  name: "ledger_read",
  toolkit: "file",
  description: "Shows the ledger.",
  args: () => z.object({ page: z.int().optional() }),
  effect: false,
  parallelSafe: true,
  recovery: "rerun",
  run: noRun,
});
const APPEND = defineTool({
  name: "ledger_append",
  toolkit: "shell",
  description: "Appends a record to the ledger.",
  args: () => z.object({ record: z.string(), weight: z.int(), tags: z.array(z.string()) }),
  run: noRun,
});
const TOOLS: readonly Tool[] = [READ, APPEND];

export interface Scene {
  task: Task;
  format: Format;
  faults: Fault[];
  /** Faults of tools: the nth run of any tool. */
  toolFaults: { kind: Kind; at: number }[];
  settings: SettingsLayer;
  profile?: object | undefined;
  padding?: number | undefined;
  /** The ledger stands behind an MCP server of this one. */
  mcp?: McpServer | undefined;
}

/** The model and the session call the same tools by different names. */
function renamed(model: Model): Model {
  return {
    call(request, live) {
      const flight = model.call({ ...request, body: toModel(request.body) }, live);
      const outcome = flight.outcome.then((result): ModelOutcome => {
        if (result.type !== "reply") return result;
        const { text, thinking, calls } = result.reply;
        const named = calls.map((call) => ({ ...call, name: toSession(call.name) }));
        const reply = { text: toSession(text), thinking: toSession(thinking), calls: named };
        return { type: "reply", reply: { ...result.reply, ...reply } };
      });
      return { outcome, cancel: flight.cancel };
    },
  };
}

export class World {
  readonly events: Event[] = [];
  readonly live: LiveFrame[] = [];
  readonly ledger: string[];
  readonly desk: Desk;
  /** What went wrong with the run itself. */
  readonly trouble: string[] = [];
  /** What was slept through, in milliseconds. */
  readonly waits: number[] = [];
  toolRuns = 0;
  /** Calls that a fault of the MCP server has met. */
  struck = 0;
  private session: Session;
  private readonly rows: Row[] = [];
  private drive: Drive;
  private readonly scene: Scene;
  private readonly settings: SettingsLayer;
  private readonly behind: { script: McpLedger; port: McpServers } | null;
  private readonly done = new Map<string, ToolResult>();
  private skipped = 0;
  private timer: NodeJS.Immediate | undefined;
  private settled: (() => void) | null = null;
  private said = 0;
  private readonly start: () => Drive;

  constructor(server: FaultyServer, scene: Scene) {
    this.scene = scene;
    this.behind = scene.mcp ? this.openLedger() : null;
    this.ledger = this.behind?.script.records ?? [];
    this.settings = this.settingsOf();
    const { url, desk } = server.open(scene.task, scene.format, [...scene.faults]);
    this.desk = desk;
    const env = {
      PROVIDER: "custom",
      CUSTOM_BASE_URL: url,
      CUSTOM_API_KEY: "sk-test-0000",
      CUSTOM_MODEL_NAME: "m1",
      ...(scene.profile ? { CUSTOM_MODEL_PROFILE: JSON.stringify(scene.profile) } : {}),
    };
    const profile = profileFor(env, "custom", "m1");
    const kit: Kit = {
      ...KIT,
      tools: this.behind ? [] : TOOLS,
      profile: () => profile,
      resolve: () => ({ provider: "custom", model: "m1" }),
    };
    this.session = newSession({
      id: "s1",
      owner: "local",
      epoch: "e1",
      mode: "agent",
      title: "",
      settings: this.settings,
      ephemeral: false,
      host: "localhost",
      at: this.now(),
    });
    const ports: Ports = {
      store: {
        session: () => this.session,
        commit: (change) => this.commit(change),
        refusal: () => null,
        fits: () => true,
        rows: (memory) => this.rows.filter((r) => r.memory === memory),
      },
      model: this.behind ? renamed(createModelPort(env)) : createModelPort(env),
      tools: { run: (run) => this.runTool(run) },
      errands: { run: async () => ({ to: null }) },
      servers: this.behind?.port ?? { list: () => ({ outcome: Promise.resolve([]), cancel() {} }) },
      clock: { now: () => this.now() },
      attended: () => true,
      live: (frame) => void this.live.push(frame),
      wake: (at) => this.wake(at),
      broken: (error) => this.stop(`broken: ${String(error)}`),
    };
    this.start = () => createDrive(ports, kit);
    this.drive = this.start();
    desk.heard = () => {
      if (desk.requests > MAX_REQUESTS) this.stop(`more than ${MAX_REQUESTS} requests`);
    };
  }

  get status(): string {
    return this.session.status;
  }
  of<N extends Event["event"]>(name: N): Extract<Event, { event: N }>["data"][] {
    return this.events.filter((e) => e.event === name).map((e) => e.data as never);
  }

  /** Says something and lets it come to its end. */
  async run(text: string): Promise<void> {
    const end = new Promise<void>((resolve) => {
      this.settled = resolve;
    });
    const limit = setTimeout(() => this.stop(`hangs, ${this.session.phase}`), HANG_MS);
    try {
      this.drive.keep({
        type: "said",
        clientId: `u${++this.said}`,
        text,
        attachments: [],
        delivery: "steer",
        settings: mergeSettings([this.settings]),
      });
      await end;
      // What would come after the end would be a fault: let it.
      for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
    } finally {
      clearTimeout(limit);
    }
  }
  halt(): void {
    clearImmediate(this.timer);
    this.drive.halt();
  }

  private now(): number {
    return Date.now() + this.skipped;
  }
  private commit(change: Change): void {
    // As text and back, like a database.
    this.session = JSON.parse(JSON.stringify(change.session)) as Session;
    this.rows.push(...change.rows);
    this.rows.sort((a, b) => a.id - b.id);
    this.events.push(...change.events);
    if (this.session.status !== "running") this.settled?.();
  }
  private wake(at: number | null): void {
    clearImmediate(this.timer);
    if (at === null) return;
    this.waits.push(at - this.now());
    this.timer = setImmediate(() => {
      this.skipped += Math.max(0, at - this.now());
      this.drive.kick();
    });
  }
  private stop(why: string): void {
    this.trouble.push(why);
    this.settled?.();
  }

  private runTool(run: ToolRun): Flight<ToolResult> {
    const tool = this.toolOf(run.name);
    const controller = new AbortController();
    const n = ++this.toolRuns;
    const fault = this.scene.toolFaults.find((f) => n >= f.at && n < f.at + (f.kind.times ?? 1));
    if (!tool)
      return { outcome: Promise.resolve({ ok: false, text: "no such tool" }), cancel() {} };
    const bound: Tool = {
      ...tool,
      run: async (args, ctx) => {
        const perform = async () => (this.behind ? tool.run(args, ctx) : this.perform(run, args));
        return fault?.kind.tool ? fault.kind.tool({ perform, signal: ctx.signal }) : perform();
      },
    };
    const ports = { box: NO_BOX, live: () => {}, signal: controller.signal };
    return { outcome: runTool(bound, run, ports, GRACE_MS), cancel: () => controller.abort() };
  }

  private toolOf(name: string): Tool | undefined {
    if (!this.behind) return TOOLS.find((t) => t.name === name);
    const stored = this.session.toolbox?.find((t) => t.name === name);
    const [server] = serversOf(mergeSettings([this.settings]));
    return stored && server && this.behind.port.tool(server, stored);
  }

  private openLedger(): { script: McpLedger; port: McpServers } {
    const kinds = this.scene.toolFaults.filter(({ kind }) => kind.mcp);
    const script = new McpLedger(
      !kinds.some(({ kind }) => kind.modest),
      this.trouble,
      this.scene.padding,
    );
    const port = mcpServers({ loopback: true, allow: [], version: "0" });
    script.strike = (n) => {
      const found = kinds.find(({ kind, at }) => n >= at && this.struck < (kind.times ?? 1));
      if (!found?.kind.mcp) return null;
      this.struck += 1;
      // What the connection did is done; the object dies in the middle of it.
      if (found.kind.dies) setTimeout(() => this.die(), 20);
      return found.kind.mcp;
    };
    return { script, port };
  }
  private settingsOf(): SettingsLayer {
    const { settings, mcp, toolFaults } = this.scene;
    if (!mcp || !this.behind) return settings;
    const servers = { ledger: { url: mcp.open(this.behind.script) } };
    // Over a network nothing takes 60 ms at the most.
    const hangs = toolFaults.some(({ kind }) => kind.tool && kind.settings?.limits?.toolTimeoutMs);
    const limits = hangs ? { limits: { toolTimeoutMs: 1_000 } } : {};
    return patchLayer(patchLayer(settings, limits), { mcp: { servers } });
  }
  /** An eviction in the middle of things: what was stored is all that is left. */
  private die(): void {
    this.drive.halt();
    this.drive = this.start();
    this.drive.wake();
  }

  /** A service that keeps to idempotency keys, as a good one does. */
  private perform(run: ToolRun, args: Record<string, unknown>): ToolResult {
    if (run.name === "ledger_read") {
      const pad = "lorem ipsum ".repeat((this.scene.padding ?? 0) / 12);
      return { ok: true, text: `LEDGER ${JSON.stringify(this.ledger)}\n${pad}` };
    }
    const key = run.idempotencyKey ?? run.id;
    const known = this.done.get(key);
    if (known) return known;
    const { record, weight, tags } = args;
    // Arguments that were mended must be the ones that were meant.
    if (weight !== 3 || JSON.stringify(tags) !== '["a","b"]') {
      this.trouble.push(`wrong arguments: ${JSON.stringify(args)}`);
    }
    this.ledger.push(String(record));
    const result: ToolResult = { ok: true, text: `appended ${String(record)}` };
    this.done.set(key, result);
    return result;
  }
}
