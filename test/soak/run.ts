/**
 * `npm run soak`: see docs/soak.md.
 *
 *   --sessions N         default 500
 *   --seed N             other chances, default 1
 *   --minutes N          what the whole may take, default 20
 *   --kills N            how often the server is killed, default one for each hundred sessions, at least one
 *   --storage-faults P   share of the transactions that break, default 0.002
 *   --json FILE          the table as JSON too
 *
 * Exits 1 when anything was lost, doubled, stuck or left over.
 */
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { soak } from "./soak.ts";

const { values } = parseArgs({
  options: {
    sessions: { type: "string", default: "500" },
    seed: { type: "string", default: "1" },
    minutes: { type: "string", default: "20" },
    kills: { type: "string" },
    "storage-faults": { type: "string", default: "0.002" },
    json: { type: "string" },
  },
});
const sessions = Number(values.sessions);
const kills = Number(values.kills ?? Math.max(1, Math.round(sessions / 100)));
const storageFaults = Number(values["storage-faults"]);
const [seed, minutes] = [Number(values.seed), Number(values.minutes)];
const whole = (n: number) => Number.isInteger(n) && n >= 0;
if (
  !(
    whole(sessions) &&
    sessions > 0 &&
    whole(kills) &&
    whole(seed) &&
    minutes > 0 &&
    storageFaults >= 0 &&
    storageFaults < 1
  )
) {
  console.error(
    "--sessions, --seed and --kills take whole numbers, --minutes one above 0, --storage-faults a share",
  );
  process.exit(2);
}

// The server goes with us, however we go.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
const report = await soak({
  ...{ sessions, seed, minutes, kills, storageFaults },
  rampMs: sessions * 60,
  say: (line) => console.error(line),
});
const width = Math.max(...report.rows.map(([name]) => name.length));
for (const [name, value] of report.rows)
  console.log(`${name.padEnd(width)}  ${String(value).padStart(8)}`);
for (const violation of report.violations.slice(0, 100)) console.log(`✗ ${violation}`);
console.log(`${report.violations.length} violations`);
if (values.json) await writeFile(values.json, `${JSON.stringify(report, null, 2)}\n`);
process.exit(report.violations.length === 0 ? 0 : 1);
