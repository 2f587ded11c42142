// Bundles src/index.ts into dist/worker/: index.mjs with what every request needs, parts/ for what is loaded when it is
// first needed (the embedded shell, the reader of web pages, MCP, …). Wrangler bundles into one file, all of which a
// Worker has to compile before it starts; so deployments take these files instead (`wrangler deploy --no-bundle`). Dev
// and tests take src/index.ts as it is. Fails when the start has grown beyond its budget.
import { readFile, rm } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const out = join(root, "dist/worker");
/** Bytes, gzipped, of what a Worker starts with. */
const START_BUDGET = 300 * 1024;

/** Node's own modules are the runtime's, under whichever name a package asks for them. */
const builtins = {
  name: "builtins",
  /** @param {esbuild.PluginBuild} build */
  setup(build) {
    build.onResolve({ filter: /^(node:|cloudflare:|[a-z_]+(\/[a-z]+)?$)/ }, ({ path }) => {
      if (path.startsWith("cloudflare:")) return { path, external: true };
      if (!isBuiltin(path)) return undefined;
      return { path: path.startsWith("node:") ? path : `node:${path}`, external: true };
    });
  },
};

await rm(out, { recursive: true, force: true });
const { metafile } = await esbuild.build({
  absWorkingDir: root,
  entryPoints: ["src/index.ts"],
  outdir: out,
  bundle: true,
  splitting: true,
  chunkNames: "parts/[name]-[hash]",
  // Wrangler takes modules by this ending.
  outExtension: { ".js": ".mjs" },
  metafile: true,
  minify: true,
  format: "esm",
  target: "es2024",
  conditions: ["workerd", "worker", "browser"],
  define: { "process.env.NODE_ENV": '"production"' },
  // As in wrangler.toml.
  alias: { "zod/v4": join(root, "node_modules/zod/index.js") },
  loader: { ".md": "text" },
  plugins: [builtins],
  legalComments: "none",
  logLevel: "warning",
});

const sizeOf = async (path) => gzipSync(await readFile(join(root, path))).length;
const sum = (sizes) => sizes.reduce((total, size) => total + size, 0);
const outputs = Object.keys(metafile.outputs);
const first = sum(await Promise.all([...startOf("dist/worker/index.mjs")].map(sizeOf)));
const whole = sum(await Promise.all(outputs.map(sizeOf)));
const kib = (bytes) => `${Math.round(bytes / 1024)} KiB`;
console.log(`worker: ${kib(first)} gzipped at the start, ${kib(whole)} in all`);
if (first > START_BUDGET) {
  console.error(
    `A Worker may start with ${kib(START_BUDGET)}. Import what is not always needed later.`,
  );
  process.exit(1);
}

/** A file and all that it imports at once. */
function startOf(path, seen = new Set()) {
  seen.add(relative(root, join(root, path)));
  for (const { path: next, kind } of metafile.outputs[path].imports)
    if (kind === "import-statement" && next in metafile.outputs && !seen.has(next))
      startOf(next, seen);
  return seen;
}
