/** Compaction by its invariants K1–K4, through the real flow: A10, A11, FG-S12, and a provider that says "too long". */
import { describe, expect, it } from "vitest";
import {
  call,
  complete,
  deliver,
  fail,
  Harness,
  plan,
  type Scripted,
  text,
  work,
} from "../fakes.ts";

const sound = (h: Harness) => expect(h.faults()).toEqual([]);
const unmeasured = (r: Scripted): Scripted => ({ ...r, usage: null });
const body = (h: Harness, n: number) => h.model.bodies[n - 1] ?? "";
const messages = (h: Harness, n: number) => h.requests[n - 1]?.messages ?? [];

async function longStep(window: number, settings = {}, works = 12): Promise<Harness> {
  const script = [
    plan("a", "b"),
    ...Array.from({ length: works }, (_, i) => work(`f${i}`)),
    complete(true, "a is done"),
    work("last"),
    complete(true),
    deliver("F"),
  ].map(unmeasured);
  const h = new Harness({
    script,
    settings: { limits: { maxContextTokens: window }, ...settings },
  });
  h.tools.behaviour = (run) => ({ ok: true, text: `${run.id} ${"r".repeat(4_000)}` });
  return h.run("Build it");
}

describe("a long step over a small window", () => {
  it("A10: stays paired in every request, whatever is shortened", async () => {
    for (const window of [3_000, 5_000, 8_000, 12_000]) sound(await longStep(window));
  });

  it("K4: touches nothing below the first threshold", async () => {
    const h = await longStep(100_000);
    expect(h.of("compaction")).toEqual([]);
    expect(h.model.bodies.join()).not.toContain("COMPACTED");
  });

  it("goes through its phases as the window fills, and says so each time", async () => {
    const h = await longStep(9_000);
    const phases = h.of("compaction").map((c) => c.phase);
    expect(phases[0]).toBe(1);
    expect(phases).toEqual([...phases].sort());
    for (const c of h.of("compaction")) expect(c.after_tokens).toBeLessThan(c.before_tokens);
    sound(h);
  });

  it("K2: keeps the newest replies with their results whole, and every prompt", async () => {
    const h = await longStep(9_000);
    const last = messages(h, 13);
    const results = last.filter((m) => m.role === "tool").map((m) => m.content ?? "");
    expect(results.slice(-4).every((r) => r.length > 4_000)).toBe(true);
    expect(last.some((m) => m.content?.includes("<message>\nBuild it"))).toBe(true);
    expect(last.some((m) => m.content?.includes("<step>\na"))).toBe(true);
  });

  it("K3, K4: between two compactions each request begins with the last one", async () => {
    const h = await longStep(9_000);
    let shared = 0;
    for (let n = 3; n <= 13; n++) {
      const before = body(h, n - 1).slice(0, -2);
      if (body(h, n).startsWith(before)) shared += 1;
    }
    expect(shared).toBeGreaterThanOrEqual(10 - h.of("compaction").length);
  });

  it("A11: plans once, names what is done, and done steps stay done", async () => {
    const h = await longStep(4_000);
    expect(h.offered(1)).toEqual(["create_plan"]);
    expect(h.model.bodies.filter((b) => b.includes('"name":"create_plan"'))).toHaveLength(1);
    const hint = h.disk.rows.filter((r) => r.kind === "hint").at(-1)?.json ?? "";
    expect(hint).toContain("[1] a → ok: a is done");
    expect(
      h
        .of("plan")
        .at(-1)
        ?.steps.map((s) => s.status),
    ).toEqual(["completed", "completed"]);
  });
});

it("FG-S12: the hint names every tool that has succeeded, and required steps done long ago still count", async () => {
  const script = [
    call(["file_read", { path: "needed" }]),
    ...Array.from({ length: 6 }, (_, i) => work(`f${i}`)),
    call(["agent_response", { text: "done" }]),
  ].map(unmeasured);
  const harness = { requiredSteps: ["file_read"] };
  const h = new Harness({
    mode: "workflow",
    script,
    settings: { limits: { maxContextTokens: 4_500 }, harness },
  });
  h.tools.behaviour = () => ({ ok: true, text: "r".repeat(5_000) });
  await h.run("q");
  expect(body(h, 8)).toContain("[COMPACTED tool result");
  expect(body(h, 8)).toContain("Tools that have succeeded: file_read, file_write");
  expect(h.of("message").at(-1)?.content).toBe("done");
  sound(h);
});

