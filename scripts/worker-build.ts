/** How a Worker is bundled from an entry: as wrangler does it, but in parts. */
import { isBuiltin } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BuildOptions, Metafile, Plugin } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** Node's own modules are the runtime's, under whichever name a package asks for them. */
const builtins: Plugin = {
  name: "builtins",
  setup(build) {
    build.onResolve({ filter: /^(node:|cloudflare:|[a-z_]+(\/[a-z]+)?$)/ }, ({ path }) => {
      if (path.startsWith("cloudflare:")) return { path, external: true };
      if (!isBuiltin(path)) return undefined;
      return { path: path.startsWith("node:") ? path : `node:${path}`, external: true };
    });
  },
};

/** As `alias` in wrangler.toml; there it is a prefix, and `zod/v4/core` is another. */
const oneZod: Plugin = {
  name: "one-zod",
  setup(build) {
    build.onResolve({ filter: /^zod\/v4$/ }, ({ importer, resolveDir, kind }) =>
      build.resolve("zod", { importer, resolveDir, kind }),
    );
  },
};

/** An output and all that it imports at once, by their paths in the metafile. */
export function startOf(outputs: Metafile["outputs"], path: string, seen = new Set<string>()) {
  seen.add(path);
  for (const { path: next, kind } of outputs[path]?.imports ?? [])
    if (kind === "import-statement" && next in outputs && !seen.has(next))
      startOf(outputs, next, seen);
  return seen;
}

/** `out` is a folder; the entry becomes index.mjs in it. */
export const workerBuild = (entry: string, out: string) =>
  ({
    absWorkingDir: root,
    entryPoints: [{ in: entry, out: "index" }],
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
    loader: { ".md": "text" },
    plugins: [builtins, oneZod],
    legalComments: "none",
    logLevel: "warning",
  }) as const satisfies BuildOptions;
