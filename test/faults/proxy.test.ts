/** A bare client behind the proxy, against every fault of what the model says; and what the same loop does alone. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { completedShare, playClients } from "./proxy-play.ts";
import { FaultyServer } from "./server.ts";

let server: FaultyServer;
beforeAll(async () => {
  server = await FaultyServer.start();
});
afterAll(() => server.close());

it("behind the proxy at least 95 % complete, none with wrong effects or words of a refused reply", async () => {
  const verdicts = await playClients(server, "proxy");
  const wrong = verdicts.filter((v) => v.wrong.length + v.wrongEffects.length > 0 || v.met === 0);
  expect(wrong).toEqual([]);
  const lost = verdicts.filter((v) => !v.completed);
  expect(completedShare(verdicts), JSON.stringify(lost)).toBeGreaterThanOrEqual(0.95);
  expect(Math.max(...verdicts.map((v) => v.extra))).toBeLessThanOrEqual(2);
}, 300_000);

it("alone fewer than half complete: the faults are felt", async () => {
  expect(completedShare(await playClients(server, "bare"))).toBeLessThan(0.5);
}, 300_000);
