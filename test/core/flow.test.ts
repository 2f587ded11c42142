/** The machine beyond Plan-Act's own scenarios: what people say while it works, stops, caps, model failures, chat. */
import { describe, expect, it } from "vitest";
import { mergeSettings } from "../../src/core/settings-merge.ts";
import {
  askUser,
  call,
  complete,
  deliver,
  fail,
  Harness,
  plan,
  succeed,
  text,
  update,
  work,
} from "../fakes.ts";
import { checkEvents } from "../support/event-oracle.ts";

const sound = (h: Harness) => expect(h.faults()).toEqual([]);
const contents = (h: Harness, n: number) => h.requests[n - 1]?.messages.map((m) => m.content) ?? [];
const hold = (h: Harness, path: string) => {
  h.tools.behaviour = (run) => (run.args.path === path ? "hang" : succeed());
};
const release = async (h: Harness) => {
  for (const id of [...h.tools.open.keys()]) h.tools.release(id);
  await h.settle();
};

describe("a steer", () => {
  it("A02: stands after all results of the reply it arrived in, in order", async () => {
    const two = call(
      ["file_write", { path: "slow", content: "" }],
      ["file_write", { path: "fast", content: "" }],
    );
    const h = new Harness({ script: [plan("a"), two, complete(true)] });
    hold(h, "slow");
    await h.run("Do");
    h.say("use port 9000");
    h.say("be brief");
    expect(h.head.queue.map((q) => q.text)).toEqual(["use port 9000", "be brief"]);
    await release(h);
    expect(h.roles(3)).toBe("suattuu");
    expect(contents(h, 3).slice(-2)).toEqual(["use port 9000", "be brief"]);
    expect(h.head.queue).toEqual([]);
    sound(h);
  });

  it("F3: does not change a request that is asked again", async () => {
    const h = new Harness({ script: [plan("a"), { hang: true }] });
    await h.run("Do");
    h.say("meanwhile");
    h.crash();
    await h.settle();
    expect(h.model.bodies[2]).toBe(h.model.bodies[1]);
    expect(h.head.queue).toHaveLength(1);
    sound(h);
  });

  it("O1: that arrives during the final answer is worked on after it, in the same turn", async () => {
    const h = new Harness({
      script: [plan("a"), work(), { ...complete(true, "a done"), held: true }],
    });
    await h.run("Do");
    h.say("and then b");
    h.model.add(plan("b"), work("b"), complete(true, "b done"));
    h.model.release();
    await h.settle();
    const finals = h.of("message").filter((m) => m.kind === "final");
    expect(finals.map((m) => m.content)).toEqual(["a done", "b done"]);
    expect(h.log.filter((l) => l.startsWith("done"))).toEqual(["done(completed)"]);
    expect(h.last(4)).toContain("and then b");
    expect(h.head.queue).toEqual([]);
    sound(h);
  });
});

it("a message with files names them to whoever reads it", async () => {
  const file = {
    path: "/workspace/upload/a.csv",
    name: "a.csv",
    size: 1,
    content_type: "text/csv",
    modified_at: "",
    url: "",
  };
  const settings = mergeSettings([]);
  const h = new Harness({ script: [plan("a"), work("slow"), complete(true)] });
  hold(h, "slow");
  h.keep({
    type: "said",
    clientId: "1",
    text: "use it",
    attachments: [file],
    delivery: "steer",
    settings,
  });
  await h.settle();
  h.keep({
    type: "said",
    clientId: "2",
    text: "this too",
    attachments: [file],
    delivery: "steer",
    settings,
  });
  await release(h);
  expect(h.last(1)).toContain("/workspace/upload/a.csv");
  expect(contents(h, 2)[1]).toContain("/workspace/upload/a.csv");
  expect(h.last(3)).toContain("/workspace/upload/a.csv");
  sound(h);
});

