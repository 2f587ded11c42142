/** A small soak: every kind of scenario once, with everything in trouble and the server killed in the middle. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { SCENARIOS } from "../soak/scenarios.ts";
import { soak } from "../soak/soak.ts";

void test("nothing is lost, doubled or left over when models, tools, storage and the server fail", async () => {
  const { violations, rows } = await soak({
    sessions: SCENARIOS.length,
    ...{ seed: 1, kills: 1, storageFaults: 0.01, minutes: 5, rampMs: 500 },
  });
  assert.deepEqual(violations, []);
  const table = new Map(rows);
  assert.equal(table.get("kills of the server"), 1);
  assert.ok(Number(table.get("turns completed")) > 0);
  assert.ok(Number(table.get("effects, each once")) > 0);
});
