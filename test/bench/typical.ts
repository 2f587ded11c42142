/**
 * A typical session, run for real in workerd with a meter on every object: Dormouse, and the bare floor beside it.
 *
 * T1  It is a page that stays open, a plan of one step, ten calls of which the sixth is a question, a summary. Each
 *     reply of the model streams 300 pieces over its whole time.
 * T2  It is active while its log says that it runs, and while anybody's request to an object is under way.
 */
import { call, complete, pause, plan, Remote, Scripts, type Wire } from "../support/client-node.ts";
import type { MockModel, MockReply } from "../support/mock-model.ts";
import { type Programs, RESULT } from "./contestants.ts";
import type { FloorRun } from "./floor.ts";
import type { Bill, Counted } from "./prices.ts";
import { type Served, serve } from "./workerd.ts";

export interface Shape {
  sessions: number;
  replyMs: number;
  waitMs: number;
}
/** What a wait may change; all of it has to be zero. */
export type Idle = Pick<Bill, "rows_written" | "object_requests" | "alarms" | "wakes"> & {
  alarms_set: number;
};

const STEPS = 10;
const PIECES = 300;
/** Characters in one piece of the scripted model, and about how many more pieces its call has. */
const PIECE_CHARS = 8;
const CALL_PIECES = 20;
/** As the product's client does. */
const PING_MS = 25_000;
/** What follows a status by itself, the word to the owner's list, is over by then. */
const SETTLED_MS = 2_000;
const FOREVER_MS = 24 * 3_600_000;
/** To measure what one takes. */
const REQUESTS = 200;

/** A reply as a model gives it: it thinks in pieces over its whole time, then calls. */
const spoken = (reply: MockReply, { replyMs }: Shape): MockReply => ({
  thinking: "so it is".repeat(PIECES).slice(0, PIECES * PIECE_CHARS),
  chunk_delay_ms: replyMs / (PIECES + CALL_PIECES),
  ...reply,
});
const read = (n: number): MockReply =>
  call("file_read", { path: "notes.txt", end_line: n, brief: "Read the notes" });
const script = (shape: Shape): MockReply[] => {
  const steps = Array.from({ length: STEPS }, (_, i) => read(i + 1));
  steps[STEPS / 2] = call("message_ask_user", { text: "Which colour?" });
  return [plan("Read"), ...steps, complete()].map((reply) => spoken(reply, shape));
};

/** CPU milliseconds of one request that ends in the Worker: what a request costs before it reaches an object. */
async function cpuOfRequest(served: Served, path: string): Promise<number> {
  const cpu = served.cpu();
  for (let i = 0; i < REQUESTS; i++) await (await served.fetch(path)).text();
  return (served.cpu() - cpu) / REQUESTS;
}

const readBill = async (served: Served): Promise<Bill> =>
  (await (await served.fetch("/api/meter")).json()) as Bill;
const mean = (list: number[]): number => list.reduce((a, b) => a + b, 0) / list.length;
const objectsOf = (bill: Bill, kind: string) =>
  Object.values(bill.objects).filter((o) => o.kind === kind);

function countedBetween(from: Bill, to: Bill, sessions: number) {
  const less = (key: keyof Omit<Bill, "objects">) => (to[key] - from[key]) / sessions;
  return {
    rows_written: less("rows_written"),
    rows_read: less("rows_read"),
    worker_requests: less("worker_requests"),
    object_requests: less("object_requests"),
    alarms: less("alarms"),
    socket_messages: less("socket_messages"),
    request_s: less("request_ms") / 1_000,
  };
}

/** A page is opened, and a task said. */
async function begin(url: string, name: string): Promise<{ session: Remote; wire: Wire }> {
  await (await fetch(`${url}/api/config`)).text();
  await (await fetch(`${url}/api/sessions`)).text();
  const session = await Remote.create(url, name);
  const wire = await session.connect();
  wire.send({ type: "message", id: "m1", text: "Read the notes" });
  return { session, wire };
}
async function answer({ wire }: { wire: Wire }): Promise<void> {
  const { data } = await wire.event("wait");
  const { wait_id } = data as { wait_id: string };
  wire.send({ type: "answer", id: "a1", wait_id, text: "red" });
}

