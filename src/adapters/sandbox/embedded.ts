/**
 * The embedded sandbox: a shell inside the object, over the session's files. No machine, no cost at rest, and no network
 * but `curl`, which goes through the guarded fetch.
 *
 * M1  Files under /workspace live in the file store and survive everything; all else (/tmp) lives with the object.
 * M2  A call starts in its own directory with a fresh environment: nothing but files passes from one to the next.
 * M3  A call ends: by itself, at a limit (126), at its timeout or an abort (124, with the output so far). If the
 *     shell itself does not come back, the call ends without it.
 */
import type { Bash, BashOptions, ExecOptions, IFileSystem, InMemoryFs } from "just-bash/browser";
import { LIMITS } from "../../core/limits.ts";
import type { Box, BoxFile, ExecRequest, ExecResult } from "../../tools/box.ts";
import { BoxUnavailable } from "../../tools/box.ts";
import { cutoff } from "../../tools/cutoff.ts";
import { ROOT } from "../../tools/paths.ts";
import type { FileStore } from "../files/store.ts";
import type { AddressRules } from "../web/address.ts";
import { Capture } from "./capture.ts";
import { shellFetch } from "./curl.ts";
import { diff } from "./diff.ts";
import { scriptPlugin, YIELD } from "./script.ts";
import { plain, showTerminal } from "./terminal-fs.ts";
import { WorkspaceFs } from "./workspace-fs.ts";

type Shell = typeof import("just-bash/browser");

const TERMINAL = "/run/terminal";
/** What /tmp and the like may hold, bytes: it is the memory of the object. */
const SCRATCH = 16 * 1024 * 1024;
/** How long the shell may take to end after it was told to. */
const GRACE_MS = 1_000;
/** A real pause costs about a millisecond: not at every turn of every loop. */
const YIELD_EVERY = 100;

/** Beside the hardened profile: loops may be long because they yield; what does not yield stays small. */
const COUNTS: NonNullable<BashOptions["executionLimits"]> = {
  maxLoopIterations: 200_000,
  maxCommandCount: 400_000,
  maxWorkUnits: 20_000_000,
  maxAwkIterations: 500_000,
  maxJqIterations: 100_000,
  maxStringLength: 26 * 1024 * 1024,
  maxOutputSize: 40 * 1024 * 1024,
};

export const EMBEDDED_ABOUT = [
  "Commands run in an embedded bash with the usual text tools (cat, ls, cp, mv, rm, mkdir, find, grep, rg, sed, awk,",
  "sort, uniq, cut, tr, head, tail, wc, diff, xargs, jq, base64, gzip, sha256sum, seq, printf, date and others).",
  "It is not a full machine: there is no python, node or compiler, no tar, git, yq or sqlite3, no package manager,",
  "no wget. `curl` asks the public web only (http and https, no private addresses), sends text, and downloads at most",
  `${LIMITS.downloadBytes / 1024 / 1024} MiB. There are no background processes: \`&\` runs the command at once and waits.`,
  "Nobody can type into a command. Arithmetic is on integers. Symbolic links and `trap` do not work.",
  "Every call starts fresh: variables and `cd` do not last, files under /workspace do; /tmp may be emptied between calls.",
].join(" ");

class EmbeddedBox implements Box {
  readonly kind = "embedded";
  readonly about = EMBEDDED_ABOUT;
  readonly #files: FileStore;
  readonly #rules: AddressRules;
  #base: InMemoryFs | null = null;

  constructor(files: FileStore, rules: AddressRules) {
    this.#files = files;
    this.#rules = rules;
  }

