/**
 * Every kind of fault at the first, a middle and the last model call, then chaos; prints a table. Then all of them
 * once more with the ledger behind an MCP server, and the faults of such a server.
 *
 *   node --no-warnings test/faults/run.ts [--chaos N] [--seed S] [--kind NAME] [--json FILE] [--proxy] [--mcp]
 *
 * `--kind` plays the kinds whose name holds NAME, and no chaos unless it is asked for. `--proxy` plays the content
 * kinds on a bare client instead, alone and behind the proxy; `--mcp` plays the MCP part alone. Exits 1 on anything wrong.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { McpServer } from "../support/mcp-server.ts";
import type { Kind } from "./kind.ts";
import { KINDS } from "./kinds.ts";
import { MCP } from "./kinds-mcp.ts";
import {
  type ChaosVerdict,
  inParallel,
  playChaos,
  playKind,
  runsOf,
  type Verdict,
} from "./play.ts";
import { completedShare, playClients } from "./proxy-play.ts";
import { FaultyServer } from "./server.ts";

const WIDTH = 4;
const { values } = parseArgs({
  options: {
    chaos: { type: "string" },
    seed: { type: "string", default: "1" },
    kind: { type: "string" },
    json: { type: "string" },
    proxy: { type: "boolean", default: false },
    mcp: { type: "boolean", default: false },
  },
});
const asked = (k: Kind): boolean => !values.kind || k.name.includes(values.kind);
const kinds = KINDS.filter(asked);
const chaosRuns = Number(values.chaos ?? (values.kind ? 0 : 500));

const server = await FaultyServer.start();

/** A bare client, alone and behind the proxy; what the proxy leaves undone is listed. */
async function clients(): Promise<boolean> {
  const bare = await playClients(server, "bare", kinds);
  const behind = await playClients(server, "proxy", kinds);
  for (const [way, all] of [["bare", bare] as const, ["behind the proxy", behind] as const]) {
    const done = all.filter((v) => v.completed).length;
    const spoilt = all.filter((v) => v.wrongEffects.length > 0).length;
    const percent = (100 * completedShare(all)).toFixed(1);
    console.log(`${way}: ${done} of ${all.length} (${percent} %), ${spoilt} with wrong effects`);
  }
  const wrong = behind.filter((v) => v.wrong.length + v.wrongEffects.length > 0);
  for (const v of behind.filter((b) => !b.completed || wrong.includes(b))) {
    console.log(`\n${v.kind} · ${v.position} · ${v.format}: ${v.outcome}`);
    for (const w of [...v.wrongEffects, ...v.wrong]) console.log(`  WRONG ${w}`);
  }
  if (values.json) writeFileSync(values.json, JSON.stringify({ bare, behind }, null, 2));
  return wrong.length === 0 && completedShare(behind) >= 0.95;
}
if (values.proxy) {
  const good = await clients();
  await server.close();
  process.exit(good ? 0 : 1);
}

const seeds = Array.from({ length: chaosRuns }, (_, i) => Number(values.seed) + i);
const play = (of: readonly Kind[], mcp?: McpServer): Promise<Verdict[]> => {
  const runs = of.flatMap((kind) => runsOf(kind).map((run) => ({ kind, run })));
  return inParallel(runs, WIDTH, ({ kind, run }) => playKind(server, kind, ...run, mcp));
};
function tellWrong(of: Verdict[]): Verdict[] {
  const wrong = of.filter((v) => v.wrong.length > 0);
  for (const v of wrong) {
    console.log(`\nWRONG ${v.kind} · ${v.size} · ${v.position} · ${v.format}`);
    for (const w of v.wrong) console.log(`  ${w}`);
  }
  return wrong;
}
/** What many faults at once came to; true: nothing was corrupted, and nearly all completed. */
async function chaosOf(mcp?: McpServer): Promise<{ good: boolean; runs: ChaosVerdict[] }> {
  const runs = await inParallel(seeds, WIDTH, (seed) => playChaos(server, seed, mcp));
  const completed = runs.filter((c) => c.completed).length;
  const corrupted = runs.filter((c) => c.corrupted.length > 0);
  for (const c of runs.filter((v) => !v.completed || v.corrupted.length > 0)) {
    console.log(`\nchaos seed ${c.seed}: ${c.outcome}\n  ${c.faults.join(" · ")}`);
    for (const w of c.corrupted) console.log(`  CORRUPTED ${w}`);
  }
  if (chaosRuns > 0) {
    const share = ((100 * completed) / chaosRuns).toFixed(1);
    console.log(
      `\nchaos: ${completed} of ${chaosRuns} completed (${share} %), ${corrupted.length} corrupted`,
    );
  }
  const enough = chaosRuns === 0 || completed / chaosRuns >= 0.99;
  return { good: corrupted.length === 0 && enough, runs };
}

