/** The reviewer: HS-S1 … HS-S8, and what happens when it does not do its work. */
import { describe, expect, it } from "vitest";
import { routeReview } from "../../src/core/review.ts";
import type { SettingsLayer } from "../../src/core/settings.ts";
import {
  call,
  complete,
  deliver,
  fail,
  Harness,
  plan,
  review,
  type Scripted,
  text,
  update,
  work,
} from "../fakes.ts";

const sound = (h: Harness) => expect(h.faults()).toEqual([]);
const ON: SettingsLayer = { reviewer: { enabled: true } };
const reviewing = (script: Scripted[], settings: SettingsLayer = ON) =>
  new Harness({ settings, script }).run("Build it");
const step = [work(), complete(true, "built")];
/** Requests in which that tool is offered, by their number. */
const asked = (h: Harness, tool: string) =>
  h.requests.flatMap((_, i) => (h.offered(i + 1).includes(tool) ? [i + 1] : []));
const whole = (h: Harness, n: number) => JSON.stringify(h.requests[n - 1]?.messages);
const final = (h: Harness) => h.of("message").at(-1)?.content;

describe("HS-5…HS-9: the routing table", () => {
  it.each([
    ["pass", "none", 0, 2, "pass"],
    ["pass", "replan", 2, 2, "pass"],
    ["fail", "replan", 2, 2, "limit"],
    ["fail", "retry_actor", 3, 2, "limit"],
    ["fail", "replan", 1, 2, "replan"],
    ["fail", "retry_actor", 0, 2, "retry_actor"],
    ["fail", "none", 0, 2, "replan"],
    ["fail", "replan", 0, 0, "limit"],
  ] as const)("%s, %s, %i of %i → %s", (verdict, next_action, reviews, max, route) => {
    expect(routeReview({ verdict, next_action }, reviews, max)).toBe(route);
  });
});

it("HS-S1: a pass hands the work over, after one review of all steps", async () => {
  const h = await reviewing([plan("a"), ...step, review("pass")]);
  expect(h.log.slice(-7)).toEqual([
    "step(1 completed)",
    "plan(updated)",
    "review",
    "message(final)",
    "plan(completed)",
    "done(completed)",
    "status(completed)",
  ]);
  expect(h.of("review")).toEqual([
    { verdict: "pass", score: 9, issues: [], next_action: "none", round: 1 },
  ]);
  expect(final(h)).toBe("built");
  expect(h.offered(4)).toEqual(["submit_review"]);
  expect(h.requests[3]?.tool_choice).toBe("required");
  expect(h.roles(4)).toBe("su");
  sound(h);
});

it("HS-S1: the reviewer knows what people changed on the way", async () => {
  const script = [
    plan("a"),
    { ...work("w"), held: true as const },
    complete(true, "built"),
    review("pass"),
  ];
  const h = await reviewing(script);
  h.say("Make it about CATS instead");
  h.model.release();
  await h.settle();
  expect(h.head.status).toBe("completed");
  expect(whole(h, h.requests.length)).toContain("CATS");
  sound(h);
});

it("HS-S1: the reviewer judges by the task, the criteria and what came of every step", async () => {
  const criteria = call([
    "create_plan",
    {
      message: "ok",
      language: "en",
      title: "T",
      goal: "a page that loads",
      success_criteria: ["It loads in a second", "It has a title"],
      steps: [{ description: "write it", id: 1 }],
    },
  ]);
  const h = await reviewing([criteria, ...step, review("pass")]);
  for (const part of ["Build it", "a page that loads", "It loads in a second", "It has a title"]) {
    expect(h.last(4)).toContain(part);
  }
  expect(h.last(4)).toContain("write it → ok: built");
  sound(h);
});

it("HS-S2: a replan goes to the planner with the issues, and the new work is reviewed again", async () => {
  const h = await reviewing([
    plan("a"),
    ...step,
    review("fail", "replan", "no tests", "no docs"),
    update(["2", "test it"]),
    work("t"),
    complete(true),
    review("pass"),
    deliver("All of it."),
  ]);
  expect(asked(h, "create_plan")).toEqual([1]);
  expect(asked(h, "update_plan")).toEqual([5]);
  expect(h.last(5)).toContain("- no tests\n- no docs");
  expect(h.of("review").map((r) => [r.verdict, r.next_action, r.round])).toEqual([
    ["fail", "replan", 1],
    ["pass", "none", 2],
  ]);
  // The first step stays done.
  expect(h.head.plan?.steps.map((s) => s.status)).toEqual(["completed", "completed"]);
  expect(h.head.replans).toBe(0);
  expect(final(h)).toBe("All of it.");
  sound(h);
});

