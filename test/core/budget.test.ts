/** Budgets of a turn, and what a call, a turn and a session cost. */
import { describe, expect, it } from "vitest";
import { costOf } from "../../src/core/budget.ts";
import type { SettingsLayer } from "../../src/core/settings.ts";
import { mergeSettings } from "../../src/core/settings-merge.ts";
import {
  call,
  complete,
  fail,
  Harness,
  plan,
  type Scripted,
  succeed,
  text,
  update,
  work,
} from "../fakes.ts";

const sound = (h: Harness) => expect(h.faults()).toEqual([]);
const tokens = (s: Scripted, output = 90): Scripted => ({
  ...s,
  usage: { input_tokens: 10, output_tokens: output, cached_tokens: 0 },
});
const budget = (b: SettingsLayer["budget"], more: SettingsLayer = {}): SettingsLayer => ({
  budget: b,
  ...more,
});
const read = (path: string): [string, unknown] => ["file_read", { path }];

describe("a budget of tokens", () => {
  const settings = budget({ maxTokens: 200 });
  const script = () =>
    [plan("a"), work("1"), work("2"), work("3"), complete(true)].map((s) => tokens(s));

  it("that is reached waits before the next model call: the exact events", async () => {
    const h = await new Harness({ settings, script: script() }).run("Do");
    expect(h.requests).toHaveLength(2);
    expect(h.log.slice(-4)).toEqual(["tool(calling)", "tool(called)", "wait", "status(waiting)"]);
    expect(h.of("wait")[0]).toMatchObject({ kind: "budget" });
    expect(h.of("wait")[0]?.text).toMatch(/tokens \(200\).*200 so far/);
    expect(h.head).toMatchObject({ phase: "waiting", returnTo: "executing" });
    expect(h.wakeAt).toBe(null);
  });

  it("gives a new allowance of the same size after a yes, and asks again when it is used up", async () => {
    const h = await new Harness({ settings, script: script() }).run("Do");
    h.decide(true);
    await h.settle();
    expect(h.requests).toHaveLength(4);
    expect(h.head.wait).toMatchObject({ kind: "budget" });
    h.decide(true);
    await h.settle();
    expect(h.head.status).toBe("completed");
    expect(h.of("wait")).toHaveLength(2);
    sound(h);
  });

  it("stops the turn after a no, and the next message has a whole budget", async () => {
    const h = await new Harness({ settings, script: script().slice(0, 2) }).run("Do");
    h.decide(false);
    await h.settle();
    expect(h.log.slice(-4)).toEqual([
      "answer",
      "plan(updated)",
      "done(stopped)",
      "status(stopped)",
    ]);
    expect(h.requests).toHaveLength(2);
    h.model.add(tokens(plan("b"), 10), tokens(work("b"), 10), tokens(complete(true), 10));
    await h.run("Again");
    expect(h.head.status).toBe("completed");
    sound(h);
  });

  it("survives the object's death, and queues what is said meanwhile", async () => {
    const h = await new Harness({ settings, script: script() }).run("Do");
    h.crash();
    await h.settle();
    expect(h.requests).toHaveLength(2);
    h.say("be quick");
    expect(h.head.queue.map((q) => q.text)).toEqual(["be quick"]);
    h.decide(true);
    await h.settle();
    expect(h.last(3)).toBe("be quick");
    h.decide(true);
    await h.settle();
    sound(h);
  });

  it("counts estimates where the provider measures nothing", async () => {
    const h = new Harness({
      settings: budget({ maxTokens: 50 }),
      script: [{ ...plan("a"), usage: null }],
    });
    await h.run("Do");
    expect(h.of("usage")[0]?.measured).toBe(false);
    expect(h.head.wait?.kind).toBe("budget");
  });

  it("waits in a chat, and a stop ends the wait", async () => {
    const h = new Harness({
      mode: "chat",
      settings: budget({ maxTokens: 50 }),
      script: [tokens(call(read("1")))],
    });
    await h.run("q");
    expect(h.head.wait?.kind).toBe("budget");
    h.stop();
    expect(h.log.slice(-2)).toEqual(["done(stopped)", "status(stopped)"]);
    sound(h);
  });

  it("asks nothing when the last reply has used it up: the turn is done", async () => {
    const h = new Harness({
      mode: "chat",
      settings: budget({ maxTokens: 50 }),
      script: [tokens(text("a"))],
    });
    await h.run("q");
    expect(h.head.status).toBe("completed");
    sound(h);
  });

  it("holds for the whole turn, follow-ups included", async () => {
    const held = { ...tokens(text("a0")), held: true as const };
    const h = new Harness({ mode: "chat", settings: budget({ maxTokens: 50 }), script: [held] });
    await h.run("q0");
    h.say("q1", "follow_up");
    h.model.release();
    await h.settle();
    expect(h.requests).toHaveLength(1);
    expect(h.head.wait?.kind).toBe("budget");
    h.model.add(tokens(text("a1")));
    h.decide(true);
    await h.settle();
    expect(h.of("message").at(-1)?.content).toBe("a1");
    sound(h);
  });
});

