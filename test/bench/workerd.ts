/**
 * A Worker in a workerd process of its own, as it is deployed: no proxy and no simulator around it, so that what the
 * process uses is the Worker's.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative, resolve } from "node:path";
import { build, type Plugin } from "esbuild";
import { startOf, workerBuild } from "../../scripts/worker-build.ts";
import { cpuMs, rssBytes } from "./process.ts";

export interface Served {
  url: string;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** CPU milliseconds when it listened: by then the Worker is compiled and its global scope has run. */
  readonly loaded: number;
  /** CPU milliseconds of the process so far. */
  cpu(): number;
  /** Its resident bytes now. */
  rss(): number;
  close(): Promise<void>;
}

export interface Program {
  /** The folder that `bundle` filled. */
  dir: string;
  /** Files in it with which the Worker starts; the others are loaded late. */
  start: string[];
  /** Binding and class of each Durable Object. */
  objects: Record<string, string>;
  vars?: Record<string, string>;
  /** Where storage is kept; a folder that exists. SQLite wants a disk. */
  state: string;
}

/** Cloudflare has this module and the bare runtime has not; the agents SDK imports it, and nothing here sends mail. */
const email: Plugin = {
  name: "email",
  setup(b) {
    b.onResolve({ filter: /^cloudflare:email$/ }, ({ path }) => ({ path, namespace: "email" }));
    b.onLoad({ filter: /.*/, namespace: "email" }, () => ({
      contents: "export class EmailMessage {}",
    }));
  },
};

/** Fills a folder; gives the files with which the Worker starts. */
export async function bundle(entry: string, dir: string): Promise<string[]> {
  const options = workerBuild(entry, dir);
  const { metafile } = await build({ ...options, plugins: [email, ...options.plugins] });
  const from = options.absWorkingDir;
  const start = startOf(metafile.outputs, relative(from, join(dir, "index.mjs")));
  return [...start].map((path) => relative(dir, resolve(from, path)));
}

const text = (value: string): string => JSON.stringify(value);

function configOf({ dir, objects, vars = {}, state }: Program): string {
  const files = readdirSync(dir, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".mjs"))
    .toSorted((a, b) => Number(b === "index.mjs") - Number(a === "index.mjs"));
  const modules = files.map((file) => `(name = ${text(file)}, esModule = embed ${text(file)})`);
  const bindings = [
    ...Object.entries(vars).map(([name, v]) => `(name = ${text(name)}, text = ${text(v)})`),
    ...Object.entries(objects).map(
      ([name, c]) => `(name = ${text(name)}, durableObjectNamespace = ${text(c)})`,
    ),
  ];
  const classes = Object.values(objects).map(
    (c) => `(className = ${text(c)}, uniqueKey = ${text(c)}, enableSql = true)`,
  );
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "internet", network = (allow = ["public", "private"])),
    (name = "disk", disk = (path = ${text(state)}, writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [${modules.join(", ")}],
  bindings = [${bindings.join(", ")}],
  compatibilityDate = "2026-08-15",
  compatibilityFlags = ["enable_request_signal"],
  durableObjectNamespaces = [${classes.join(", ")}],
  durableObjectStorage = (localDisk = "disk"),
);
`;
}

/** The port that workerd tells on its control channel. */
function portOf(child: ChildProcess): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let told = "";
  child.stdio[3]?.on("data", (data: Buffer) => {
    told += data.toString();
    const port = /"port":(\d+)/.exec(told)?.[1];
    if (port) resolve(Number(port));
  });
  child.once("exit", (code) => reject(new Error(`workerd ended with ${code} before it served`)));
  return promise;
}

/** The runtime that wrangler brings. */
function workerdPath(): string {
  const wrangler = createRequire(createRequire(import.meta.url).resolve("wrangler"));
  return createRequire(wrangler.resolve("miniflare"))("workerd").default as string;
}

/** Read by another process, so that reading it is not in what the Worker costs: it grows with the Worker. */
function writeConfig(program: Program): void {
  writeFileSync(join(program.dir, "config.capnp"), configOf(program));
  const args = ["compile", "--config-only", "config.capnp"];
  const options = { cwd: program.dir, maxBuffer: Number.POSITIVE_INFINITY };
  writeFileSync(join(program.dir, "config.bin"), execFileSync(workerdPath(), args, options));
}

/** Starts it and waits until it has answered once. */
export async function serve(program: Program): Promise<Served> {
  writeConfig(program);
  const child = spawn(workerdPath(), ["serve", "--binary", "config.bin", "--control-fd=3"], {
    cwd: program.dir,
    stdio: ["ignore", "ignore", process.env.BENCH_LOG ? "inherit" : "ignore", "pipe"],
  });
  // However this ends, it does not stay behind.
  process.once("exit", () => child.kill("SIGKILL"));
  const url = `http://127.0.0.1:${await portOf(child)}`;
  const pid = child.pid as number;
  const loaded = cpuMs(pid);
  await (await fetch(`${url}/api/health`)).text();
  return {
    url,
    loaded,
    fetch: (path, init) => fetch(new URL(path, url), init),
    cpu: () => cpuMs(pid),
    rss: () => rssBytes(pid),
    async close() {
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await gone;
    },
  };
}

const ok = async (response: Response): Promise<Response> => {
  if (response.ok) return response;
  throw new Error(`${response.url} answered ${response.status}: ${await response.text()}`);
};
export const ask = async <T>(served: Served, path: string, init?: RequestInit): Promise<T> =>
  (await (await ok(await served.fetch(path, init))).json()) as T;
export const json = (body: unknown): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});
