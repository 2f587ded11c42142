// Bundles src/page into public/: app.js, app.css, index.html, favicon.svg, _headers. The same sources give the same
// bytes. Run by wrangler before dev and deploy, and by `npm test`.
import { cp, mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
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
  minify: true,
  format: "esm",
  target: ["es2022", "safari16"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  logLevel: "warning",
};

await mkdir(out, { recursive: true });
for (const name of ["index.html", "favicon.svg", "_headers"])
  await cp(join(source, name), join(out, name));
await esbuild.build(options);
for (const name of ["app.js", "app.css"]) {
  const bytes = await readFile(join(out, name));
  console.log(`${name}  ${bytes.length} bytes, ${gzipSync(bytes).length} gzipped`);
}
