/**
 * How the page bears a long session: 10,000 stored events of the real server to first interaction, scrolling through
 * them, and 5,000 live events of a scripted one with a reader at the bottom. Prints numbers; what they ought to be
 * stands in docs/benchmarks.md.
 *
 *   --stored N, --live N   other numbers of events, in tens
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { CDPSession, Page, WebSocketRoute } from "playwright-core";
import { launchChromium, watchedChromium } from "../support/chromium.ts";
import { startDev } from "../support/dev-server.ts";
import { servePage } from "../support/page-server.ts";
import {
  call,
  events,
  greeting,
  ID,
  now,
  prose,
  script,
  send,
  snapshot,
  user,
} from "../support/scripted-session.ts";

const { values } = parseArgs({
  options: {
    stored: { type: "string", default: "10000" },
    live: { type: "string", default: "5000" },
  },
});
/** Of ten events each. */
const TURNS = Math.ceil(Number(values.stored) / 10);
const MORE_TURNS = Math.ceil(Number(values.live) / 10);

const USAGE = {
  role: "assistant",
  model: "m",
  input_tokens: 2_000,
  output_tokens: 20,
  cached_tokens: 0,
  measured: true,
} as const;
const turn = (i: number) => [
  user(`u${i}`, `Question ${i}`),
  now("running", "answering"),
  ...[0, 1].flatMap((n) =>
    call(
      `c${i}-${n}`,
      { name: "shell", function: "shell_exec", args: { command: `echo ${i}` } },
      { command: `echo ${i}`, output: `${i}\n`.repeat(20), exit_code: 0 },
    ),
  ),
  { event: "usage", data: USAGE } as const,
  prose(`a${i}`, `## Answer ${i}\n\nIt is **${i}**, and \`echo\` said so.`, "answer"),
  { event: "done", data: { outcome: "completed", run: i + 1 } } as const,
  now("completed", "completed"),
];

const log = events(Array.from({ length: TURNS }, (_, i) => turn(i)).flat());
const browser = await launchChromium();
try {
  await stored();
  await live();
} finally {
  await browser.close();
}