describe("a follow-up", () => {
  it("waits for the conclusion: one each, in order, done once", async () => {
    const h = new Harness({ script: [plan("a"), work("slow"), complete(true, "1")] });
    hold(h, "slow");
    await h.run("Do");
    h.say("second", "follow_up");
    h.say("third", "follow_up");
    h.model.add(
      plan("b"),
      work("b"),
      complete(true, "2"),
      plan("c"),
      work("c"),
      complete(true, "3"),
    );
    await release(h);
    const finals = h.of("message").filter((m) => m.kind === "final");
    expect(finals.map((m) => m.content)).toEqual(["1", "2", "3"]);
    expect(h.log.filter((l) => l.startsWith("done"))).toEqual(["done(completed)"]);
    expect(h.head.run).toBe(1);
    sound(h);
  });

  it("in a chat is the next user message", async () => {
    const h = new Harness({ mode: "chat", script: [call(["file_read", { path: "slow" }])] });
    hold(h, "slow");
    await h.run("q0");
    h.say("q1", "follow_up");
    h.model.add(text("a0"), text("a1"));
    await release(h);
    expect([1, 2, 3].map((n) => h.roles(n))).toEqual(["su", "suat", "suatau"]);
    expect(h.log.slice(-4)).toEqual([
      "message(answer)",
      "message(answer)",
      "done(completed)",
      "status(completed)",
    ]);
    sound(h);
  });
});

it("a message that is to be rejected while busy changes nothing", async () => {
  const h = new Harness({ script: [plan("a"), work("slow")] });
  hold(h, "slow");
  await h.run("Do");
  const before = h.head;
  h.say("now!", "reject");
  expect(h.head).toBe(before);
});

describe("replan", () => {
  it("with a step done asks for update_plan and keeps what is done", async () => {
    const h = new Harness({ script: [plan("a", "b"), work(), complete(true), work("slow")] });
    hold(h, "slow");
    await h.run("Do");
    h.model.add(update(["3", "c"]), work("c"), complete(true), deliver("F"));
    h.say("rather c", "replan");
    await h.settle();
    expect(h.offered(5)).toEqual(["update_plan"]);
    expect(h.last(5)).toContain("rather c");
    expect(
      h
        .of("plan")
        .at(-1)
        ?.steps.map((s) => `${s.id} ${s.status}`),
    ).toEqual(["1 completed", "3 completed"]);
    sound(h);
  });

  it("while the planner thinks voids its call", async () => {
    const h = new Harness({ script: [{ hang: true }] });
    await h.run("first");
    h.model.add(plan("b"), work(), complete(true));
    h.say("second", "replan");
    await h.settle();
    expect(h.model.cancelled).toBe(1);
    expect(contents(h, 2).join()).toContain("first");
    expect(contents(h, 2).join()).toContain("second");
    expect(h.head.status).toBe("completed");
    sound(h);
  });
});

