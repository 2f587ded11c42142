/**
 * What people say to a running turn, in every phase and mode: steer, follow_up, replan, reject; and what of it can
 * still be changed or taken back. OS-S2 … OS-S5, A02, A25.
 */
import { describe, expect, it } from "vitest";
import type { Delivery } from "../../src/core/events.ts";
import type { SettingsLayer } from "../../src/core/settings.ts";
import {
  askUser,
  call,
  complete,
  deliver,
  fail,
  Harness,
  type Options,
  plan,
  review,
  type Scripted,
  succeed,
  text,
  update,
  work,
} from "../fakes.ts";

const sound = (h: Harness) => expect(h.faults()).toEqual([]);
const read = (path: string): Scripted => call(["file_read", { path }]);
const dones = (h: Harness) => h.log.filter((l) => l.startsWith("done"));
const release = async (h: Harness) => {
  h.tools.behaviour = () => succeed();
  for (const id of [...h.tools.open.keys()]) h.tools.release(id);
  h.model.release();
  await h.settle();
};
const all = (h: Harness) => h.disk.rows.map((r) => r.json).join("\n");
const held = (s: Scripted): Scripted => ({ ...s, held: true });

describe("OS-S2: steers", () => {
  it("stand before the next model call, in order, after the results of the reply they came in", async () => {
    const h = new Harness({ mode: "chat", script: [read("1"), text("ok")] });
    h.tools.behaviour = () => "hang";
    await h.run("q");
    h.say("check the newest deploy");
    h.say("be brief");
    await release(h);
    expect(h.roles(2)).toBe("suatuu");
    expect(h.requests[1]?.messages.slice(-2).map((m) => m.content)).toEqual([
      "check the newest deploy",
      "be brief",
    ]);
    sound(h);
  });
});

describe("OS-S3: follow-ups", () => {
  it("are taken one for each conclusion, first come first, and only the last ends the turn", async () => {
    const h = new Harness({ mode: "chat", script: [held(text("a0")), text("a1"), text("a2")] });
    await h.run("q0");
    h.say("q1", "follow_up");
    h.say("q2", "follow_up");
    h.model.release();
    await h.settle();
    expect([1, 2, 3].map((n) => h.roles(n))).toEqual(["su", "suau", "suauau"]);
    expect(
      h
        .of("message")
        .filter((m) => m.kind === "answer")
        .map((m) => m.content),
    ).toEqual(["a0", "a1", "a2"]);
    expect(dones(h)).toEqual(["done(completed)"]);
    sound(h);
  });
});

it("OS-S4: a steer during the final answer is worked on in the same turn, and nothing leaks into the next", async () => {
  const h = new Harness({ mode: "chat", script: [held(text("a0")), text("a1")] });
  await h.run("q0");
  h.say("wait, also this");
  h.model.release();
  await h.settle();
  expect(h.roles(2)).toBe("suau");
  expect(h.last(2)).toBe("wait, also this");
  expect(dones(h)).toEqual(["done(completed)"]);
  h.model.add(text("b"));
  await h.run("next");
  expect(h.requests[2]?.messages.filter((m) => m.content === "wait, also this")).toHaveLength(1);
  sound(h);
});

describe("OS-S5: a follow-up at the cap", () => {
  it("is not lost: it stands where the next turn reads it, and what was answered stays", async () => {
    const h = new Harness({
      mode: "chat",
      settings: { limits: { maxIterations: 1 } },
      script: [held(read("1"))],
    });
    await h.run("q0");
    h.say("q1", "follow_up");
    h.model.release();
    await h.settle();
    expect(h.log.slice(-3)).toEqual(["error(max_iterations)", "done(failed)", "status(failed)"]);
    h.model.add(text("both"));
    await h.run("go on");
    expect(h.requests[1]?.messages.map((m) => m.content)).toContain("q1");
    sound(h);
  });

  it("after an answer at the last iteration is worked on with a whole allowance", async () => {
    const settings = { limits: { maxIterations: 1 } };
    const h = new Harness({ mode: "chat", settings, script: [held(text("a0")), text("a1")] });
    await h.run("q0");
    h.say("q1", "follow_up");
    h.model.release();
    await h.settle();
    expect(h.of("message").at(-1)?.content).toBe("a1");
    expect(dones(h)).toEqual(["done(completed)"]);
    sound(h);
  });
});