it("HS-S3: another try goes to the executor with the issues, as a step of its own", async () => {
  const h = await reviewing([
    plan("a"),
    ...step,
    review("fail", "retry_actor", "the title is missing"),
    work("t"),
    complete(true),
    review("pass"),
    deliver("Mended."),
  ]);
  expect(asked(h, "update_plan")).toEqual([]);
  expect(whole(h, 5)).toContain("the title is missing");
  expect(h.log.slice(10, 13)).toEqual(["review", "plan(updated)", "step(2 running)"]);
  expect(h.head.plan?.steps[1]?.description).toContain("the title is missing");
  expect(h.of("message").at(-1)?.content).toBe("Mended.");
  sound(h);
});

it("HS-S4: at the limit the work is handed over, and the final message says what is not met", async () => {
  const h = await reviewing(
    [
      plan("a"),
      ...step,
      review("fail", "retry_actor", "no title"),
      work("t"),
      complete(true),
      review("fail", "replan", "still no title"),
      deliver("Here it is."),
    ],
    { reviewer: { enabled: true, maxRetries: 1 } },
  );
  expect(h.of("review").map((r) => r.round)).toEqual([1, 2]);
  expect(h.of("notice").map((n) => n.code)).toEqual(["review_spent"]);
  expect(final(h)).toBe("Here it is.\n\nNot met, by the last review:\n- still no title");
  expect(h.last(8)).toContain("still no title");
  expect(h.log.slice(-2)).toEqual(["done(completed)", "status(completed)"]);
  sound(h);
});

it("HS-S4: without retries a single step is summed up honestly too", async () => {
  const h = await reviewing([plan("a"), ...step, review("fail", "replan"), deliver("As it is.")], {
    reviewer: { enabled: true, maxRetries: 0 },
  });
  expect(final(h)).toBe("As it is.\n\nNot met, by the last review:\n- the goal as a whole");
  sound(h);
});

it("HS-S5: a pass on the last allowed review is a pass", async () => {
  const h = await reviewing(
    [
      plan("a"),
      ...step,
      review("fail", "retry_actor", "x"),
      work("t"),
      complete(true),
      review("pass"),
      deliver("Good."),
    ],
    { reviewer: { enabled: true, maxRetries: 1 } },
  );
  expect(final(h)).toBe("Good.");
  expect(h.of("notice")).toEqual([]);
  sound(h);
});

describe("HS-S6: a verdict", () => {
  it("that was written as text is understood", async () => {
    const fenced = `\`\`\`json\n${JSON.stringify({ name: "submit_review", arguments: { verdict: "pass", score: 8, issues: [], next_action: "none" } })}\n\`\`\``;
    const h = await reviewing([plan("a"), ...step, text(fenced)]);
    expect(h.of("review")[0]).toMatchObject({ verdict: "pass", score: 8 });
    sound(h);
  });

  it("that never comes is nudged for, then the work is handed over unreviewed, and it is said", async () => {
    const h = await reviewing([plan("a"), ...step, ...Array<Scripted>(4).fill(text("Looks fine"))]);
    expect(h.of("nudge").map((n) => [n.role, n.reason])).toEqual(
      Array(4).fill(["reviewer", "bare_text"]),
    );
    expect(h.of("notice").map((n) => n.code)).toEqual(["review_failed"]);
    expect(h.of("review")).toEqual([]);
    expect(final(h)).toBe("built");
    expect(h.log.slice(-2)).toEqual(["done(completed)", "status(completed)"]);
    sound(h);
  });

  it("of a model that cannot be reached is done without as well", async () => {
    const h = await reviewing([plan("a"), ...step, fail("provider_auth", false)]);
    expect(h.of("notice").map((n) => n.code)).toEqual(["review_failed"]);
    expect(final(h)).toBe("built");
    expect(h.of("error")).toEqual([]);
    sound(h);
  });
});

it.each(["rework", undefined])(
  "HS-S7: an unknown next action (%s) is a replan, and the event says so",
  async (next_action) => {
    const odd = call([
      "submit_review",
      { verdict: "fail", score: "42", issues: ["x"], ...(next_action ? { next_action } : {}) },
    ]);
    const h = await reviewing([
      plan("a"),
      ...step,
      odd,
      update(["2", "b"]),
      work("b"),
      complete(true),
      review("pass"),
      deliver("F"),
    ]);
    expect(h.of("review")[0]).toMatchObject({ next_action: "replan", score: 10 });
    sound(h);
  },
);

