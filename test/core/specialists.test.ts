/** A specialist as the core sees it: a call that may ask in between, spends, and is told to end when nobody wants it. */
import { describe, expect, it } from "vitest";
import { shareOf } from "../../src/core/budget.ts";
import type { SettingsLayer } from "../../src/core/settings.ts";
import { Tally } from "../../src/core/tally.ts";
import type { TurnResult } from "../../src/core/wire.ts";
import {
  call,
  complete,
  Harness,
  type Options,
  plan,
  type Scripted,
  text,
  update,
  type Work,
} from "../fakes.ts";

const sound = (h: Harness) => expect(h.faults()).toEqual([]);
const task = (profile = "tester"): [string, unknown] => [
  "delegate_task",
  { profile, task: "Test", brief: "tests" },
];
const APPROVAL: NonNullable<Work["asks"]>[number] = {
  kind: "approval",
  text: "May file_write be run?",
  tool: { function: "file_write", args: { path: "a" } },
};
const asksOnce: Work = { asks: [APPROVAL] };
const harness = (script: Scripted[], work: Work, options: Options = {}) => {
  const h = new Harness({ script: [plan("a"), ...script], ...options });
  h.specialists.work = () => work;
  return h;
};
const child = (h: Harness, n = 0) => [...h.specialists.children.values()][n];
const lastWait = (h: Harness) => h.of("wait").at(-1);
function resultOf(h: Harness): TurnResult {
  const tally = new Tally(0);
  for (const event of h.events) tally.take(event);
  return tally.result("completed");
}