/** The ledger behind an MCP server: every fault of models and tools, and those of the server. */
async function behindMcp(): Promise<boolean> {
  const mcp = await McpServer.start();
  console.log("\nThe ledger behind an MCP server");
  const all = await play([...MCP.filter(asked), ...kinds], mcp);
  const wrong = tellWrong(all);
  const own = all.filter((v) => v.group === "mcp");
  const exact = all.filter((v) => v.effects === (v.size === "big" ? 2 : 1)).length;
  console.log(
    `\n${all.length} runs (${own.length} with faults of the server), ${wrong.length} wrong; ` +
      `${exact} with exactly one record for each that was asked for; faults of the server cost at most ` +
      `${Math.max(0, ...own.map((v) => v.extra))} extra model requests`,
  );
  const { good } = await chaosOf(mcp);
  await mcp.close();
  return wrong.length === 0 && good;
}
if (values.mcp) {
  const good = await behindMcp();
  await server.close();
  process.exit(good ? 0 : 1);
}

const verdicts = await play(kinds);

/** `outcome requests(+extra) effects`, formats joined. */
function cell(of: Verdict[]): string {
  if (of.length === 0) return "–";
  const requests = Math.max(...of.map((v) => v.requests));
  const extra = Math.max(...of.map((v) => v.extra));
  const outcomes = [...new Set(of.map((v) => v.outcome))].join("/");
  const effects = [...new Set(of.map((v) => v.effects))].join("/");
  const short = outcomes === "completed" ? "ok" : outcomes;
  return `${of.some((v) => v.wrong.length > 0) ? "WRONG " : ""}${short} ${requests} (${extra >= 0 ? "+" : ""}${extra}) ${effects}`;
}
const rows = kinds.flatMap((kind) =>
  (["big", "small"] as const).map((size) => {
    const mine = verdicts.filter((v) => v.kind === kind.name && v.size === size);
    const at = (p: string) => cell(mine.filter((v) => v.position === p));
    return [kind.group, kind.name, size, at("first"), at("middle"), at("last")];
  }),
);
const heads = ["group", "kind", "task", "first", "middle", "last"];
const widths = heads.map((h, i) => Math.max(h.length, ...rows.map((r) => (r[i] ?? "").length)));
const line = (r: string[]) =>
  r
    .map((c, i) => c.padEnd(widths[i] ?? 0))
    .join("  ")
    .trimEnd();
console.log(
  "outcome, model requests (extra; for loud kinds: requests that met the fault), effects\n",
);
console.log(line(heads));
for (const row of rows) console.log(line(row));

const wrong = tellWrong(verdicts);
const mended = verdicts.filter((v) => !["fatal", "for ever"].includes(v.group));
const most = (of: Verdict[], by: (v: Verdict) => number) => Math.max(0, ...of.map(by));
const small = mended.filter((v) => v.size === "small");
console.log(
  `\n${kinds.length} kinds, ${verdicts.length} runs, ${wrong.length} wrong; of ${mended.length} that can complete ` +
    `${mended.filter((v) => v.outcome === "completed").length} did; at most ${most(small, (v) => v.requests)} requests ` +
    `for the small task, ${most(mended, (v) => v.extra)} extra; fatal kinds met at most ` +
    `${most(
      verdicts.filter((v) => v.group === "fatal"),
      (v) => v.extra,
    )} requests`,
);

const chaos = await chaosOf();
if (values.json)
  writeFileSync(values.json, JSON.stringify({ verdicts, chaos: chaos.runs }, null, 2));
const behind = await behindMcp();
await server.close();
process.exit(wrong.length === 0 && chaos.good && behind ? 0 : 1);
