/** Commands as somebody types them, with the programs that the repository brings. */
import { type ChildProcess, spawn } from "node:child_process";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

export interface Where {
  cwd?: string;
  env?: Record<string, string>;
}
interface Typed {
  child: ChildProcess;
  output(): string;
}

/** In a process group of its own, so that nothing of it outlives us. */
function start(command: string, { cwd = ROOT, env = {} }: Where): Typed {
  const child = spawn("bash", ["--norc", "-c", command], {
    cwd,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      PATH: `${join(ROOT, "node_modules/.bin")}${delimiter}${process.env.PATH}`,
      ...{ WRANGLER_SEND_METRICS: "false", CLOUDFLARE_CF_FETCH_ENABLED: "false", NO_COLOR: "1" },
      ...env,
    },
  });
  let out = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (part) => {
      out += part;
    });
  }
  return { child, output: () => out };
}
function end({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // It is over.
  }
}

/** Runs to its end. */
export async function typed(
  command: string,
  where: Where = {},
): Promise<{ code: number | null; output: string }> {
  const { child, output } = start(command, where);
  const orphaned = (): void => end(child);
  process.once("exit", orphaned);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  process.removeListener("exit", orphaned);
  return { code, output: output() };
}

/** Runs until it is stopped; ready when the address answers. */
export async function serving(
  command: string,
  address: string,
  where: Where = {},
): Promise<{ stop(): Promise<void> }> {
  const { child, output } = start(command, where);
  const orphaned = (): void => end(child);
  process.once("exit", orphaned);
  const over = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const stop = async (): Promise<void> => {
    process.removeListener("exit", orphaned);
    end(child);
    await over;
  };
  const deadline = Date.now() + 120_000;
  const answers = () =>
    fetch(address).then(
      (r) => r.ok,
      () => false,
    );
  while (!(await answers())) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await stop();
      throw new Error(`${command} did not come up\n${output()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { stop };
}
