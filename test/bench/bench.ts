/**
 * `npm run bench`: what a step of the tool loop costs, beside the bare floor, on the same machine in the same run.
 * `npm run bench:peers`: beside other harnesses as well, which it installs first.
 *
 *   --steps 50,500    lengths of a session, in tool calls
 *   --rounds N        how often both are measured in turn, default 5; medians count
 *   --calls N         calls of one sample at the least, default 1000: many short sessions, or one long
 *   --peers           other harnesses too, as far as they are installed in test/bench/peers
 *   --json FILE       the numbers as JSON too
 *
 * The cost of a step is the CPU time of sessions of N calls less that of as many sessions of two calls, by the calls
 * that make the difference: what a session costs to begin and to end cancels out. See docs/benchmarks.md.
 */
import { writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import {
  type Contestant,
  PEERS,
  sampleRequest,
  startDormouse,
  startFloor,
  startPeer,
} from "./contestant.ts";
import { startInstantModel } from "./instant-model.ts";

/** Calls of the short sessions that are taken off. */
const SHORT = 2;
const WARM_UP = 500;

interface Sample {
  cpu: number;
  wall: number;
}

export interface Result {
  name: string;
  steps: number;
  cpu_ms_per_step: number;
  wall_ms_per_step: number;
  /** CPU over the floor's: the median of the ratios of each round, and their ends. */
  ratio: number;
  ratio_min: number;
  ratio_max: number;
}

async function sessions(c: Contestant, count: number, steps: number): Promise<Sample> {
  const [cpu, wall] = [c.cpu(), performance.now()];
  for (let i = 0; i < count; i++) await c.run(steps);
  return { cpu: c.cpu() - cpu, wall: performance.now() - wall };
}

/** Milliseconds of one step. */
async function sample(c: Contestant, steps: number): Promise<Sample> {
  const count = Math.ceil(calls / steps);
  const short = await sessions(c, count, SHORT);
  const long = await sessions(c, count, steps);
  const more = count * (steps - SHORT);
  return { cpu: (long.cpu - short.cpu) / more, wall: (long.wall - short.wall) / more };
}

const median = (values: number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const [low = 0, high = 0] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return (low + high) / 2;
};

/** Each contestant's numbers over so many rounds; the first one is the floor. */
async function compare(
  contestants: Contestant[],
  steps: number,
  rounds: number,
): Promise<Result[]> {
  const taken = new Map(contestants.map(({ name }) => [name, [] as Sample[]]));
  for (let round = 0; round < rounds; round++) {
    // In turn, so that a machine that grows slower or faster meets all alike.
    const order = round % 2 === 0 ? contestants : contestants.toReversed();
    for (const c of order) taken.get(c.name)?.push(await sample(c, steps));
  }
  const floor = taken.get(contestants[0]?.name ?? "") ?? [];
  return contestants.map(({ name }) => {
    const samples = taken.get(name) ?? [];
    const ratios = samples.map((s, i) => s.cpu / (floor[i]?.cpu ?? Number.NaN));
    return {
      name,
      steps,
      cpu_ms_per_step: median(samples.map((s) => s.cpu)),
      wall_ms_per_step: median(samples.map((s) => s.wall)),
      ratio: median(ratios),
      ratio_min: Math.min(...ratios),
      ratio_max: Math.max(...ratios),
    };
  });
}

function tableOf(results: Result[]): string {
  const ms = (n: number) => n.toFixed(2);
  const rows = [
    ["steps", "harness", "CPU ms", "wall ms", "CPU : floor", "(min–max)"],
    ...results.map((r) => [
      String(r.steps),
      r.name,
      ms(r.cpu_ms_per_step),
      ms(r.wall_ms_per_step),
      ms(r.ratio),
      `${ms(r.ratio_min)}–${ms(r.ratio_max)}`,
    ]),
  ];
  const widths = rows[0]?.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0))) ?? [];
  return rows.map((row) => row.map((c, i) => c.padStart(widths[i] ?? 0)).join("  ")).join("\n");
}

const { values } = parseArgs({
  options: {
    steps: { type: "string", default: "50,500" },
    rounds: { type: "string", default: "5" },
    calls: { type: "string", default: "1000" },
    peers: { type: "boolean", default: false },
    json: { type: "string" },
  },
});
const lengths = values.steps.split(",").map(Number);
const rounds = Number(values.rounds);
const calls = Number(values.calls);
if (!lengths.every((n) => Number.isInteger(n) && n > SHORT) || !(rounds >= 1 && calls >= 1)) {
  console.error(`--steps takes numbers above ${SHORT}, --rounds and --calls one above 0`);
  process.exit(2);
}

process.env.WRANGLER_SEND_METRICS = "false";
process.env.WRANGLER_LOG = "none";
process.env.CLOUDFLARE_CF_FETCH_ENABLED = "false";
const model = await startInstantModel();
const dormouse = await startDormouse(model);
const like = await sampleRequest(model, dormouse);
const contestants = [await startFloor(model, like), dormouse];
try {
  for (const name of values.peers ? PEERS : []) {
    contestants.push(await startPeer(name, model, like));
  }
  for (const c of contestants) await sessions(c, 3, Math.min(WARM_UP, calls));
  const results: Result[] = [];
  for (const steps of lengths) results.push(...(await compare(contestants, steps, rounds)));
  console.log(
    `per step, medians of ${rounds} rounds, ${cpus().length} cores (${cpus()[0]?.model})`,
  );
  console.log(tableOf(results));
  if (values.json)
    await writeFile(values.json, `${JSON.stringify({ rounds, results }, null, 2)}\n`);
} finally {
  for (const c of contestants) await c.close();
  await model.close();
}
