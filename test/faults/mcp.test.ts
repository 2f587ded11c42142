/**
 * The ledger behind a real MCP server: each fault of such a server, with keys claimed and not, then a sample of all
 * the other kinds, then many at once. `npm run test:faults -- --mcp` plays them all.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { McpServer } from "../support/mcp-server.ts";
import { KINDS } from "./kinds.ts";
import { MCP } from "./kinds-mcp.ts";
import { inParallel, playChaos, playKind, runsOf } from "./play.ts";
import { FaultyServer } from "./server.ts";

const CHAOS = 15;
/** Of the kinds that strike models and tools, each so many-th. */
const EACH = 15;
let model: FaultyServer;
let mcp: McpServer;
beforeAll(async () => {
  model = await FaultyServer.start();
  mcp = await McpServer.start();
});
afterAll(async () => {
  await model.close();
  await mcp.close();
});

const sample = KINDS.filter((_, i) => i % EACH === 0);
describe.each([
  ["faults of the server", MCP],
  ["faults of models and tools", sample],
] as const)("exactly one right record: %s", (_, kinds) => {
  it.each(kinds.map((kind) => [kind.name, kind] as const))(
    "%s",
    async (_, kind) => {
      const runs = runsOf(kind).filter(([size]) => size === (kind.size ?? "big"));
      const verdicts = await inParallel(runs, 3, (run) => playKind(model, kind, ...run, mcp));
      const wrong = verdicts.filter((v) => v.wrong.length > 0);
      expect(wrong.map((v) => [v.size, v.position, v.format, ...v.wrong])).toEqual([]);
    },
    120_000,
  );
});

it(`${CHAOS} runs with up to 8 faults each`, async () => {
  const seeds = Array.from({ length: CHAOS }, (_, i) => i + 1);
  const runs = await inParallel(seeds, 4, (seed) => playChaos(model, seed, mcp));
  expect(runs.filter((r) => r.corrupted.length > 0)).toEqual([]);
  const lost = runs.filter((r) => !r.completed);
  expect(lost.length, JSON.stringify(lost)).toBeLessThanOrEqual(1);
}, 120_000);
