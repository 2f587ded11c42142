/**
 * How the page bears a long session: 10,000 stored events to first interaction, scrolling through them, and 5,000 live
 * events with a reader at the bottom. Prints numbers; what they ought to be stands in docs/benchmarks.md.
 */
import type { CDPSession, Page, WebSocketRoute } from "playwright-core";
import type { Event } from "../../src/core/events.ts";
import { launchChromium, watchedChromium } from "../support/chromium.ts";
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

const STORED = 10_000;
const LIVE = 5_000;

/** A turn of ten events, in the ways that sessions are long: many turns, or one step with many calls. */
const turn = (i: number) => [
  user(`u${i}`, `Question ${i}`),
  now("running", "answering"),
  ...[0, 1, 2].flatMap((n) =>
    call(
      `c${i}-${n}`,
      { name: "shell", function: "shell_exec", args: { command: `echo ${i}` } },
      { command: `echo ${i}`, output: `${i}\n`.repeat(20), exit_code: 0 },
    ),
  ),
  prose(`a${i}`, `## Answer ${i}\n\nIt is **${i}**, and \`echo\` said so.`, "answer"),
  now("completed", "completed"),
];

const page_ = await servePage();
const browser = await launchChromium();
const chromium = watchedChromium(browser, () => page_.url);
try {
  const log = events(Array.from({ length: STORED / 10 }, (_, i) => turn(i)).flat());
  const { page } = await chromium.open();
  let socket: WebSocketRoute | undefined;
  await script(page, {
    session: { last_seq: log.length },
    socket: (route, after) => {
      socket = route;
      for (const frame of inFrames(log, after)) route.send(frame);
    },
  });
  const client = await page.context().newCDPSession(page);
  report("stored events", log.length);
  report("ms to interactive", Math.round(await open(page, `${page_.url}/#/s/${ID}`)));
  report("elements", await elements(page));
  report("ms for the slowest frame while scrolling up", Math.round(await scroll(page)));
  await page.getByRole("button", { name: "Jump to live" }).click();
  const before = await heap(client);
  const more = events(
    Array.from({ length: LIVE / 10 }, (_, i) => turn(i + 10_000)).flat(),
    log.length + 1,
  );
  const from = performance.now();
  for (const event of more) send(socket as WebSocketRoute, event);
  await page.getByText(`Answer ${10_000 + LIVE / 10 - 1}`).waitFor();
  report("live events", more.length);
  report("ms per live event", round((performance.now() - from) / more.length));
  report("elements after them", await elements(page));
  report("KiB of heap per live event", round(((await heap(client)) - before) / more.length / 1024));
} finally {
  await browser.close();
  await page_.stop();
}

function report(name: string, value: number): void {
  console.log(`${name.padEnd(48)}${value}`);
}
function round(n: number): number {
  return Math.round(n * 100) / 100;
}

/** As the server sends a replay: a hundred to a frame. */
function inFrames(log: readonly Event[], after: number): string[] {
  const [hello] = greeting(snapshot({ last_seq: log.length }), after);
  const frames = [JSON.stringify(hello)];
  for (let i = after; i < log.length; i += 100) {
    frames.push(JSON.stringify({ type: "batch", frames: log.slice(i, i + 100) }));
  }
  return frames;
}

/** Until the last answer stands there and a key reaches the message box. */
async function open(page: Page, url: string): Promise<number> {
  const from = performance.now();
  await page.goto(url);
  await page.getByText(`It is ${STORED / 10 - 1}`).waitFor();
  await page.getByLabel("Message", { exact: true }).press("x");
  return performance.now() - from;
}

function elements(page: Page): Promise<number> {
  return page.evaluate(() => document.querySelectorAll("*").length);
}

/** Sixty steps upwards, one a frame; the longest time between two frames. */
function scroll(page: Page): Promise<number> {
  return page.locator(".timeline").evaluate(
    (box) =>
      new Promise<number>((resolve) => {
        let left = 60;
        let last = performance.now();
        let slowest = 0;
        const step = (time: number) => {
          slowest = Math.max(slowest, time - last);
          last = time;
          box.scrollTop -= 400;
          if (--left > 0) requestAnimationFrame(step);
          else resolve(slowest);
        };
        requestAnimationFrame(step);
      }),
  );
}

async function heap(client: CDPSession): Promise<number> {
  await client.send("HeapProfiler.collectGarbage");
  const { usedSize } = (await client.send("Runtime.getHeapUsage")) as { usedSize: number };
  return usedSize;
}
