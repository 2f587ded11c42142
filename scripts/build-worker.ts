/**
 * Bundles src/index.ts into dist/worker/: index.mjs with what every request needs, parts/ for what is loaded when it is
 * first needed (the embedded shell, the reader of web pages, MCP, …). Wrangler bundles into one file, all of which a
 * Worker has to compile before it starts; so deployments take these files instead (`wrangler deploy --no-bundle`). Dev
 * and tests take src/index.ts as it is, but for test/e2e/deployed.test.ts. Fails when the start has grown beyond its budget.
 */
import { readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";
import { startOf, workerBuild } from "./worker-build.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const OUT = "dist/worker";
/** Bytes, gzipped, of what a Worker starts with. */
const START_BUDGET = 300 * 1024;

await rm(join(root, OUT), { recursive: true, force: true });
const { metafile } = await esbuild.build(workerBuild("src/index.ts", OUT));
const sizeOf = async (path: string) => gzipSync(await readFile(join(root, path))).length;
const sum = (sizes: number[]) => sizes.reduce((total, size) => total + size, 0);
const first = sum(
  await Promise.all([...startOf(metafile.outputs, `${OUT}/index.mjs`)].map(sizeOf)),
);
const whole = sum(await Promise.all(Object.keys(metafile.outputs).map(sizeOf)));
const kib = (bytes: number) => `${Math.round(bytes / 1024)} KiB`;
console.log(`worker: ${kib(first)} gzipped at the start, ${kib(whole)} in all`);
if (first > START_BUDGET) {
  console.error(
    `A Worker may start with ${kib(START_BUDGET)}. Import what is not always needed later.`,
  );
  process.exit(1);
}