it("HS-S8: for a Chinese task the step that mends, the notice and the honest end are Chinese", async () => {
  const zh = call([
    "create_plan",
    {
      message: "好",
      language: "zh",
      title: "页面",
      goal: "g",
      steps: [{ id: "1", description: "写" }],
    },
  ]);
  const h = await reviewing(
    [
      zh,
      ...step,
      review("fail", "retry_actor", "缺少标题"),
      work("t"),
      complete(true),
      review("fail", "replan", "仍缺少标题"),
      deliver("完成"),
    ],
    { reviewer: { enabled: true, maxRetries: 1 } },
  );
  expect(h.head.plan?.steps[1]?.description).toMatch(/修正.*缺少标题/);
  expect(h.of("notice")[0]?.text).toMatch(/审查/);
  expect(final(h)).toMatch(/尚未满足:\n- 仍缺少标题/);
  sound(h);
});

describe("a review", () => {
  it("is off unless the settings say so", async () => {
    const h = await reviewing([plan("a"), ...step], {});
    expect(asked(h, "submit_review")).toEqual([]);
    sound(h);
  });

  it("does not save what the replan budget has given up", async () => {
    const h = await reviewing([plan("a"), complete(false, "no"), deliver("Sorry.")], {
      reviewer: { enabled: true },
      limits: { maxReplans: 0 },
    });
    expect(asked(h, "submit_review")).toEqual([]);
    expect(h.log.at(-2)).toBe("done(failed)");
    sound(h);
  });

  it("reads its own memory, whose requests only grow", async () => {
    const h = await reviewing([
      plan("a"),
      ...step,
      review("fail", "retry_actor", "x"),
      work("t"),
      complete(true),
      review("pass"),
      deliver("F"),
    ]);
    const [first, second] = asked(h, "submit_review").map((n) => h.model.bodies[n - 1] as string);
    const messages = (b: string) => b.slice(b.indexOf('"messages":'), -2);
    const front = (b: string) => b.slice(0, b.indexOf('"messages":'));
    expect(messages(second ?? "").startsWith(messages(first ?? "."))).toBe(true);
    expect(front(second ?? "")).toBe(front(first ?? "."));
    sound(h);
  });

  it("leaves a steer for whoever can act on it: after a pass, the turn goes on with it", async () => {
    const h = new Harness({
      settings: ON,
      script: [plan("a"), ...step, { ...review("pass"), held: true }],
    });
    await h.run("Build it");
    h.say("and b");
    h.model.add(plan("b"), work("b"), complete(true, "b"), review("pass"));
    h.model.release();
    await h.settle();
    expect(h.last(5)).toContain("and b");
    expect(
      h
        .of("message")
        .filter((m) => m.kind === "final")
        .map((m) => m.content),
    ).toEqual(["built", "b"]);
    sound(h);
  });

  it("that has to be asked again does not read a steer: it judges the work as it was asked for", async () => {
    const held = { ...text("hm"), held: true as const };
    const h = new Harness({ settings: ON, script: [plan("a"), ...step, held] });
    await h.run("Build it");
    h.say("and b");
    h.model.add(review("pass"), plan("b"), work("b"), complete(true, "b"), review("pass"));
    h.model.release();
    await h.settle();
    expect(h.offered(5)).toEqual(["submit_review"]);
    expect(whole(h, 5)).not.toContain("and b");
    expect(h.last(6)).toContain("and b");
    sound(h);
  });

  it("that sends the work back lets the executor read a steer that came meanwhile", async () => {
    const held = { ...review("fail", "retry_actor", "x"), held: true as const };
    const h = new Harness({ settings: ON, script: [plan("a"), ...step, held] });
    await h.run("Build it");
    h.say("in blue");
    h.model.add(work("t"), complete(true), review("pass"), deliver("F"));
    h.model.release();
    await h.settle();
    expect(whole(h, 5)).toContain("in blue");
    sound(h);
  });

  it("keeps a long result whole, with its files, while it waits for the verdict", async () => {
    const long = "r".repeat(9_000);
    const file = {
      path: "/workspace/a",
      name: "a",
      size: 1,
      content_type: "",
      modified_at: "",
      url: "",
    };
    const end = call(["complete_step", { success: true, result: long, attachments: ["a"] }]);
    const h = new Harness({ settings: ON, script: [plan("a"), work(), end, review("pass")] });
    h.tools.behaviour = (run) =>
      run.name === "complete_step" ? { ok: true, text: "", files: [file] } : { ok: true, text: "" };
    await h.run("Do");
    expect(h.of("message").at(-1)).toMatchObject({ content: long, attachments: [file] });
    sound(h);
  });
});
