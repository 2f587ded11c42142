// Bundles src/page into public/: app.js and app.css for the first paint, parts/ for what is loaded when it is needed,
// index.html, the icons, _headers, api/ for the API's description. The same sources give the same bytes. Run by wrangler
// before dev and deploy, and by `npm test`. Fails when the page has grown beyond its budget.
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
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
  write: false,
};

/** Bytes, gzipped: what the first paint needs, and everything together. */
const FIRST_BUDGET = 70 * 1024;
const WHOLE_BUDGET = 250 * 1024;

await mkdir(out, { recursive: true });
for (const name of ["favicon.svg", "favicon-waiting.svg", "_headers"])
  await put(join(out, name), await readFile(join(source, name)));
// The API's description is a static file too.
for (const name of ["openapi.json", "frames.schema.json"])
  await put(join(out, "api", name), await readFile(join(root, "docs", name)));
const { metafile, outputFiles } = await esbuild.build(options);
for (const { path, contents } of outputFiles) await put(path, contents);
await put(join(out, "index.html"), await index());
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

/** The page names the parts of its first paint, so that they come at once and not one behind the other. */
async function index() {
  const html = await readFile(join(source, "index.html"), "utf8");
  const parts = firstPaint("app.js").filter((name) => name.startsWith("parts/"));
  const links = parts.map((name) => `    <link rel="modulepreload" href="/${name}">\n`);
  return Buffer.from(html.replace("  </head>", `${links.join("")}  </head>`));
}

/** @param {string} path @param {Uint8Array} contents */
async function put(path, contents) {
  const held = await readFile(path).catch(() => null);
  if (held?.equals(contents)) return;
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, contents);
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
