/** What a session holds while its socket is open and nothing happens: resident memory of the process, over many. */
import type { Programs } from "./contestants.ts";
import { type Figure, figuresOf } from "./figures.ts";
import { listen } from "./sockets.ts";
import { ask, json, type Program, type Served, serve } from "./workerd.ts";

const SESSIONS = 400;
/** The runtime lets objects sleep after ten seconds of silence. */
const ASLEEP_MS = 14_000;

const settled = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** KiB of a session that works with open sockets, and of one that sleeps with them. */
async function grow(
  program: Program,
  open: (served: Served, i: number) => Promise<string>,
): Promise<{ awake: number; asleep: number }> {
  const served = await serve(program);
  const sockets: Awaited<ReturnType<typeof listen>>[] = [];
  const add = async (from: number, count: number) => {
    for (let i = from; i < from + count; i++)
      sockets.push(await listen(served, await open(served, i)));
  };
  // What the first sessions bring along is not theirs.
  await add(0, 50);
  const before = served.rss();
  await add(50, SESSIONS);
  const awake = served.rss();
  await settled(ASLEEP_MS);
  const asleep = served.rss();
  for (const socket of sockets) socket.close();
  await served.close();
  const each = (bytes: number) => (bytes - before) / SESSIONS / 1024;
  return { awake: each(awake), asleep: each(asleep) };
}

export async function measureMemory(programs: Programs, rounds: number): Promise<Figure[]> {
  const [floor, dormouse] = [await programs.floor(), await programs.dormouse()];
  const taken = {
    awake: new Map<string, number[]>([
      ["floor", []],
      ["dormouse", []],
    ]),
    asleep: new Map<string, number[]>([
      ["floor", []],
      ["dormouse", []],
    ]),
  };
  for (let round = 0; round < rounds; round++) {
    const at = (name: string) => programs.state(`memory-${name}-${round}`);
    const bare = await grow({ ...floor, state: at("floor") }, async (_, i) => `/m-${i}/ws`);
    const own = await grow({ ...dormouse, state: at("dormouse") }, async (served) => {
      const { id } = await ask<{ id: string }>(served, "/api/sessions", json({}));
      return `/api/sessions/${id}/ws`;
    });
    for (const key of ["awake", "asleep"] as const) {
      taken[key].get("floor")?.push(bare[key]);
      taken[key].get("dormouse")?.push(own[key]);
    }
  }
  return (["awake", "asleep"] as const).flatMap((key) =>
    figuresOf({ section: "Memory of a session", case: key, unit: "KiB" }, taken[key]),
  );
}