/** Over `wrangler dev`, where the session was imported. Twice: first as a stranger, then with what is cached. */
async function stored(): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), "dormouse-"));
  const dev = await startDev({ vars: { PROVIDER: "practice" }, persistTo: dir });
  try {
    const { page } = await watchedChromium(browser, () => dev.url).open();
    const at = `${dev.url}/#/s/${await imported(dev.url)}`;
    report("stored events", log.length);
    report("ms to interactive", Math.round(await open(page, at)));
    await page.goto("about:blank");
    report("ms to interactive, again", Math.round(await open(page, at)));
    report("elements", await elements(page));
    const { slowest, busiest } = await scroll(page);
    report("ms for the slowest frame while scrolling up", Math.round(slowest));
    report("ms of work in its busiest task", round(busiest));
  } finally {
    await dev.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

async function imported(url: string): Promise<string> {
  const rest = { upto: log.length, row: 0, run: TURNS, mode: "chat", status: "completed" };
  const known = { title: "Long", titled: true, preview: "", plan: null, compacted: {} };
  const header = {
    type: "header",
    dormouse: 1,
    session: { id: ID, settings: {}, rest: { ...rest, ...known } },
  };
  const body = [header, ...log, { type: "rest", rest: { ...rest, ...known } }, { type: "end" }]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");
  const response = await fetch(`${url}/api/sessions/import`, { method: "POST", body });
  if (response.status !== 201) throw new Error(await response.text());
  return ((await response.json()) as { id: string }).id;
}

async function live(): Promise<void> {
  const server = await servePage();
  const { page } = await watchedChromium(browser, () => server.url).open();
  let socket: WebSocketRoute | undefined;
  await script(page, {
    session: { last_seq: log.length },
    socket: (route, after) => {
      socket = route;
      for (const frame of inFrames(after)) route.send(frame);
    },
  });
  const client = await page.context().newCDPSession(page);
  await open(page, `${server.url}/#/s/${ID}`);
  const elementsBefore = await elements(page);
  const before = await heap(client);
  const turns = Array.from({ length: MORE_TURNS }, (_, i) => turn(i + 10_000)).flat();
  const more = events(turns, log.length + 1);
  const from = performance.now();
  for (const event of more) send(socket as WebSocketRoute, event);
  await page.getByText(`Answer ${10_000 + MORE_TURNS - 1}`).waitFor();
  report("live events", more.length);
  report("ms per live event", round((performance.now() - from) / more.length));
  report("elements before and after them", `${elementsBefore} ${await elements(page)}`);
  report("KiB of heap per live event", round(((await heap(client)) - before) / more.length / 1024));
  await server.stop();
}

function report(name: string, value: number | string): void {
  console.log(`${name.padEnd(48)}${value}`);
}
function round(n: number): number {
  return Math.round(n * 100) / 100;
}

/** As the server sends a replay: many to a frame. */
function inFrames(after: number): string[] {
  const [hello] = greeting(snapshot({ last_seq: log.length }), after);
  const frames = [JSON.stringify(hello)];
  for (let i = after; i < log.length; i += 500) {
    frames.push(JSON.stringify({ type: "batch", frames: log.slice(i, i + 500) }));
  }
  return frames;
}

/** Until the last answer stands there and a key reaches the message box. */
async function open(page: Page, url: string): Promise<number> {
  const from = performance.now();
  await page.goto(url);
  await page.getByText(`It is ${TURNS - 1}`).waitFor();
  await page.getByLabel("Message", { exact: true }).press("x");
  return performance.now() - from;
}

function elements(page: Page): Promise<number> {
  return page.evaluate(() => document.querySelectorAll("*").length);
}

/**
 * Sixty steps upwards, one a frame: the longest time between two frames, which is also that of a busy machine, and the
 * longest that one task of the page kept a processor.
 */
async function scroll(page: Page): Promise<{ slowest: number; busiest: number }> {
  const timeline = page.locator(".timeline");
  // So that what Playwright itself puts into the page is there before.
  await timeline.evaluate(() => undefined);
  const client = await page.context().newCDPSession(page);
  const tasks = await watchTasks(client);
  const slowest = await timeline.evaluate(
    (box) =>
      new Promise<number>((resolve) => {
        let left = 60;
        let last = performance.now();
        let slowest_ = 0;
        const step = (time: number) => {
          slowest_ = Math.max(slowest_, time - last);
          last = time;
          box.scrollTop -= 400;
          if (--left > 0) requestAnimationFrame(step);
          else resolve(slowest_);
        };
        requestAnimationFrame(step);
      }),
  );
  return { slowest, busiest: Math.max(...(await tasks())) };
}

interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  /** Microseconds of a processor. */
  tdur?: number;
  args: { name?: string };
}

/** The tasks of the pages' main threads from now until it is asked, in milliseconds of a processor. */
async function watchTasks(client: CDPSession): Promise<() => Promise<number[]>> {
  const trace: TraceEvent[] = [];
  client.on("Tracing.dataCollected", ({ value }) => {
    trace.push(...(value as unknown as TraceEvent[]));
  });
  const traceConfig = { includedCategories: ["disabled-by-default-devtools.timeline"] };
  await client.send("Tracing.start", { transferMode: "ReportEvents", traceConfig });
  return async () => {
    const complete = new Promise((resolve) => client.once("Tracing.tracingComplete", resolve));
    await client.send("Tracing.end");
    await complete;
    const thread = (event: TraceEvent) => `${event.pid} ${event.tid}`;
    const main = new Set(trace.filter((e) => e.args?.name === "CrRendererMain").map(thread));
    return trace
      .filter((e) => e.name === "RunTask" && main.has(thread(e)))
      .map((e) => (e.tdur ?? 0) / 1_000);
  };
}

async function heap(client: CDPSession): Promise<number> {
  await client.send("HeapProfiler.collectGarbage");
  const { usedSize } = (await client.send("Runtime.getHeapUsage")) as { usedSize: number };
  return usedSize;
}
