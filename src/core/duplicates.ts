/**
 * Calls that bring nothing new.
 *
 * N1  A read that was made before in this step, with no effect and no word from a person since, is not run: its
 *     result is given again, unless requests only show a part of it.
 * N2  The same effectful call with the same result, a third time in a row, is nudged; it still runs.
 * N3  Replies that bring nothing else, `stagnationLaps` in a row, take the tools away but the terminal ones.
 * N4  Tools whose result changes by itself are exempt.
 * N5  An effect is named by session, turn, step, tool, arguments and how often it had a known result: repeated
 *     because its outcome was unknown, it keeps its name.
 */

import type { Batch, Call } from "./call.ts";
import { canonicalJson } from "./hygiene.ts";
import type { MemoryName } from "./memory.ts";
import type { State } from "./session.ts";
import type { JsonObject, ToolResult } from "./tool.ts";

/** Reads remembered at the most: they are written with every commit. */
const KEPT = 100;
/** Effects remembered at the most, for their names. */
const EFFECTS = 1_000;
/** The same effect with the same result, so often in a row, is too often. */
const TOO_OFTEN = 3;

/** 106 bits of two mixed hashes: short enough for the head, long enough never to meet by chance. */
export function fingerprint(text: string): string {
  const mix = (seed: number): number => {
    let a = 0xdeadbeef ^ seed;
    let b = 0x41c6ce57 ^ seed;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      a = Math.imul(a ^ unit, 2654435761);
      b = Math.imul(b ^ unit, 1597334677);
    }
    a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
    b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
    return 4294967296 * (2097151 & b) + (a >>> 0);
  };
  return `${mix(1).toString(36)}.${mix(2).toString(36)}`;
}

/** What a call is, whatever the order of its arguments and however its label is worded. */
export function callKey(name: string, args: JsonObject): string {
  const { brief: _, ...rest } = args;
  return fingerprint(`${name} ${canonicalJson(rest)}`);
}

type Tracked = Pick<State, "seen" | "known" | "same" | "laps" | "id" | "run" | "compacted">;

/** The row of the result that a read would only repeat. One that requests show shortened is worth another look. */
export function repeats(s: Tracked, call: Call, memory: MemoryName): number | undefined {
  if (call.effect || call.volatile) return undefined;
  const row = s.seen.find(([key]) => key === call.key)?.[1];
  const boundary = s.compacted[memory];
  const shortened =
    row !== undefined && boundary && row < Math.max(boundary.before, boundary.tight);
  return shortened ? undefined : row;
}

const place = (step: string, key: string): string => `${step} ${key}`;

/** Names one effect of one step: a call that is repeated because its outcome was unknown has the same name. */
export const onceKey = (s: Tracked, step: string, key: string): string =>
  fingerprint(
    `${s.id} ${s.run} ${place(step, key)} ${s.known[place(step, key)] ?? 0} ${s.known[""] ?? 0}`,
  );

/** An effect has had a known result. The oldest are forgotten; that they were keeps later names apart from theirs. */
function advance(s: Tracked, step: string, key: string): void {
  const at = place(step, key);
  const known = { ...s.known, [at]: (s.known[at] ?? 0) + 1 };
  const oldest = Object.keys(known).find((k) => k !== "" && k !== at);
  if (Object.keys(known).length > EFFECTS && oldest !== undefined) {
    delete known[oldest];
    known[""] = (known[""] ?? 0) + 1;
  }
  s.known = known;
}

/** Takes in a result of a work call; true: it is the same effect with the same result too often. */
export function noteResult(
  s: Tracked,
  call: Call,
  step: string,
  { ok, text, unknown }: ToolResult,
): boolean {
  if (call.key === undefined) return false;
  if (call.effect && !unknown) advance(s, step, call.key);
  if (!call.effect && !call.volatile) {
    if (ok) s.seen = [...s.seen, [call.key, call.row] as [string, number]].slice(-KEPT);
    s.same = null;
    return false;
  }
  // It may have changed anything, failed or not; what changes by itself shows that time has passed.
  s.seen = [];
  if (call.volatile) {
    s.same = null;
    return false;
  }
  const result = fingerprint(text);
  const again = s.same?.key === call.key && s.same.result === result;
  s.same = { key: call.key, result, count: again ? (s.same?.count ?? 0) + 1 : 1 };
  return s.same.count >= TOO_OFTEN;
}

/** Counts a reply whose calls have ended. One that only spoke, or only called what is not there, is half a lap. */
export function countLap(s: Tracked, batch: Batch): void {
  const work = batch.calls.filter((c) => c.kind === "work" || c.kind === "copy");
  if (work.some((c) => c.kind === "work" && c.stale !== true)) s.laps = 0;
  else s.laps += work.length > 0 ? 1 : 0.5;
}