describe("a provider that finds the request too long", () => {
  it("A33: is asked again with a shorter one, once, without waiting", async () => {
    const script = [
      plan("a"),
      work("1"),
      work("2"),
      work("3"),
      fail("context_overflow", false),
      complete(true),
    ];
    const h = new Harness({ script });
    h.tools.behaviour = () => ({ ok: true, text: "r".repeat(9_000) });
    await h.run("Do");
    expect(h.head.status).toBe("completed");
    expect(body(h, 6).length).toBeLessThan(body(h, 5).length);
    expect(h.of("compaction")).toHaveLength(1);
    sound(h);
  });

  it("ends typed when that does not help", async () => {
    const overflow = fail("context_overflow", false);
    const h = new Harness({ script: [plan("a"), work("1"), overflow, overflow] });
    h.tools.behaviour = () => ({ ok: true, text: "r".repeat(9_000) });
    await h.run("Do");
    expect(h.log.slice(-3)).toEqual(["error(context_overflow)", "done(failed)", "status(failed)"]);
    expect(h.requests).toHaveLength(4);
    sound(h);
  });

  it("ends typed at once when nothing can be shortened, and the next message works", async () => {
    const h = new Harness({ mode: "chat", script: [fail("context_overflow", false), text("hi")] });
    await h.run("q");
    expect(h.requests).toHaveLength(1);
    expect(h.log.slice(-3)).toEqual(["error(context_overflow)", "done(failed)", "status(failed)"]);
    await h.run("short");
    expect(h.head.status).toBe("completed");
    sound(h);
  });
});

it("what the provider measures corrects the estimate", async () => {
  const heavy = { input_tokens: 40_000, output_tokens: 5, cached_tokens: 0 };
  const script = [
    plan("a"),
    ...Array.from({ length: 8 }, (_, i) => ({ ...work(`f${i}`), usage: heavy })),
    complete(true),
  ];
  const h = new Harness({ script, settings: { limits: { maxContextTokens: 30_000 } } });
  h.tools.behaviour = () => ({ ok: true, text: "r".repeat(8_000) });
  await h.run("Do");
  // By length alone the requests stay far below the window.
  expect(h.model.bodies.every((b) => b.length / 4 < 18_000)).toBe(true);
  expect(h.of("compaction").length).toBeGreaterThan(0);
  sound(h);
});

it("switched off, it only acts when the window is full", async () => {
  const off = { harness: { compact: { enabled: false } } };
  expect((await longStep(30_000, off)).of("compaction")).toEqual([]);
  expect((await longStep(5_000, off)).of("compaction").length).toBeGreaterThan(0);
});

describe("hard cases", () => {
  const big = (n: number) => "w".repeat(n);

  it("keepRecentSteps 0 keeps one reply, and compacts a bounded number of times", async () => {
    const h = await longStep(3_000, { harness: { compact: { keepRecentSteps: 0 } } });
    expect(h.of("compaction").length).toBeLessThan(15);
    expect(h.head.status).toBe("completed");
    sound(h);
  });

  it("large arguments of old calls are cut too, and the session lives on", async () => {
    const writes = Array.from({ length: 10 }, (_, i) =>
      call(["file_write", { path: `f${i}`, content: big(20_000) }]),
    );
    const overflow = fail("context_overflow", false);
    const h = new Harness({ script: [plan("a"), ...writes, overflow, complete(true)] });
    await h.run("Do");
    expect(h.head.status).toBe("completed");
    expect(body(h, 13).length).toBeLessThan(body(h, 12).length * 0.7);
    for (const m of messages(h, 13)) {
      for (const c of m.tool_calls ?? [])
        expect(typeof JSON.parse(c.function.arguments)).toBe("object");
    }
    sound(h);
  });

  it("a forced compaction reaches the newest results when nothing else helps enough", async () => {
    const reads = call(
      ...Array.from({ length: 6 }, (_, i): [string, unknown] => ["file_read", { path: `f${i}` }]),
    );
    const h = new Harness({
      script: [plan("a"), reads, fail("context_overflow", false), complete(true)],
    });
    h.tools.behaviour = () => ({ ok: true, text: big(15_000) });
    await h.run("Do");
    expect(h.head.status).toBe("completed");
    expect(body(h, 4).length).toBeLessThan(body(h, 3).length * 0.5);
    sound(h);
  });

  it("reasoning that is not sent does not count", async () => {
    const think = (r: Scripted): Scripted => unmeasured({ ...r, thinking: big(12_000) });
    const script = [
      plan("a"),
      ...Array.from({ length: 6 }, (_, i) => work(`f${i}`)),
      complete(true),
    ].map(think);
    const h = await new Harness({ script, settings: { limits: { maxContextTokens: 12_000 } } }).run(
      "Do",
    );
    expect(h.of("compaction")).toEqual([]);
    sound(h);
  });

  it("what an endpoint found too long is remembered: later requests are shortened before they are refused", async () => {
    const works = (n: number) => Array.from({ length: n }, (_, i) => unmeasured(work(`${n}-${i}`)));
    const script = [
      unmeasured(plan("a")),
      ...works(6),
      fail("context_overflow", false),
      ...works(5),
      unmeasured(complete(true)),
    ];
    const h = new Harness({ script });
    h.tools.behaviour = () => ({ ok: true, text: big(6_000) });
    await h.run("Do");
    const refused = body(h, 8).length;
    expect(h.model.bodies.slice(8).every((b) => b.length < refused)).toBe(true);
    sound(h);
  });

  it("a plan of forty steps does not fill the window with its own history", async () => {
    const steps = Array.from({ length: 40 }, (_, i) => `step ${i}`);
    const script = [
      plan(...steps),
      ...steps.flatMap((s) => [work(s), complete(true, big(1_500))]),
      deliver("F"),
    ];
    const h = await new Harness({ script: script.map(unmeasured) }).run("Do");
    expect(h.of("compaction")).toEqual([]);
    sound(h);
  });
});
