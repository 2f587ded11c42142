/** Plays a run and judges it: completed with exactly the right effects, or loud where it must be. */
import type { Event } from "../../src/core/events.ts";
import type { SettingsLayer } from "../../src/core/settings.ts";
import { patchLayer } from "../../src/core/settings-merge.ts";
import { checkEvents } from "../support/event-oracle.ts";
import type { McpServer } from "../support/mcp-server.ts";
import { type Format, JUNK, type Kind, POSITIONS, type Position } from "./kind.ts";
import { RECOVERABLE } from "./kinds.ts";
import { FINAL, type Task } from "./model.ts";
import type { FaultyServer } from "./server.ts";
import { type Scene, World } from "./world.ts";

export type Size = "big" | "small";
/** Two steps with a look before and after each write: 10 model calls. One step: plan, look, write, complete. */
export const TASKS: Record<Size, Task> = {
  big: { records: ["α-eins 🚀", "β-zwei ✍️"], verify: true },
  small: { records: ["α-eins 🚀"], verify: false },
};
export const CALLS: Record<Size, number> = { big: 10, small: 4 };
const PLACES: Record<Size, Record<Position, number>> = {
  big: { first: 1, middle: 7, last: 10 },
  small: { first: 1, middle: 3, last: 4 },
};
/** Nine requests for a task of four calls. */
const EXTRA = 5;

export interface Verdict {
  kind: string;
  group: string;
  size: Size;
  position: string;
  format: Format;
  outcome: string;
  requests: number;
  /** Model requests beyond those of a run without a fault; for a loud kind, those that met it. */
  extra: number;
  effects: number;
  ms: number;
  wrong: string[];
}

const base: SettingsLayer = { limits: { modelTimeoutMs: 10_000, toolTimeoutMs: 10_000 } };

function sceneOf(
  kind: Kind,
  size: Size,
  position: Position,
  format: Format,
  mcp: McpServer | undefined,
): Scene {
  const at = kind.at?.[position]?.[size] ?? PLACES[size][position];
  return {
    task: { ...TASKS[size], ...kind.task },
    format,
    faults: kind.strike ? [{ kind, at }] : [],
    toolFaults: kind.tool || kind.mcp ? [{ kind, at }] : [],
    settings: patchLayer(base, kind.settings ?? {}),
    profile: kind.profile,
    padding: kind.padding,
    mcp,
  };
}

/** What must hold of any run, however it ended. */
function soundness(world: World, records: readonly string[]): string[] {
  const wrong = [...world.trouble, ...world.desk.violations.map((v) => `refused: ${v}`)];
  wrong.push(...checkEvents(world.events as never));
  for (const record of new Set([...records, ...world.ledger])) {
    const n = world.ledger.filter((r) => r === record).length;
    if (n > 1 || !records.includes(record)) wrong.push(`effect ${record}: ${n} times`);
  }
  // A refused reply's words are nobody's: neither stored nor live.
  const shown = JSON.stringify([
    world.of("message"),
    world.live.filter((f) => f.event === "message_delta"),
  ]);
  if (shown.includes(JUNK)) wrong.push("text of a refused reply was shown");
  if (JSON.stringify(world.events).includes("sk-test-0000")) wrong.push("the key is in the log");
  return wrong;
}

function completion(world: World, records: readonly string[]): string[] {
  const wrong: string[] = [];
  const ended = world.of("done").at(-1)?.outcome;
  if (ended !== "completed") {
    const error = world.of("error").at(-1);
    wrong.push(
      `ended as ${world.status}: ${error ? `${error.code}, ${error.message}` : "silently"}`,
    );
  }
  if (world.ledger.join() !== records.join()) wrong.push(`ledger: [${world.ledger.join()}]`);
  const last = world.events.findLast((e: Event) => e.event === "message");
  const data = last?.event === "message" ? last.data : null;
  if (data?.kind !== "final" || data.content !== FINAL) wrong.push("no final message");
  return wrong;
}

function loudness(world: World, kind: Kind): string[] {
  const wrong: string[] = [];
  const error = world.of("error").at(-1);
  const told = world.of("notice").some((n) => n.code === kind.notice);
  if (!error && !told) wrong.push("silent: no error event");
  else if (!error) return wrong;
  else if (!kind.loud?.includes(error.code)) wrong.push(`error ${error.code}: ${error.message}`);
  if (world.of("done").at(-1)?.outcome !== "failed") wrong.push("done is not failed");
  const may = kind.meets ?? 2;
  if (world.desk.met > may) wrong.push(`${world.desk.met} requests met it, ${may} may`);
  return wrong;
}

const silent = (world: World): string =>
  world.status === "failed" ? `failed(${world.of("error").at(-1)?.code ?? "?"})` : world.status;