/** How often it pinged is counted by the clock: the runtime answers a ping, and no object hears of it. */
export async function runProduct(
  programs: Programs,
  model: MockModel,
  shape: Shape,
): Promise<{ counted: Counted; idle: Idle }> {
  const served = await serve(await programs.dormouse("../worker/support/counted.ts"));
  try {
    return await measure(served, new Scripts(model), shape);
  } finally {
    await served.close();
  }
}

async function measure(served: Served, scripts: Scripts, shape: Shape) {
  const names = Array.from({ length: shape.sessions }, (_, i) => `cost-${i}`);
  for (const name of names) scripts.set(name, ...script(shape));
  // The owner's list is there already, as it is for all but an owner's first session.
  await Remote.create(served.url, "first");
  const cpu = await cpuOfRequest(served, "/api/config");
  const start = await readBill(served);
  const all = await Promise.all(names.map((name) => begin(served.url, name)));
  const pings = setInterval(() => {
    for (const { wire } of all) wire.send({ type: "ping" });
  }, PING_MS);
  await Promise.all(all.map(({ wire }) => wire.event("wait", FOREVER_MS)));
  await pause(SETTLED_MS);
  const asleep = await readBill(served);
  await pause(shape.waitMs);
  const woken = await readBill(served);
  await Promise.all(all.map(answer));
  await Promise.all(all.map(({ wire }) => wire.event("done", FOREVER_MS)));
  await pause(SETTLED_MS);
  clearInterval(pings);
  const end = await readBill(served);
  const logs = await Promise.all(all.map(({ session }) => session.events()));
  for (const { wire } of all) wire.close();
  const { request_s, ...counts } = countedBetween(start, end, shape.sessions);
  const counted: Counted = {
    ...counts,
    events: mean(logs.map((log) => log.length)),
    cpu_ms: cpu * counts.worker_requests,
    active_s: mean(logs.map(runningSeconds)) + request_s,
    bytes: mean(objectsOf(end, "session").map((o) => o.bytes)),
  };
  return { counted, idle: idleBetween(asleep, woken) };
}

function idleBetween(from: Bill, to: Bill): Idle {
  return {
    rows_written: to.rows_written - from.rows_written,
    object_requests: to.object_requests - from.object_requests,
    alarms: to.alarms - from.alarms,
    wakes: to.wakes - from.wakes,
    alarms_set: objectsOf(to, "session").filter((o) => o.alarm !== null).length,
  };
}

/** From each `running` to the status that ends it. */
function runningSeconds(log: Awaited<ReturnType<Remote["events"]>>): number {
  let [since, sum] = [0, 0];
  for (const e of log.filter(({ event }) => event === "status_update")) {
    if (e.data.status === "running") since = Date.parse(e.ts);
    else sum += Date.parse(e.ts) - since;
  }
  return sum / 1_000;
}

/** Ten steps of the bare object; it has nobody to ask, so it never waits. */
export async function runFloor(
  programs: Programs,
  model: MockModel,
  shape: Shape,
): Promise<Counted> {
  const served = await serve(await programs.floor("../worker/support/counted-floor.ts"));
  try {
    const scripts = new Scripts(model);
    const names = Array.from({ length: shape.sessions }, (_, i) => `floor-${i}`);
    const replies = [...Array.from({ length: STEPS }, (_, i) => read(i + 1)), complete()];
    for (const name of names) scripts.set(name, ...replies.map((reply) => spoken(reply, shape)));
    const cpu = await cpuOfRequest(served, "/");
    const start = await readBill(served);
    await Promise.all(
      names.map(async (name) => {
        const messages = [{ role: "user", content: "Read the notes" }];
        const run: FloorRun = { model: name, fields: { stream: true }, messages, result: RESULT };
        const response = await served.fetch(`/${name}`, {
          method: "POST",
          body: JSON.stringify(run),
        });
        if (!response.ok) throw new Error(await response.text());
        await response.text();
      }),
    );
    const end = await readBill(served);
    const { request_s, ...counts } = countedBetween(start, end, shape.sessions);
    return {
      ...counts,
      events: 2 * STEPS,
      cpu_ms: cpu * counts.worker_requests,
      active_s: request_s,
      bytes: mean(objectsOf(end, "floor").map((o) => o.bytes)),
    };
  } finally {
    await served.close();
  }
}
