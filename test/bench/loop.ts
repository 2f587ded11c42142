/**
 * What a step of the tool loop costs, and a piece of streamed text: the CPU time of sessions with N of them less that
 * of as many sessions with few, by what makes the difference. What a session costs to begin and to end cancels out.
 */
import type { Contestant, Length } from "./contestants.ts";
import { type Figure, figuresOf } from "./figures.ts";

/** Calls of the short sessions that are taken off. */
export const SHORT = 2;
/** A session of streamed text: so many calls, each after so many pieces. */
const TALK: Required<Length> = { steps: 10, deltas: 300 };
const TALKS = 12;

interface Cost {
  cpu: number;
  wall: number;
}
async function costOf(c: Contestant, count: number, length: Length): Promise<Cost> {
  const [cpu, from] = [c.served.cpu(), performance.now()];
  for (let i = 0; i < count; i++) await c.run(length);
  return { cpu: c.served.cpu() - cpu, wall: performance.now() - from };
}

/** Each contestant's samples, in turn, so that a machine that grows slower or faster meets all alike. */
export async function inTurn(
  contestants: readonly Contestant[],
  rounds: number,
  sample: (c: Contestant) => Promise<number>,
): Promise<Map<string, number[]>> {
  const taken = new Map(contestants.map(({ name }) => [name, [] as number[]]));
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? contestants : contestants.toReversed();
    for (const c of order) taken.get(c.name)?.push(await sample(c));
  }
  return taken;
}

export async function measureSteps(
  contestants: readonly Contestant[],
  steps: number,
  rounds: number,
  calls: number,
): Promise<Figure[]> {
  const count = Math.ceil(calls / steps);
  const walls = new Map(contestants.map(({ name }) => [name, [] as number[]]));
  const taken = await inTurn(contestants, rounds, async (c) => {
    const short = await costOf(c, count, { steps: SHORT });
    const long = await costOf(c, count, { steps });
    const each = (of: keyof Cost) => (long[of] - short[of]) / (count * (steps - SHORT));
    walls.get(c.name)?.push(each("wall"));
    return each("cpu");
  });
  const about = { case: `${steps} steps`, unit: "ms" } as const;
  return [
    ...figuresOf({ section: "CPU of a step", ...about }, taken),
    ...figuresOf({ section: "Wall time of a step", ...about }, walls),
  ];
}

export async function measureDeltas(
  contestants: readonly Contestant[],
  rounds: number,
): Promise<Figure[]> {
  const taken = await inTurn(contestants, rounds, async (c) => {
    const silent = (await costOf(c, TALKS, { steps: TALK.steps })).cpu;
    const talking = (await costOf(c, TALKS, TALK)).cpu;
    return ((talking - silent) / (TALKS * TALK.steps * TALK.deltas)) * 1_000;
  });
  return figuresOf({ section: "CPU of a delta", case: "10 × 300", unit: "µs" }, taken);
}