describe("A24: stop", () => {
  const stopped = async (h: Harness) => {
    h.stop();
    const calls = h.model.bodies.length;
    const runs = h.tools.dispatched.length;
    await h.settle();
    expect(h.log.slice(-2)).toEqual(["done(stopped)", "status(stopped)"]);
    expect([h.model.bodies.length, h.tools.dispatched.length]).toEqual([calls, runs]);
    h.crash();
    await h.settle();
    expect([h.model.bodies.length, h.tools.dispatched.length]).toEqual([calls, runs]);
    hold(h, "");
    h.model.add(plan("z"), work("z"), complete(true), deliver("z"));
    await h.run("next");
    expect(h.head.status).toBe("completed");
    expect(h.model.faults).toEqual([]);
    expect(checkEvents(h.events as never)).toEqual([]);
  };

  it("while the planner thinks", async () =>
    stopped(await new Harness({ script: [{ hang: true }] }).run("Do")));
  it("while the executor thinks", async () =>
    stopped(await new Harness({ script: [plan("a"), { hang: true }] }).run("Do")));
  it("while two parallel tools run", async () => {
    const h = new Harness({
      script: [plan("a"), call(["file_read", { path: "1" }], ["file_read", { path: "2" }])],
    });
    h.tools.behaviour = (run) => (run.args.path === "z" ? succeed() : "hang");
    await h.run("Do");
    expect(h.tools.dispatched).toHaveLength(2);
    await stopped(h);
    expect(h.tools.cancelled).toHaveLength(2);
  });
  it("between two serial tools: the second is answered as not run", async () => {
    const h = new Harness({
      script: [
        plan("a"),
        call(
          ["file_write", { path: "slow", content: "" }],
          ["file_write", { path: "2", content: "" }],
        ),
      ],
    });
    hold(h, "slow");
    await h.run("Do");
    await stopped(h);
    expect(
      h
        .of("tool")
        .slice(0, 2)
        .map((t) => t.args.path),
    ).toEqual(["slow", "slow"]);
    expect(
      h.disk.rows.filter((r) => r.json.includes("stopped the turn before it started")),
    ).toHaveLength(1);
  });
  it("while it sleeps after a 429", async () => {
    const h = new Harness({ script: [fail("rate_limited", true, 60_000)] });
    h.say("Do");
    await new Promise((r) => setImmediate(r));
    expect(h.wakeAt).toBe(h.now + 60_000);
    h.stop();
    expect(h.wakeAt).toBe(null);
    await h.settle();
    expect(h.requests).toHaveLength(1);
    expect(h.log.slice(-2)).toEqual(["done(stopped)", "status(stopped)"]);
  });
  it("while waiting for an answer", async () =>
    stopped(await new Harness({ script: [plan("a"), askUser("?")] }).run("Do")));
  it("while updating the plan", async () =>
    stopped(await new Harness({ script: [plan("a"), complete(false), { hang: true }] }).run("Do")));
  it("while summing up", async () => {
    const script = [plan("a"), work(), complete(true), { hang: true } as const];
    await stopped(await new Harness({ settings: { summarize: "always" }, script }).run("Do"));
  });
  it("when idle is a no-op, and stored so that it cannot stop a later turn", async () => {
    const h = new Harness();
    const change = h.stop();
    expect(change).toMatchObject({ events: [], client: { as: "stop" } });
    expect(h.head.status).toBe("idle");
  });
  it("keeps a message that nobody had read: it is in the next request", async () => {
    const h = new Harness({ script: [plan("a"), work("slow")] });
    hold(h, "slow");
    await h.run("Do");
    h.say("use port 9000");
    h.stop();
    h.model.add(plan("b"), work(), complete(true));
    await h.run("go on");
    expect(contents(h, 3)).toContain("use port 9000");
    sound(h);
  });
});

describe("a model that fails", () => {
  it("is tried five times, then the turn ends typed, and the next message works", async () => {
    const h = new Harness({ script: Array(5).fill(fail("provider_error", true)) });
    await h.run("Do");
    expect(h.requests).toHaveLength(5);
    expect(h.log.slice(-3)).toEqual(["error(provider_error)", "done(failed)", "status(failed)"]);
    h.model.add(plan("a"), work(), complete(true));
    await h.run("Again");
    expect(h.head.status).toBe("completed");
    sound(h);
  });

  it.each(["provider_auth", "provider_quota", "context_overflow", "no_provider"] as const)(
    "%s ends at once",
    async (code) => {
      const h = await new Harness({ script: [fail(code, false)] }).run("Do");
      expect(h.requests).toHaveLength(1);
      expect(h.of("error")[0]).toMatchObject({ code, retryable: false });
      sound(h);
    },
  );

  it("A33: waits as long as it is asked to within the cap, and says so", async () => {
    const h = new Harness({
      script: [fail("rate_limited", true, 59_000), plan("a"), work(), complete(true)],
    });
    const began = h.now;
    await h.run("Do");
    expect(h.now - began).toBe(59_000);
    expect(h.log).toContain("notice(retry_wait)");
    expect(h.live.map((f) => f.event)).toContain("retry_wait");
    expect(h.model.bodies[1]).toBe(h.model.bodies[0]);
    sound(h);
  });

  it("A33: gives up at once beyond the cap, with the time", async () => {
    const h = await new Harness({ script: [fail("rate_limited", true, 86_400_000)] }).run("Do");
    expect(h.requests).toHaveLength(1);
    expect(h.of("error")[0]).toMatchObject({ code: "rate_limited" });
    expect(h.of("error")[0]?.message).toContain("2026-01-02");
    sound(h);
  });

  it("in the middle of a step leaves a session that works, the step marked failed", async () => {
    const h = await new Harness({ script: [plan("a", "b"), fail("provider_auth", false)] }).run(
      "Do",
    );
    expect(h.log.slice(-3)).toEqual(["error(provider_auth)", "done(failed)", "status(failed)"]);
    expect(h.head.plan?.steps.map((s) => s.status)).toEqual(["failed", "pending"]);
    sound(h);
  });
});

