/**
 * What `wrangler dev` needs to serve a browser binding on a machine without a network: the configuration with the
 * binding's lines in force, and Chromium where wrangler looks for the Chrome that it would download.
 */
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const miniflare = join(root, "node_modules/miniflare/dist/src/index.js");

export interface DevBrowser {
  args: string[];
  env: Record<string, string>;
  /** Process ids of the browsers that were started, oldest first. */
  pids(): Promise<number[]>;
}

export async function devBrowser(dir: string, chromium: string): Promise<DevBrowser> {
  const config = join(root, ".wrangler", "with-browser.toml");
  const toml = await readFile(join(root, "wrangler.toml"), "utf8");
  const bound = toml
    .replace('# [browser]\n# binding = "BROWSER"', '[browser]\nbinding = "BROWSER"')
    .replace('main = "src/', `main = "${root}src/`)
    .replaceAll('"./', `"${root}`)
    .replace(/\[build\]\n(.+\n)*/, "");
  if (!bound.includes("\n[browser]\n"))
    throw new Error("wrangler.toml has no lines for the browser");
  await mkdir(dirname(config), { recursive: true });
  await writeFile(config, bound);
  const version = /BROWSER_VERSION = "([\d.]+)"/.exec(await readFile(miniflare, "utf8"))?.[1];
  if (!version) throw new Error("wrangler's Chrome has no version");
  const log = join(dir, "browsers");
  await writeFile(log, "");
  const chrome = join(dir, `.wrangler/chrome/linux-${version}/chrome-linux64/chrome`);
  await mkdir(dirname(chrome), { recursive: true });
  const flags = "--no-sandbox --disable-gpu --disable-quic --disable-component-update";
  await writeFile(chrome, `#!/bin/sh\necho $$ >> "${log}"\nexec "${chromium}" ${flags} "$@"\n`);
  await chmod(chrome, 0o755);
  return {
    args: ["--config", config],
    env: { XDG_CACHE_HOME: dir },
    pids: async () => (await readFile(log, "utf8")).split("\n").filter(Boolean).map(Number),
  };
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
