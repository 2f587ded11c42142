/**
 * Calls that bring nothing new.
 *
 * N1  A read that was made before in this step, with no effect since, is not run: its result is given again.
 * N2  The same effectful call with the same result, a third time in a row, is nudged; it still runs.
 * N3  Replies that bring nothing else, `stagnationLaps` in a row, take the tools away but the terminal ones.
 * N4  Tools whose result changes by itself are exempt.
 * N5  An effect is named by session, turn, step, tool, arguments and how often it had a known result: repeated
 *     because its outcome was unknown, it keeps its name.
 */

import type { Batch, Call } from "./call.ts";
import { canonicalJson } from "./hygiene.ts";
import type { State } from "./session.ts";
import type { JsonObject, ToolResult } from "./tool.ts";

/** Reads remembered at the most. */
const KEPT = 300;
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

type Tracked = Pick<State, "seen" | "known" | "same" | "laps">;

/** The row of the result that a read would only repeat. */
export const repeats = (
  s: Tracked,
  call: Pick<Call, "effect" | "volatile" | "key">,
): number | undefined =>
  call.effect || call.volatile ? undefined : s.seen.find(([key]) => key === call.key)?.[1];

/** Names one effect of one step: a call that is repeated because its outcome was unknown has the same name. */
export const onceKey = (
  s: Pick<State, "id" | "run" | "known">,
  step: string,
  key: string,
): string => fingerprint(`${s.id} ${s.run} ${step} ${key} ${s.known[key] ?? 0}`);

/** Takes in a result of a work call; true: it is the same effect with the same result too often. */
export function noteResult(s: Tracked, call: Call, { ok, text, unknown }: ToolResult): boolean {
  if (call.key === undefined) return false;
  if (call.effect && !unknown) {
    s.known = { ...s.known, [call.key]: (s.known[call.key] ?? 0) + 1 };
  }
  if (call.volatile) return false;
  if (!call.effect) {
    if (ok) s.seen = [...s.seen, [call.key, call.row] as [string, number]].slice(-KEPT);
    return false;
  }
  // It may have changed anything, failed or not.
  s.seen = [];
  const result = fingerprint(text);
  const again = s.same?.key === call.key && s.same.result === result;
  s.same = { key: call.key, result, count: again ? (s.same?.count ?? 0) + 1 : 1 };
  return s.same.count >= TOO_OFTEN;
}

/** Counts a reply whose calls have ended. */
export function countLap(s: Tracked, batch: Batch): void {
  const work = batch.calls.filter((c) => c.kind === "work" || c.kind === "copy");
  if (work.length === 0) return;
  s.laps = work.every((c) => c.kind === "copy" || c.stale === true) ? s.laps + 1 : 0;
}
