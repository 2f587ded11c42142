/**
 * What has succeeded so far, outside of the model's view: required steps and prerequisites are held against it.
 *
 * K1  Only successes count, and only as of before the reply that is judged.
 * K2  A prerequisite that matches on an argument wants deep JSON equality; an argument that is missing never matches.
 */

import type { Done } from "./call.ts";
import { fingerprint } from "./duplicates.ts";
import { canonicalJson } from "./hygiene.ts";
import type { Harness } from "./settings.ts";
import type { JsonObject } from "./tool.ts";

/** Successes kept at the most; an endless session forgets the oldest. */
const KEPT = 200;

/** The arguments that a prerequisite may match on, of any tool. */
const matched = (harness: Harness): Set<string> =>
  new Set(
    Object.values(harness.toolPrerequisites)
      .flat()
      .flatMap((p) => (p.matchArg === undefined ? [] : [p.matchArg])),
  );

/** A value as it is compared: short ones as canonical JSON, long ones by their fingerprint. */
function comparable(value: unknown): string {
  const json = canonicalJson(value);
  return json.length <= 200 ? json : fingerprint(json);
}

/** What is recorded of a call when it succeeds. */
export function entryOf(harness: Harness, tool: string, args: JsonObject): Done {
  const names = [...matched(harness)].filter((name) => Object.hasOwn(args, name));
  return { tool, args: Object.fromEntries(names.map((name) => [name, comparable(args[name])])) };
}

export function record(done: Done[], entry: Done): Done[] {
  const same = (d: Done) =>
    d.tool === entry.tool && canonicalJson(d.args) === canonicalJson(entry.args);
  return done.some(same) ? done : [...done, entry].slice(-KEPT);
}

/** Required steps that have not succeeded yet. */
export const missingSteps = (done: readonly Done[], harness: Harness): string[] =>
  harness.requiredSteps.filter((tool) => !done.some((d) => d.tool === tool));

/** The first prerequisite of a call that is not met; null: none. */
export function unmet(
  done: readonly Done[],
  harness: Harness,
  tool: string,
  args: JsonObject,
): { tool: string; matchArg?: string | undefined } | null {
  const wanted = Object.hasOwn(harness.toolPrerequisites, tool)
    ? harness.toolPrerequisites[tool]
    : undefined;
  const met = (p: { tool: string; matchArg?: string | undefined }): boolean => {
    const { matchArg } = p;
    if (matchArg === undefined) return done.some((d) => d.tool === p.tool);
    if (!Object.hasOwn(args, matchArg)) return false;
    const value = comparable(args[matchArg]);
    return done.some((d) => d.tool === p.tool && d.args[matchArg] === value);
  };
  return wanted?.find((p) => !met(p)) ?? null;
}
