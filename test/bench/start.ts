/**
 * What it costs to start, over an empty Worker; and what is uploaded. Three figures, because they mean different things:
 *
 *   load                   until it listens: every module is compiled and the global scope has run, which is what
 *                          Cloudflare calls start-up
 *   load, late parts empty the same without what is loaded late: what of it is the Worker's start alone
 *   first answer           from there to the first answer
 */
import { cp, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { PeerName, Programs } from "./contestants.ts";
import { type Figure, median } from "./figures.ts";
import { type Program, serve } from "./workerd.ts";

const STARTS = 11;
type Cost = Record<"load" | "answer", number>;

async function empty(programs: Programs): Promise<Program> {
  const dir = programs.state("empty");
  await writeFile(
    join(dir, "index.mjs"),
    'export default { fetch: () => new Response("{}") };\nexport class Nothing {}\n',
  );
  return { dir, start: ["index.mjs"], state: programs.state("nothing"), objects: {} };
}

const modulesOf = async ({ dir }: Program) =>
  (await readdir(dir, { recursive: true, encoding: "utf8" })).filter((f) => f.endsWith(".mjs"));

/** A copy whose late parts are there, and empty. */
async function withoutLate(program: Program): Promise<Program> {
  const dir = `${program.dir}-early`;
  await cp(program.dir, dir, { recursive: true });
  for (const file of await modulesOf(program))
    if (!program.start.includes(file)) await writeFile(join(dir, file), "export default 0;\n");
  return { ...program, dir };
}

async function startCost(program: Program): Promise<Cost> {
  const served = await serve(program);
  const answered = served.cpu();
  await served.close();
  return { load: served.loaded, answer: answered - served.loaded };
}

/** KiB, gzipped, of files of an upload. */
async function sizeOf({ dir }: Program, files: readonly string[]): Promise<number> {
  const sizes = files.map(async (f) => gzipSync(await readFile(join(dir, f))).length / 1024);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** Over those of an empty Worker, in turn with it. */
async function costsOf(programs: Programs, subjects: readonly Program[]): Promise<Cost[]> {
  const nothing = await empty(programs);
  const taken = subjects.map(() => [] as Cost[]);
  for (let i = 0; i < STARTS; i++) {
    const floor = await startCost(nothing);
    for (const [at, program] of subjects.entries()) {
      const { load, answer } = await startCost(program);
      taken[at]?.push({ load: load - floor.load, answer: answer - floor.answer });
    }
  }
  return taken.map((costs) => ({
    load: median(costs.map(({ load }) => load)),
    answer: median(costs.map(({ answer }) => answer)),
  }));
}

export async function measureStart(
  programs: Programs,
  peers: readonly PeerName[],
): Promise<Figure[]> {
  const named: [string, Program][] = [["dormouse", await programs.dormouse()]];
  for (const peer of peers) named.push([peer, await programs.peer(peer)]);
  const subjects: [string, Program, Program][] = [];
  for (const [name, program] of named) subjects.push([name, program, await withoutLate(program)]);
  const costs = await costsOf(
    programs,
    subjects.flatMap(([, whole, early]) => [whole, early]),
  );
  const figures: Figure[] = [];
  for (const [at, [harness, program]] of subjects.entries()) {
    const [whole, early] = [costs[at * 2] as Cost, costs[at * 2 + 1] as Cost];
    const start = { section: "Start over an empty Worker", harness, unit: "ms" } as const;
    const size = { section: "Upload, gzipped", harness, unit: "KiB" } as const;
    const [first, all] = [program.start, await modulesOf(program)];
    figures.push(
      { ...start, case: "load", value: whole.load },
      { ...start, case: "load, late parts empty", value: early.load },
      { ...start, case: "first answer", value: whole.answer },
      { ...size, case: "at the start", value: await sizeOf(program, first) },
      { ...size, case: "all parts", value: await sizeOf(program, all) },
    );
  }
  return figures;
}
