/** What it costs to open a session that is not in memory, by the length of its history. */
import type { Programs } from "./contestants.ts";
import { type Figure, median } from "./figures.ts";
import type { InstantModel } from "./instant-model.ts";
import { exported, longSession } from "./log.ts";
import { ask, type Served, serve } from "./workerd.ts";

const LENGTHS = [10, 1_000, 10_000] as const;
/** Sessions of each length: each can be woken once in the life of a process. */
const SESSIONS = 8;

/** CPU of the first request to each of these sessions, in all. */
async function wake(served: Served, bases: readonly string[]): Promise<number> {
  const before = served.cpu();
  for (const base of bases) await ask(served, base);
  return (served.cpu() - before) / bases.length;
}

export async function measureWake(
  programs: Programs,
  model: InstantModel,
  rounds: number,
): Promise<Figure[]> {
  const program = { ...(await programs.dormouse()), state: programs.state("wake") };
  let served = await serve(program);
  const lines = await exported(served, model);
  const held = new Map<number, string[]>();
  for (const length of [...LENGTHS, 1]) {
    const bases: string[] = [];
    for (let i = 0; i < SESSIONS; i++) bases.push((await longSession(served, lines, length)).base);
    held.set(length, bases);
  }
  await served.close();
  const taken = new Map<number, number[]>(LENGTHS.map((length) => [length, []]));
  for (let round = 0; round < rounds; round++) {
    // A process that has none of them in memory; the code is warmed up by sessions of their own.
    served = await serve(program);
    await wake(served, held.get(1) ?? []);
    for (const length of round % 2 === 0 ? LENGTHS : LENGTHS.toReversed())
      taken.get(length)?.push(await wake(served, held.get(length) ?? []));
    await served.close();
  }
  const least = taken.get(LENGTHS[0]) ?? [];
  return LENGTHS.map((length) => {
    const values = taken.get(length) ?? [];
    const ratios = values.map((value, i) => value / (least[i] ?? Number.NaN));
    return {
      section: "Wake (: that of 10 events)",
      case: `${length} events`,
      harness: "dormouse",
      value: median(values),
      unit: "ms",
      ratio: median(ratios),
      ratio_min: Math.min(...ratios),
      ratio_max: Math.max(...ratios),
    };
  });
}
