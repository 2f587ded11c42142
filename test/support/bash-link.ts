/**
 * A container that is this machine's own bash, in a folder of its own: what is sent to a container is run for real,
 * as the container's server runs it (a bare `bash -c`, no session, pipes for its output).
 */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Link, Reply } from "../../src/adapters/sandbox/link.ts";
import type { Places } from "../../src/adapters/sandbox/machine-script.ts";

export class BashLink implements Link {
  readonly folder = mkdtempSync(join(tmpdir(), "box-"));
  readonly places: Places = { run: join(this.folder, "run"), root: join(this.folder, "workspace") };
  readonly lines: string[] = [];
  destroyed = 0;
  /** What the next calls meet, first things first; after that all is well. */
  readonly trouble: ((line: string, real: () => Promise<Reply>) => Promise<Reply>)[] = [];

  exec(line: string, timeoutMs: number): Promise<Reply> {
    this.lines.push(line);
    const real = () => run(line, timeoutMs);
    const bad = this.trouble.shift();
    return bad ? bad(line, real) : real();
  }

  async put(path: string, bytes: Uint8Array): Promise<Reply> {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
    return { ok: true, exitCode: 0, stdout: "" };
  }

  async destroy(): Promise<boolean> {
    this.destroyed += 1;
    this.wipe();
    return true;
  }

  /** The container is restarted behind our back: its processes and files are gone. */
  wipe(): void {
    for (const pid of this.pids()) {
      try {
        process.kill(-pid, "SIGKILL");
      } catch {
        // It had ended.
      }
    }
    for (const name of ["run", "workspace"]) {
      rmSync(join(this.folder, name), { recursive: true, force: true, maxRetries: 5 });
    }
  }

  /** Process groups of the commands that were started. */
  pids(): number[] {
    try {
      return readdirSync(join(this.places.run, "job")).flatMap((id) => {
        try {
          return [Number(readFileSync(join(this.places.run, "job", id, "pid"), "utf8"))];
        } catch {
          return [];
        }
      });
    } catch {
      return [];
    }
  }

  close(): void {
    this.wipe();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function run(line: string, timeoutMs: number): Promise<Reply> {
  return new Promise((resolve) => {
    // Node's pipes are sockets, and a bash on a socket reads its user's start-up file: nobody's habits belong here.
    const child = spawn("/bin/bash", ["--norc", "-c", line], { cwd: "/", detached: true });
    const parts: Buffer[] = [];
    child.stdout.on("data", (part: Buffer) => parts.push(part));
    child.stderr.resume();
    const timer = setTimeout(() => process.kill(-(child.pid as number), "SIGKILL"), timeoutMs);
    // `close`: as in the container, a call ends when its pipes do.
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve({ ok: true, exitCode: code ?? 124, stdout: Buffer.concat(parts).toString() });
    });
  });
}
