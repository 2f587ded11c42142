/**
 * A session that is over, played again: from its events to what was on screen at any moment.
 *
 * Y1  A moment's view is folded from the events before it, never from the views after it: going back is exact.
 * Y2  Long silences are shortened, so that a night of waiting is not a night of watching.
 */
import { EMPTY_VIEW, reduceAll, type View } from "../../client/index.ts";
import type { Event } from "../../core/events.ts";

/** A view is kept every so many events, so that jumping back costs little. */
const EVERY = 250;
const LONGEST_MS = 2_000;
const SHORTEST_MS = 60;

export interface Replay {
  length: number;
  /** After the first `n` events. */
  at(n: number): View;
  /** Milliseconds between event `n` and the next, at normal speed. */
  pause(n: number): number;
}

export function replayOf(events: readonly Event[]): Replay {
  const kept: View[] = [EMPTY_VIEW];
  let last = { n: 0, view: EMPTY_VIEW };
  const at = (wanted: number): View => {
    const n = Math.max(0, Math.min(wanted, events.length));
    const mark = Math.min(Math.floor(n / EVERY), kept.length - 1);
    let from = { n: mark * EVERY, view: kept[mark] ?? EMPTY_VIEW };
    if (last.n <= n && last.n > from.n) from = last;
    let { view } = from;
    for (let i = from.n; i < n; ) {
      const next = Math.min(n, i - (i % EVERY) + EVERY);
      view = reduceAll(view, events.slice(i, next));
      if (next % EVERY === 0) kept[next / EVERY] ??= view;
      i = next;
    }
    last = { n, view };
    return view;
  };
  const pause = (n: number): number => {
    const here = events[n - 1];
    const next = events[n];
    if (!here || !next) return SHORTEST_MS;
    const gap = Date.parse(next.ts) - Date.parse(here.ts);
    return Math.min(LONGEST_MS, Math.max(SHORTEST_MS, gap));
  };
  return { length: events.length, at, pause };
}
