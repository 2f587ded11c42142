/**
 * `npm run bench:cost`: what 1,000 typical sessions (typical.ts) cost by Cloudflare's published prices (prices.ts),
 * from what was counted of them. A bare object beside it has the same model.
 *
 *   --sessions N        at once, default 5; the table is of one, on average
 *   --reply-seconds N   how long the model speaks for each reply, default 20
 *   --wait-seconds N    how long the question in the middle waits, default 60
 *   --json FILE         the numbers as JSON too
 *
 * Exits 1 when waiting cost anything (a row, a request, an alarm, a wake), for then half an hour of it would, too; or
 * when the sum is above the goal.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startMockModel } from "../support/mock-model.ts";
import { Programs } from "./contestants.ts";
import { awake, type Counted, dollars } from "./prices.ts";
import { runFloor, runProduct } from "./typical.ts";

const GOAL_USD = 0.55;
/** The wait of a typical session. */
const WAIT_S = 1_800;

const { values } = parseArgs({
  options: {
    sessions: { type: "string", default: "5" },
    "reply-seconds": { type: "string", default: "20" },
    "wait-seconds": { type: "string", default: "60" },
    json: { type: "string" },
  },
});
const shape = {
  sessions: Number(values.sessions),
  replyMs: Number(values["reply-seconds"]) * 1_000,
  waitMs: Number(values["wait-seconds"]) * 1_000,
};
if (
  !(
    Number.isInteger(shape.sessions) &&
    shape.sessions > 0 &&
    shape.replyMs >= 0 &&
    shape.waitMs >= 0
  )
) {
  console.error("--sessions takes a number above 0, the others take seconds");
  process.exit(2);
}
function tableOf(columns: Record<string, Counted>): string {
  const all = Object.values(columns);
  const bills = all.map(dollars);
  const row = (name: string, cells: number[], digits: number) => [
    name,
    ...cells.map((n) => n.toFixed(digits)),
  ];
  const rows = [
    ["of one session", ...Object.keys(columns)],
    row(
      "events",
      all.map((c) => c.events),
      0,
    ),
    row(
      "seconds active",
      all.map((c) => c.active_s),
      1,
    ),
    row(
      "rows written",
      all.map((c) => c.rows_written),
      1,
    ),
    row(
      "rows read",
      all.map((c) => c.rows_read),
      0,
    ),
    row(
      "requests to objects",
      all.map((c) => c.object_requests),
      1,
    ),
    row(
      "alarms",
      all.map((c) => c.alarms),
      1,
    ),
    row(
      "messages on the socket",
      all.map((c) => c.socket_messages),
      1,
    ),
    row(
      "requests to the Worker",
      all.map((c) => c.worker_requests),
      1,
    ),
    row(
      "CPU ms of the Worker",
      all.map((c) => c.cpu_ms),
      0,
    ),
    row(
      "KB stored",
      all.map((c) => c.bytes / 1_000),
      0,
    ),
    ["$ for 1,000 sessions", ...all.map(() => "")],
    row(
      "time active",
      bills.map((b) => b.active),
      3,
    ),
    row(
      "rows",
      bills.map((b) => b.rows),
      3,
    ),
    row(
      "requests",
      bills.map((b) => b.requests),
      3,
    ),
    row(
      "CPU",
      bills.map((b) => b.cpu),
      3,
    ),
    row(
      "together",
      bills.map((b) => b.sum),
      2,
    ),
    row(
      "… awake through the wait",
      bills.map((b) => b.sum + awake(WAIT_S)),
      2,
    ),
    row(
      "stored, each month",
      bills.map((b) => b.stored),
      3,
    ),
  ];
  return rows
    .map(([name = "", ...cells]) => name.padEnd(28) + cells.map((c) => c.padStart(12)).join(""))
    .join("\n");
}

const folder = await mkdtemp(join(tmpdir(), "dormouse-bench-"));
const model = await startMockModel({ strict: false });
const programs = new Programs(folder, model);
try {
  const floor = await runFloor(programs, model, shape);
  const { counted, idle } = await runProduct(programs, model, shape);
  console.log(tableOf({ floor, dormouse: counted }));
  const spent = Object.entries(idle).filter(([, n]) => n !== 0);
  console.log(
    `${values["wait-seconds"]} s of waiting cost ${spent.length === 0 ? "nothing" : JSON.stringify(idle)}`,
  );
  if (values.json) {
    const numbers = { shape, floor, dormouse: counted, idle, usd: dollars(counted) };
    await writeFile(values.json, `${JSON.stringify(numbers, null, 2)}\n`);
  }
  const { sum } = dollars(counted);
  if (sum > GOAL_USD) console.log(`above the goal of $${GOAL_USD}`);
  process.exitCode = spent.length > 0 || sum > GOAL_USD ? 1 : 0;
} finally {
  await model.close();
  await rm(folder, { recursive: true, force: true });
}
