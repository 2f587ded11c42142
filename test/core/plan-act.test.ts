/** AM-S1 … AM-S18: the Plan-Act scenarios, each by its name. */
import { describe, expect, it } from "vitest";
import {
  askUser,
  call,
  complete,
  deliver,
  Harness,
  plan,
  type Scripted,
  succeed,
  text,
  update,
  work,
} from "../fakes.ts";

const ALWAYS = { summarize: "always" } as const;
const START = ["message(user)", "status(running)", "title", "message(plan)", "plan(created)"];
const TOOL = ["tool(calling)", "tool(called)"];
const END = ["message(final)", "plan(completed)", "done(completed)", "status(completed)"];

const sound = (h: Harness) => expect(h.faults()).toEqual([]);

describe("AM-S1 one step", () => {
  it("answers with the step's own result: 3 requests, the exact events", async () => {
    const h = await new Harness({ script: [plan("a"), work(), complete(true)] }).run("Do");
    expect(h.log).toEqual([
      ...START,
      "step(1 running)",
      ...TOOL,
      "step(1 completed)",
      "plan(updated)",
      ...END,
    ]);
    expect([1, 2, 3].map((n) => h.roles(n))).toEqual(["su", "su", "suat"]);
    expect(h.of("message").at(-1)).toMatchObject({ kind: "final", content: "done" });
    expect(h.of("plan").map((p) => p.steps[0]?.status)).toEqual([
      "running",
      "completed",
      "completed",
    ]);
    sound(h);
  });

  it("summarises when it is to: 4 requests", async () => {
    const script = [plan("a"), work(), complete(true), deliver("Final")];
    const h = await new Harness({ script, settings: ALWAYS }).run("Do");
    expect([1, 2, 3, 4].map((n) => h.roles(n))).toEqual(["su", "su", "suat", "suatatu"]);
    expect(h.of("message").at(-1)).toMatchObject({ kind: "final", content: "Final" });
    expect(h.log.slice(-4)).toEqual(END);
    sound(h);
  });

  it("offers the planner its terminal tool alone, and the executor no planner's", async () => {
    const script = [plan("a"), work(), complete(true), deliver("Final")];
    const h = await new Harness({ script, settings: ALWAYS }).run("Do");
    expect(h.offered(1)).toEqual(["create_plan"]);
    expect(h.requests[0]?.tool_choice).toBe("required");
    expect(h.offered(2).slice(-4)).toEqual([
      "message_notify_user",
      "message_ask_user",
      "complete_step",
      "deliver_result",
    ]);
    expect(h.offered(4)).toEqual(h.offered(2));
    expect(h.requests[3]?.tool_choice).toEqual({
      type: "function",
      function: { name: "deliver_result" },
    });
    const system = h.requests[0]?.messages[0]?.content ?? "";
    expect(system).toContain("- shell: shell_exec");
    expect(system).not.toContain('"parameters"');
    sound(h);
  });
});

it("AM-S2 two steps: six requests, none offers update_plan", async () => {
  const script = [plan("a", "b"), work(), complete(true), work(), complete(true), deliver("F")];
  const h = await new Harness({ script }).run("Do");
  expect(h.requests).toHaveLength(6);
  expect(h.model.bodies.every((b) => !b.includes("update_plan"))).toBe(true);
  expect(h.last(4)).toContain("[1] a → ok: done");
  expect(h.log).toEqual([
    ...START,
    "step(1 running)",
    ...TOOL,
    "step(1 completed)",
    "plan(updated)",
    "step(2 running)",
    ...TOOL,
    "step(2 completed)",
    "plan(updated)",
    ...END,
  ]);
  expect(h.of("plan")[1]?.steps.map((s) => s.status)).toEqual(["completed", "running"]);
  sound(h);
});

