/** The server of the soak: `wrangler dev` that is killed and started again under the same address, and what it weighs. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { descendants, rssBytes } from "../bench/process.ts";
import { type DevServer, freePort, startDev } from "../support/dev-server.ts";

/** The product, on storage that fails now and then. */
const ENTRY = fileURLToPath(new URL("../worker/support/faulty.ts", import.meta.url));
const SAMPLE_MS = 250;
/** A start is over when it answers; hundreds of sessions wake up with it, and all their clients are back at once. */
const START_MS = 600_000;

export class Server {
  readonly url: string;
  readonly folder: string;
  kills = 0;
  /** Bytes of resident memory of all workerd processes together, at most. */
  peak = 0;
  readonly #port: number;
  readonly #vars: Record<string, string>;
  readonly #sampler: ReturnType<typeof setInterval>;
  #dev: DevServer | null = null;
  #faults = 0;

  private constructor(port: number, folder: string, vars: Record<string, string>) {
    this.#port = port;
    this.url = `http://127.0.0.1:${port}`;
    this.folder = folder;
    this.#vars = vars;
    this.#sampler = setInterval(() => {
      this.peak = Math.max(this.peak, residentBytes());
    }, SAMPLE_MS);
  }
  static async start(folder: string, vars: Record<string, string>, port?: number): Promise<Server> {
    const server = new Server(port ?? (await freePort()), folder, vars);
    await server.#start();
    return server;
  }

  async #start(): Promise<void> {
    this.#dev = await startDev({
      persistTo: this.folder,
      port: this.#port,
      timeoutMs: START_MS,
      vars: this.#vars,
      entry: ENTRY,
      args: ["--log-level=error"],
    });
  }
  /** Dies at once, and comes back on what was durable. */
  async kill(): Promise<void> {
    this.kills += 1;
    await this.#count();
    await this.#dev?.stop("SIGKILL");
    await this.#start();
  }
  /** From now on its storage is sound. Gives back how many faults it has had, over all its lives. */
  async heal(): Promise<number> {
    await this.#count("?share=0");
    return this.#faults;
  }
  async #count(query = ""): Promise<void> {
    const response = await fetch(`${this.url}/api/faults${query}`);
    this.#faults += ((await response.json()) as { struck: number }).struck;
  }
  async stop(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
    clearInterval(this.#sampler);
    await this.#dev?.stop(signal);
  }
}

const residentBytes = (): number =>
  descendants("workerd").reduce((sum, pid) => sum + rssBytes(pid), 0);

/** What a server that was stopped has left to do: alarms that are set, and jobs behind them. */
export function leftToDo(folder: string): string[] {
  const namespaces = join(folder, "v3/do");
  return readdirSync(namespaces).flatMap((namespace) => {
    const at = join(namespaces, namespace);
    return readdirSync(at)
      .filter((file) => file.endsWith(".sqlite"))
      .flatMap((file) => leftIn(join(at, file)).map((what) => `${namespace}/${file}: ${what}`));
  });
}
function leftIn(file: string): string[] {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const has = (table: string) =>
      db.prepare("SELECT 1 FROM sqlite_master WHERE name = ?").get(table) !== undefined;
    const alarms = has("_cf_ALARM") ? db.prepare("SELECT * FROM _cf_ALARM").all() : [];
    const jobs = has("cf_agents_jobs")
      ? db.prepare("SELECT fn, time FROM cf_agents_jobs").all()
      : [];
    return [
      ...alarms.map((row) => `an alarm at ${String(row.scheduled_time)}`),
      ...jobs.map((row) => `the job ${String(row.fn)} at ${String(row.time)}`),
    ];
  } finally {
    db.close();
  }
}
