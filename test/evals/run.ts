/**
 * `npm run evals`: drives the real flow with scripted models and scores what comes of it.
 *
 *   --scenario NAME   only this one; may be given more than once
 *   --json FILE       the scores as JSON too
 *
 * Ends with 0 when every scenario passed, 1 when one failed, 2 when none matched or an option is unknown.
 */
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Harness } from "../fakes.ts";
import { type Metrics, metricsOf } from "./metrics.ts";
import { type Scenario, same } from "./scenario.ts";
import { SCENARIOS } from "./scenarios.ts";
import { tableOf } from "./table.ts";

export interface Score extends Metrics {
  name: string;
  passed: boolean;
  /** Expectations that were not met, in words. */
  check_failures: string[];
}

export async function play(scenario: Scenario): Promise<Score> {
  const h = new Harness(scenario.options);
  const broken: string[] = [];
  try {
    await scenario.play(h);
  } catch (error) {
    broken.push(`it threw: ${error instanceof Error ? error.message : String(error)}`);
  }
  const metrics = metricsOf(h);
  const expected = { error_events: 0, ...scenario.expect };
  const check_failures = [
    ...broken,
    ...Object.entries(expected).flatMap(([name, value]) =>
      same(name, metrics[name as keyof Metrics], value),
    ),
    ...(broken.length > 0 ? [] : (scenario.also?.(h) ?? [])),
    ...metrics.oracle_faults,
  ];
  const passed = check_failures.length === 0;
  return { name: scenario.name, passed, ...metrics, check_failures };
}

const OPTIONS = {
  json: { type: "string" },
  scenario: { type: "string", multiple: true },
} as const;

function optionsOf(argv: string[]): { json?: string; scenario?: string[] } | string {
  try {
    return parseArgs({ args: argv, options: OPTIONS }).values;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The exit code; `print` gets what belongs on the screen. */
export async function runEvals(
  argv: string[],
  scenarios: readonly Scenario[] = SCENARIOS,
  print: (text: string) => void = console.log,
): Promise<number> {
  const options = optionsOf(argv);
  if (typeof options === "string") {
    print(options);
    return 2;
  }
  const { json, scenario: names } = options;
  const chosen = scenarios.filter((s) => !names || names.includes(s.name));
  const unknown = names?.filter((name) => !scenarios.some((s) => s.name === name)) ?? [];
  if (chosen.length === 0 || unknown.length > 0) {
    print(`No scenario matches ${unknown.join(", ")}.`);
    print(`There are: ${scenarios.map((s) => s.name).join(", ")}`);
    return 2;
  }
  const scores: Score[] = [];
  for (const scenario of chosen) scores.push(await play(scenario));
  print(tableOf(scores));
  const failed = scores.filter((s) => !s.passed);
  for (const { name, check_failures } of failed) {
    for (const failure of check_failures) print(`${name}: ${failure}`);
  }
  print(`${scores.length - failed.length} of ${scores.length} passed`);
  if (json) await writeFile(json, `${JSON.stringify({ scenarios: scores }, null, 2)}\n`);
  return failed.length > 0 ? 1 : 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.exitCode = await runEvals(process.argv.slice(2));
}