describe("M4: what the owner may use today", () => {
  const script = () =>
    [plan("a"), work("1"), work("2"), work("3"), complete(true)].map((s) => tokens(s));
  const begun = async (left: number, more: Scripted[] = script(), settings: SettingsLayer = {}) => {
    const h = new Harness({ settings, script: more });
    h.left = left;
    return h.run("Do");
  };

  it("opens a wait when the turn has used it up, and a yes goes on with what there is then", async () => {
    const h = await begun(200);
    expect(h.requests).toHaveLength(2);
    expect(h.log.slice(-2)).toEqual(["wait", "status(waiting)"]);
    expect(h.of("wait")[0]?.text).toContain("midnight (UTC)");
    expect(h.wakeAt).toBe(null);
    h.left = 100;
    h.decide(true);
    await h.settle();
    expect(h.requests).toHaveLength(3);
    expect(h.head.wait?.kind).toBe("budget");
    h.left = null;
    h.decide(true);
    await h.settle();
    expect(h.head.status).toBe("completed");
    sound(h);
  });

  it("stops the turn after a no", async () => {
    const h = await begun(100, script().slice(0, 1));
    h.decide(false);
    expect(h.log.slice(-2)).toEqual(["done(stopped)", "status(stopped)"]);
    sound(h);
  });

  it("survives the object's death, and is not the budget of the turn", async () => {
    const h = await begun(300, script().slice(0, 3), budget({ maxTokens: 200 }));
    expect(h.of("wait").at(-1)?.text).toMatch(/tokens \(200\)/);
    h.crash();
    h.left = 100;
    h.decide(true);
    await h.settle();
    expect(h.requests).toHaveLength(3);
    expect(h.of("wait").at(-1)?.text).toContain("midnight (UTC)");
    sound(h);
  });

  it("is less when others have used of it meanwhile, and nothing of another day's", async () => {
    const held = { ...tokens(work("1")), held: true as const };
    const h = await begun(10_000, [
      tokens(plan("a")),
      held,
      tokens(work("2")),
      tokens(complete(true)),
    ]);
    h.keep({ type: "allotted", run: 1, left: 50, at: 100 });
    h.keep({ type: "allotted", run: 7, left: 0, at: 100 });
    h.model.release();
    await h.settle();
    expect([h.requests.length, h.head.wait?.kind]).toEqual([2, "budget"]);
    h.now += 24 * 3_600_000;
    delete h.left;
    h.decide(true);
    await h.settle();
    expect(h.head.status).toBe("completed");
    sound(h);
  });

  it("an answer that comes when it is used up is taken in, and then waited for more", async () => {
    const asks = call(["message_ask_user", { text: "Which?" }]);
    const h = await begun(
      10_000,
      [plan("a"), asks, work("1"), complete(true)].map((s) => tokens(s)),
    );
    h.left = 0;
    h.answer("blue");
    await h.settle();
    expect(h.log.slice(-4)).toEqual(["answer", "status(running)", "wait", "status(waiting)"]);
    h.left = 1_000;
    h.decide(true);
    await h.settle();
    expect(h.head.status).toBe("completed");
    sound(h);
  });
});

