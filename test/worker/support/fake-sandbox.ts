/**
 * A container for the pool: the Durable Object behind the SDK's real proxy. It understands the lines that the adapter
 * sends, runs their commands with the embedded shell over files of its own, and misbehaves when it is told to.
 */
import { DurableObject } from "cloudflare:workers";
import { FILES_SCHEMA } from "../../../src/adapters/files/schema.ts";
import { FileStore } from "../../../src/adapters/files/store.ts";
import { embeddedBox } from "../../../src/adapters/sandbox/embedded.ts";
import { GONE } from "../../../src/adapters/sandbox/machine-script.ts";
import { padAfter, TAR_END, tarHeader, tarReader } from "../../../src/adapters/sandbox/tar.ts";

interface Result {
  exitCode: number;
  stdout: string;
}
/** What a call meets in place of an answer. `run`: carries it out after all. */
export type Trouble = (line: string, run: () => Promise<Result>) => Promise<unknown>;

/** As the SDK's errors arrive: no class, but their response. */
export const sdkError = (code: string, context: Record<string, unknown> = {}): Error =>
  Object.assign(new Error(`fake ${code}`), {
    errorResponse: { code, message: `fake ${code}`, context },
  });

/** One container, by the id of its sandbox. It lives as long as nobody ends it, whatever happens to the objects. */
export class Container {
  installed = false;
  boot = "";
  readonly jobs = new Map<string, Job>();
  readonly parts = new Map<string, Uint8Array>();
  seen: string[] = [];
  now: string[] = [];
  archive = new Uint8Array();
}
interface Job {
  out: Uint8Array;
  code: number | null;
  background: boolean;
  typed: string;
  stop: AbortController;
}

/** What tests see and set, by sandbox id. */
export class Control {
  container = new Container();
  readonly lines: string[] = [];
  readonly commands: string[] = [];
  readonly configured: unknown[] = [];
  destroyed = 0;
  /** Taken by the next calls, one each. */
  readonly trouble: Trouble[] = [];
  /** Met by every call. */
  always: Trouble | null = null;
}
const controls = new Map<string, Control>();
export function control(id: string): Control {
  const found = controls.get(id) ?? new Control();
  controls.set(id, found);
  return found;
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const b64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
const unb64 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "base64"));
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const ROOT = "/workspace";
const RUN = "/tmp/.run";

export class FakeSandbox extends DurableObject {
  #files: FileStore | null = null;