/** A session brought to rest in one phase: something hangs, sleeps or waits. */
interface Place extends Options {
  phase: string;
  /** What comes after the message, whichever way it is taken. */
  rest?: Scripted[];
}
const REVIEWED: SettingsLayer = { reviewer: { enabled: true } };
const PLACES: Record<string, Place> = {
  planning: { phase: "planning", script: [held(plan("a"))] },
  "executing, the model thinks": {
    phase: "executing",
    script: [plan("a", "b"), work(), complete(true), held(work("b"))],
  },
  "executing, a tool runs": {
    phase: "executing",
    script: [plan("a"), work("slow"), complete(true)],
  },
  updating: { phase: "updating", script: [plan("a"), complete(false), held(update(["2", "b"]))] },
  reviewing: {
    phase: "reviewing",
    settings: REVIEWED,
    script: [plan("a"), work(), complete(true), held(review("pass"))],
  },
  summarizing: {
    phase: "summarizing",
    settings: { summarize: "always" },
    script: [plan("a"), work(), complete(true), held(deliver("F"))],
  },
  "answering, the model speaks": { phase: "answering", mode: "chat", script: [held(text("a"))] },
  "answering, a tool runs": { phase: "answering", mode: "chat", script: [read("slow"), text("a")] },
  "a workflow": {
    phase: "answering",
    mode: "workflow",
    script: [held(call(["agent_response", { text: "a" }]))],
  },
  "a direct answer": { phase: "answering", mode: "direct", script: [held(text("a"))] },
};
const at = async (place: Place): Promise<Harness> => {
  const h = new Harness(place);
  h.tools.behaviour = (run) => (run.args.path === "slow" ? "hang" : succeed());
  await h.run("first");
  expect([h.head.status, h.head.phase]).toEqual(["running", place.phase]);
  return h;
};
/** A model that does what it is asked, from here on. */
const sane = (h: Harness): void => {
  h.model.fallback = (r) => {
    const tools = new Set(r.tools?.map((t) => t.function.name));
    if (tools.has("create_plan")) return plan("z");
    if (tools.has("update_plan")) return update(["z", "z"]);
    if (tools.has("submit_review")) return review("pass");
    if (tools.has("agent_response")) return call(["agent_response", { text: "z" }]);
    if (!tools.has("complete_step")) return text("z");
    if (r.tool_choice !== "auto") return deliver("Z");
    return r.messages.at(-1)?.role === "tool" ? complete(true) : work("z");
  };
};

