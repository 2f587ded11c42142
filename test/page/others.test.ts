import { describe, expect, it } from "vitest";
import type { SessionInfo } from "../../src/core/wire.ts";
import { know, newlyWaiting } from "../../src/page/others.ts";

const session = (id: string, status: SessionInfo["status"], minute: number) =>
  ({
    id,
    status,
    updated_at: new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString(),
  }) as SessionInfo;
const news = (lists: SessionInfo[][]): string[][] => {
  const [first = [], ...rest] = lists;
  let known = know(first, null);
  return rest.map((list) => {
    const ids = newlyWaiting(known, list).map((s) => s.id);
    known = know(list, known);
    return ids;
  });
};

describe("sessions that begin to wait", () => {
  it("N1: are told once, and not those that waited from the beginning", () => {
    const before = [session("old", "waiting", 1), session("a", "running", 2)];
    const after = [session("old", "waiting", 1), session("a", "waiting", 3)];
    expect(news([before, after, after])).toEqual([["a"], []]);
  });

  it("N1: are told again when they wait again", () => {
    const at = (status: SessionInfo["status"], minute: number) => [session("a", status, minute)];
    const lists = [at("running", 1), at("waiting", 2), at("running", 3), at("waiting", 4)];
    expect(news(lists)).toEqual([["a"], [], ["a"]]);
  });

  it("N2: are told when they are new, not when a search or a longer list brings them in", () => {
    const a = session("a", "completed", 5);
    const old = session("old", "waiting", 1);
    const fresh = session("fresh", "waiting", 6);
    expect(news([[a], [a, old], [fresh, a, old], [old], [a]])).toEqual([[], ["fresh"], [], []]);
  });
});