  get #control(): Control {
    return control(this.ctx.id.name ?? "");
  }
  get #box(): Container {
    return this.#control.container;
  }

  async configure(options: unknown): Promise<void> {
    this.#control.configured.push(options);
  }

  async execWithSessionToken(line: string, token: string): Promise<unknown> {
    if (token !== "__DISABLE_SESSION__") throw new Error("a session is used");
    this.#control.lines.push(line);
    return this.#meet(line, () => this.#line(line));
  }

  async writeFile(path: string, content: string, options: { encoding?: string }): Promise<unknown> {
    if (content.length > 12 * 1024 * 1024) throw sdkError("FILE_TOO_LARGE");
    return this.#meet(`put ${path}`, async () => {
      const bytes = options.encoding === "base64" ? unb64(content) : encode(content);
      this.#box.parts.set(path.slice(RUN.length + 1), bytes);
      return { exitCode: 0, stdout: "", success: true, path };
    });
  }

  async destroy(): Promise<void> {
    await this.#meet("destroy", async () => {
      this.#control.destroyed += 1;
      this.#wipe();
      return { exitCode: 0, stdout: "" };
    });
  }

  async #meet(line: string, run: () => Promise<Result>): Promise<unknown> {
    const { always, trouble } = this.#control;
    const bad = trouble.shift() ?? always;
    return bad ? bad(line, run) : run();
  }

  #wipe(): void {
    for (const job of this.#box.jobs.values()) job.stop.abort();
    this.#control.container = new Container();
    this.#store().remove(ROOT);
  }

  #store(): FileStore {
    if (this.#files) return this.#files;
    const { sql } = this.ctx.storage;
    const made = sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'files'").toArray();
    if (made.length === 0) for (const statement of FILES_SCHEMA) sql.exec(statement);
    this.#files = new FileStore(sql, { now: () => Date.now() });
    return this.#files;
  }

  async #line(line: string): Promise<Result> {
    if (line.startsWith(`mkdir -p ${RUN}/`)) {
      // A container that has just come up is empty.
      if (!this.#box.installed) this.#store().remove(ROOT);
      this.#box.installed = true;
      this.#box.boot = "";
      return { exitCode: 0, stdout: "" };
    }
    const words = wordsOf(line);
    const [boot = "", verb = "", ...args] = words;
    if (!this.#box.installed || (boot !== "-" && boot !== this.#box.boot)) {
      return { exitCode: GONE, stdout: "" };
    }
    const stdout = await this.#verb(verb, args);
    return stdout === null ? { exitCode: 1, stdout: "" } : { exitCode: 0, stdout };
  }

  async #verb(verb: string, args: string[]): Promise<string | null> {
    const [first = "", second = "", third = "", fourth = "", fifth = "", sixth = ""] = args;
    const box = this.#box;
    switch (verb) {
      case "start":
        this.#start(first, second, new TextDecoder().decode(unb64(third)), fourth === "1");
        return this.#follow(first, 0, Number(fifth), Number(sixth));
      case "follow":
        return this.#follow(first, Number(second), Number(third), Number(fourth));
      case "kill":
        box.jobs.get(first)?.stop.abort();
        return "ok\n";
      case "jobs":
        return [...box.jobs].filter(([, j]) => j.background && j.code === null).join("\n");
      case "write":
        return this.#write(first, new TextDecoder().decode(unb64(second)));
      case "scan":
        return this.#scan(Number(first), args.slice(2));
      case "pack":
        return this.#pack();
      case "size":
        return this.#store().read(first)?.byteLength.toString() ?? null;
      case "chunk": {
        const bytes = first === `${RUN}/out.tar` ? box.archive : this.#store().read(first);
        return b64(
          (bytes ?? new Uint8Array()).subarray(Number(second), Number(second) + Number(third)),
        );
      }
      case "commit":
        box.seen = box.now;
        return "";
      case "unpack":
        return this.#unpack();
      case "remove":
        for (const path of this.#listed()) this.#store().remove(`${ROOT}/${path}`);
        return "";
      case "list":
        return this.#list(first, args.slice(2));
      case "ready":
        box.boot = first;
        return "";
      default:
        throw new Error(`the fake knows no ${verb}`);
    }
  }

  #start(id: string, cwd: string, command: string, background: boolean): void {
    const { jobs } = this.#box;
    if (jobs.has(id)) return;
    this.#control.commands.push(command);
    const stop = new AbortController();
    const job: Job = { out: new Uint8Array(), code: null, background, typed: "", stop };
    jobs.set(id, job);
    const request = { id, command, cwd, timeoutMs: 600_000, reopened: false };
    let shown = 0;
    const print = (text: string) => {
      shown += text.length;
      job.out = Uint8Array.from(Buffer.concat([job.out, encode(text)]));
    };
    const run = async () => {
      const result = await embeddedBox(this.#store()).exec(request, print, stop.signal);
      // The embedded shell stops showing a flood before it ends.
      if (result.output.length > shown || shown > 900_000) print(result.output.slice(-150_000));
      job.code = stop.signal.aborted ? 143 : result.exitCode;
    };
    this.ctx.waitUntil(run());
  }

  async #follow(id: string, offset: number, max: number, waitMs: number): Promise<string> {
    const job = this.#box.jobs.get(id);
    if (!job) return "none 0 0\n";
    for (
      let left = waitMs;
      left > 0 && job.code === null && job.out.byteLength <= offset;
      left -= 5
    ) {
      await pause(5);
    }
    const from =
      offset >= 1024 * 1024 && job.out.byteLength - offset > 2 * max
        ? job.out.byteLength - max
        : offset;
    const part = b64(job.out.subarray(from, from + max));
    return `${job.code ?? "running"} ${job.out.byteLength} ${from}\n${part}`;
  }

  #write(id: string, text: string): string {
    const job = this.#box.jobs.get(id);
    if (!job?.background) return "none\n";
    if (job.code !== null) return "ended\n";
    job.typed += text;
    return "ok\n";
  }

  #scan(most: number, skips: string[]): string {
    const kept = this.#store()
      .list()
      .filter(({ path }) => !path.split("/").some((part) => skips.includes(part)));
    const { seen } = this.#box;
    this.#box.now = kept
      .filter((node) => node.size <= most)
      .map(({ path, size, mode, modified }) => {
        const fraction = modified % 1000 === 0 ? "0000000000" : `${(modified % 1000) + 1}0000000`;
        const time = `${Math.floor(modified / 1000)}.${fraction}`;
        return `${size} ${time} ${mode.toString(8)} ${path.slice(ROOT.length + 1)}`;
      });
    const now = new Set(this.#box.now);
    const before = new Set(seen);
    const records = [
      ...this.#box.now.filter((r) => !before.has(r)).map((r) => `+${r}`),
      ...seen.filter((r) => !now.has(r)).map((r) => `-${r}`),
      ...kept
        .filter((n) => n.size > most)
        .map((n) => `!${n.size} 0 0 ${n.path.slice(ROOT.length + 1)}`),
    ];
    return b64(encode(records.map((r) => `${r}\0`).join("")));
  }

  #listed(): string[] {
    return new TextDecoder().decode(this.#box.parts.get("list")).split("\0").slice(0, -1);
  }

  #pack(): string {
    const out: Uint8Array[] = [];
    for (const path of this.#listed()) {
      const node = this.#store().stat(`${ROOT}/${path}`);
      const bytes = this.#store().read(`${ROOT}/${path}`);
      if (!node || !bytes) continue;
      out.push(tarHeader({ ...node, path }), bytes, padAfter(bytes.byteLength));
    }
    this.#box.archive = Uint8Array.from(Buffer.concat([...out, TAR_END]));
    return String(this.#box.archive.byteLength);
  }

  #unpack(): string | null {
    const parts = [...this.#box.parts].filter(([name]) => name.startsWith("in/")).sort();
    let failed = false;
    const read = tarReader(1e9, ({ path, mode, modified }, bytes) => {
      const written = this.#store().write(`${ROOT}/${path}`, bytes);
      if (!written.ok) failed = true;
      else this.#store().touch(`${ROOT}/${path}`, { mode, modified });
    });
    for (const [name, bytes] of parts) {
      read(bytes);
      this.#box.parts.delete(name);
    }
    if (failed) return null;
    this.#box.seen = [...this.#box.seen, ...this.#listed().map((path) => `0 0 0 ${path}`)];
    return "";
  }

  #list(folder: string, skips: string[]): string {
    const records = this.#store()
      .list(folder)
      .filter(({ path }) => !path.split("/").some((part) => skips.includes(part)))
      .map(({ path, size }) => `${size} ${path}\0`);
    return b64(encode(records.join("")));
  }
}

/** The single-quoted words behind the program's name. */
function wordsOf(line: string): string[] {
  const [, rest = ""] = /exec bash \S+\/box (.*)$/s.exec(line) ?? [];
  const words: string[] = [];
  for (let at = 0; at < rest.length; ) {
    let word = "";
    while (at < rest.length && rest[at] !== " ") {
      if (rest[at] === "'") {
        const end = rest.indexOf("'", at + 1);
        word += rest.slice(at + 1, end);
        at = end + 1;
      } else {
        // `\'` between two quoted parts.
        word += rest[at + 1];
        at += 2;
      }
    }
    words.push(word);
    at += 1;
  }
  return words;
}
