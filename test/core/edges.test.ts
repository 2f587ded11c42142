/** Places where two rules meet: a spent budget and a crash, a replan after the end was near, a bug in the shell. */
import { describe, expect, it } from "vitest";
import { type Session, upgrade } from "../../src/core/session.ts";
import { mergeSettings } from "../../src/core/settings-merge.ts";
import {
  askUser,
  call,
  complete,
  fail,
  Harness,
  KIT,
  plan,
  succeed,
  text,
  update,
  work,
} from "../fakes.ts";

const sound = (h: Harness) => expect(h.faults()).toEqual([]);
const SPENT = { limits: { maxReplans: 0 } };
const file = (path: string) => ({
  path,
  name: path,
  size: 1,
  content_type: "text/plain",
  modified_at: "2026-01-01T00:00:00.000Z",
  url: "/f",
});

describe("the honest end of a spent replan budget", () => {
  it("answers a call that ran in it, when restarts end the turn", async () => {
    const h = new Harness({
      script: [plan("a"), complete(false, "no"), work("slow")],
      settings: SPENT,
    });
    h.tools.behaviour = () => "hang";
    await h.run("Do");
    for (let i = 0; i < 6; i++) {
      h.crash();
      await h.settle();
    }
    expect(h.log.slice(-4)).toEqual([
      "message(final)",
      "plan(completed)",
      "done(failed)",
      "status(failed)",
    ]);
    expect(h.of("tool").map((t) => t.status)).toEqual(["calling", "called"]);
    h.tools.behaviour = () => succeed();
    h.model.add(plan("b"), work(), complete(true));
    await h.run("Again");
    expect(h.of("repair")).toEqual([]);
    expect(h.head.status).toBe("completed");
    sound(h);
  });

  it("leaves a follow-up all its tries", async () => {
    const failures = Array.from({ length: 5 }, () => fail("provider_error", true));
    const h = new Harness({
      script: [plan("a"), { ...complete(false, "no"), held: true }],
      settings: SPENT,
    });
    await h.run("Do");
    h.say("next", "follow_up");
    h.model.add(...failures, fail("provider_error", true), plan("b"), work(), complete(true));
    h.model.release();
    await h.settle();
    expect(h.head.status).toBe("completed");
    expect(h.of("error")).toEqual([]);
    sound(h);
  });

  it("is forgotten when the user changes the task", async () => {
    const h = new Harness({
      script: [plan("a"), complete(false, "no"), { hang: true }],
      settings: SPENT,
    });
    await h.run("Do");
    h.model.add(
      update(["2", "c"]),
      work(),
      complete(true),
      call(["deliver_result", { message: "c is done" }]),
    );
    h.say("do c instead", "replan");
    await h.settle();
    expect(h.of("message").at(-1)?.content).toBe("c is done");
    expect(h.log.slice(-2)).toEqual(["done(completed)", "status(completed)"]);
    sound(h);
  });
});

it("files that come with an answer reach the model, and the words stay as they were", async () => {
  const h = await new Harness({ script: [plan("a"), askUser("Which file?")] }).run("Do");
  const settings = mergeSettings([]);
  const attachments = [file("/workspace/upload/data.csv")];
  h.model.add(work(), complete(true));
  h.keep({ type: "said", clientId: "x", text: "this", attachments, delivery: "steer", settings });
  await h.settle();
  expect(h.requests[2]?.messages[3]?.content).toMatch(
    /^this\n<attachments>\n\/workspace\/upload\/data.csv/,
  );
  expect(h.of("answer")[0]?.attachments?.map((f) => f.path)).toEqual([
    "/workspace/upload/data.csv",
  ]);
  sound(h);
});

it("V4: a bug that keeps the next step from starting breaks the drive; it does not leave a session that sits still", async () => {
  const kit = {
    ...KIT,
    resolve: (): never => {
      throw new Error("a bug");
    },
  };
  const h = new Harness({ kit });
  h.say("Do");
  expect(h.broken).toBe(1);
  for (let i = 0; i < 8; i++) await h.settle();
  expect(h.log.slice(-3)).toEqual(["error(restart_limit)", "done(failed)", "status(failed)"]);
});

it("our own pause between tries is not held against the cap on what a provider may ask for", async () => {
  const h = new Harness({
    script: [fail("provider_error", true), plan("a"), work(), complete(true)],
    settings: { limits: { maxRetryWaitMs: 0 } },
  });
  await h.run("Do");
  expect(h.head.status).toBe("completed");
  sound(h);
});

