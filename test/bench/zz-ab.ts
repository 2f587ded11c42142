// node zz-ab.ts rounds steps[,steps] entry=path ...
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Contestant,
  nameOf,
  newSession,
  Programs,
  sampleRequest,
  startFloor,
  work,
} from "./contestants.ts";
import { startInstantModel } from "./instant-model.ts";
import { inTurn } from "./loop.ts";
import { bundle, serve } from "./workerd.ts";

const [rounds, lens, ...entries] = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), "dab-"));
const model = await startInstantModel();
const programs = new Programs(folder, model);
const cs: Contestant[] = [];
for (const e of entries) {
  const [name, path, ...vars] = e.split("=");
  const base = await programs.dormouse();
  const dir = join(folder, "v-" + name);
  await bundle(path!, dir);
  const p = {
    ...base,
    dir,
    state: programs.state("v-" + name),
    vars: { ...base.vars, ...(vars.length ? { [vars[0]!]: vars[1]! } : {}) },
  };
  const served = await serve(p);
  cs.push({
    name: name!,
    served,
    async run(l) {
      const n = nameOf(l);
      await work(served, await newSession(served, n), model, n);
    },
  });
}
const like = await sampleRequest(model, cs[0]!);
cs.unshift(await startFloor(programs, like));
for (const c of cs) for (let i = 0; i < 2; i++) await c.run({ steps: 300 });
const cpu = async (c: Contestant, n: number, l: any) => {
  const a = c.served.cpu();
  for (let i = 0; i < n; i++) await c.run(l);
  return c.served.cpu() - a;
};

import { exported, longSession } from "./log.ts";
import { measureFanOut } from "./sockets.ts";

if (lens === "fan") {
  const lines = await exported(cs[1]!.served, model);
  const log = await longSession(cs[1]!.served, lines, 1000);
  for (let i = 0; i < Number(rounds); i++)
    for (const c of cs.slice(1)) {
      const f = await measureFanOut({ dormouse: c.served, floor: cs[0]!.served, model }, log, 1);
      console.log(
        c.name,
        JSON.stringify(
          f
            .filter((x: any) => /100|^1 s/.test(x.case))
            .map((x: any) => [x.case, x.name ?? x.contestant, x.median ?? x.value, x]),
        ),
      );
    }
  process.exit(0);
}
for (const len of lens!.split(",")) {
  const [steps, deltas] = len.split("x").map(Number);
  const got = await inTurn(cs, Number(rounds), async (c) => {
    if (deltas) {
      const q = await cpu(c, 8, { steps });
      const t = await cpu(c, 8, { steps, deltas });
      return ((t - q) / 8 / steps! / deltas) * 1000;
    }
    const n = Math.ceil(1000 / steps!);
    const s = await cpu(c, n, { steps: 2 });
    const l = await cpu(c, n, { steps });
    return (l - s) / (n * (steps! - 2));
  });
  const med = (a: number[]) => a.toSorted((x, y) => x - y)[a.length >> 1]!;
  const fl = got.get("floor")!;
  for (const [name, v] of got)
    console.log(
      len,
      name.padEnd(10),
      v.map((x) => x.toFixed(2)).join(" "),
      "median",
      med(v).toFixed(3),
      "ratio",
      med(v.map((x, i) => x / fl[i]!)).toFixed(2),
      "min",
      Math.min(...v).toFixed(3),
      "minratio",
      (Math.min(...v) / Math.min(...fl)).toFixed(2),
    );
}
for (const c of cs) await c.served.close();
await model.close();
await rm(folder, { recursive: true, force: true });
process.exit(0);
