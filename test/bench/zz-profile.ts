import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nameOf, newSession, Programs, work } from "./contestants.ts";
import { startInstantModel } from "./instant-model.ts";
import { serve } from "./workerd.ts";

const steps = Number(process.argv[2] ?? 1500);
const runs = Number(process.argv[3] ?? 1);
const folder = await mkdtemp(join(tmpdir(), "dprof-"));
const model = await startInstantModel();
const programs = new Programs(folder, model);
process.env.BENCH_INSPECT = "127.0.0.1:9333";
const served = await serve(await programs.dormouse());
const list = (await (await fetch("http://127.0.0.1:9333/json")).json()) as any[];
const ws = new WebSocket(
  list.find((t) => /main/.test(t.id + t.title))?.webSocketDebuggerUrl ??
    list[0].webSocketDebuggerUrl,
);
await new Promise((r) => ws.addEventListener("open", r));
let n = 0;
const waits = new Map<number, (v: any) => void>();
ws.addEventListener("message", (m) => {
  const d = JSON.parse(String(m.data));
  if (d.id) waits.get(d.id)?.(d);
});
const send = (method: string, params: any = {}) =>
  new Promise<any>((r) => {
    const id = ++n;
    waits.set(id, r);
    ws.send(JSON.stringify({ id, method, params }));
  });
const one = async (s: number) => {
  const name = nameOf({ steps: s });
  await work(served, await newSession(served, name), model, name);
};
for (let i = 0; i < 3; i++) await one(200);
await send("Profiler.enable");
await send("Profiler.setSamplingInterval", { interval: 200 });
await send("Profiler.start");
const c0 = served.cpu();
for (let i = 0; i < runs; i++) await one(steps);
console.log("cpu per step", (served.cpu() - c0) / steps / runs);
const { result } = await send("Profiler.stop");
await writeFile("/tmp/me/prof.json", JSON.stringify(result.profile));
ws.close();
await served.close();
await model.close();
await rm(folder, { recursive: true, force: true });
const p = result.profile;
const self = new Map<string, number>();
const dt = p.timeDeltas;
const byId = new Map<number, any>(p.nodes.map((x: any) => [x.id, x]));
let total = 0;
p.samples.forEach((id: number, i: number) => {
  const nd = byId.get(id);
  const f = nd.callFrame;
  const k = `${f.functionName || "(anon)"} ${f.url.split("/").pop()}:${f.lineNumber}:${f.columnNumber}`;
  self.set(k, (self.get(k) ?? 0) + dt[i]);
  total += dt[i];
});
for (const [k, v] of [...self].sort((a, b) => b[1] - a[1]).slice(0, 45))
  console.log(((v / 1000 / steps / runs) * 1000).toFixed(1).padStart(8), "µs/step", k);
process.exit(0);
