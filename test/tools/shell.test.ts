import { describe, expect, it } from "vitest";
import type { ExecResult, Jobs } from "../../src/tools/box.ts";
import { shellExec } from "../../src/tools/shell.ts";
import {
  shellKillProcess,
  shellView,
  shellWait,
  shellWriteToProcess,
} from "../../src/tools/shell-jobs.ts";
import { FakeBox, hangs } from "../support/fake-box.ts";
import { call } from "../support/run-tool.ts";

function boxThat(output: string, exitCode = 0, timedOut = false): FakeBox {
  const box = new FakeBox();
  box.answer = async () => ({ output, exitCode, timedOut });
  return box;
}

describe("shell_exec", () => {
  it("gives the output and the exit code", async () => {
    expect(await call(shellExec, boxThat("hi\n"), { command: "echo hi" })).toEqual({
      ok: true,
      text: "hi\n[exit code 0]",
      content: { command: "echo hi", output: "hi\n", exit_code: 0 },
    });
  });

  it("H1: takes a non-zero exit code as an observation", async () => {
    const result = await call(shellExec, boxThat("no such file", 2), { command: "ls /nope" });
    expect(result).toMatchObject({ ok: true, text: "no such file\n[exit code 2]" });
  });

  it("says the exit code alone when nothing was printed", async () => {
    expect((await call(shellExec, boxThat(""), { command: "true" })).text).toBe("[exit code 0]");
  });

  it("H1: takes a timeout as a failure and keeps the output so far", async () => {
    const result = await call(
      shellExec,
      boxThat("half\n", 124, true),
      { command: "x" },
      { timeoutMs: 1_500 },
    );
    expect(result.ok).toBe(false);
    expect(result.text).toMatch(/^half\n\[timed out after 1.5 s;/);
    expect(result.content).toMatchObject({ output: "half\n", exit_code: 124 });
  });

  it("A23: ends when the sandbox never answers", async () => {
    const box = new FakeBox();
    box.answer = hangs;
    const result = await call(shellExec, box, { command: "x" }, { timeoutMs: 10, graceMs: 10 });
    expect(result.ok).toBe(false);
    expect(result.text).toContain("timed out");
  });

  it("runs in /workspace or in the folder given, with the call's id and the shorter time", async () => {
    const box = new FakeBox();
    await call(shellExec, box, { command: "a" });
    await call(shellExec, box, { command: "b", cwd: "src/../lib", timeout_seconds: 2 });
    await call(shellExec, box, { command: "c", timeout_seconds: 900 }, { reopened: true });
    expect(box.requests).toEqual([
      { id: "call1", command: "a", cwd: "/workspace", timeoutMs: 5_000, reopened: false },
      { id: "call1", command: "b", cwd: "/workspace/lib", timeoutMs: 2_000, reopened: false },
      { id: "call1", command: "c", cwd: "/workspace", timeoutMs: 5_000, reopened: true },
    ]);
  });

  it("A32: runs nothing when the folder is outside", async () => {
    const box = new FakeBox();
    const result = await call(shellExec, box, { command: "ls", cwd: "/etc" });
    expect(result).toMatchObject({ ok: true, text: expect.stringContaining("outside") });
    expect(box.requests).toEqual([]);
  });

  it("explains what to do instead of a background command, and starts nothing", async () => {
    const box = new FakeBox();
    const result = await call(shellExec, box, { command: "serve", background: true });
    expect(result).toMatchObject({
      ok: true,
      text: expect.stringContaining("nothing was started"),
    });
    expect(box.requests).toEqual([]);
  });

  it("H2: keeps the exit code when the output is cut", async () => {
    const box = boxThat(`START${"x".repeat(50_000)}END`, 7);
    const { text } = await call(shellExec, box, { command: "x" }, { maxChars: 1_000 });
    expect(text.startsWith("START")).toBe(true);
    expect(text.endsWith("END\n[exit code 7]")).toBe(true);
    expect([...text].length).toBeLessThanOrEqual(1_000);
  });

  it("A20: cuts through no emoji", async () => {
    for (let lead = 0; lead < 3; lead++) {
      const box = boxThat("a".repeat(lead) + "🚀".repeat(3_000));
      const result = await call(shellExec, box, { command: "x" }, { maxChars: 1_000 });
      expect(result.text.isWellFormed()).toBe(true);
      expect(JSON.stringify(result.content)).not.toMatch(/\\ud83d(?!\\ude80)/);
    }
  });

  it("A21: describes binary output and keeps a data URL as text", async () => {
    const bytes = Array.from({ length: 256 }, (_, i) => String.fromCharCode(i)).join("");
    const binary = await call(shellExec, boxThat(bytes.repeat(40)), { command: "cat x" });
    expect(binary.text).toMatch(/^\[binary output, about 10240 bytes, not shown/);
    const url = await call(shellExec, boxThat("data:image/png;base64,AAAA"), { command: "x" });
    expect(url.text).toBe("data:image/png;base64,AAAA\n[exit code 0]");
  });

  it("keeps coloured text and drops a stray NUL", async () => {
    const coloured = "\u001b[32mok\u001b[0m done, all of it\0";
    expect((await call(shellExec, boxThat(coloured), { command: "x" })).text).toBe(
      "\u001b[32mok\u001b[0m done, all of it\n[exit code 0]",
    );
  });

  it("bounds what the event shows", async () => {
    const result = await call(shellExec, boxThat("y".repeat(300_000)), { command: "x" });
    expect(JSON.stringify(result.content).length).toBeLessThan(70_000);
  });
});

describe("H3: what is not known", () => {
  const lost = (result: Partial<ExecResult>) => {
    const box = new FakeBox();
    box.answer = async () => ({ exitCode: 124, unknown: true, ...result });
    return call(shellExec, box, { command: "pay" }, { timeoutMs: 1_000 });
  };

  it("is said so, as a failure whose effect may have taken place", async () => {
    expect(await lost({ output: "half\n" })).toMatchObject({
      ok: false,
      unknown: true,
      text: expect.stringMatching(/^half\nOutcome unknown/),
    });
  });

  it("A23: a command that was not seen to end may still be running", async () => {
    const { text } = await lost({ output: "half\n", timedOut: true });
    expect(text).toMatch(/^half\n\[timed out after 1 s; it may still be running/);
  });
});

describe("commands in the background", () => {
  const boxWith = (jobs: Partial<Jobs>) =>
    Object.assign(new FakeBox(), {
      jobs: {
        start: async () => ({ output: "", exitCode: null }),
        view: async () => null,
        write: async () => null,
        kill: async () => null,
        ...jobs,
      } satisfies Jobs,
    });
  const job = (output: string, exitCode: number | null) => async () => ({ output, exitCode });

  it("give their id, and what they did at once", async () => {
    const runs = boxWith({ start: job("listening\n", null) });
    const started = await call(shellExec, runs, { command: "serve", background: true });
    expect(started.text).toBe(
      "Started in the background with the id call1; look at it with shell_view, wait for it with shell_wait.\nlistening\n[call1 is running]",
    );
    expect(started.content).toEqual({ command: "serve", output: "listening\n", exit_code: null });
    const failed = boxWith({ start: job("no such file\n", 127) });
    expect((await call(shellExec, failed, { command: "x", background: true })).text).toBe(
      "It ran in the background with the id call1 and has ended already.\nno such file\n[call1: exit code 127]",
    );
  });

  it("are looked at and waited for, never longer than the call may take", async () => {
    const waits: number[] = [];
    const box = boxWith({
      view: async (_, ms) => {
        waits.push(ms);
        return { output: "x".repeat(50_000), exitCode: null };
      },
    });
    const { text } = await call(shellView, box, { id: "p" }, { maxChars: 1_000 });
    expect([...text].length).toBeLessThanOrEqual(1_000);
    expect(text.endsWith("[p is running]")).toBe(true);
    await call(shellWait, box, { id: "p" }, { timeoutMs: 120_000 });
    await call(shellWait, box, { id: "p", seconds: 2 }, { timeoutMs: 120_000 });
    await call(shellWait, box, { id: "p", seconds: 900 }, { timeoutMs: 20_000 });
    expect(waits).toEqual([0, 30_000, 2_000, 15_000]);
  });

  it("G1: an id that is not there is explained", async () => {
    const tools = [shellView, shellWait, shellKillProcess, shellWriteToProcess];
    for (const tool of tools) {
      const result = await call(tool, boxWith({}), { id: "p", input: "x" });
      expect(result).toMatchObject({
        ok: true,
        text: expect.stringMatching(/no background command p.*Start it again/),
      });
    }
  });

  it("take what is typed, with Enter unless it is not wanted", async () => {
    const typed: string[] = [];
    const box = boxWith({
      write: async (_, text) => {
        typed.push(text);
        return "ok";
      },
    });
    await call(shellWriteToProcess, box, { id: "p", input: "yes" });
    await call(shellWriteToProcess, box, { id: "p", input: "no", press_enter: false });
    const long = await call(shellWriteToProcess, box, { id: "p", input: "x".repeat(70_000) });
    expect(long.text).toContain("in parts");
    expect(typed).toEqual(["yes\n", "no"]);
  });
});

it("what became of the sandbox is told before the result, once", async () => {
  const box = boxThat("hi\n");
  box.told = "[The sandbox was started anew.]";
  expect((await call(shellExec, box, { command: "x" })).text).toBe(
    "[The sandbox was started anew.]\nhi\n[exit code 0]",
  );
  expect((await call(shellExec, box, { command: "x" })).text).toBe("hi\n[exit code 0]");
});