describe("a budget of tool calls", () => {
  const settings = budget({ maxToolCalls: 2 });

  it("waits before the call that is too many, in a serial batch", async () => {
    const three = call(
      ["file_write", { path: "1", content: "" }],
      ["file_write", { path: "2", content: "" }],
      ["file_write", { path: "3", content: "" }],
    );
    const h = await new Harness({ settings, script: [plan("a"), three, complete(true)] }).run("Do");
    expect(h.tools.dispatched.map((r) => r.args.path)).toEqual(["1", "2"]);
    expect(h.head.wait?.text).toMatch(/tool calls \(2\).*2 so far/);
    h.decide(true);
    await h.settle();
    expect(h.tools.dispatched.map((r) => r.args.path)).toEqual(["1", "2", "3"]);
    expect(h.head.status).toBe("completed");
    sound(h);
  });

  it("lets a parallel batch run as far as it goes, and asks when those have ended", async () => {
    const three = call(read("1"), read("2"), read("3"));
    const h = new Harness({ settings, script: [plan("a"), three, complete(true)] });
    h.tools.behaviour = () => "hang";
    await h.run("Do");
    expect(h.tools.dispatched).toHaveLength(2);
    expect(h.head.status).toBe("running");
    h.tools.behaviour = () => succeed();
    for (const id of [...h.tools.open.keys()]) h.tools.release(id);
    await h.settle();
    expect(h.head.wait?.kind).toBe("budget");
    h.decide(true);
    await h.settle();
    expect(h.tools.dispatched).toHaveLength(3);
    expect(h.roles(3)).toBe("suattt");
    sound(h);
  });

  it("answers what did not run when the answer is no", async () => {
    const h = new Harness({ settings, script: [plan("a"), call(read("1"), read("2"), read("3"))] });
    await h.run("Do");
    h.decide(false);
    await h.settle();
    expect(h.log.slice(-2)).toEqual(["done(stopped)", "status(stopped)"]);
    h.model.add(plan("b"), work(), complete(true));
    await h.run("next");
    sound(h);
  });

  it("does not count what only repeats a read, nor ask for it", async () => {
    const script = [plan("a"), call(read("1")), call(read("2")), call(read("1")), complete(true)];
    const h = await new Harness({ settings, script }).run("Do");
    expect(h.of("wait")).toEqual([]);
    sound(h);
  });

  it("asks for the approval of a call first, then for the call itself", async () => {
    const h = new Harness({
      settings: budget({ maxToolCalls: 1 }, { tools: { approval: { shell_exec: "ask" } } }),
      script: [plan("a"), work(), call(["shell_exec", { command: "x" }]), complete(true)],
    });
    await h.run("Do");
    expect(h.head.wait?.kind).toBe("approval");
    h.decide(true);
    await h.settle();
    expect(h.head.wait?.kind).toBe("budget");
    h.decide(true);
    await h.settle();
    expect(h.tools.effects).toHaveLength(2);
    sound(h);
  });

  it("holds for the work tool that ends a workflow", async () => {
    const h = new Harness({
      mode: "workflow",
      settings: budget({ maxToolCalls: 1 }, { harness: { terminalTools: ["file_write"] } }),
      script: [call(read("1")), call(["file_write", { path: "out", content: "x" }])],
    });
    await h.run("Do");
    expect(h.tools.dispatched).toHaveLength(1);
    h.decide(true);
    await h.settle();
    expect(h.head.status).toBe("completed");
    sound(h);
  });
});

