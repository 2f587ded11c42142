/**
 * `npm run bench`: what a step of the tool loop costs, beside the bare floor, on the same machine in the same run.
 *
 *   --steps 50,500    lengths of a session, in tool calls
 *   --rounds N        how often both are measured in turn, default 5; medians count
 *   --json FILE       the numbers as JSON too
 *
 * The cost of a step is the CPU time of sessions of N calls less that of as many sessions of two calls, by the calls
 * that make the difference: what a session costs to begin and to end cancels out. See docs/benchmarks.md.
 */
import { writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { type Contestant, sampleRequest, startDormouse, startFloor } from "./contestant.ts";
import { startInstantModel } from "./instant-model.ts";

/** Calls of the short sessions that are taken off. */
const SHORT = 2;
/** Calls that one sample has at the least: many short sessions, or one long. */
const SAMPLE = 1_000;
const WARM_UP = 500;

interface Sample {
  cpu: number;
  wall: number;
}

export interface Result {
  steps: number;
  floor_cpu_ms_per_step: number;
  dormouse_cpu_ms_per_step: number;
  /** The median of the ratios of each round. */
  ratio: number;
  ratio_min: number;
  ratio_max: number;
  floor_wall_ms_per_step: number;
  dormouse_wall_ms_per_step: number;
}

async function sessions(c: Contestant, count: number, steps: number): Promise<Sample> {
  const [cpu, wall] = [c.cpu(), performance.now()];
  for (let i = 0; i < count; i++) await c.run(steps);
  return { cpu: c.cpu() - cpu, wall: performance.now() - wall };
}

/** Milliseconds of one step. */
async function sample(c: Contestant, steps: number): Promise<Sample> {
  const count = Math.ceil(SAMPLE / steps);
  const short = await sessions(c, count, SHORT);
  const long = await sessions(c, count, steps);
  const calls = count * (steps - SHORT);
  return { cpu: (long.cpu - short.cpu) / calls, wall: (long.wall - short.wall) / calls };
}

const median = (values: number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const [low = 0, high = 0] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return (low + high) / 2;
};

async function compare(
  floor: Contestant,
  dormouse: Contestant,
  steps: number,
  rounds: number,
): Promise<Result> {
  const samples: { floor: Sample; dormouse: Sample }[] = [];
  for (let round = 0; round < rounds; round++) {
    // In turn, so that a machine that grows slower or faster meets both alike.
    const order = round % 2 === 0 ? [floor, dormouse] : [dormouse, floor];
    const taken = new Map<Contestant, Sample>();
    for (const c of order) taken.set(c, await sample(c, steps));
    samples.push({
      floor: taken.get(floor) as Sample,
      dormouse: taken.get(dormouse) as Sample,
    });
  }
  const ratios = samples.map((s) => s.dormouse.cpu / s.floor.cpu);
  return {
    steps,
    floor_cpu_ms_per_step: median(samples.map((s) => s.floor.cpu)),
    dormouse_cpu_ms_per_step: median(samples.map((s) => s.dormouse.cpu)),
    ratio: median(ratios),
    ratio_min: Math.min(...ratios),
    ratio_max: Math.max(...ratios),
    floor_wall_ms_per_step: median(samples.map((s) => s.floor.wall)),
    dormouse_wall_ms_per_step: median(samples.map((s) => s.dormouse.wall)),
  };
}

function tableOf(results: Result[]): string {
  const ms = (n: number) => n.toFixed(2);
  const rows = [
    ["steps", "floor CPU ms", "Dormouse CPU ms", "ratio", "(min–max)", "floor ms", "Dormouse ms"],
    ...results.map((r) => [
      String(r.steps),
      ms(r.floor_cpu_ms_per_step),
      ms(r.dormouse_cpu_ms_per_step),
      ms(r.ratio),
      `${ms(r.ratio_min)}–${ms(r.ratio_max)}`,
      ms(r.floor_wall_ms_per_step),
      ms(r.dormouse_wall_ms_per_step),
    ]),
  ];
  const widths = rows[0]?.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0))) ?? [];
  return rows.map((row) => row.map((c, i) => c.padStart(widths[i] ?? 0)).join("  ")).join("\n");
}

const { values } = parseArgs({
  options: {
    steps: { type: "string", default: "50,500" },
    rounds: { type: "string", default: "5" },
    json: { type: "string" },
  },
});
const lengths = values.steps.split(",").map(Number);
const rounds = Number(values.rounds);
if (!lengths.every((n) => Number.isInteger(n) && n > SHORT) || !(rounds >= 1)) {
  console.error(`--steps takes numbers above ${SHORT}, --rounds one above 0`);
  process.exit(2);
}

process.env.WRANGLER_SEND_METRICS = "false";
process.env.WRANGLER_LOG = "none";
process.env.CLOUDFLARE_CF_FETCH_ENABLED = "false";
const model = await startInstantModel();
const dormouse = await startDormouse(model);
const floor = await startFloor(model, await sampleRequest(model, dormouse));
try {
  for (const c of [floor, dormouse]) await sessions(c, 3, WARM_UP);
  const results: Result[] = [];
  for (const steps of lengths) results.push(await compare(floor, dormouse, steps, rounds));
  console.log(
    `per step, medians of ${rounds} rounds, ${cpus().length} cores (${cpus()[0]?.model})`,
  );
  console.log(tableOf(results));
  if (values.json)
    await writeFile(values.json, `${JSON.stringify({ rounds, results }, null, 2)}\n`);
} finally {
  await floor.close();
  await dormouse.close();
  await model.close();
}
