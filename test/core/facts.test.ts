/** Facts: what logs, traces and counters are made of. K1 … K3. */
import { describe, expect, it } from "vitest";
import type { Fact } from "../../src/core/facts.ts";
import { mergeSettings } from "../../src/core/settings-merge.ts";
import {
  askUser,
  call,
  complete,
  deliver,
  fail,
  Harness,
  plan,
  text,
  update,
  work,
} from "../fakes.ts";

type Of<F extends Fact["fact"]> = Extract<Fact, { fact: F }>;
const of = <F extends Fact["fact"]>(h: Harness, fact: F): Of<F>[] =>
  h.facts.filter((f): f is Of<F> => f.fact === fact);
const names = (h: Harness) => h.facts.map((f) => f.fact);
const sound = (h: Harness) => expect(h.faults()).toEqual([]);
const shell = call(["shell_exec", { command: "cat secret.txt" }]);

describe("a turn", () => {
  it("K1: tells of its beginning, each call and its end, in the order in which they happened", async () => {
    const h = await new Harness({ script: [plan("a"), work(), complete(true)] }).run("Do it");
    expect(names(h)).toEqual([
      "turn_started",
      "model_call_ended",
      "model_call_ended",
      "tool_call_ended",
      "model_call_ended",
      "turn_ended",
    ]);
    expect(of(h, "model_call_ended").map((f) => [f.role, f.model, f.finish, f.error])).toEqual([
      ["planner", "fake-1", "tool_calls", null],
      ["executor", "fake-1", "tool_calls", null],
      ["executor", "fake-1", "tool_calls", null],
    ]);
    expect(of(h, "tool_call_ended")).toMatchObject([
      { tool: "file_write", toolkit: "file", ok: true, session: "s1", turn: 1 },
    ]);
    sound(h);
  });

  it("counts what it has used itself, not what the session had used before", async () => {
    const h = new Harness({ mode: "chat", script: [text("one"), work(), text("two")] });
    await h.run("first");
    await h.run("second");
    const [first, second] = of(h, "turn_ended");
    expect(first?.usage).toMatchObject({ model_calls: 1, tool_calls: 0, input_tokens: 10 });
    expect(second?.usage).toMatchObject({ model_calls: 2, tool_calls: 1, input_tokens: 20 });
    expect([first?.key, second?.key]).toEqual(["turn 1", "turn 2"]);
  });

  it("that goes on with a follow-up ends once and keeps its beginning", async () => {
    const h = new Harness({ mode: "chat", script: [{ text: "one", held: true }, text("two")] });
    const start = h.now;
    await h.run("first");
    h.now += 5_000;
    h.say("second", "follow_up");
    h.model.release();
    await h.settle();
    const ended = of(h, "turn_ended");
    expect(ended).toHaveLength(1);
    expect(ended[0]).toMatchObject({ from: start, at: start + 5_000, outcome: "completed" });
  });

  it("that is one command begins and ends in one commit", async () => {
    const h = await new Harness().run("/help");
    expect(names(h)).toEqual(["turn_started", "turn_ended"]);
    expect(of(h, "turn_ended")[0]).toMatchObject({ outcome: "completed", error: null });
  });

  it("that failed names the error's code", async () => {
    const h = await new Harness({ mode: "chat", script: [fail("provider_auth", false)] }).run("q");
    expect(of(h, "turn_ended")).toMatchObject([{ outcome: "failed", error: "provider_auth" }]);
    expect(of(h, "model_call_ended")).toMatchObject([{ error: "provider_auth", finish: null }]);
  });

  it("belongs to the trace of whoever asked for it, to its end", async () => {
    const h = new Harness({ mode: "chat", script: [work(), text("ok")] });
    const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    h.keep({
      type: "said",
      clientId: "u1",
      text: "q",
      attachments: [],
      delivery: "steer",
      settings: mergeSettings([]),
      trace,
    });
    await h.settle();
    expect(new Set(h.facts.map((f) => f.trace))).toEqual(new Set([trace]));
    await h.run("again");
    expect(h.facts.at(-1)?.trace).toBe("");
  });
});

