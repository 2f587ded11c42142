/** The container's box over a real bash: the program that is put into a container is run as it is. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import type { Kept } from "../../src/adapters/sandbox/machine.ts";
import { machineBox } from "../../src/adapters/sandbox/machine-box.ts";
import type { Box, ExecResult } from "../../src/tools/box.ts";
import { BashLink } from "../support/bash-link.ts";
import { boxSuite } from "../support/box-suite.ts";
import { memoryFiles } from "../support/sqlite.ts";

// Every call is a handful of real processes, and the machine may be busy.
vi.setConfig({ testTimeout: 120_000 });

class World {
  readonly link = new BashLink();
  readonly files = memoryFiles();
  readonly notices: string[] = [];
  stored: Kept | undefined;
  box: Box = this.wake();

  /** The object comes to life: it knows what was stored, and nothing else. */
  wake(): Box {
    const keeper = {
      get: () => this.stored,
      put: (kept: Kept) => {
        this.stored = structuredClone(kept);
      },
    };
    const notice = (code: string) => this.notices.push(code);
    const { link } = this;
    const box = machineBox(this.files, { link, keeper, notice, places: link.places });
    this.box = translated(box, link.places.root);
    return this.box;
  }
}

/** The folder of this container is called otherwise; what it prints is told as if it were /workspace. */
function translated(box: Box, root: string): Box {
  const say = (text: string) => text.replaceAll(root, "/workspace");
  const exec: Box["exec"] = async (request, live, signal): Promise<ExecResult> => {
    const result = await box.exec(request, (text) => live(say(text)), signal);
    return { ...result, output: say(result.output) };
  };
  return new Proxy(box, {
    get: (target, key) => {
      if (key === "exec") return exec;
      const value = Reflect.get(target, key) as unknown;
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

async function withWorld(test: (world: World) => Promise<void>): Promise<void> {
  const world = new World();
  try {
    await test(world);
  } finally {
    world.link.close();
  }
}

boxSuite("machine", (test) => withWorld(({ box }) => test(box)));

const never = new AbortController().signal;
const run = (box: Box, id: string, command: string, more: Record<string, unknown> = {}) => {
  const request = { id, command, cwd: "/workspace", timeoutMs: 60_000, reopened: false, ...more };
  return box.exec(request, () => {}, never);
};
const job = (id: string, command: string) => ({
  id,
  command,
  cwd: "/workspace",
  timeoutMs: 60_000,
  reopened: false,
});
const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    // A dead one that nobody has collected yet is no process any more.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};
const pidIn = (text: string): number => Number(/pid (\d+)/.exec(text)?.[1]);

describe("the program in the container", () => {
  it("gives exit codes as they are, and an open quote breaks nothing", () =>
    withWorld(async ({ box }) => {
      expect((await run(box, "a", "exit 3")).exitCode).toBe(3);
      const open = await run(box, "b", "echo 'open");
      expect([open.exitCode, open.output]).toEqual([2, expect.stringContaining("unexpected EOF")]);
      expect((await run(box, "c", "kill -9 $$")).exitCode).toBe(137);
      expect((await run(box, "d", `printf '%s' 'it'"'"'s \\ $HOME \`x\` "q"'`)).output).toBe(
        'it\'s \\ $HOME `x` "q"',
      );
    }));

  it("A23: a child that stays behind with its output open hangs no call", () =>
    withWorld(async ({ box }) => {
      const { output, exitCode } = await run(box, "a", "sleep 300 & echo pid $!");
      expect(exitCode).toBe(0);
      expect(alive(pidIn(output))).toBe(true);
      process.kill(pidIn(output), "SIGKILL");
    }));

  it("a timeout ends the whole group, also what does not want to end", () =>
    withWorld(async ({ box }) => {
      const script =
        "trap '' TERM; (trap '' TERM; echo pid $BASHPID; while :; do sleep 0.1; done) & wait; sleep 100";
      const { output, timedOut } = await run(box, "a", script, { timeoutMs: 1_500 });
      expect(timedOut).toBe(true);
      await vi.waitFor(() => expect(alive(pidIn(output))).toBe(false), 10_000);
    }));

  it("K1: a command goes on while its object is away, and is found again", () =>
    withWorld(async (world) => {
      const command = "echo one >> log; sleep 1; echo two >> log; cat log; exit 5";
      void run(world.box, "c1", command).catch(() => undefined);
      await vi.waitFor(() => expect(world.link.pids()).toHaveLength(1), 10_000);
      const again = { reopened: true };
      for (const box of [world.wake(), world.wake()]) {
        expect(await run(box, "c1", command, again)).toMatchObject({
          output: "one\ntwo\n",
          exitCode: 5,
        });
      }
      expect(new TextDecoder().decode(world.files.read("/workspace/log") ?? undefined)).toBe(
        "one\ntwo\n",
      );
    }));

  it("K1: in a container that was restarted it is unknown, and not run", () =>
    withWorld(async (world) => {
      await run(world.box, "a", "true");
      world.link.wipe();
      const lost = await run(world.wake(), "c1", "echo x > ran", { reopened: true });
      expect(lost).toMatchObject({ unknown: true });
      expect(world.files.read("/workspace/ran")).toBe(null);
      expect((await run(world.box, "b", "echo next")).output).toBe("next\n");
      expect(world.notices).toEqual(["sandbox_restored"]);
    }));

  it("S2: a start that is sent twice runs once", () =>
    withWorld(async ({ box, link }) => {
      await run(box, "a", "true");
      link.trouble.push(async (_, real) => {
        await real();
        return { ok: false, why: "interrupted", message: "lost" };
      });
      expect((await run(box, "b", "echo x | tee -a log")).output).toBe("x\n");
      expect((await run(box, "c", "cat log")).output).toBe("x\n");
    }));

  it("types into a background command, waits for it and tells how it ended", () =>
    withWorld(async ({ box }) => {
      const { jobs } = box;
      const script = 'echo ready; read -r a; echo "[$a]"; read -r b; echo "[$b]"; exit 4';
      expect(await jobs?.start(job("p1", script), never)).toEqual({
        output: "ready\n",
        exitCode: null,
      });
      expect(await jobs?.write("p1", "it's 汉字 🚀\n")).toBe("ok");
      expect(await jobs?.write("p1", "second\n")).toBe("ok");
      expect(await jobs?.view("p1", 15_000, never)).toEqual({
        output: "ready\n[it's 汉字 🚀]\n[second]\n",
        exitCode: 4,
      });
      expect(await jobs?.write("p1", "late\n")).toBe("ended");
      expect(await jobs?.view("nobody", 0, never)).toBe(null);
      expect(await jobs?.kill("nobody")).toBe(null);
    }));

  it("ends a background command with its children, and says so of one that does not read", () =>
    withWorld(async ({ box }) => {
      const { jobs } = box;
      const started = await jobs?.start(job("p1", "sleep 300 & echo pid $!; sleep 300"), never);
      expect(await jobs?.write("p1", "x".repeat(60_000))).toBe("ok");
      expect(await jobs?.write("p1", "x".repeat(60_000))).toBe("full");
      expect(await jobs?.kill("p1")).toMatchObject({ exitCode: 143 });
      expect(alive(pidIn(started?.output ?? ""))).toBe(false);
    }));

  it("30 MB of output: the head, the tail, what was left out, and no broken character", () =>
    withWorld(async ({ box }) => {
      const script =
        "echo first; head -c 30000000 /dev/zero | tr '\\0' x | sed 's/xxxxxx/汉字🚀é/g'; echo; echo last";
      const { output, exitCode } = await run(box, "a", script);
      expect(exitCode).toBe(0);
      expect(output.startsWith("first\n汉字🚀é")).toBe(true);
      expect(output.endsWith("\nlast\n")).toBe(true);
      expect(output.length).toBeLessThan(400_000);
      expect(output).toMatch(/\[\d+ characters left out\]/);
      expect(output).not.toContain("\ufffd");
    }));

  it("a flood is given back to the disk while it goes on", () =>
    withWorld(async ({ box, link }) => {
      const watch = async () => {
        const disk = () => statSync(join(link.places.run, "job", "a", "out"));
        await vi.waitFor(() => {
          const { size, blocks } = disk();
          expect(size).toBeGreaterThan(90_000_008);
          expect(blocks * 512).toBeLessThan(size / 2);
        }, 60_000);
      };
      const stop = new AbortController();
      const script = "head -c 90000000 /dev/zero | tr '\\0' y; echo; echo printed; sleep 100";
      const running = box.exec({ ...job("a", script), timeoutMs: 60_000 }, () => {}, stop.signal);
      await watch();
      stop.abort();
      const { output } = await running;
      expect(output).toMatch(/^yyy/);
      expect(output).toContain("printed");
    }));

  it("files of every kind come out, and those that changed alone", () =>
    withWorld(async ({ box, files, link }) => {
      const names = ["it's", "a b", "汉字 🚀", "new\nline", "-rf", "x".repeat(200)];
      for (const name of names)
        files.write(`/workspace/in/${name}`, new TextEncoder().encode(name));
      await run(
        box,
        "a",
        "cp -r in out; head -c 5000000 /dev/urandom > big; : > empty; ln -s big link",
      );
      const paths = files.list("/workspace/out").map((node) => node.path.slice(15));
      expect(paths.sort()).toEqual(names.filter((name) => !name.includes("\n")).sort());
      expect(files.stat("/workspace/big")?.size).toBe(5_000_000);
      expect(files.stat("/workspace/empty")?.size).toBe(0);
      expect(files.stat("/workspace/link")).toBe(null);
      await run(box, "b", "echo x > one");
      expect(files.stat("/workspace/one")?.size).toBe(2);
      link.wipe();
      expect((await run(box, "c", "cmp big big && ls in | wc -l && ls -- out/-rf")).exitCode).toBe(
        0,
      );
    }));
});
