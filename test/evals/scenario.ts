/**
 * One evaluation: a scripted model, what people do meanwhile, and exact expectations of what comes of it.
 *
 * V1  Every scenario uses its whole script and passes both oracles; that is checked for all, not written in each.
 * V2  An expectation is a number or a word that a reader can verify by counting the script.
 */
import type { Event } from "../../src/core/events.ts";
import type { Harness, Options } from "../fakes.ts";
import type { Counts } from "./metrics.ts";

export interface Scenario {
  /** As `--scenario` takes it. */
  name: string;
  /** What a person would see, in a sentence. */
  about: string;
  options: Options;
  play(h: Harness): Promise<unknown>;
  /** `error_events` is expected to be 0 where nothing else is said. */
  expect: Partial<Counts>;
  /** Further faults, in words; empty when all is well. */
  also?(h: Harness): string[];
}

/** A fault when two values differ, with both in it. */
export const same = (what: string, actual: unknown, expected: unknown): string[] =>
  JSON.stringify(actual) === JSON.stringify(expected)
    ? []
    : [`${what}: expected ${JSON.stringify(expected)}, was ${JSON.stringify(actual)}`];

/** The last text that the assistant handed over at the end of a turn. */
export const finalText = (h: Harness): string =>
  h.of("message").findLast((m) => m.kind === "final" || m.kind === "answer")?.content ?? "";

/** Positions of events in the log. */
export const positions = (h: Harness, wanted: (e: Event) => boolean): number[] =>
  h.events.flatMap((e, i) => (wanted(e) ? [i] : []));
