// build-page.mjs [--watch]
// Bundles src/page into public/: app.js, app.css, index.html, favicon.svg. The same sources give the same bytes.
import { cp, mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const source = join(root, "src/page");
const out = join(root, "public");
const watch = process.argv.includes("--watch");

/** @type {esbuild.BuildOptions} */
const options = {
  absWorkingDir: root,
  entryPoints: [
    { in: join(source, "main.tsx"), out: "app" },
    { in: join(source, "styles/app.css"), out: "app" },
  ],
  outdir: out,
  bundle: true,
  minify: !watch,
  format: "esm",
  target: ["es2022", "safari16"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  logLevel: "warning",
};

await mkdir(out, { recursive: true });
for (const name of ["index.html", "favicon.svg"]) await cp(join(source, name), join(out, name));
if (watch) {
  const context = await esbuild.context({ ...options, logLevel: "info" });
  await context.watch();
} else {
  await esbuild.build(options);
  for (const name of ["app.js", "app.css"]) {
    const bytes = await readFile(join(out, name));
    console.log(`${name}  ${bytes.length} bytes, ${gzipSync(bytes).length} gzipped`);
  }
}