it("AM-S3 failed step: the planner replaces what is open", async () => {
  const script = [
    plan("a", "b"),
    complete(false, "Blocked"),
    update(["2", "b2"], ["3", "c"]),
    work(),
    complete(true),
    work(),
    complete(true),
    deliver("F"),
  ];
  const h = await new Harness({ script }).run("Do");
  expect(h.requests).toHaveLength(8);
  expect(h.offered(3)).toEqual(["update_plan"]);
  expect(h.last(3)).toContain("Blocked");
  expect(h.of("step")[1]).toMatchObject({ id: "1", status: "completed", success: false });
  expect(h.of("plan")[1]?.steps.map((s) => `${s.id} ${s.description} ${s.status}`)).toEqual([
    "1 a completed",
    "2 b2 running",
    "3 c pending",
  ]);
  expect(h.log.slice(5, 9)).toEqual([
    "step(1 running)",
    "step(1 completed without success)",
    "plan(updated)",
    "step(2 running)",
  ]);
  expect(h.log.slice(-4)).toEqual(END);
  sound(h);
});

it("AM-S4 update_plan [] drops the rest", async () => {
  const script = [plan("a", "b", "c"), complete(false), update(), deliver("F")];
  const h = await new Harness({ script }).run("Do");
  expect(h.requests).toHaveLength(4);
  expect(
    h
      .of("plan")
      .at(-1)
      ?.steps.map((s) => s.id),
  ).toEqual(["1"]);
  // The last step worked on did not succeed, and the outcome says so.
  expect(h.log.slice(-2)).toEqual(["done(failed)", "status(failed)"]);
  sound(h);
});

it("AM-S5 empty plan: a direct answer in one request", async () => {
  const script = [
    call(["create_plan", { message: "Hello!", language: "en", title: "T", goal: "", steps: [] }]),
  ];
  const h = await new Harness({ script }).run("Hi");
  expect(h.requests).toHaveLength(1);
  expect(h.log).toEqual([
    "message(user)",
    "status(running)",
    "title",
    "message(answer)",
    "plan(created)",
    "plan(completed)",
    "done(completed)",
    "status(completed)",
  ]);
  expect(h.of("plan").map((p) => p.steps)).toEqual([[], []]);
  sound(h);
});

it("AM-S6 ask and resume, with the object evicted between", async () => {
  const script = [plan("a"), askUser("Which?"), work(), complete(true), deliver("With B")];
  const h = await new Harness({ script, settings: ALWAYS }).run("Do");
  expect(h.log.slice(-3)).toEqual(["message(question)", "wait", "status(waiting)"]);
  expect(h.head).toMatchObject({ status: "waiting", phase: "waiting" });
  expect(h.wakeAt).toBe(null);
  h.crash();
  await h.settle();
  expect(h.requests).toHaveLength(2);
  h.answer("B");
  await h.settle();
  expect(h.roles(3)).toBe("suatu");
  expect(h.requests[2]?.messages[3]?.content).toBe("B");
  expect(h.log.filter((l) => l === "step(1 running)")).toHaveLength(1);
  expect(h.log.slice(8, 11)).toEqual(["status(waiting)", "answer", "status(running)"]);
  expect(h.log.slice(-4)).toEqual(END);
  sound(h);
});

it("AM-S7 ask not first in its batch: both calls are answered", async () => {
  const both = call(
    ["file_write", { path: "a", content: "x" }],
    ["message_ask_user", { text: "?" }],
  );
  const h = await new Harness({ script: [plan("a"), both, complete(true)] }).run("Do");
  expect(h.log.slice(6)).toEqual([...TOOL, "message(question)", "wait", "status(waiting)"]);
  h.answer("B");
  await h.settle();
  expect(h.roles(3)).toBe("suattu");
  expect(h.requests[2]?.messages.slice(3, 5).map((m) => m.content)).toEqual(["ok", "B"]);
  sound(h);
});

it("AM-S8 ask first with a trailing call: the call never runs and is answered", async () => {
  const both = call(
    ["message_ask_user", { text: "?" }],
    ["file_write", { path: "a", content: "x" }],
  );
  const h = await new Harness({ script: [plan("a"), both, work(), complete(true)] }).run("Do");
  expect(h.tools.dispatched).toHaveLength(0);
  h.answer("B");
  await h.settle();
  expect(h.requests[2]?.messages[3]?.content).toBe("B");
  expect(h.requests[2]?.messages[4]?.content).toContain("Not run: waiting for the user");
  expect(h.tools.dispatched).toHaveLength(1);
  sound(h);
});

