/**
 * Every test: vitest (core in Node, worker in workerd), then Node's own runner for what needs a real process.
 * Ends with "N passed, N failed" alone on a line; what was skipped stands on a line before it. Exits 1 when nothing
 * passed, anything failed, a report is missing, or a runner failed without saying so.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";

interface Tally {
  passed: number;
  failed: number;
  skipped: number;
}
interface VitestReport {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: { status: string; assertionResults: unknown[] }[];
}

const DIR = "test-results";
const VITEST = `${DIR}/vitest.json`;
const NODE = `${DIR}/node.xml`;

function run(command: string, args: string[]): number {
  const env = {
    ...process.env,
    WRANGLER_SEND_METRICS: "false",
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
  };
  return spawnSync(command, args, { stdio: "inherit", env }).status ?? 1;
}

function report(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    console.error(`no report at ${file}`);
    return "";
  }
}

function readVitest(text: string): Tally {
  const r = JSON.parse(text) as VitestReport;
  // A file that does not load has no tests: the file itself counts.
  const unloaded = r.testResults.filter((f) => f.status === "failed" && !f.assertionResults.length);
  return {
    passed: r.numPassedTests,
    failed: r.numFailedTests + unloaded.length,
    skipped: r.numPendingTests + r.numTodoTests,
  };
}

function readJunit(text: string): Tally {
  const n = (name: string) => Number(new RegExp(`<!-- ${name} (\\d+) -->`).exec(text)?.[1] ?? 0);
  return {
    passed: n("pass"),
    failed: n("fail") + n("cancelled"),
    skipped: n("skipped") + n("todo"),
  };
}

function tally(status: number, file: string, read: (text: string) => Tally): Tally {
  const text = report(file);
  const found = text ? read(text) : { passed: 0, failed: 0, skipped: 0 };
  // An unhandled error fails a runner's exit status, but not its report.
  const silent = (status !== 0 || !text) && found.failed === 0;
  return silent ? { ...found, failed: 1 } : found;
}

rmSync(DIR, { recursive: true, force: true });
mkdirSync(DIR, { recursive: true });
const vitest = run("vitest", [
  "run",
  "--reporter=default",
  "--reporter=json",
  `--outputFile.json=${VITEST}`,
]);
// Three files at once on two cores: much of their time they wait, for a crash to be noticed or an object to fall asleep.
const node = run("node", [
  "--no-warnings",
  "--test",
  "--test-concurrency=3",
  "--test-reporter=spec",
  "--test-reporter-destination=stdout",
  "--test-reporter=junit",
  `--test-reporter-destination=${NODE}`,
  "test/e2e/*.test.ts",
]);
const parts = [tally(vitest, VITEST, readVitest), tally(node, NODE, readJunit)];
const sum = (key: keyof Tally) => parts.reduce((n, part) => n + part[key], 0);
if (sum("skipped") > 0) console.log(`${sum("skipped")} skipped`);
console.log(`${sum("passed")} passed, ${sum("failed")} failed`);
process.exit(sum("passed") > 0 && sum("failed") === 0 ? 0 : 1);