describe("what a cut-off call is told", () => {
  const batch = call(
    ["file_read", { path: "1" }],
    ["file_read", { path: "2" }],
    ["file_read", { path: "3" }],
  );
  const results = (h: Harness) =>
    h.disk.rows
      .filter((r) => r.kind === "result")
      .map((r) => (JSON.parse(r.json) as { content: string }).content);

  it("depends on whether it had started, when too many failed", async () => {
    const h = new Harness({
      script: [plan("a"), batch, update(), call(["deliver_result", { message: "F" }])],
    });
    h.tools.behaviour = () => "hang";
    await h.run("Do");
    for (const id of [...h.tools.open.keys()].slice(0, 2))
      h.tools.release(id, { ok: false, text: "bad" });
    await h.settle();
    expect(results(h)[3]).toMatch(/^Cancelled: too many/);
    sound(h);
  });

  it("depends on whether it had started, when the task changes", async () => {
    const serial = call(
      ["file_write", { path: "1", content: "" }],
      ["file_write", { path: "2", content: "" }],
    );
    const h = new Harness({ script: [plan("a"), serial] });
    h.tools.behaviour = () => "hang";
    await h.run("Do");
    h.model.add({ hang: true });
    h.say("else", "replan");
    expect(results(h).slice(1)).toEqual([
      expect.stringMatching(/^Cancelled: the user changed/),
      expect.stringMatching(/^Not run/),
    ]);
  });
});

it("A19: replies that are cut again and again end the step with that reason", async () => {
  const cut = { ...work("big"), finish: "length" };
  const h = new Harness({
    script: [plan("a"), cut, cut, cut, cut, update(), call(["deliver_result", { message: "F" }])],
  });
  await h.run("Do");
  expect(h.of("step").at(-1)?.error).toContain("output limit");
  sound(h);
});

it("a question and its options are bounded in the wait, and whole in the message", async () => {
  const long = "🚀".repeat(20_000);
  const h = await new Harness({
    mode: "chat",
    script: [call(["message_ask_user", { text: long, options: [long] }])],
  }).run("q");
  expect([...(h.head.wait?.text ?? "")].length).toBe(8_000);
  expect([...(h.head.wait?.options?.[0] ?? "")].length).toBe(200);
  expect(h.of("message").at(-1)?.content).toBe(long);
  sound(h);
});

it("running out of memory again and again ends the turn, and the next message works", async () => {
  const h = await new Harness({ script: [plan("a"), { hang: true }] }).run("Do");
  h.keep({ type: "out_of_memory" });
  expect(h.log.slice(-3)).toEqual(["error(out_of_memory)", "done(failed)", "status(failed)"]);
  h.model.add(plan("a"), work(), complete(true));
  await h.run("smaller");
  expect(h.head.status).toBe("completed");
  sound(h);
});

describe("the idempotency key of an effect", () => {
  const keys = (h: Harness) => h.tools.dispatched.map((r) => r.idempotencyKey);

  it("is the same for a call that is repeated because its outcome was unknown, and a new one after a known result", async () => {
    const h = new Harness({ script: [plan("a"), work("x"), work("x"), work("x"), complete(true)] });
    let n = 0;
    h.tools.behaviour = () =>
      n++ === 0 ? { ok: false, unknown: true, text: "no answer came" } : succeed();
    await h.run("Do");
    const [first, second, third] = keys(h);
    expect(first).toBeDefined();
    expect(second).toBe(first);
    expect(third).not.toBe(first);
    sound(h);
  });

  it("is the same when the object died under the call and it is run again", async () => {
    const h = new Harness({ script: [plan("a"), work("x"), complete(true)] });
    h.disk.failAt.add(4);
    await h.run("Do");
    expect(keys(h)).toHaveLength(2);
    expect(new Set(keys(h)).size).toBe(1);
    sound(h);
  });

  it("is the same when a report of an unknown outcome made the model call again", async () => {
    const pay = call(["shell_exec", { command: "pay" }]);
    const h = new Harness({ script: [plan("a"), pay, pay, complete(true)] });
    h.disk.failAt.add(4);
    await h.run("Do");
    expect(keys(h)).toHaveLength(2);
    expect(new Set(keys(h)).size).toBe(1);
    sound(h);
  });

  it("differs for the same effect that is wanted again: in a follow-up, and in a step of the same id", async () => {
    const h = new Harness({ script: [plan("a"), work("pay"), { ...complete(true), held: true }] });
    await h.run("pay 10");
    h.say("pay it again", "follow_up");
    h.model.add(plan("a"), work("pay"), complete(true));
    h.model.release();
    await h.settle();
    expect(keys(h)).toHaveLength(2);
    expect(new Set(keys(h)).size).toBe(2);
    sound(h);
  });

  it("differs between steps, arguments and sessions' turns; reads have none", async () => {
    const script = [
      plan("a", "b"),
      work("x"),
      work("y"),
      call(["file_read", { path: "x" }]),
      complete(true),
      work("x"),
      complete(true),
      call(["deliver_result", { message: "F" }]),
      plan("c"),
      work("x"),
      complete(true),
    ];
    const h = new Harness({ script });
    await h.run("Do");
    await h.run("More");
    expect(keys(h)[2]).toBeUndefined();
    const effects = keys(h).filter((k) => k !== undefined);
    expect(new Set(effects).size).toBe(effects.length);
    sound(h);
  });
});