it("AM-S9 premature complete is rejected, and the real result counts", async () => {
  const script = [plan("a"), complete(true, "made up"), work(), complete(true, "real")];
  const h = await new Harness({ script }).run("Do");
  expect(h.last(3)).toMatch(/^Rejected:/);
  expect(h.of("step").at(-1)).toMatchObject({ status: "completed", result: "real" });
  expect(h.log).toContain("nudge(premature_complete)");
  expect(h.of("error")).toEqual([]);
  sound(h);
});

describe("AM-S10 invalid output", () => {
  it("is told to complete_step as its tool result", async () => {
    const script = [plan("a"), work(), call(["complete_step", { success: true }]), complete(true)];
    const h = await new Harness({ script }).run("Do");
    expect(h.last(4)).toMatch(/^Invalid arguments/);
    expect(h.last(4)).toContain("result");
    expect(h.of("error")).toEqual([]);
    sound(h);
  });
  it("is told to create_plan as well", async () => {
    const script = [call(["create_plan", { title: "x" }]), plan("a"), work(), complete(true)];
    const h = await new Harness({ script }).run("Do");
    expect(h.roles(2)).toBe("suat");
    sound(h);
  });
});

it("AM-S11 plain text is nudged to the right tool, each time", async () => {
  const script = [text("I plan"), plan("a"), work(), text("I am done"), complete(true)];
  const h = await new Harness({ script }).run("Do");
  expect(h.last(2)).toContain("`create_plan`");
  expect(h.last(5)).toContain("`complete_step`");
  expect(h.of("nudge").map((n) => n.reason)).toEqual(["bare_text", "bare_text"]);
  sound(h);
});

it("AM-S12 unknown tool: a tool result, no failed step, no error", async () => {
  const script = [plan("a"), call(["nope", {}]), work(), complete(true)];
  const h = await new Harness({ script }).run("Do");
  expect(h.last(3)).toMatch(/^Unknown tool: nope/);
  expect(h.last(3)).toContain("file_write");
  expect(h.log.filter((l) => l.includes("failed") || l.includes("error"))).toEqual([]);
  expect(h.log.slice(-4)).toEqual(END);
  sound(h);
});

it("AM-S13 long step: over the budget the oldest results go, pairs and people's words stay", async () => {
  const big = { ok: true, text: "r".repeat(4_000) };
  const script: Scripted[] = [
    plan("a", "b"),
    askUser("Which?"),
    ...Array.from({ length: 8 }, (_, i) => work(`f${i}`)),
    complete(true),
    work("last"),
    complete(true),
    deliver("F"),
  ].map((r) => ({ ...r, usage: null }));
  const harness = { compact: { keepRecentSteps: 5 } };
  const h = new Harness({ script, settings: { limits: { maxContextTokens: 8_000 }, harness } });
  h.tools.behaviour = () => big;
  await h.run("Do");
  h.answer(`B ${"!".repeat(400)}`);
  await h.settle();
  const first = h.requests.findIndex((r) =>
    r.messages.some((m) => m.content?.includes("<step>\nb")),
  );
  const results = (h.requests[first]?.messages ?? []).filter((m) => m.role === "tool");
  const work8 = results.slice(1, 9).map((m) => m.content?.length === 4_000);
  expect(work8[0]).toBe(false);
  expect(work8.slice(-4)).toEqual([true, true, true, true]);
  expect((h.model.bodies[first]?.length ?? 0) / 4).toBeLessThan(8_000);
  expect(results[0]?.content).toBe(`B ${"!".repeat(400)}`);
  expect(h.requests[first]?.messages[1]?.content).toContain("<message>\nDo\n</message>");
  expect(h.of("compaction").length).toBeGreaterThan(0);
  sound(h);
});

it("AM-S14 iteration cap: the step fails once, the planner is asked, every request pairs", async () => {
  const script = [plan("a"), work("1"), work("2"), work("3"), update(), deliver("F")];
  const h = await new Harness({ script, settings: { limits: { maxIterations: 3 } } }).run("Do");
  expect(h.log.filter((l) => l.startsWith("notice") || l.startsWith("step"))).toEqual([
    "step(1 running)",
    "notice(max_iterations)",
    "step(1 failed)",
  ]);
  expect(h.offered(5)).toEqual(["update_plan"]);
  expect(h.log.slice(-4)).toEqual([
    "message(final)",
    "plan(completed)",
    "done(failed)",
    "status(failed)",
  ]);
  sound(h);
});