describe("what a specialist asks", () => {
  it("is its parent's wait, with its tool and its name; nothing runs until it is answered", async () => {
    const h = await harness([call(task())], asksOnce).run("Do");
    expect(h.head).toMatchObject({ status: "waiting", phase: "waiting" });
    expect(lastWait(h)).toMatchObject({
      kind: "approval",
      specialist: "tester",
      tool: { function: "file_write", args: { path: "a" } },
    });
    expect(lastWait(h)?.text).toContain("tester");
    expect(lastWait(h)?.text).toContain("May file_write be run?");
    expect(h.log.slice(-3)).toEqual(["tool(calling)", "wait", "status(waiting)"]);
    sound(h);
  });

  it("goes down with the answer, over a crash, and its call is shown once", async () => {
    for (const approved of [true, false]) {
      const h = await harness([call(task()), complete(true)], asksOnce).run("Do");
      for (let i = 0; i < 8; i++) h.crash();
      h.decide(approved);
      await h.settle();
      expect(child(h)).toEqual({ begun: 1, stopped: false, answers: [{ id: "w0", approved }] });
      expect(h.of("tool").map((t) => t.status)).toEqual(["calling", "called"]);
      expect(h.head).toMatchObject({ status: "completed", restarts: 0 });
      sound(h);
    }
  });

  it("may be several things, one after the other, each a wait of its own", async () => {
    const budget = { kind: "budget" as const, text: "The budget is used up." };
    const h = await harness([call(task()), complete(true)], { asks: [APPROVAL, budget] }).run("Do");
    h.decide(true);
    await h.settle();
    expect(lastWait(h)).toMatchObject({ kind: "budget", specialist: "tester" });
    h.decide(true);
    await h.settle();
    expect(child(h)?.answers.map((a) => a.id)).toEqual(["w0", "w1"]);
    expect(h.head.status).toBe("completed");
    sound(h);
  });

  it("of its budget is its own matter: a no goes down, and does not stop the parent", async () => {
    const work: Work = {
      asks: [{ kind: "budget", text: "Used up." }],
      result: { ok: false, text: "The specialist was stopped." },
    };
    const h = await harness([call(task()), complete(false, "no"), update(["2", "b"])], work).run(
      "Do",
    );
    h.decide(false);
    await h.settle();
    expect(child(h)?.answers).toEqual([{ id: "w0", approved: false }]);
    expect(h.head.status).toBe("running");
    expect(h.of("done")).toEqual([]);
  });

  it("is asked once what runs beside it has ended; then one at a time, before any of them goes on", async () => {
    const h = new Harness({
      script: [plan("a"), call(task("a"), task("b"), task("c")), complete(true)],
    });
    h.specialists.work = (run) => (run.args.profile === "c" ? { hang: true } : asksOnce);
    await h.run("Do");
    expect(h.head.status).toBe("running");
    expect(h.of("wait")).toEqual([]);
    // It is found again after a crash, and has ended by then.
    h.specialists.work = (run) => (run.args.profile === "c" ? {} : asksOnce);
    h.crash();
    await h.settle();
    expect(lastWait(h)?.specialist).toBe("a");
    h.decide(true);
    await h.settle();
    expect(lastWait(h)?.specialist).toBe("b");
    expect(child(h, 0)?.answers).toEqual([]);
    h.decide(false);
    await h.settle();
    expect([child(h, 0), child(h, 1)].map((c) => c?.answers[0]?.approved)).toEqual([true, false]);
    expect([...h.specialists.children.values()].map((c) => c.begun)).toEqual([1, 1, 1]);
    expect(h.head.status).toBe("completed");
    sound(h);
  });

  it("is refused where nobody is there and the settings do not want to wait", async () => {
    const settings: SettingsLayer = { tools: { unattended: "block" } };
    const h = harness([call(task()), complete(true)], asksOnce, { settings });
    h.attended = false;
    await h.run("Do");
    expect(child(h)?.answers).toEqual([{ id: "w0", approved: false }]);
    expect(h.of("wait")).toEqual([]);
    expect(h.head.status).toBe("completed");
    sound(h);
  });

  it("is no second question about the call itself", async () => {
    const settings: SettingsLayer = { tools: { approval: { delegate_task: "ask" } } };
    const h = await harness([call(task()), complete(true)], asksOnce, { settings }).run("Do");
    expect(lastWait(h)).toMatchObject({ tool: { function: "delegate_task" } });
    expect(lastWait(h)?.specialist).toBeUndefined();
    h.decide(true);
    await h.settle();
    expect(lastWait(h)?.specialist).toBe("tester");
    h.decide(true);
    await h.settle();
    expect(h.head.status).toBe("completed");
    sound(h);
  });

  it("by a call that ends the phase is asked alike", async () => {
    const settings: SettingsLayer = { harness: { terminalTools: ["delegate_task"] } };
    const h = new Harness({ mode: "workflow", settings, script: [call(task())] });
    h.specialists.work = () => asksOnce;
    await h.run("Do");
    expect(h.head.status).toBe("waiting");
    h.decide(true);
    await h.settle();
    expect(h.of("tool").map((t) => t.status)).toEqual(["calling", "called"]);
    expect(h.head.status).toBe("completed");
    expect(h.of("message").at(-1)?.content).toBe("expert");
    sound(h);
  });

  it("waits while other messages come; a change of plan acts when the answer has come", async () => {
    for (const approved of [true, false]) {
      const h = await harness([call(task()), plan("b"), { hang: true }], asksOnce).run("Do");
      h.say("in blue");
      h.say("rather b", "replan");
      expect(h.head.status).toBe("waiting");
      h.decide(approved);
      await h.settle();
      expect(child(h)).toMatchObject({ begun: 1, stopped: !approved });
      expect(child(h)?.answers.length).toBe(approved ? 1 : 0);
      expect(h.of("plan").filter((p) => p.op === "created")).toHaveLength(2);
    }
  });
});

describe("a specialist that is wanted no longer", () => {
  it("is told to end: by a stop, while it works or waits, and by a change of plan", async () => {
    const ends: [Work, (h: Harness) => unknown][] = [
      [{ hang: true }, (h) => h.stop()],
      [asksOnce, (h) => h.stop()],
      [{ hang: true }, (h) => h.say("rather b", "replan")],
    ];
    for (const [work, end] of ends) {
      const h = await harness([call(task())], work).run("Do");
      end(h);
      await h.settle();
      expect(child(h)).toMatchObject({ begun: 1, stopped: true });
      expect(h.head.errands).toEqual([]);
      expect(h.of("tool").map((t) => t.status)).toEqual(["calling", "called"]);
      sound(h);
    }
  });

  it("is told so after a crash at any commit of the stop", async () => {
    for (const work of [{ hang: true } as Work, asksOnce]) {
      for (const kind of ["failAt", "dieAfter"] as const) {
        for (const n of [1, 2]) {
          const h = await harness([call(task())], work).run("Do");
          h.disk[kind].add(h.disk.commits + n);
          try {
            h.stop();
          } catch {
            await h.settle();
            if (h.head.status !== "stopped") h.stop();
          }
          await h.settle();
          expect({ kind, n, child: child(h), left: h.head.errands }).toMatchObject({
            child: { begun: 1, stopped: true },
            left: [],
          });
          expect(h.log.filter((l) => l === "done(stopped)")).toHaveLength(1);
          sound(h);
        }
      }
    }
  });
});

