/** Billed rows that a session writes: ten steps, each after 300 pieces of text, with the meter on every object. */
import { type Contestant, type PeerName, type Programs, startCounted } from "./contestants.ts";
import type { Figure } from "./figures.ts";
import type { InstantModel } from "./instant-model.ts";
import type { Bill } from "./prices.ts";
import { ask } from "./workerd.ts";

const TALK = { steps: 10, deltas: 300 };
const SESSIONS = 4;
/** What is told of a session after its end is told by then. */
const SETTLED_MS = 2_000;

async function written({ served }: Contestant): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
  return (await ask<Bill>(served, "/api/meter")).rows_written;
}

export async function measureRows(
  programs: Programs,
  model: InstantModel,
  like: string,
  peers: readonly PeerName[],
): Promise<Figure[]> {
  const contestants = await startCounted(programs.apart("counted"), model, like, peers);
  const figures: Figure[] = [];
  for (const c of contestants) {
    // What an owner's first session writes, no other does.
    await c.run(TALK);
    const before = await written(c);
    for (let i = 0; i < SESSIONS; i++) await c.run(TALK);
    const value = ((await written(c)) - before) / SESSIONS;
    await c.served.close();
    figures.push({
      ...{ section: "Rows of a session", case: "10 × 300", unit: "rows" },
      ...{ harness: c.name, value },
    });
  }
  const floor = figures[0]?.value ?? Number.NaN;
  return figures.map((figure) => {
    const ratio = figure.value / floor;
    return { ...figure, ratio, ratio_min: ratio, ratio_max: ratio };
  });
}
