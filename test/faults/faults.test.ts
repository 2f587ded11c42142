/** Each kind of fault, wherever it strikes; then many at once. `npm run test:faults` prints the table. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KINDS } from "./kinds.ts";
import { inParallel, playChaos, playKind, runsOf } from "./play.ts";
import { FaultyServer } from "./server.ts";

const CHAOS = 100;
let server: FaultyServer;
beforeAll(async () => {
  server = await FaultyServer.start();
});
afterAll(() => server.close());

describe.each(["transport", "content", "endpoint", "tool", "fatal", "for ever"])("%s", (group) => {
  it.each(KINDS.filter((k) => k.group === group).map((k) => [k.name, k] as const))(
    "%s",
    async (_, kind) => {
      const verdicts = await inParallel(runsOf(kind), 3, (run) => playKind(server, kind, ...run));
      const wrong = verdicts.filter((v) => v.wrong.length > 0);
      expect(wrong.map((v) => [v.size, v.position, v.format, ...v.wrong])).toEqual([]);
    },
    120_000,
  );
});

it("kinds have names of their own", () => {
  expect(new Set(KINDS.map((k) => k.name)).size).toBe(KINDS.length);
});

it(`${CHAOS} runs with up to 8 faults each`, async () => {
  const seeds = Array.from({ length: CHAOS }, (_, i) => i + 1);
  const runs = await inParallel(seeds, 4, (seed) => playChaos(server, seed));
  expect(runs.filter((r) => r.corrupted.length > 0)).toEqual([]);
  const lost = runs.filter((r) => !r.completed);
  expect(lost.length, JSON.stringify(lost)).toBeLessThanOrEqual(CHAOS / 100);
}, 120_000);
