/** What listeners cost: events told to many sockets, and a long log told to one. */
import { nameOf, newSession, work } from "./contestants.ts";
import { type Figure, figuresOf } from "./figures.ts";
import type { InstantModel } from "./instant-model.ts";
import type { Log } from "./log.ts";
import { ask, json, type Served } from "./workerd.ts";

export interface Both {
  dormouse: Served;
  floor: Served;
  model: InstantModel;
}

const CROWDS = [1, 10, 100] as const;
/** Tool calls of the session that is listened to: about 1,000 events. */
const STEPS = 500;
const REPLAYS = 8;

/** A socket that reads and forgets; `seen` resolves when a frame holds that text. */
export async function listen(served: Served, path: string, until = "") {
  const ws = new WebSocket(served.url.replace("http", "ws") + path);
  const open = Promise.withResolvers<void>();
  const seen = Promise.withResolvers<void>();
  ws.onopen = () => open.resolve();
  ws.onerror = () => open.reject(new Error(`no socket at ${path}`));
  ws.onmessage = ({ data }) => {
    if (until !== "" && String(data).includes(until)) seen.resolve();
  };
  await open.promise;
  return {
    seen: seen.promise,
    // Not waited for: the floor answers no close.
    close: () => ws.close(),
  };
}

/** CPU of an act while so many sockets listen. */
async function watched(
  served: Served,
  path: string,
  crowd: number,
  act: () => Promise<unknown>,
): Promise<number> {
  const sockets = await Promise.all(Array.from({ length: crowd }, () => listen(served, path)));
  const before = served.cpu();
  await act();
  const used = served.cpu() - before;
  for (const socket of sockets) socket.close();
  return used;
}

/** What a crowd adds to a session of events, by 1,000 of them: beside a floor that sends one frame an event. */
export async function measureFanOut(
  { dormouse, floor, model }: Both,
  log: Log,
  rounds: number,
): Promise<Figure[]> {
  const own = async (crowd: number): Promise<number> => {
    const name = nameOf({ steps: STEPS });
    const base = await newSession(dormouse, name);
    const act = () => work(dormouse, base, model, name);
    const cpu = await watched(dormouse, `${base}/ws`, crowd, act);
    const { last_seq } = await ask<{ last_seq: number }>(dormouse, base);
    return (cpu / last_seq) * 1_000;
  };
  let told = 0;
  const bare = (crowd: number): Promise<number> => {
    const path = `/fan-${++told}`;
    const events = log.events.slice(-1_000);
    return watched(floor, `${path}/ws`, crowd, () => ask(floor, `${path}/tell`, json({ events })));
  };
  const figures: Figure[] = [];
  for (const crowd of CROWDS) {
    const [floors, owns]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      floors.push((await bare(crowd)) - (await bare(0)));
      owns.push((await own(crowd)) - (await own(0)));
    }
    const about = { section: "1,000 events told", case: `${crowd} sockets`, unit: "ms" } as const;
    const taken = new Map([
      ["floor", floors],
      ["dormouse", owns],
    ]);
    figures.push(...figuresOf(about, taken));
  }
  return figures;
}

/** A long log to a socket that has none of it. */
export async function measureReplay(
  { dormouse, floor }: Both,
  log: Log,
  rounds: number,
): Promise<Figure[]> {
  const { events, base } = log;
  await ask(floor, "/replay/fill", json({ events }));
  const replay = async (served: Served, path: string): Promise<number> => {
    const before = served.cpu();
    for (let i = 0; i < REPLAYS; i++) {
      const socket = await listen(served, path, `"seq":${events.length},`);
      await socket.seen;
      socket.close();
    }
    return (served.cpu() - before) / REPLAYS;
  };
  const [floors, owns]: [number[], number[]] = [[], []];
  // The first round warms both up.
  for (let round = 0; round <= rounds; round++) {
    floors.push(await replay(floor, "/replay/ws"));
    owns.push(await replay(dormouse, `${base}/ws?after=0`));
  }
  const taken = new Map([
    ["floor", floors.slice(1)],
    ["dormouse", owns.slice(1)],
  ]);
  const about = { section: "Replay", case: `${events.length} events`, unit: "ms" } as const;
  return figuresOf(about, taken);
}
