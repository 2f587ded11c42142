/** A15, A16, A17: an endpoint that refuses something is asked again without it, once, and it is remembered. */
import { describe, expect, it } from "vitest";
import { type Hint, PRESETS, type Profile } from "../../src/core/profile.ts";
import type { Kit } from "../../src/core/roles.ts";
import { call, complete, Harness, KIT, plan, type Scripted, text, work } from "../fakes.ts";

const sound = (h: Harness) => expect(h.faults()).toEqual([]);
const refuse = (hint: Hint): Scripted => ({
  fail: { code: "provider_error", message: "does not support this", retryable: false, hint },
});
const kitWith = (profile: Profile): Kit => ({ ...KIT, profile: () => profile });

describe("A15: a forced tool choice that is refused", () => {
  it("is sent weaker at once, not tried again in later turns, and counts as no failure", async () => {
    const script = [
      refuse("tool_choice"),
      text("Here is my plan"),
      plan("a"),
      work(),
      complete(true),
      plan("b"),
      work(),
      complete(true),
    ];
    const h = new Harness({ script });
    await h.run("Do");
    await h.run("More");
    const choices = h.requests.map((r) => r.tool_choice);
    expect(choices).toEqual(["required", "auto", "auto", "auto", "auto", "auto", "auto", "auto"]);
    expect(h.of("nudge").map((n) => n.reason)).toEqual(["bare_text"]);
    expect(h.of("error")).toEqual([]);
    sound(h);
  });

  it("survives a crash: what was learned is stored", async () => {
    const h = new Harness({ script: [refuse("tool_choice"), { hang: true }] });
    await h.run("Do");
    h.crash();
    h.model.add();
    await h.settle();
    expect(h.requests.at(-1)?.tool_choice).toBe("auto");
  });

  it("ends typed when the same thing is refused again", async () => {
    const h = new Harness({ script: [refuse("tool_choice"), refuse("tool_choice")] });
    await h.run("Do");
    expect(h.requests).toHaveLength(2);
    expect(h.log.slice(-3)).toEqual(["error(provider_error)", "done(failed)", "status(failed)"]);
  });
});

describe("A16: reasoning", () => {
  const thinking: Scripted = { ...call(["file_read", { path: "a" }]), thinking: "I should look" };
  const assistant = (h: Harness, n: number) =>
    (h.requests[n - 1]?.messages ?? []).filter((m) => m.role === "assistant") as unknown as Record<
      string,
      unknown
    >[];

  it("is kept over a crash and sent back where the profile wants it", async () => {
    const kit = kitWith({ ...PRESETS.practice, reasoning: "reasoning_content" });
    const h = new Harness({ mode: "chat", kit, script: [thinking, text("x")] });
    h.disk.dieAfter.add(2);
    await h.run("q");
    expect(assistant(h, h.requests.length)[0]).toMatchObject({
      reasoning_content: "I should look",
    });
    expect(h.of("message").at(-1)?.content).toBe("x");
    sound(h);
  });

  it("is not sent where it is not wanted", async () => {
    const h = new Harness({ mode: "chat", script: [thinking, text("x")] });
    await h.run("q");
    expect(assistant(h, 2)[0]).not.toHaveProperty("reasoning_content");
    sound(h);
  });

  it("is sent after all when the endpoint says that it must be", async () => {
    const h = new Harness({
      mode: "chat",
      script: [thinking, refuse("reasoning_missing"), text("x")],
    });
    await h.run("q");
    expect(assistant(h, 3)[0]).toMatchObject({ reasoning_content: "I should look" });
    sound(h);
  });
});

it("A17: a tool that cannot be sent is left out with a notice, and the rest works", async () => {
  const bad = {
    ...KIT.tools[0],
    name: "bad",
    parameters: { type: "array" },
  } as (typeof KIT.tools)[number];
  const kit: Kit = { ...KIT, tools: [...KIT.tools, bad] };
  const h = new Harness({ kit, script: [plan("a"), work(), complete(true)] });
  await h.run("Do");
  expect(h.offered(2)).not.toContain("bad");
  expect(h.of("notice").map((n) => n.code)).toEqual(["tool_left_out"]);
  expect(h.of("notice")[0]?.text).toContain("bad");
  expect(h.head.status).toBe("completed");
  sound(h);
});
