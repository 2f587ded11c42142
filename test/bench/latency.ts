/** How long an event takes to whoever listens: from the request that makes it to its frame on a socket, wall time. */
import { newSession } from "./contestants.ts";
import { type Figure, figuresOf } from "./figures.ts";
import type { Log } from "./log.ts";
import type { Both } from "./sockets.ts";
import { ask, json, type Served } from "./workerd.ts";

/** Events of one round, told one after another. */
const EVENTS = 100;

/** Milliseconds that each act takes until its frame is there: the median, and the worst but for one in twenty. */
async function timed(
  served: Served,
  path: string,
  act: (n: number) => Promise<unknown>,
  told: (n: number) => string,
): Promise<{ median: number; late: number }> {
  const ws = new WebSocket(served.url.replace("http", "ws") + path);
  await new Promise((resolve, reject) => {
    ws.onopen = resolve;
    ws.onerror = () => reject(new Error(`no socket at ${path}`));
  });
  const taken: number[] = [];
  for (let n = 0; n < EVENTS; n++) {
    const seen = new Promise<void>((resolve) => {
      ws.onmessage = ({ data }) => {
        if (String(data).includes(told(n))) resolve();
      };
    });
    const from = performance.now();
    const done = act(n);
    await seen;
    taken.push(performance.now() - from);
    await done;
  }
  ws.close();
  taken.sort((a, b) => a - b);
  const at = (share: number) => taken[Math.floor(share * (EVENTS - 1))] as number;
  return { median: at(0.5), late: at(0.95) };
}

/** A command: a whole turn in one commit, so nothing but the way of its events is measured. */
async function own({ dormouse }: Both) {
  const base = await newSession(dormouse, "bench-latency");
  const say = (n: number) =>
    ask(dormouse, `${base}/messages`, json({ id: `m${n}`, text: "/help" }));
  return timed(dormouse, `${base}/ws`, say, (n) => `"client_id":"m${n}"`);
}

let runs = 0;
async function bare({ floor }: Both, log: Log) {
  const path = `/latency-${++runs}`;
  const mark = (n: number) => `told ${n} of ${path}`;
  const event = (n: number) =>
    JSON.stringify({ ...(JSON.parse(log.events[0] ?? "{}") as object), mark: mark(n) });
  const tell = (n: number) => ask(floor, `${path}/tell`, json({ events: [event(n)] }));
  return timed(floor, `${path}/ws`, tell, mark);
}

export async function measureLatency(both: Both, log: Log, rounds: number): Promise<Figure[]> {
  const taken = { median: new Map<string, number[]>(), late: new Map<string, number[]>() };
  const note = (name: string, { median, late }: { median: number; late: number }) => {
    taken.median.set(name, [...(taken.median.get(name) ?? []), median]);
    taken.late.set(name, [...(taken.late.get(name) ?? []), late]);
  };
  for (let round = 0; round < rounds; round++) {
    note("floor", await bare(both, log));
    note("dormouse", await own(both));
  }
  const about = { section: "An event to a socket", unit: "ms" } as const;
  return [
    ...figuresOf({ ...about, case: "median" }, taken.median),
    ...figuresOf({ ...about, case: "95 of 100" }, taken.late),
  ];
}
