/**
 * `npm run bench`: what Dormouse costs, beside the bare floor, on the same machine in the same run.
 * `npm run bench:peers`: beside other harnesses as well, which it installs first.
 *
 *   --only A,B        some of steps, deltas, rows, fanout, latency, replay, wake, memory, start; all when it is not named
 *   --steps 50,500    lengths of a session, in tool calls
 *   --calls N         calls of one sample at the least, default 1000: many short sessions, or one long
 *   --rounds N        how often all are measured in turn, default 5; medians count
 *   --peers           other harnesses too, as far as they are installed in test/bench/peers
 *   --json FILE       the figures as JSON too
 *
 * What each figure means stands in docs/benchmarks.md.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  type Contestant,
  PEERS,
  Programs,
  sampleRequest,
  startDormouse,
  startFloor,
  startPeer,
} from "./contestants.ts";
import { type Figure, tableOf } from "./figures.ts";
import { type InstantModel, startInstantModel } from "./instant-model.ts";
import { measureLatency } from "./latency.ts";
import { exported, longSession } from "./log.ts";
import { measureDeltas, measureSteps, SHORT } from "./loop.ts";
import { measureMemory } from "./memory.ts";
import { measureRows } from "./rows.ts";
import { measureFanOut, measureReplay } from "./sockets.ts";
import { measureStart } from "./start.ts";
import { measureWake } from "./wake.ts";

const SECTIONS = [
  "steps",
  "deltas",
  "rows",
  "fanout",
  "latency",
  "replay",
  "wake",
  "memory",
  "start",
];
const WARM_UP = 500;
const EVENTS = 10_000;

const { values } = parseArgs({
  options: {
    only: { type: "string", default: SECTIONS.join(",") },
    steps: { type: "string", default: "50,500" },
    rounds: { type: "string", default: "5" },
    calls: { type: "string", default: "1000" },
    peers: { type: "boolean", default: false },
    json: { type: "string" },
  },
});
const only = values.only.split(",");
const lengths = values.steps.split(",").map(Number);
const rounds = Number(values.rounds);
const calls = Number(values.calls);
const peers = values.peers ? PEERS : [];

function complain(): string | undefined {
  const unknown = only.find((section) => !SECTIONS.includes(section));
  if (unknown !== undefined) return `--only takes some of ${SECTIONS.join(", ")}`;
  if (!lengths.every((n) => Number.isInteger(n) && n > SHORT))
    return `--steps takes whole numbers above ${SHORT}`;
  return rounds >= 1 && calls >= 1 ? undefined : "--rounds and --calls take numbers above 0";
}

/** Everything for which the contestants stay up. */
async function measureLoops(programs: Programs, model: InstantModel): Promise<Figure[]> {
  const dormouse = await startDormouse(programs, model);
  const like = await sampleRequest(model, dormouse);
  const floor = await startFloor(programs, like);
  const contestants: Contestant[] = [floor, dormouse];
  for (const name of peers) contestants.push(await startPeer(programs, name, like));
  const both = { dormouse: dormouse.served, floor: floor.served, model };
  const figures: Figure[] = [];
  try {
    for (const c of contestants)
      for (let i = 0; i < 3; i++) await c.run({ steps: Math.min(WARM_UP, calls) });
    if (only.includes("steps"))
      for (const n of lengths) figures.push(...(await measureSteps(contestants, n, rounds, calls)));
    if (only.includes("deltas")) figures.push(...(await measureDeltas(contestants, rounds)));
    if (only.includes("rows")) figures.push(...(await measureRows(programs, model, like, peers)));
    const lines = await exported(both.dormouse, model);
    const log = await longSession(both.dormouse, lines, EVENTS);
    if (only.includes("fanout")) figures.push(...(await measureFanOut(both, log, rounds)));
    if (only.includes("latency")) figures.push(...(await measureLatency(both, log, rounds)));
    if (only.includes("replay")) figures.push(...(await measureReplay(both, log, rounds)));
    return figures;
  } finally {
    for (const c of contestants) await c.served.close();
  }
}

const complaint = complain();
if (complaint) {
  console.error(complaint);
  process.exit(2);
}
const folder = await mkdtemp(join(tmpdir(), "dormouse-bench-"));
const model = await startInstantModel();
const programs = new Programs(folder, model);
try {
  const figures: Figure[] = [];
  if (
    ["steps", "deltas", "rows", "fanout", "latency", "replay"].some((section) =>
      only.includes(section),
    )
  )
    figures.push(...(await measureLoops(programs, model)));
  if (only.includes("wake")) figures.push(...(await measureWake(programs, model, rounds)));
  if (only.includes("memory")) figures.push(...(await measureMemory(programs, 1)));
  if (only.includes("start")) figures.push(...(await measureStart(programs, peers)));
  console.log(`medians of ${rounds} rounds, ${cpus().length} cores (${cpus()[0]?.model})`);
  console.log(tableOf(figures));
  if (values.json)
    await writeFile(values.json, `${JSON.stringify({ rounds, figures }, null, 2)}\n`);
} finally {
  await model.close();
  await rm(folder, { recursive: true, force: true });
}