describe("a session that an older program saved", () => {
  it("begins fields that it lacks as a new one, and goes on", async () => {
    const h = await new Harness({ script: [plan("a"), askUser("?")] }).run("Do");
    const saved = JSON.parse(h.disk.session) as Record<string, unknown>;
    for (const field of ["seen", "known", "profiles", "scale", "laps", "overflow"])
      delete saved[field];
    h.disk.session = JSON.stringify(upgrade(saved));
    h.crash();
    h.model.add(work(), complete(true));
    h.answer("B");
    await h.settle();
    expect(h.head.status).toBe("completed");
    sound(h);
  });

  it("goes on with defaults for settings that it lacks, and keeps those that it has", async () => {
    const h = new Harness({
      script: [plan("a"), askUser("?")],
      settings: {
        summarize: "always",
        limits: { maxReplans: 1 },
        tools: { approval: { x: "deny" } },
      },
    });
    await h.run("Do");
    const saved = JSON.parse(h.disk.session) as Session;
    const whole = structuredClone(saved.turn?.settings);
    const settings = saved.turn?.settings as unknown as Record<string, Record<string, unknown>>;
    delete settings.duplicates;
    delete settings.limits?.maxIterations;
    delete settings.harness?.compact;
    expect(upgrade(saved)?.turn?.settings).toEqual(whole);
    expect(whole).toMatchObject({ summarize: "always", limits: { maxReplans: 1 } });
  });

  it("is not opened when it was saved by a newer one", () => {
    expect(upgrade({ schema: 99 })).toBe(null);
  });
});

describe("V4: a commit that finds no room", () => {
  const large = "y".repeat(5_000);
  const script = () => [
    plan("a"),
    call(["file_write", { path: "b.txt", content: large, brief: "write" }]),
    plan("b"),
    work(),
    complete(true),
  ];

  it("ends the turn with an error that can be stored, and the next message works", async () => {
    const h = new Harness({ script: script() });
    h.disk.room = 4_000;
    await h.run("Do");
    expect(h.log.slice(-3)).toEqual(["error(storage_full)", "done(failed)", "status(failed)"]);
    expect(h.of("error")[0]?.retryable).toBe(true);
    await h.run("Again");
    expect(h.head.status).toBe("completed");
    expect(h.faults()).toEqual([]);
  });

  it("of what a person says changes nothing, and the same again works", async () => {
    const h = new Harness({ mode: "chat", script: [text("a")] });
    h.disk.room = 100;
    expect(() => h.say("q", "steer", "m1")).toThrow("disk is full");
    expect([h.log, h.head.status]).toEqual([[], "idle"]);
    h.disk.room = Number.POSITIVE_INFINITY;
    h.say("q", "steer", "m1");
    await h.settle();
    expect(h.head.status).toBe("completed");
    expect(h.faults()).toEqual([]);
  });
});

it("a memory that is too large to be loaded ends the turn before it is", async () => {
  const h = new Harness({ mode: "chat", script: [text("a")] });
  h.fits = false;
  await h.run("q");
  expect(h.requests).toHaveLength(0);
  expect(h.log.slice(-3)).toEqual(["error(out_of_memory)", "done(failed)", "status(failed)"]);
  h.fits = true;
  await h.run("again");
  expect(h.head.status).toBe("completed");
});
