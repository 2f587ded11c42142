import { describe, expect, it } from "vitest";
import { EMPTY_VIEW, reduceAll } from "../../src/client/index.ts";
import type { Event } from "../../src/core/events.ts";
import { replayOf } from "../../src/page/share/replay.ts";

const at = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms).toISOString();
const notes = (n: number): Event[] =>
  Array.from({ length: n }, (_, i) => ({
    type: "event",
    session_id: "s",
    seq: i + 1,
    ts: at(i * 500),
    event: "notice",
    data: { code: "x", text: `${i}` },
  }));

describe("a replay", () => {
  it("Y1: shows at every moment what the events before it say, forwards and backwards", () => {
    const events = notes(900);
    const replay = replayOf(events);
    for (const n of [0, 1, 249, 250, 251, 700, 899, 900, 400, 3, 900, 650]) {
      expect(replay.at(n)).toEqual(reduceAll(EMPTY_VIEW, events.slice(0, n)));
    }
    expect(replay.at(9_999)).toEqual(replay.at(900));
  });

  it("Y2: shortens a silence, and never hurries beyond what can be seen", () => {
    const [a, b, c] = notes(3);
    const events = [a, { ...b, ts: at(1) }, { ...c, ts: at(3_600_000) }] as Event[];
    const replay = replayOf(events);
    expect(replay.pause(1)).toBe(60);
    expect(replay.pause(2)).toBe(2_000);
  });
});