describe("chat", () => {
  it("is the same loop: tools, then a streamed answer, in the exact order", async () => {
    const h = new Harness({
      mode: "chat",
      script: [call(["file_read", { path: "a" }]), text("It says x.")],
    });
    await h.run("What is in a?\nMore");
    expect(h.log).toEqual([
      "message(user)",
      "status(running)",
      "tool(calling)",
      "tool(called)",
      "message(answer)",
      "done(completed)",
      "status(completed)",
    ]);
    const delta = h.live.find((f) => f.event === "message_delta");
    const answer = h.of("message").at(-1);
    expect(delta?.data).toEqual({ message_id: answer?.message_id, text: "It says x." });
    expect(h.offered(1)).not.toContain("complete_step");
    expect(h.head.title).toBe("What is in a?");
    sound(h);
  });

  it("OS-S8: gives an unknown tool only its result; its mates run", async () => {
    const batch = call(["file_read", { path: "a" }], ["nope", {}], ["file_read", { path: "b" }]);
    const h = await new Harness({ mode: "chat", script: [batch, text("ok")] }).run("q");
    expect(h.tools.dispatched.map((r) => r.args.path)).toEqual(["a", "b"]);
    expect(contents(h, 2).slice(3)).toEqual([
      "ok",
      expect.stringContaining("Unknown tool: nope"),
      "ok",
    ]);
    expect(h.of("nudge")).toEqual([]);
    sound(h);
  });

  it("takes back live text that no stored message stands for", async () => {
    const cut = { ...call(["file_read", { path: "a" }]), text: "Half a thou", finish: "length" };
    const h = await new Harness({ mode: "chat", script: [cut, text("Whole.")] }).run("q");
    const frames = h.live.map(
      (f) => `${f.event} ${"message_id" in f.data ? f.data.message_id : ""}`,
    );
    expect(frames).toEqual(["message_delta m1a0", "delta_reset m1a0", "message_delta m1a1"]);
    sound(h);
  });

  it("takes back the live text of a call that is stopped", async () => {
    const h = new Harness({ mode: "chat", script: [{ ...text("Half"), held: true }] });
    await h.run("q");
    h.stop();
    expect(h.live.map((f) => f.event)).toEqual(["message_delta", "delta_reset"]);
  });

  it("nudges an empty reply and gives up after its retries", async () => {
    const h = await new Harness({ mode: "chat", script: Array(4).fill(text(" ")) }).run("q");
    expect(h.log.slice(-3)).toEqual(["error(retry_exhausted)", "done(failed)", "status(failed)"]);
    sound(h);
  });

  it("asks and goes on with the answer as the call's result", async () => {
    const h = await new Harness({ mode: "chat", script: [askUser("Which?"), text("B it is")] }).run(
      "q",
    );
    expect(h.head.status).toBe("waiting");
    h.say("  B\n🚀 ");
    await h.settle();
    expect(h.roles(2)).toBe("suat");
    expect(h.last(2)).toBe("  B\n🚀 ");
    expect(h.of("message").filter((m) => m.role === "user")).toHaveLength(1);
    sound(h);
  });
});

