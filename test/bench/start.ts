/** What it costs to start: CPU until the first answer, over that of an empty Worker; and what is uploaded. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { PeerName, Programs } from "./contestants.ts";
import { type Figure, median } from "./figures.ts";
import { type Program, serve } from "./workerd.ts";

const STARTS = 11;

async function empty(programs: Programs): Promise<Program> {
  const dir = programs.state("empty");
  await writeFile(
    join(dir, "index.mjs"),
    'export default { fetch: () => new Response("{}") };\nexport class Nothing {}\n',
  );
  return { dir, state: programs.state("nothing"), objects: {} };
}

async function startCpu(program: Program): Promise<number> {
  const served = await serve(program);
  const cpu = served.cpu();
  await served.close();
  return cpu;
}

const gzipped = async (path: string) => gzipSync(await readFile(path)).length / 1024;

/** KiB of the whole upload. */
async function sizeOf({ dir }: Program): Promise<number> {
  const files = await readdir(dir, { recursive: true, encoding: "utf8" });
  const sizes = await Promise.all(
    files.filter((file) => file.endsWith(".mjs")).map((file) => gzipped(join(dir, file))),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

export async function measureStart(
  programs: Programs,
  peers: readonly PeerName[],
): Promise<Figure[]> {
  const nothing = await empty(programs);
  const subjects: [string, Program][] = [["dormouse", await programs.dormouse()]];
  for (const peer of peers) subjects.push([peer, await programs.peer(peer)]);
  const taken = new Map<string, number[]>(subjects.map(([name]) => [name, []]));
  for (let i = 0; i < STARTS; i++) {
    const floor = await startCpu(nothing);
    for (const [name, program] of subjects)
      taken.get(name)?.push((await startCpu(program)) - floor);
  }
  const figures: Figure[] = [];
  for (const [harness, program] of subjects) {
    const value = median(taken.get(harness) ?? []);
    const start = { section: "Start over an empty Worker", case: "CPU", harness, value };
    const size = { section: "Upload, gzipped", case: "all parts", harness };
    figures.push({ ...start, unit: "ms" }, { ...size, value: await sizeOf(program), unit: "KiB" });
  }
  return figures;
}
