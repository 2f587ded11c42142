// Bundles src/page into public/: app.js and app.css for the first paint, parts/ for what is loaded when it is needed,
// index.html, the icons, _headers, api/ for the API's description. The same sources give the same bytes. Run by wrangler before dev and deploy, and
// by `npm test`. Fails when the page has grown beyond its budget.
import { cp, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const source = join(root, "src/page");
const out = join(root, "public");

/** @type {esbuild.BuildOptions} */
const options = {
  absWorkingDir: root,
  entryPoints: [
    { in: join(source, "main.tsx"), out: "app" },
    { in: join(source, "styles/app.css"), out: "app" },
  ],
  outdir: out,
  bundle: true,
  splitting: true,
  chunkNames: "parts/[name]-[hash]",
  metafile: true,
  minify: true,
  format: "esm",
  target: ["es2022", "safari17"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  logLevel: "warning",
};

/** Bytes, gzipped: what the first paint needs, and everything together. */
const FIRST_BUDGET = 70 * 1024;
const WHOLE_BUDGET = 250 * 1024;

await mkdir(out, { recursive: true });
for (const name of ["index.html", "favicon.svg", "favicon-waiting.svg", "_headers"])
  await cp(join(source, name), join(out, name));
// The API's description is a static file too.
await mkdir(join(out, "api"), { recursive: true });
for (const name of ["openapi.json", "frames.schema.json"])
  await cp(join(root, "docs", name), join(out, "api", name));
const { metafile } = await esbuild.build(options);
const built = Object.keys(metafile.outputs).map((path) => relative(out, join(root, path)));
await removeOldParts(new Set(built));

const sizes = new Map();
for (const name of built) sizes.set(name, gzipSync(await readFile(join(out, name))).length);
const whole = [...sizes.values()].reduce((sum, size) => sum + size, 0);
const first = firstPaint("app.js").reduce((sum, name) => sum + sizes.get(name), 0);
console.log(`page: ${first} bytes gzipped for the first paint, ${whole} in all`);
if (first > FIRST_BUDGET || whole > WHOLE_BUDGET) {
  console.error(
    `The page is larger than ${FIRST_BUDGET} (first paint) or ${WHOLE_BUDGET} (in all).`,
  );
  process.exit(1);
}

/** Its styles, and the parts that the entry imports at once. */
function firstPaint(entry, seen = new Set(["app.css"])) {
  seen.add(entry);
  const { imports } = metafile.outputs[relative(root, join(out, entry))];
  for (const { path, kind } of imports) {
    const name = relative(out, join(root, path));
    if (kind === "import-statement" && !seen.has(name)) firstPaint(name, seen);
  }
  return [...seen];
}

/** Names carry a hash: what this build did not write belongs to an older one. */
async function removeOldParts(current) {
  const held = await readdir(join(out, "parts")).catch(() => []);
  const old = held.filter((name) => !current.has(join("parts", name)));
  await Promise.all(old.map((name) => rm(join(out, "parts", name), { force: true })));
}