describe("a model call", () => {
  it("that is tried again is a fact for each try, with the pause between them", async () => {
    const script = [fail("rate_limited", true, 3_000), text("ok")];
    const h = await new Harness({ mode: "chat", script }).run("q");
    expect(of(h, "model_call_ended").map((f) => [f.attempt, f.error])).toEqual([
      [1, "rate_limited"],
      [2, null],
    ]);
    expect(new Set(of(h, "model_call_ended").map((f) => f.key)).size).toBe(2);
    expect(of(h, "retry")).toMatchObject([{ error: "rate_limited", tries: 1, wait_ms: 3_000 }]);
    expect(of(h, "noticed").map((f) => f.code)).toEqual(["retry_wait"]);
  });

  it("that a stop cancels has ended, as cancelled", async () => {
    const h = await new Harness({ mode: "chat", script: [] }).run("q");
    h.stop();
    expect(of(h, "model_call_ended")).toMatchObject([{ error: "cancelled" }]);
    expect(of(h, "turn_ended")).toMatchObject([{ outcome: "stopped" }]);
    await h.settle();
    expect(of(h, "model_call_ended")).toHaveLength(1);
  });

  it("whose reply was refused is told with the reason", async () => {
    const h = await new Harness({ script: [text("no"), plan("a"), work(), complete(true)] }).run(
      "x",
    );
    expect(of(h, "nudged")).toMatchObject([{ role: "planner", reason: "bare_text", attempt: 1 }]);
  });
});

describe("a wait", () => {
  it("is told when it begins and when it ends, with how long it was", async () => {
    const h = await new Harness({
      script: [plan("a"), askUser("Which?"), work(), complete(true)],
    }).run("x");
    expect(of(h, "wait_began")).toMatchObject([{ kind: "question" }]);
    const began = h.now;
    h.now += 3_600_000;
    h.answer("blue");
    await h.settle();
    expect(of(h, "wait_ended")).toMatchObject([
      { kind: "question", from: began, at: began + 3_600_000, answered: true },
    ]);
    expect(of(h, "wait_ended")[0]?.wait).toBe(of(h, "wait_began")[0]?.wait);
    sound(h);
  });

  it("that a stop ends was not answered", async () => {
    const h = await new Harness({ script: [plan("a"), askUser("Which?")] }).run("x");
    h.stop();
    expect(of(h, "wait_ended")).toMatchObject([{ kind: "question", answered: false }]);
  });
});

describe("a crash", () => {
  it("K3: repeats a model call under the same key and is told once", async () => {
    const h = new Harness({ mode: "chat", script: [{ text: "ok", held: true }] });
    await h.run("q");
    h.crash();
    await h.settle();
    h.model.release();
    await h.settle();
    expect(of(h, "woken")).toMatchObject([{ restarts: 1, reopened: 0 }]);
    const other = await new Harness({ mode: "chat", script: [text("ok")] }).run("q");
    expect(of(h, "model_call_ended").map((f) => f.key)).toEqual(
      of(other, "model_call_ended").map((f) => f.key),
    );
  });

  it("K3: leaves a tool call its beginning", async () => {
    const h = new Harness({
      mode: "chat",
      script: [call(["attach", { command: "make" }]), text("ok")],
    });
    h.tools.behaviour = () => "hang";
    await h.run("q");
    const began = h.now;
    h.now += 10_000;
    h.crash();
    await h.settle();
    for (const id of [...h.tools.open.keys()]) h.tools.release(id);
    await h.settle();
    expect(of(h, "woken")).toMatchObject([{ reopened: 1 }]);
    expect(of(h, "tool_call_ended")).toMatchObject([{ tool: "attach", from: began, ok: true }]);
  });

  it("K1: whose commit was lost tells nothing of it", async () => {
    const h = new Harness({ mode: "chat", script: [work(), text("ok")] });
    // The message, the reply, the tool's result: the third cannot be stored, once.
    h.disk.failAt.add(3);
    await h.run("q");
    expect(of(h, "tool_call_ended")).toHaveLength(1);
    expect(of(h, "turn_ended")).toHaveLength(1);
    sound(h);
  });
});

it("K2: nothing that was said, run or named is in any fact", async () => {
  const script = [
    plan("PRIVATE step"),
    shell,
    call(["file_write", { path: "PRIVATE.txt", content: "PRIVATE" }]),
    askUser("PRIVATE?"),
    complete(false, "PRIVATE result"),
    update(["2", "PRIVATE again"]),
    work(),
    complete(true),
    deliver("PRIVATE"),
  ];
  const h = new Harness({ script, settings: { instructions: "PRIVATE" } });
  h.tools.behaviour = () => ({ ok: true, text: "PRIVATE output" });
  await h.run("PRIVATE message");
  h.answer("PRIVATE answer");
  await h.settle();
  expect(h.head.status).toBe("completed");
  const told = JSON.stringify(h.facts);
  expect(told).not.toContain("PRIVATE");
  expect(told).not.toContain("secret.txt");
  expect(told).not.toContain('"local"');
});

it("whoever listens and throws disturbs nothing", async () => {
  const h = new Harness({ mode: "chat", script: [work(), text("ok")] });
  h.facts.push = () => {
    throw new Error("full");
  };
  await h.run("q");
  expect(h.head.status).toBe("completed");
  sound(h);
});