describe("AM-S15 the planner never calls its tool", () => {
  const settings = { limits: { maxIterations: 2 } };
  it("ends in a typed error without a plan", async () => {
    const h = await new Harness({ script: [text("a"), text("b")], settings }).run("Do");
    expect(h.log.slice(-3)).toEqual(["error(max_iterations)", "done(failed)", "status(failed)"]);
    expect(h.head).toMatchObject({ status: "failed", plan: null });
    sound(h);
  });
  it("does not summarise the plan of an earlier turn", async () => {
    const script = [plan("a"), work(), complete(true), text("x"), text("y")];
    const h = await new Harness({ script, settings: { limits: { maxIterations: 3 } } }).run("Do");
    h.model.add(text("z"));
    await h.run("Again");
    expect(h.log.slice(-3)).toEqual(["error(max_iterations)", "done(failed)", "status(failed)"]);
    expect(h.of("message").filter((m) => m.kind === "final")).toHaveLength(1);
    sound(h);
  });
});

it("AM-S16 replan: the call is cancelled and answered, both messages are in the planner's history", async () => {
  const script = [plan("a"), work("slow"), plan("b"), work("quick"), complete(true)];
  const h = new Harness({ script });
  h.tools.behaviour = (run) => (run.args.path === "slow" ? "hang" : succeed());
  await h.run("first");
  h.say("second", "replan");
  await h.settle();
  const planner = h.requests[2]?.messages ?? [];
  expect(h.offered(3)).toEqual(["create_plan"]);
  expect(planner.map((m) => m.content).join()).toContain("<message>\nfirst");
  expect(planner.at(-1)?.content).toContain("<message>\nsecond");
  expect(h.tools.cancelled).toHaveLength(1);
  expect(h.of("tool")[1]).toMatchObject({ status: "called", ok: false });
  expect(h.log.filter((l) => l === "plan(created)")).toHaveLength(2);
  expect(h.log.filter((l) => l.startsWith("done"))).toEqual(["done(completed)"]);
  sound(h);
});

it("AM-S17 replan cap: the end is honest and typed", async () => {
  const rounds = [1, 2].flatMap((n) => [complete(false, "Blocked"), update([`x${n}`, "again"])]);
  const script = [plan("a"), ...rounds, complete(false, "Blocked"), deliver("It went fine!")];
  const h = await new Harness({ script, settings: { limits: { maxReplans: 2 } } }).run("Do");
  expect(h.log.slice(-5)).toEqual([
    "notice(replans_exhausted)",
    "message(final)",
    "plan(completed)",
    "done(failed)",
    "status(failed)",
  ]);
  expect(h.of("message").at(-1)?.content).toContain("Blocked");
  sound(h);
});

it("AM-S17 replan cap, and the model that is to sum up fails too: still the honest end", async () => {
  const script = [
    plan("a"),
    complete(false, "Blocked"),
    text("x"),
    text("x"),
    text("x"),
    text("x"),
  ];
  const h = await new Harness({ script, settings: { limits: { maxReplans: 0 } } }).run("Do");
  expect(h.log.slice(-4)).toEqual([
    "message(final)",
    "plan(completed)",
    "done(failed)",
    "status(failed)",
  ]);
  expect(h.of("message").at(-1)?.content).toContain("Blocked");
  sound(h);
});

it("AM-S18 stop: the call is answered, done comes once, the next message works", async () => {
  const h = new Harness({ script: [plan("a"), work("slow")] });
  h.tools.behaviour = () => "hang";
  await h.run("Do");
  h.stop();
  await h.settle();
  expect(h.log.slice(-4)).toEqual([
    "tool(called)",
    "plan(updated)",
    "done(stopped)",
    "status(stopped)",
  ]);
  expect(h.of("tool")[1]).toMatchObject({ status: "called", ok: false });
  expect(h.of("plan").at(-1)?.steps[0]?.status).toBe("pending");
  h.tools.behaviour = () => succeed();
  h.model.add(plan("b"), work(), complete(true));
  await h.run("Go on");
  expect(h.log.slice(-4)).toEqual(END);
  expect(h.requests[3]?.messages.filter((m) => m.role === "tool").map((m) => m.content)).toEqual([
    expect.stringContaining("Stopped by the user"),
  ]);
  sound(h);
});