export async function playKind(
  server: FaultyServer,
  kind: Kind,
  size: Size,
  position: Position,
  format: Format,
  mcp?: McpServer,
): Promise<Verdict> {
  const started = performance.now();
  const world = new World(server, sceneOf(kind, size, position, format, mcp));
  const { records } = TASKS[size];
  const { desk } = world;
  try {
    await world.run("Trag das ein.");
    const wrong: string[] = [];
    const outcome = silent(world);
    const requests = desk.requests;
    let extra = requests - CALLS[size];
    if (kind.loud) {
      wrong.push(...loudness(world, kind));
      extra = desk.met;
      desk.faults = [];
      await world.run("Es geht wieder, mach weiter.");
    } else {
      const may = kind.costs ?? EXTRA;
      if (extra > may) wrong.push(`${extra} extra requests, ${may} may`);
      const waited = Math.max(0, ...world.waits);
      if (kind.waitsMs !== undefined && waited < kind.waitsMs) {
        wrong.push(`waited ${waited} ms of ${kind.waitsMs}`);
      }
      if (desk.met === 0 && kind.strike) wrong.push("the fault met no request");
      if (kind.mcp && world.struck < (kind.times ?? 1)) wrong.push("the fault met no call");
    }
    wrong.push(...completion(world, records), ...soundness(world, records));
    const ms = Math.round(performance.now() - started);
    const effects = world.ledger.length;
    const { name, group } = kind;
    return {
      kind: name,
      group,
      size,
      position,
      format,
      outcome,
      requests,
      extra,
      effects,
      ms,
      wrong,
    };
  } finally {
    world.halt();
  }
}

/** Every run that a kind calls for. */
export function runsOf(kind: Kind): [Size, Position, Format][] {
  const runs: [Size, Position, Format][] = [];
  for (const size of ["big", "small"] as const) {
    if (kind.size && kind.size !== size) continue;
    const seen = new Set<number>();
    for (const position of kind.positions ?? POSITIONS) {
      const at = kind.at?.[position]?.[size] ?? PLACES[size][position];
      if (seen.has(at)) continue;
      seen.add(at);
      // The small task is there for the number of requests, which no format changes.
      const both = !kind.tool && !kind.mcp && size === "big";
      const formats = kind.formats ?? (both ? ["sse", "json"] : ["sse"]);
      for (const format of formats) runs.push([size, position, format as Format]);
    }
  }
  return runs;
}

/** Numbers from 0 to 1, the same for the same seed. */
function dice(seed: number): () => number {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Up to eight faults at random places of one run. */
export function chaosScene(seed: number, mcp?: McpServer): Scene {
  const roll = dice(seed);
  const pick = (n: number) => Math.floor(roll() * n);
  const count = 1 + pick(8);
  const faults: Scene["faults"] = [];
  const toolFaults: Scene["toolFaults"] = [];
  let settings: SettingsLayer = base;
  let profile: object = {};
  let padding = 0;
  const taken = new Set<string>();
  while (faults.length + toolFaults.length < count) {
    const kind = RECOVERABLE[pick(RECOVERABLE.length)] as Kind;
    const at = 1 + pick(kind.tool ? 8 : 16);
    // No endpoint both wants its reasoning back and refuses it.
    if (kind.thinks && faults.some((f) => f.kind.thinks)) continue;
    const place = `${kind.tool ? "tool" : "model"} ${at}`;
    if (taken.has(place)) continue;
    taken.add(place);
    (kind.tool ? toolFaults : faults).push({ kind, at });
    settings = patchLayer(settings, kind.settings ?? {});
    profile = { ...profile, ...kind.profile };
    padding = Math.max(padding, kind.padding ?? 0);
  }
  return {
    task: TASKS.big,
    format: roll() < 0.5 ? "sse" : "json",
    faults,
    toolFaults,
    settings,
    profile,
    padding,
    mcp,
  };
}

export interface ChaosVerdict {
  seed: number;
  faults: string[];
  completed: boolean;
  outcome: string;
  requests: number;
  /** Effects, requests, log or words were wrong, or it hung: never allowed. */
  corrupted: string[];
}

export async function playChaos(
  server: FaultyServer,
  seed: number,
  mcp?: McpServer,
): Promise<ChaosVerdict> {
  const scene = chaosScene(seed, mcp);
  const { records } = scene.task;
  const world = new World(server, scene);
  try {
    await world.run("Trag das ein.");
    const corrupted = soundness(world, records);
    const short = completion(world, records);
    const failed = world.of("done").at(-1)?.outcome === "failed";
    // A failure is told, with its reason: an error, or a final message that says what is missing.
    if (failed && world.of("error").length + world.of("notice").length === 0) {
      corrupted.push("failed silently");
    }
    if (!failed) corrupted.push(...short);
    const names = [...scene.faults, ...scene.toolFaults].map((f) => `${f.kind.name} @${f.at}`);
    return {
      seed,
      faults: [scene.format, ...names],
      completed: short.length === 0,
      outcome: short.length === 0 ? "completed" : short.join("; "),
      requests: world.desk.requests,
      corrupted,
    };
  } finally {
    world.halt();
  }
}

/** Does all of them, a few at a time, and keeps their order. */
export async function inParallel<T, R>(
  items: readonly T[],
  width: number,
  act: (item: T) => Promise<R>,
): Promise<R[]> {
  const out: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < items.length; i = next++) out[i] = await act(items[i] as T);
  };
  await Promise.all(Array.from({ length: width }, worker));
  return out;
}