describe("batches", () => {
  it("of reads run together, results stand in call order whenever they come", async () => {
    const h = new Harness({
      script: [
        plan("a"),
        call(["file_read", { path: "1" }], ["file_read", { path: "2" }]),
        complete(true),
      ],
    });
    h.tools.behaviour = () => "hang";
    await h.run("Do");
    const [one, two] = h.tools.dispatched.map((r) => r.id);
    h.tools.release(two ?? "", succeed("second"));
    await h.settle();
    h.tools.release(one ?? "", succeed("first"));
    await h.settle();
    expect(contents(h, 3).slice(3, 5)).toEqual(["first", "second"]);
    expect(h.of("tool").map((t) => `${t.status} ${t.args.path}`)).toEqual([
      "calling 1",
      "calling 2",
      "called 2",
      "called 1",
    ]);
    sound(h);
  });

  it("with one effectful call run one after another", async () => {
    const h = new Harness({
      script: [
        plan("a"),
        call(["file_read", { path: "1" }], ["file_write", { path: "2", content: "" }]),
      ],
    });
    h.tools.behaviour = () => "hang";
    await h.run("Do");
    expect(h.tools.dispatched).toHaveLength(1);
  });

  it("G2: one bad call refuses all of a guarded batch, and every call is answered", async () => {
    const bad = call(["file_write", { path: "a", content: "" }], ["file_write", { path: 7 }]);
    const h = await new Harness({ script: [plan("a"), bad, work(), complete(true)] }).run("Do");
    expect(h.of("tool")).toHaveLength(2);
    expect(contents(h, 3).slice(3)).toEqual([
      expect.stringContaining("Not run: another call"),
      expect.stringMatching(/^Invalid arguments/),
    ]);
    sound(h);
  });

  it("B3: a terminal call is looked at last, wherever it stands", async () => {
    const batch = call(
      ["complete_step", { success: true, result: "r" }],
      ["file_write", { path: "a", content: "" }],
    );
    const h = await new Harness({ script: [plan("a"), batch] }).run("Do");
    expect(h.head.status).toBe("completed");
    sound(h);
  });

  it("B3: a terminal call is refused when a mate failed", async () => {
    const batch = call(
      ["file_write", { path: "bad", content: "" }],
      ["complete_step", { success: true, result: "r" }],
    );
    const h = new Harness({ script: [plan("a"), batch, work(), complete(true)] });
    h.tools.behaviour = (run) => (run.args.path === "bad" ? { ok: false, text: "no" } : succeed());
    await h.run("Do");
    expect(contents(h, 3).at(-1)).toMatch(/^Rejected:/);
    expect(h.head.status).toBe("completed");
    sound(h);
  });

  it("B17: a valid terminal call is not lost to an invalid twin", async () => {
    const twins = call(
      ["complete_step", { success: false, result: "no" }],
      ["complete_step", { success: 1 }],
    );
    const h = await new Harness({ script: [plan("a"), twins, update(), deliver("F")] }).run("Do");
    expect(h.of("step").at(-1)).toMatchObject({
      status: "completed",
      success: false,
      result: "no",
    });
    sound(h);
  });

  it("A03: a second question in one reply is answered at once and asked again later", async () => {
    const both = call(
      ["message_ask_user", { text: "City?" }],
      ["message_ask_user", { text: "Date?" }],
    );
    const h = await new Harness({ script: [plan("a"), both, work(), complete(true)] }).run("Do");
    expect(h.of("wait").map((w) => w.text)).toEqual(["City?"]);
    h.answer("Rome");
    await h.settle();
    expect(contents(h, 3)[3]).toBe("Rome");
    expect(contents(h, 3)[4]).toContain("one question at a time");
    sound(h);
  });

  it("large arguments are shown cut and run whole", async () => {
    const content = "🚀".repeat(50_000);
    const h = await new Harness({
      script: [plan("a"), call(["file_write", { path: "big", content }]), complete(true)],
    }).run("Do");
    expect(h.tools.dispatched[0]?.args.content).toBe(content);
    expect(JSON.stringify(h.of("tool")[0]?.args).length).toBeLessThan(5_000);
    sound(h);
  });
});

