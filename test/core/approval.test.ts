/** Approvals: what waits for a yes, who may say it, and what a model is told after a no. OS-S13. */
import { describe, expect, it } from "vitest";
import type { SettingsLayer } from "../../src/core/settings.ts";
import { call, complete, Harness, plan, type Scripted, work } from "../fakes.ts";

const ASK: SettingsLayer = { tools: { approval: { "shell_*": "ask" } } };
const sound = (h: Harness) => expect(h.faults()).toEqual([]);
const shell = (command: string): [string, unknown] => ["shell_exec", { command }];
const rm: Scripted = call(shell("rm -rf build"));
const results = (h: Harness) =>
  h.disk.rows
    .filter((r) => r.kind === "result" && r.memory === "executor")
    .map((r) => (JSON.parse(r.json) as { content: string }).content);

describe("a tool that needs an approval", () => {
  it("waits with the call shown, and runs after a yes: the exact events", async () => {
    const h = await new Harness({ settings: ASK, script: [plan("a"), rm, complete(true)] }).run(
      "Do",
    );
    expect(h.log.slice(6)).toEqual(["wait", "status(waiting)"]);
    expect(h.of("wait")[0]).toMatchObject({
      kind: "approval",
      tool: { function: "shell_exec", args: { command: "rm -rf build" } },
    });
    expect(h.tools.dispatched).toEqual([]);
    expect(h.wakeAt).toBe(null);
    h.decide(true);
    await h.settle();
    expect(h.log.slice(8, 12)).toEqual([
      "answer",
      "status(running)",
      "tool(calling)",
      "tool(called)",
    ]);
    expect(h.tools.effects).toHaveLength(1);
    expect(h.head.status).toBe("completed");
    sound(h);
  });

  it("is not run after a no; the model is told, and it is no failure of the tool", async () => {
    const h = await new Harness({
      settings: ASK,
      script: [plan("a"), rm, work(), complete(true)],
    }).run("Do");
    h.decide(false);
    await h.settle();
    expect(h.tools.dispatched.map((r) => r.name)).toEqual(["file_write"]);
    expect(results(h)[0]).toMatch(/^Denied/);
    expect(h.of("tool").map((t) => t.function)).toEqual(["file_write", "file_write"]);
    expect(h.of("nudge")).toEqual([]);
    expect(h.head.status).toBe("completed");
    sound(h);
  });

  it("survives a crash, before and after the answer, and runs once", async () => {
    for (const n of [3, 4, 5, 6]) {
      for (const kind of ["failAt", "dieAfter"] as const) {
        const settings: SettingsLayer = { tools: { approval: { attach: "ask" } } };
        const script = [plan("a"), call(["attach", { command: "pay" }]), complete(true)];
        const asked = new Harness({ settings, script });
        asked.disk[kind].add(n);
        await asked.run("Do");
        asked.crash();
        await asked.settle();
        for (let i = 0; i < 3 && asked.head.status === "waiting"; i++) {
          try {
            asked.decide(true);
          } catch {
            // The commit failed: the answer is sent again.
          }
          await asked.settle();
        }
        expect([n, kind, asked.head.status, asked.tools.effects.length]).toEqual([
          n,
          kind,
          "completed",
          1,
        ]);
        sound(asked);
      }
    }
  });

  it("in a batch: what stands before it runs first, what stands after it comes after the answer", async () => {
    const batch = call(["file_write", { path: "1", content: "" }], shell("x"), [
      "file_write",
      { path: "2", content: "" },
    ]);
    const h = await new Harness({ settings: ASK, script: [plan("a"), batch, complete(true)] }).run(
      "Do",
    );
    expect(h.tools.dispatched.map((r) => r.args.path)).toEqual(["1"]);
    h.decide(true);
    await h.settle();
    expect(h.tools.dispatched.map((r) => r.args.path ?? r.args.command)).toEqual(["1", "x", "2"]);
    sound(h);
  });

  it("each call is asked about by itself, also reads that would run together", async () => {
    const settings: SettingsLayer = { tools: { approval: { file_read: "ask" } } };
    const batch = call(["file_read", { path: "1" }], ["file_read", { path: "2" }]);
    const h = await new Harness({ settings, script: [plan("a"), batch, complete(true)] }).run("Do");
    h.decide(true);
    await h.settle();
    expect(h.of("wait")).toHaveLength(2);
    h.decide(false);
    await h.settle();
    expect(h.tools.dispatched.map((r) => r.args.path)).toEqual(["1"]);
    expect(h.head.status).toBe("completed");
    sound(h);
  });

  it("a message while it waits joins the queue and is read after it", async () => {
    const h = await new Harness({ settings: ASK, script: [plan("a"), rm, complete(true)] }).run(
      "Do",
    );
    h.say("be careful");
    expect(h.head).toMatchObject({ status: "waiting", queue: [{ text: "be careful" }] });
    h.decide(true);
    await h.settle();
    expect(h.last(3)).toBe("be careful");
    sound(h);
  });

  it("a stop while it waits leaves it unrun and answered", async () => {
    const h = await new Harness({ settings: ASK, script: [plan("a"), rm] }).run("Do");
    h.stop();
    await h.settle();
    expect(results(h)[0]).toMatch(/^Not run/);
    expect(h.log.slice(-2)).toEqual(["done(stopped)", "status(stopped)"]);
    sound(h);
  });
});

describe("nobody connected", () => {
  const unattended = (how: "wait" | "block", script: Scripted[]) => {
    const h = new Harness({ settings: { tools: { ...ASK.tools, unattended: how } }, script });
    h.attended = false;
    return h.run("Do");
  };
  it("block: the call is refused honestly, and the work goes on", async () => {
    const h = await unattended("block", [plan("a"), rm, work(), complete(true)]);
    expect(results(h)[0]).toMatch(/^Blocked/);
    expect(h.of("wait")).toEqual([]);
    expect(h.head.status).toBe("completed");
    sound(h);
  });
  it("wait: it waits all the same", async () => {
    const h = await unattended("wait", [plan("a"), rm]);
    expect(h.head.status).toBe("waiting");
  });
});

it("the strictest of all matching globs counts", async () => {
  const settings: SettingsLayer = {
    tools: { approval: { "*": "allow", "shell_*": "ask", shell_exec: "deny" } },
  };
  const h = await new Harness({ settings, script: [plan("a"), work(), complete(true)] }).run("Do");
  expect(h.offered(2)).not.toContain("shell_exec");
  sound(h);
});