describe.each(Object.entries(PLACES))("while %s", (_, place) => {
  it.each(["steer", "follow_up", "replan"] as const)(
    "a %s is read by a model, in the same turn",
    async (how) => {
      const h = await at(place);
      sane(h);
      h.say("the second thing", how);
      await release(h);
      expect(h.head.status).toBe("completed");
      expect(dones(h)).toEqual(["done(completed)"]);
      expect(h.head.queue).toEqual([]);
      expect(h.model.bodies.join()).toContain("the second thing");
      sound(h);
    },
  );

  it("a replan voids what is under way and answers it", async () => {
    const h = await at(place);
    const running = h.head.batch !== null;
    sane(h);
    h.say("rather this", "replan");
    await h.settle();
    expect(running ? h.tools.cancelled.length : h.model.cancelled).toBe(1);
    expect(h.head.status).toBe("completed");
    sound(h);
  });

  it("a message that is to be rejected changes nothing", async () => {
    const h = await at(place);
    const before = h.head;
    h.say("now!", "reject");
    expect(h.head).toBe(before);
  });

  it("a waiting message can be changed and taken back, and nothing else is read", async () => {
    const h = await at(place);
    h.say("said one", "follow_up", "c1");
    h.say("said two", "follow_up", "c2");
    h.keep({ type: "edited", id: "c1", text: "uno" });
    h.keep({ type: "removed", id: h.head.queue[1]?.message_id ?? "" });
    expect(h.of("queue")).toEqual([
      {
        op: "edited",
        message_id: h.head.queue[0]?.message_id,
        client_id: "c1",
        text: "uno",
        delivery: "follow_up",
      },
      { op: "removed", message_id: expect.any(String), client_id: "c2" },
    ]);
    sane(h);
    await release(h);
    expect(all(h)).toContain("uno");
    expect(all(h)).not.toMatch(/said two|said one/);
    sound(h);
  });
});

it("A24: a replan during the sleep after a 429 ends the sleep", async () => {
  const h = new Harness({ script: [fail("rate_limited", true, 60_000)] });
  h.say("first");
  await new Promise((r) => setImmediate(r));
  expect(h.wakeAt).not.toBe(null);
  sane(h);
  h.say("second", "replan");
  expect(h.wakeAt).toBe(null);
  await h.settle();
  expect(h.head.status).toBe("completed");
  sound(h);
});

describe("a replan while a person is asked for an approval", () => {
  const settings: SettingsLayer = { tools: { approval: { shell_exec: "ask" } } };
  const batch = call(
    ["shell_exec", { command: "one" }],
    ["shell_exec", { command: "two" }],
    ["file_write", { path: "3", content: "" }],
  );
  const waiting = async () => {
    const h = await new Harness({ settings, script: [plan("a"), batch] }).run("Do");
    h.say("rather b", "replan");
    expect(h.head).toMatchObject({ status: "waiting", queue: [{ delivery: "replan" }] });
    sane(h);
    return h;
  };

  it("waits for the answer: after a yes that one call runs, nothing else of the old plan", async () => {
    const h = await waiting();
    h.decide(true);
    await h.settle();
    expect(h.tools.effects.filter((e) => e.startsWith("shell"))).toHaveLength(1);
    expect(h.of("tool").map((t) => t.args.path ?? t.args.command)).not.toContain("3");
    expect(h.offered(3)).toEqual(["create_plan"]);
    expect(h.last(3)).toContain("rather b");
    expect(h.of("wait")).toHaveLength(1);
    sound(h);
  });

  it("after a no, nothing of the old plan runs", async () => {
    const h = await waiting();
    h.decide(false);
    await h.settle();
    expect(h.tools.effects.filter((e) => e.startsWith("shell"))).toEqual([]);
    expect(h.last(3)).toContain("rather b");
    sound(h);
  });
});

it("a replan while a person is asked for more of a budget is taken up after a yes", async () => {
  const h = new Harness({
    settings: { budget: { maxToolCalls: 1 } },
    script: [plan("a"), work(), work("2")],
  });
  await h.run("Do");
  h.say("rather b", "replan");
  sane(h);
  h.decide(true);
  await h.settle();
  expect(h.tools.dispatched.map((r) => r.args.path)).not.toContain("2");
  expect(h.last(4)).toContain("rather b");
  expect(h.head.status).toBe("completed");
  sound(h);
});