describe("tool failures", () => {
  it("B6: a failed call is no work: success is refused, then the second failure in a row ends the step", async () => {
    const h = new Harness({
      script: [plan("a"), work("bad"), complete(true), work("bad"), update(), deliver("F")],
    });
    h.tools.behaviour = () => ({ ok: false, text: "bad value" });
    await h.run("Do");
    expect(h.last(3)).toContain("failed: bad value");
    expect(h.last(4)).toMatch(/^Rejected:/);
    expect(h.of("step").at(-1)?.error).toContain("bad value");
    expect(h.log.filter((l) => l.startsWith("error"))).toEqual([]);
    sound(h);
  });

  it("FG-S8: failure, success, failure, success is never exhausted", async () => {
    const paths = ["bad", "ok", "bad", "ok"];
    const h = new Harness({ script: [plan("a"), ...paths.map(work), complete(true)] });
    h.tools.behaviour = (run) => (run.args.path === "bad" ? { ok: false, text: "no" } : succeed());
    await h.run("Do");
    expect(h.head.status).toBe("completed");
    sound(h);
  });

  it("the work of a step is kept over a wait and a crash (B11)", async () => {
    const h = await new Harness({ script: [plan("a"), work(), askUser("?")] }).run("Do");
    h.crash();
    h.model.add(complete(true));
    h.answer("B");
    await h.settle();
    expect(h.head.status).toBe("completed");
    sound(h);
  });
});

describe("replies", () => {
  it.each([
    ["blank arguments count as none", "  ", true],
    ["null is no object", "null", false],
    ["a list is no object", "[]", false],
    ["broken JSON never runs", '{"path":"a","content":"x"', false],
  ])("A18: %s", async (_, args, isObject) => {
    const h = new Harness({
      script: [plan("a"), call(["file_write", args]), work(), complete(true)],
    });
    await h.run("Do");
    expect(h.tools.dispatched).toHaveLength(1);
    expect(h.last(3)).toMatch(/^Invalid arguments/);
    expect(h.last(3).includes("one JSON object")).toBe(!isObject);
    sound(h);
  });

  it("A19: nothing of a reply that was cut runs, however whole it looks", async () => {
    const cut = { ...work("half"), finish: "length" };
    const h = await new Harness({ script: [plan("a"), cut, work("small"), complete(true)] }).run(
      "Do",
    );
    expect(h.tools.dispatched.map((r) => r.args.path)).toEqual(["small"]);
    expect(h.last(3)).toContain("cut off");
    sound(h);
  });

  it("A20: halves of characters and NULs are mended wherever they come from", async () => {
    const bad = "x\ud83d\0y";
    const script = [
      call([
        "create_plan",
        {
          message: bad,
          language: "en",
          title: bad,
          goal: bad,
          steps: [{ id: bad, description: bad }],
        },
      ]),
      call(["message_ask_user", { text: bad, options: [bad] }]),
      work(bad),
      complete(true, bad),
    ];
    const h = new Harness({ script });
    h.tools.behaviour = () => succeed(bad);
    await h.run(bad);
    h.answer(bad);
    await h.settle();
    expect(h.head.status).toBe("completed");
    sound(h);
  });

  it("prose beside accepted calls is shown as a notice and kept", async () => {
    const h = new Harness({
      script: [plan("a"), { ...work(), text: "Let me see." }, complete(true)],
    });
    await h.run("Do");
    expect(h.of("message")[2]).toMatchObject({ kind: "notice", content: "Let me see." });
    expect(h.requests[2]?.messages[2]).toMatchObject({ role: "assistant", content: "Let me see." });
    sound(h);
  });

  it("B12: message_notify_user is a message, not a tool", async () => {
    const h = new Harness({
      script: [
        plan("a"),
        call(["message_notify_user", { text: "half way" }]),
        work(),
        complete(true),
      ],
    });
    await h.run("Do");
    expect(h.of("message")[2]).toMatchObject({ kind: "notice", content: "half way" });
    expect(h.of("tool")).toHaveLength(2);
    sound(h);
  });

  it("B13: a question while summing up waits, and the answer is read as one", async () => {
    const h = new Harness({
      settings: { summarize: "always" },
      script: [plan("a"), work(), complete(true), askUser("Short?"), deliver("F")],
    });
    await h.run("Do");
    expect(h.head.status).toBe("waiting");
    h.answer("yes");
    await h.settle();
    expect(contents(h, 5)).toContain("yes");
    expect(h.head.status).toBe("completed");
    sound(h);
  });

  it("B19: a terminal tool of another phase is refused with the right one named", async () => {
    const h = new Harness({ script: [plan("a"), deliver("early"), work(), complete(true)] });
    await h.run("Do");
    expect(h.last(3)).toContain("complete_step");
    expect(h.of("nudge").map((n) => n.reason)).toEqual(["wrong_phase"]);
    sound(h);
  });

  it("B9: step ids are unique whatever the planner sends", async () => {
    const twice = call([
      "create_plan",
      {
        message: "m",
        language: "en",
        title: "T",
        goal: "g",
        steps: [
          { id: 1, description: "a" },
          { id: 1, description: "b" },
        ],
      },
    ]);
    const h = new Harness({
      script: [
        twice,
        work(),
        complete(false),
        update(["1", "c"]),
        work(),
        complete(true),
        deliver("F"),
      ],
    });
    await h.run("Do");
    expect(h.of("plan")[0]?.steps.map((s) => s.id)).toEqual(["1", "2"]);
    expect(
      new Set(
        h
          .of("plan")
          .at(-1)
          ?.steps.map((s) => s.id),
      ).size,
    ).toBe(2);
    sound(h);
  });

  it("FG-S6: refused replies are capped; in the planner that ends the turn", async () => {
    const h = await new Harness({ script: Array(4).fill(text("no")) }).run("Do");
    expect(h.requests).toHaveLength(4);
    expect(h.of("nudge").map((n) => n.attempt)).toEqual([1, 2, 3, 4]);
    expect(h.log.slice(-3)).toEqual(["error(retry_exhausted)", "done(failed)", "status(failed)"]);
    sound(h);
  });
});