describe("costs", () => {
  const prices = { "fake-1": { input: 2, cached: 0.5, output: 10 } };

  it("are told for a call, and summed up for the turn and the session", async () => {
    const reply = {
      ...text("a"),
      usage: { input_tokens: 1_000, output_tokens: 100, cached_tokens: 400 },
    };
    const h = await new Harness({
      mode: "chat",
      settings: { prices },
      script: [reply, text("b")],
    }).run("q");
    // 600 × 2 + 400 × 0.5 + 100 × 10, for a million.
    expect(h.of("usage")[0]?.cost_usd).toBe(0.0024);
    expect(h.head.usage.cost_usd).toBe(0.0024);
    await h.run("again");
    expect(h.head.usage.cost_usd).toBeGreaterThan(0.0024);
    expect(h.head.used.cost).toBeLessThan(0.0024);
    sound(h);
  });

  it("are null where the price is not known, and so is the sum", async () => {
    const h = await new Harness({ mode: "chat", script: [text("a")] }).run("q");
    expect(h.of("usage")[0]?.cost_usd).toBe(null);
    expect(h.head.usage.cost_usd).toBe(null);
  });

  it("are looked up by the name that was asked for, else by the one that answered", () => {
    const u = { input_tokens: 1_000_000, output_tokens: 0, cached_tokens: 0 };
    const table = { a: { input: 1, output: 1 }, "a-2026": { input: 3, output: 1 } };
    expect(costOf(table, ["a", "a-2026"], u)).toBe(1);
    expect(costOf(table, ["latest", "a-2026"], u)).toBe(3);
    expect(costOf(table, ["latest", "b"], u)).toBe(null);
    expect(costOf(table, ["toString", "b"], u)).toBe(null);
  });

  it("charge cached tokens like others unless the price says else", () => {
    const u = { input_tokens: 1_000_000, output_tokens: 0, cached_tokens: 1_000_000 };
    expect(costOf({ a: { input: 4, output: 1 } }, ["a"], u)).toBe(4);
    expect(costOf({ a: { input: 4, cached: 0, output: 1 } }, ["a"], u)).toBe(0);
  });

  it("reach a limit, and the wait says how much", async () => {
    const script = [tokens(plan("a"), 100_000), work(), complete(true)];
    const h = new Harness({ settings: { prices, budget: { maxCostUsd: 1 } }, script });
    await h.run("Do");
    expect(h.head.wait?.text).toMatch(/\(\$1\).*\$1\.00002 so far/);
    h.decide(true);
    await h.settle();
    expect(h.head.status).toBe("completed");
    sound(h);
  });

  it("that are not known cannot reach a limit, and it is said once a turn", async () => {
    const h = new Harness({
      settings: budget({ maxCostUsd: 0.000001 }),
      script: [plan("a"), work(), complete(true)],
    });
    await h.run("Do");
    expect(h.of("notice").map((n) => n.code)).toEqual(["cost_unknown"]);
    expect(h.of("notice")[0]?.text).toContain("fake-1");
    expect(h.head.status).toBe("completed");
    sound(h);
  });

  it("a nearer price table wins model by model, and the strictest budget counts", () => {
    const s = mergeSettings([
      {
        prices: { a: { input: 1, output: 1 }, b: { input: 2, output: 2 } },
        budget: { maxTokens: 10 },
      },
      { prices: { a: { input: 3, output: 3 } }, budget: { maxTokens: 50, maxToolCalls: 5 } },
    ]);
    expect(s.prices).toEqual({ a: { input: 3, output: 3 }, b: { input: 2, output: 2 } });
    expect(s.budget).toEqual({ maxTokens: 10, maxToolCalls: 5, maxCostUsd: null });
  });
});

it("a failed call uses nothing, and a budget is not asked about while it is tried again", async () => {
  const h = new Harness({
    settings: budget({ maxTokens: 100 }),
    script: [
      fail("provider_error", true),
      tokens(plan("a"), 20),
      tokens(complete(false), 20),
      tokens(update(), 20),
    ],
  });
  await h.run("Do");
  expect(h.requests).toHaveLength(5);
  h.stop();
});