describe("what a specialist spends", () => {
  const spends = {
    model_calls: 3,
    tool_calls: 2,
    input_tokens: 100,
    output_tokens: 20,
    cost_usd: 0.5,
  };
  const own = (h: Harness) => h.of("usage").length;

  it("is in its call's event, in the turn's result and in the session's sum, once", async () => {
    const h = await harness([call(task()), complete(true)], { ...asksOnce, spends }).run("Do");
    h.decide(true);
    await h.settle();
    expect(h.of("tool")[1]?.usage).toMatchObject(spends);
    expect(resultOf(h).usage).toEqual(h.head.usage);
    expect(h.head.usage).toMatchObject({ model_calls: own(h) + 3, tool_calls: 3, cost_usd: 0.5 });
    sound(h);
  });

  it("counts too when it fails, is stopped at work, or is stopped while it waits", async () => {
    const failed = await harness(
      [call(task()), complete(false, "no"), update(["2", "b"]), { hang: true }],
      { spends, result: { ok: false, text: "broke" } },
    ).run("Do");
    const [atWork, waiting] = await Promise.all(
      [
        { hang: true as const, spends },
        { ...asksOnce, spends },
      ].map((work) => harness([call(task())], work).run("Do")),
    );
    atWork?.stop();
    waiting?.stop();
    for (const h of [failed, atWork, waiting]) {
      if (!h) throw new Error("not played");
      expect(resultOf(h).usage).toEqual(h.head.usage);
      expect(h.head.usage).toMatchObject({ model_calls: own(h) + 3, tool_calls: 3 });
    }
  });

  it("counts against the budget of its parent", async () => {
    const settings: SettingsLayer = { budget: { maxTokens: 110 } };
    const h = await harness([call(task()), complete(true)], { spends }, { settings }).run("Do");
    expect(h.head).toMatchObject({ status: "waiting", wait: { kind: "budget" } });
    expect(h.head.wait?.specialist).toBeUndefined();
    h.decide(true);
    await h.settle();
    expect(h.head.status).toBe("completed");
    sound(h);
  });
});

describe("M3: the budget of specialists that work at the same time", () => {
  it("is what is left, in equal parts; alone one gets it all", async () => {
    const settings: SettingsLayer = {
      budget: { maxTokens: 1_000, maxToolCalls: 32, maxCostUsd: 1 },
    };
    for (const n of [1, 3]) {
      const calls = Array.from({ length: n }, (_, i) => task(`p${i}`));
      const h = await harness([call(...calls)], { hang: true }, { settings }).run("Do");
      const { used } = h.head;
      expect(used.tokens).toBeGreaterThan(0);
      const share = shareOf(h.head);
      expect(share.maxTokens).toBe(Math.floor((1_000 - used.tokens) / n));
      expect(share.maxToolCalls).toBe(Math.floor((32 - n) / n));
      expect(share.maxCostUsd).toBeCloseTo(1 / n);
      expect(n * (share.maxTokens ?? 0)).toBeLessThanOrEqual(1_000 - used.tokens);
      h.stop();
    }
  });

  it("is nothing they begin without: the person is asked first", async () => {
    const settings: SettingsLayer = { budget: { maxTokens: 1 } };
    const h = await harness([call(task(), task("b"))], { hang: true }, { settings }).run("Do");
    // For the plan, which the first call has passed; then for the step's first call.
    expect(h.head.wait?.kind).toBe("budget");
    h.decide(true);
    await h.settle();
    expect(h.head.wait?.kind).toBe("budget");
    expect(h.specialists.children.size).toBe(0);
    h.decide(true);
    await h.settle();
    expect(h.specialists.children.size).toBe(2);
    h.stop();
  });

  it("without a budget has no bound", async () => {
    const h = await harness([call(task())], { hang: true }).run("Do");
    expect(shareOf(h.head)).toEqual({ maxTokens: null, maxToolCalls: null, maxCostUsd: null });
    h.stop();
  });
});

it("a chat may hand over a task too", async () => {
  const h = new Harness({ mode: "chat", script: [call(task()), text("It said so.")] });
  h.specialists.work = () => asksOnce;
  await h.run("Test it");
  h.decide(true);
  await h.settle();
  expect(h.head.status).toBe("completed");
  sound(h);
});
