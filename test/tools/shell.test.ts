import { describe, expect, it } from "vitest";
import { shellExec } from "../../src/tools/shell.ts";
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
