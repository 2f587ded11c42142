/** OS-6, OS-31, OS-46, OS-47: two shapes of an agent, one loop; and a direct answer that looks first. */

import { describe, expect, it } from "vitest";
import { policyOf } from "../../src/core/roles.ts";
import type { Seed, SettingsLayer } from "../../src/core/settings.ts";
import { call, fail, Harness, plan, type Scripted, text } from "../fakes.ts";

const sound = (h: Harness) => expect(h.faults()).toEqual([]);
const read = (path: string): [string, unknown] => ["file_read", { path }];

describe("OS-6: a tool loop and a direct answer", () => {
  const policyIn = async (mode: "chat" | "direct") => {
    const h = await new Harness({ mode, script: [{ hang: true }] }).run("q");
    return policyOf(h.head);
  };

  it("are two rows of one table: they differ in whether tools are offered, and in nothing else", async () => {
    const loop = await policyIn("chat");
    const direct = await policyIn("direct");
    expect({ ...direct, tools: true }).toEqual({ ...loop });
    expect([loop.tools, direct.tools]).toEqual([true, false]);
  });

  it("write the same log for the same answer, streamed in both", async () => {
    const [chat, direct] = await Promise.all(
      (["chat", "direct"] as const).map((mode) =>
        new Harness({ mode, script: [text("a")] }).run("q"),
      ),
    );
    expect(direct?.log).toEqual(chat?.log);
    expect(direct?.live).toEqual(chat?.live);
    expect(direct?.requests[0]).not.toHaveProperty("tools");
  });

  it("of an agent: a plan without steps is the direct answer, in one model call", async () => {
    const h = await new Harness({ script: [plan()] }).run("hello");
    expect(h.requests).toHaveLength(1);
    expect(h.log.slice(2)).toEqual([
      "title",
      "message(answer)",
      "plan(created)",
      "plan(completed)",
      "done(completed)",
      "status(completed)",
    ]);
    sound(h);
  });
});

describe("a direct answer that gathers evidence first", () => {
  const ON: SettingsLayer = { evidence: { enabled: true } };
  const direct = (script: Scripted[], evidence: SettingsLayer["evidence"] = {}) =>
    new Harness({
      mode: "direct",
      settings: { evidence: { ...ON.evidence, ...evidence } },
      script,
    });
  const chars = (h: Harness) =>
    h.disk.rows
      .filter((r) => r.kind === "result")
      .map((r) => (JSON.parse(r.json) as { content: string }).content);

  it("OS-61: is off by default", async () => {
    const h = await new Harness({ mode: "direct", script: [text("a")] }).run("q");
    expect(h.offered(1)).toEqual([]);
  });

  it("is offered reads alone, and speaks from what it found", async () => {
    const h = await direct([call(read("a")), text("It says ok.")]).run("q");
    expect(h.offered(1)).toEqual(["file_read"]);
    expect(h.roles(2)).toBe("suat");
    expect(h.of("message").at(-1)).toMatchObject({ kind: "answer", content: "It says ok." });
    sound(h);
  });

  it("O6: is not gathered for a command: it was answered already", async () => {
    const seeds = [{ tool: "file_read", args: { path: "faq" } }];
    for (const command of ["/help", "/usage", "/nonsense"]) {
      const h = await direct([], { seeds }).run(command);
      expect(h.head.status).toBe("completed");
      expect([h.requests.length, h.tools.dispatched.length]).toEqual([0, 0]);
      sound(h);
    }
  });

  it("OS-46: must speak after four laps", async () => {
    const laps = ["1", "2", "3", "4"].map((p) => call(read(p)));
    const h = await direct([...laps, text("Enough.")]).run("q");
    expect(h.requests.map((r) => r.tool_choice)).toEqual(["auto", "auto", "auto", "auto", "none"]);
    expect(h.head.status).toBe("completed");
    sound(h);
  });

  it("OS-46: keeps 4,000 characters of a result and 12,000 of all", async () => {
    const four = call(read("1"), read("2"), read("3"), read("4"));
    const h = direct([four, text("Enough.")]);
    h.tools.behaviour = () => ({ ok: true, text: "x".repeat(9_000) });
    await h.run("q");
    const lengths = chars(h).map((t) => t.length);
    expect(lengths.slice(0, 3).every((n) => n > 3_900 && n < 4_100)).toBe(true);
    expect(chars(h)[3]).toMatch(/^\[Left out/);
    expect(h.requests[1]?.tool_choice).toBe("none");
    sound(h);
  });

  it("OS-31: makes the calls that its profile names first, with the message in them, once a message", async () => {
    const seeds: Seed[] = [
      { tool: "file_read", args: { path: "faq {message}" } },
      { tool: "file_read", args: { path: "runbook" } },
      { tool: "shell_exec", args: { command: "rm" } },
    ];
    const h = await direct([text("From the FAQ.")], { seeds }).run("why?");
    expect(h.tools.dispatched.map((r) => r.args.path)).toEqual(["faq why?", "runbook"]);
    expect(h.roles(1)).toBe("suattt");
    expect(h.last(1)).toContain("Unknown tool");
    h.model.add(text("again"));
    await h.run("and?");
    expect(h.tools.dispatched).toHaveLength(4);
    sound(h);
  });

  it("survives the object's death in the middle of its seed calls", async () => {
    const h = direct([text("a")], { seeds: [{ tool: "file_read", args: { path: "1" } }] });
    h.tools.behaviour = () => "hang";
    await h.run("q");
    h.tools.behaviour = () => ({ ok: true, text: "ok" });
    h.crash();
    await h.settle();
    expect(h.of("tool").map((t) => t.status)).toEqual(["calling", "called"]);
    expect(h.roles(1)).toBe("suat");
    expect(h.head.status).toBe("completed");
    sound(h);
  });

  it("OS-47: a tool that fails, and a model that cannot look, still leave an answer", async () => {
    const h = direct([
      call(read("bad")),
      call(read("bad2")),
      fail("provider_error", false),
      text("From memory."),
    ]);
    h.tools.behaviour = () => ({ ok: false, text: "no" });
    await h.run("q");
    expect(h.of("error")).toEqual([]);
    expect(h.of("message").at(-1)?.content).toBe("From memory.");
    sound(h);
  });
});