  async exec(
    request: ExecRequest,
    live: (text: string) => void,
    signal: AbortSignal,
  ): Promise<ExecResult> {
    if (this.#files.stat(request.cwd)?.kind !== "folder") {
      const output = `bash: cd: ${request.cwd}: No such file or directory\n`;
      return { output, exitCode: 1, timedOut: false };
    }
    const shell = await load();
    const capture = new Capture(live);
    const bash = await this.#bash(shell, request, capture);
    const start = Date.now();
    const cut = cutoff(request.timeoutMs, GRACE_MS, signal);
    try {
      const options = { rawScript: true, cwd: request.cwd, signal: cut.signal };
      const ended = run(bash, request.command, options, capture);
      const exitCode = await Promise.race([ended, cut.late]);
      const stopped = exitCode === null || exitCode === 124 || cut.signal.aborted;
      // What never yields lets no timer in: then only the shell's own deadline ends it.
      const late = stopped && !signal.aborted && Date.now() - start >= request.timeoutMs;
      return {
        output: capture.output(),
        exitCode: stopped ? 124 : exitCode,
        timedOut: late || cut.timedOut(),
      };
    } finally {
      cut.clear();
    }
  }

  async read(path: string): Promise<Uint8Array | null> {
    return this.#files.read(path);
  }

  async write(
    path: string,
    bytes: Uint8Array,
  ): Promise<{ ok: true } | { ok: false; error: string }> {
    const result = this.#files.write(path, bytes);
    return result.ok ? { ok: true } : { ok: false, error: `${result.code}: ${result.error}` };
  }

  async list(folder: string): Promise<BoxFile[]> {
    return this.#files.list(folder).map(({ path, size }) => ({ path, size }));
  }

  /** Nothing costs anything while nothing runs; what /tmp holds is only memory. */
  async rest(): Promise<void> {
    this.#base = null;
  }

  outside(): void {}
  news(): null {
    return null;
  }
  async destroy(): Promise<void> {}

  async #bash(shell: Shell, request: ExecRequest, capture: Capture): Promise<Bash> {
    this.#base ??= await scratch(shell);
    const terminal: IFileSystem = new shell.InMemoryFs({ "/out": "" });
    const fs = new shell.MountableFs({
      base: this.#base,
      mounts: [
        { mountPoint: ROOT, filesystem: new WorkspaceFs(this.#files) },
        { mountPoint: TERMINAL, filesystem: showTerminal(terminal, capture) },
      ],
    });
    const bash = new shell.Bash({
      fs,
      cwd: ROOT,
      env: { HOME: ROOT, LANG: "C.UTF-8" },
      // It patches globals, and this isolate is shared with every other session.
      defenseInDepth: false,
      executionLimitProfile: "hardened",
      executionLimits: { ...COUNTS, maxExecutionTimeMs: request.timeoutMs + GRACE_MS },
      customCommands: [yieldCommand(shell), shell.defineCommand("diff", diff)],
      fetch: shellFetch(this.#rules, request.timeoutMs),
    });
    bash.registerTransformPlugin(scriptPlugin(request.command, `${TERMINAL}/out`));
    return bash;
  }
}

/** Costs nothing until the first command. `rules`: what curl may ask. */
export const embeddedBox = (files: FileStore, rules: AddressRules = {}): Box =>
  new EmbeddedBox(files, rules);

/** Loaded at the first command: it is the largest part of the program. */
async function load(): Promise<Shell> {
  try {
    return await import("just-bash/browser");
  } catch (error) {
    throw new BoxUnavailable(`The embedded sandbox could not be loaded: ${String(error)}`);
  }
}

async function scratch({ InMemoryFs }: Shell): Promise<InMemoryFs> {
  const base = new InMemoryFs({ "/dev/null": "" }, { maxTotalBytes: SCRATCH });
  // No /bin: where it exists, the shell looks for its commands there instead of among its own.
  await base.mkdir("/tmp", { recursive: true });
  return base;
}

function yieldCommand({ defineCommand }: Shell) {
  let turns = 0;
  return defineCommand(YIELD, async () => {
    if (++turns % YIELD_EVERY === 0) await new Promise((resolve) => setTimeout(resolve, 0));
    return { stdout: "", stderr: "", exitCode: 0 };
  });
}

/** The exit code. What did not go to the terminal file as it came is here, at the end. */
async function run(
  bash: Bash,
  command: string,
  options: ExecOptions,
  capture: Capture,
): Promise<number> {
  try {
    const result = await bash.exec(command, options);
    capture.text(result.stdout);
    capture.text(plain(result.stderr));
    return result.exitCode;
  } catch (error) {
    capture.text(`bash: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}