describe("titles", () => {
  it("B15: a title that a person typed is never overwritten, and none is sent", async () => {
    const h = new Harness({ title: "Mine", script: [plan("a"), work(), complete(true)] });
    await h.run("Do");
    expect(h.head.title).toBe("Mine");
    expect(h.of("title")).toEqual([]);
    sound(h);
  });
  it("are set once, by the first plan", async () => {
    const h = new Harness({
      script: [plan("a"), work(), complete(true), plan("b"), work(), complete(true)],
    });
    await h.run("Do");
    await h.run("More");
    expect(h.of("title")).toEqual([{ title: "T" }]);
    expect([1, 2, 3, 4].map((n) => h.roles(n))).toEqual(["su", "su", "suat", "suatu"]);
    expect(h.roles(5)).toBe("suatatu");
    sound(h);
  });
});

it("Q1: over ten steps every request begins with the bytes of its role's last one, tools and messages", async () => {
  const steps = Array.from({ length: 10 }, (_, i) => `s${i}`);
  const script = [
    plan(...steps),
    ...steps.flatMap((s) => [work(s), complete(true, s)]),
    deliver("F"),
  ];
  const h = await new Harness({ script }).run("Do");
  const executor = h.model.bodies.slice(1);
  for (const [i, body] of executor.slice(1).entries()) {
    const messages = (b: string) => b.slice(b.indexOf('"messages":'), -2);
    const tools = (b: string) => b.slice(b.indexOf('"tools":'), b.indexOf('"tool_choice":'));
    expect(messages(body).startsWith(messages(executor[i] as string))).toBe(true);
    expect(tools(body)).toBe(tools(executor[i] as string));
  }
  sound(h);
});

it("H2: results that a damaged history lacks are put in at their place, and it is said", async () => {
  const h = new Harness({ script: [plan("a"), work(), complete(true)] });
  await h.run("Do");
  const lost = h.disk.rows.findIndex((r) => r.memory === "executor" && r.kind === "result");
  h.disk.rows.splice(lost, 1);
  h.crash();
  h.model.add(plan("b"), work(), complete(true));
  await h.run("More");
  expect(h.of("repair")).toHaveLength(1);
  expect(h.head.status).toBe("completed");
  expect(h.faults(true)).toEqual([]);
});