describe("a waiting message", () => {
  const busy = async (how: Delivery = "follow_up") => {
    const h = new Harness({ script: [plan("a"), work("slow"), complete(true)] });
    h.tools.behaviour = () => "hang";
    await h.run("Do");
    h.say("one", how, "c1");
    return h;
  };

  it("can become a steer, and then is read before the next model call", async () => {
    const h = await busy();
    h.keep({ type: "edited", id: "c1", delivery: "steer" });
    await release(h);
    expect(h.last(3)).toBe("one");
    sound(h);
  });

  it("can become a replan, which acts at once", async () => {
    const h = await busy();
    sane(h);
    h.model.skip();
    h.keep({ type: "edited", id: "c1", delivery: "replan" });
    await h.settle();
    expect(h.tools.cancelled).toHaveLength(1);
    expect(h.last(3)).toContain("one");
    sound(h);
  });

  it("that was read cannot be changed any more", async () => {
    const h = await busy("steer");
    await release(h);
    const before = h.head;
    h.keep({ type: "edited", id: "c1", text: "late" });
    h.keep({ type: "removed", id: "c1" });
    expect(h.head).toBe(before);
    sound(h);
  });

  it("that is set to what it is changes nothing", async () => {
    const h = await busy();
    const before = h.head;
    h.keep({ type: "edited", id: "c1", text: "one", delivery: "follow_up" });
    expect(h.head).toBe(before);
  });

  it("is kept over a crash as it was changed", async () => {
    const h = await busy();
    h.keep({ type: "edited", id: "c1", text: "uno" });
    h.crash();
    expect(h.head.queue).toMatchObject([{ id: "c1", text: "uno" }]);
  });
});

it("at the cap of a step the planner reads what was said meanwhile", async () => {
  const h = new Harness({
    settings: { limits: { maxIterations: 1 } },
    script: [plan("a"), work("slow"), update(), deliver("F")],
  });
  h.tools.behaviour = () => "hang";
  await h.run("Do");
  h.say("skip it then");
  await release(h);
  expect(h.offered(3)).toEqual(["update_plan"]);
  expect(h.last(3)).toBe("skip it then");
  sound(h);
});

it("a question that is asked while a message waits is answered by the next one, not by the one that waits", async () => {
  const h = new Harness({ script: [plan("a"), held(askUser("Which?")), work(), complete(true)] });
  await h.run("Do");
  h.say("later", "follow_up");
  h.model.release();
  await h.settle();
  expect(h.head.status).toBe("waiting");
  sane(h);
  h.say("B");
  await h.settle();
  expect(h.of("answer").map((a) => a.text)).toEqual(["B"]);
  expect(h.last(5)).toContain("later");
  sound(h);
});

describe("ends that say so", () => {
  it("O2, O3: a cap is an event of its own, and what was answered before it stays", async () => {
    const settings: SettingsLayer = { limits: { maxIterations: 1 } };
    const h = new Harness({ mode: "chat", settings, script: [held(text("a0")), read("1")] });
    await h.run("q0");
    h.say("q1", "follow_up");
    h.model.release();
    await h.settle();
    expect(h.of("error")).toMatchObject([{ code: "max_iterations" }]);
    expect(h.of("message").filter((m) => m.kind === "answer")).toMatchObject([{ content: "a0" }]);
    sound(h);
  });

  it("O4: a tool that fails for ever is stopped where the guard is on, and by the cap where it is off", async () => {
    const failing = async (enabled: boolean) => {
      const settings = { harness: { enabled }, limits: { maxIterations: 5 } };
      const h = new Harness({ mode: "chat", settings });
      let n = 0;
      h.model.fallback = () => read(String(n++));
      h.tools.behaviour = () => ({ ok: false, text: "no" });
      await h.run("q");
      return [h.requests.length, h.of("error")[0]?.code];
    };
    expect(await failing(true)).toEqual([2, "tool_errors_exhausted"]);
    expect(await failing(false)).toEqual([5, "max_iterations"]);
  });

  it("O5: an empty reply is no answer", async () => {
    const h = await new Harness({ mode: "chat", script: [text(""), text("here")] }).run("q");
    expect(h.of("nudge").map((n) => n.reason)).toEqual(["empty_reply"]);
    expect(h.of("message").at(-1)?.content).toBe("here");
    sound(h);
  });
});
