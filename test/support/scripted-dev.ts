/**
 * `wrangler dev` over a scripted model, with a folder of its own for what is durable: it may die and start again on
 * that, and the sessions that are named are found where it lives then.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Remote, Scripts } from "./client-node.ts";
import { type DevOptions, type DevServer, startDev } from "./dev-server.ts";
import { type MockModel, startMockModel } from "./mock-model.ts";

type Options = Pick<DevOptions, "vars" | "entry" | "args">;

export class ScriptedDev {
  readonly dir: string;
  readonly mock: MockModel;
  readonly scripts: Scripts;
  readonly #options: Options;
  #dev: DevServer | undefined;

  private constructor(dir: string, mock: MockModel, options: Options) {
    this.dir = dir;
    this.mock = mock;
    this.scripts = new Scripts(mock);
    this.#options = options;
  }
  static async start(options: Options = {}): Promise<ScriptedDev> {
    const dir = await mkdtemp(join(tmpdir(), "dormouse-"));
    const made = new ScriptedDev(dir, await startMockModel(), options);
    try {
      await made.again();
    } catch (error) {
      await made.close();
      throw error;
    }
    return made;
  }
  get url(): string {
    return this.#running.url;
  }
  output(): string {
    return this.#running.output();
  }
  get #running(): DevServer {
    if (!this.#dev) throw new Error("it does not run");
    return this.#dev;
  }
  async stop(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    await this.#running.stop(signal);
  }
  async again(...sessions: Remote[]): Promise<void> {
    const vars = { PROVIDER: "custom", CUSTOM_BASE_URL: this.mock.url, ...this.#options.vars };
    this.#dev = await startDev({ ...this.#options, vars, persistTo: this.dir });
    for (const session of sessions) session.url = this.#dev.url;
  }
  async close(): Promise<void> {
    await this.#dev?.stop("SIGKILL");
    await this.mock.close();
    await rm(this.dir, { recursive: true, force: true, maxRetries: 5 });
  }
}
