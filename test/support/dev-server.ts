/**
 * `wrangler dev` itself for end-to-end tests, in a process group of its own, so that no workerd outlives it.
 *
 * D1  No test meets a developer's real key or a real provider: variables given here beat .dev.vars and the shell.
 * D2  SIGKILL takes the whole group at once, which is what a crash is; the next start on the same `persistTo`
 *     finds what was durable and nothing else.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
// Not through npx or npm: a signal to those leaves workerd behind.
const cli = fileURLToPath(
  new URL("../../node_modules/wrangler/wrangler-dist/cli.js", import.meta.url),
);

export interface DevServer {
  url: string;
  startMs: number;
  output(): string;
  /** SIGTERM: wrangler stops workerd itself. SIGKILL: a crash of the whole process group. */
  stop(signal?: "SIGTERM" | "SIGKILL"): Promise<void>;
}

export interface DevOptions {
  vars?: Record<string, string>;
  /** Folder of the durable state. */
  persistTo: string;
  port?: number;
  /** Another entry than the configured one. */
  entry?: string;
  timeoutMs?: number;
  /** Further arguments of `wrangler dev`. */
  args?: string[];
  /** Further variables of its process. */
  env?: Record<string, string>;
}

const SAFE_VARS = { OPENAI_API_KEY: "sk-test", OPENAI_BASE_URL: "http://127.0.0.1:9/v1" };

export async function startDev(options: DevOptions): Promise<DevServer> {
  const port = options.port ?? (await freePort());
  const url = `http://127.0.0.1:${port}`;
  const began = Date.now();
  const child = launch(port, options);
  let out = "";
  child.stdout?.on("data", (part) => {
    out += part;
  });
  child.stderr?.on("data", (part) => {
    out += part;
  });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const orphaned = (): void => signalGroup(child, "SIGKILL");
  process.once("exit", orphaned);
  const stop = async (signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> => {
    process.removeListener("exit", orphaned);
    if (!isOver(child)) {
      signalGroup(child, signal);
      await exited;
    }
    // What it left behind: on a busy machine its workerd may not have heard.
    killGroup(child);
  };
  const deadline = began + (options.timeoutMs ?? 120_000);
  while (!(await isHealthy(url))) {
    const over = isOver(child);
    if (over || Date.now() > deadline) {
      await stop("SIGKILL");
      throw new Error(`wrangler dev ${over ? "exited" : "was not ready in time"}\n${out}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { url, startMs: Date.now() - began, output: () => out, stop };
}

function launch(port: number, options: DevOptions): ChildProcess {
  const vars = Object.entries({ ...SAFE_VARS, ...options.vars });
  const args = [
    "--no-warnings",
    cli,
    "dev",
    // Behind a list like --var it would be one of its values.
    ...(options.entry === undefined ? [] : [options.entry]),
    "--ip=127.0.0.1",
    `--port=${port}`,
    "--inspector-port=0",
    "--show-interactive-dev-session=false",
    `--persist-to=${options.persistTo}`,
    ...vars.flatMap(([name, value]) => ["--var", `${name}:${value}`]),
    ...(options.args ?? []),
  ];
  return spawn(process.execPath, args, {
    cwd: root,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      WRANGLER_SEND_METRICS: "false",
      CLOUDFLARE_CF_FETCH_ENABLED: "false",
      NO_COLOR: "1",
      ...options.env,
    },
  });
}

const isOver = (child: ChildProcess): boolean =>
  child.exitCode !== null || child.signalCode !== null;

const isHealthy = (url: string): Promise<boolean> =>
  fetch(`${url}/api/health`, { signal: AbortSignal.timeout(10_000) }).then(
    (response) => response.ok,
    () => false,
  );

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // Nothing of it is there.
  }
}

function signalGroup(child: ChildProcess, signal: "SIGTERM" | "SIGKILL"): void {
  if (child.pid === undefined || isOver(child)) return;
  // On SIGTERM only wrangler is told, and it stops its workerd; a crash takes the group.
  if (signal === "SIGKILL") process.kill(-child.pid, signal);
  else child.kill(signal);
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port;
}
