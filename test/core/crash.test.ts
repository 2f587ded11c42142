/**
 * The centrepiece: a session killed at every commit, alone and in pairs, ends as if nothing had happened.
 *
 * `fail n`: commit n fails, as when the object dies after an external call and before its result is stored.
 * `die n`: commit n is stored and the object dies, before any external call that follows from it.
 */
import { describe, expect, it } from "vitest";
import type { Event } from "../../src/core/events.ts";
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
  text,
  update,
  type Work,
  work,
} from "../fakes.ts";

type Person =
  | ["say" | "steer" | "follow_up" | "replan" | "answer", string]
  /** A waiting message, by what it says, is taken back, or becomes a steer. */
  | ["remove" | "hasten", string]
  | ["stop"]
  | ["allow"]
  | ["deny"]
  /** The model gives the reply that it held back. */
  | ["release"];
interface Scenario extends Options {
  script: Scripted[];
  /** A lost failure is not a failure: the log may then lack its notice, and times differ. */
  lossy?: true;
  /** What specialists do. */
  specialist?: Work;
  /** What people do, each once everything before it has come to rest. */
  people: Person[];
}

const read = (path: string): [string, unknown] => ["file_read", { path }];
const task = (profile = "tester"): [string, unknown] => [
  "delegate_task",
  { profile, task: "Test it" },
];
const ASKS: Work = {
  asks: [{ kind: "approval", text: "May it?", tool: { function: "file_write", args: {} } }],
  spends: { model_calls: 2, input_tokens: 30 },
};
const SCENARIOS: Record<string, Scenario> = {
  "one step": { script: [plan("a"), work(), complete(true)], people: [["say", "Do"]] },
  "two steps and a summary": {
    script: [plan("a", "b"), work(), complete(true), work(), complete(true), deliver("F")],
    people: [["say", "Do"]],
  },
  "a failed step and a new plan": {
    script: [
      plan("a"),
      complete(false, "no"),
      update(["2", "b"]),
      work(),
      complete(true),
      deliver("F"),
    ],
    people: [["say", "Do"]],
  },
  "a question and its answer": {
    script: [plan("a"), askUser("Which?"), work(), complete(true)],
    people: [
      ["say", "Do"],
      ["answer", "B"],
    ],
  },
  "a question behind work in one reply": {
    script: [
      plan("a"),
      call(["file_write", { path: "x", content: "y" }], ["message_ask_user", { text: "?" }]),
      complete(true),
    ],
    people: [
      ["say", "Do"],
      ["answer", "B"],
    ],
  },
  "a serial batch that ends with its step": {
    script: [
      plan("a"),
      call(
        ["file_write", { path: "1", content: "x" }],
        ["message_notify_user", { text: "half" }],
        ["file_write", { path: "2", content: "x" }],
        ["complete_step", { success: true, result: "both", attachments: ["1"] }],
      ),
    ],
    people: [["say", "Do"]],
  },
  "a parallel batch": {
    script: [plan("a"), call(read("1"), read("2"), read("3")), complete(true)],
    people: [["say", "Do"]],
  },
  "refused replies": {
    script: [text("I plan"), plan("a"), complete(true), call(["nope", {}]), work(), complete(true)],
    people: [["say", "Do"]],
  },
  "a model that fails and recovers": {
    lossy: true,
    script: [
      fail("provider_error", true),
      plan("a"),
      fail("rate_limited", true, 5_000),
      work(),
      complete(true),
    ],
    people: [["say", "Do"]],
  },
  "a follow-up turn": {
    script: [plan("a"), work(), complete(true), plan("b"), work("b"), complete(true)],
    people: [
      ["say", "Do"],
      ["say", "More"],
    ],
  },
  "a workflow with required steps": {
    mode: "workflow",
    settings: { harness: { requiredSteps: ["file_read"] } },
    script: [
      text("bare"),
      call(["agent_response", { text: "early" }]),
      call(read("1")),
      call(["agent_response", { text: "done" }]),
    ],
    people: [["say", "Do"]],
  },
  "a workflow that a work tool ends": {
    mode: "workflow",
    settings: { harness: { terminalTools: ["file_write"] } },
    script: [call(["file_write", { path: "out", content: "x" }], read("1"), read("2"))],
    people: [["say", "Do"]],
  },
  "a read that is made again": {
    script: [plan("a"), call(read("1")), call(read("1"), read("2")), work(), complete(true)],
    people: [["say", "Do"]],
  },
  "a long step that is compacted": {
    settings: { limits: { maxContextTokens: 2_600 }, harness: { compact: { keepRecentSteps: 1 } } },
    script: [
      plan("a"),
      ...["1", "2", "3", "4"].map((p) => ({ ...call(read(p)), usage: null })),
      complete(true),
    ],
    people: [["say", "Do"]],
  },
  "calls written as text": {
    script: [
      text(
        '<tool_call>{"name":"create_plan","arguments":{"message":"m","language":"en","title":"T","goal":"g","steps":[{"id":"1","description":"a"}]}}</tool_call>',
      ),
      text('Now: {"name":"file_write","arguments":{"path":"x","content":"y"}}'),
      complete(true),
    ],
    people: [["say", "Do"]],
  },
  "an approval that is given, and one that is not": {
    settings: { tools: { approval: { file_write: "ask" } } },
    script: [
      plan("a"),
      call(["file_write", { path: "1", content: "x" }], read("2"), [
        "file_write",
        { path: "3", content: "x" },
      ]),
      complete(true),
    ],
    people: [["say", "Do"], ["allow"], ["deny"]],
  },
  "a steer and a follow-up while an approval waits": {
    settings: { tools: { approval: { file_write: "ask" } } },
    script: [plan("a"), work(), complete(true), plan("b"), call(read("1")), complete(true)],
    people: [["say", "Do"], ["steer", "in blue"], ["follow_up", "then b"], ["allow"]],
  },
  "a steer, a follow-up and a change of mind while the model thinks": {
    script: [plan("a"), { ...call(read("1")), held: true }, complete(true)],
    people: [
      ["say", "Do"],
      ["steer", "in blue"],
      ["follow_up", "then b"],
      ["hasten", "then b"],
      ["follow_up", "then d"],
      ["remove", "then d"],
      ["release"],
    ],
  },
  "a replan while the model thinks": {
    script: [
      plan("a", "b"),
      work(),
      complete(true),
      { ...work("x"), held: true },
      update(["3", "c"]),
      work("c"),
      complete(true),
      deliver("F"),
    ],
    people: [
      ["say", "Do"],
      ["replan", "rather c"],
    ],
  },
  "a replan while an approval waits": {
    settings: { tools: { approval: { file_write: "ask" } } },
    script: [
      plan("a"),
      call(["file_write", { path: "1", content: "" }], read("2")),
      plan("b"),
      call(read("3")),
      complete(true),
    ],
    people: [["say", "Do"], ["replan", "rather b"], ["allow"]],
  },
  "a review that sends the work back, then one that passes": {
    settings: { reviewer: { enabled: true } },
    script: [
      plan("a"),
      work(),
      complete(true),
      review("fail", "retry_actor", "no title"),
      work("t"),
      complete(true),
      review("fail", "replan", "no tests"),
      update(["9", "test"]),
      work("u"),
      complete(true),
      review("pass"),
      deliver("F"),
    ],
    people: [["say", "Do"]],
  },
  "a review that is spent, over garbage": {
    settings: { reviewer: { enabled: true, maxRetries: 0 } },
    script: [
      plan("a"),
      work(),
      complete(true),
      text("Fine"),
      review("fail", "x", "bad"),
      deliver("F"),
    ],
    people: [["say", "Do"]],
  },
  "budgets of tokens and tools, allowed and not": {
    settings: { budget: { maxTokens: 30, maxToolCalls: 1 } },
    script: [plan("a"), call(read("1"), read("2"), read("3")), complete(true)],
    people: [["say", "Do"], ["steer", "be quick"], ["allow"], ["allow"], ["deny"]],
  },
  "an answer that looks first": {
    mode: "direct",
    settings: {
      evidence: { enabled: true, seeds: [{ tool: "file_read", args: { path: "{message}" } }] },
    },
    script: [call(read("2")), text("It says x")],
    people: [["say", "1"]],
  },
  "a specialist at work": {
    specialist: { spends: { model_calls: 2, input_tokens: 30 } },
    script: [plan("a"), call(task()), complete(true)],
    people: [["say", "Do"]],
  },
  "a specialist that asks, and is told yes, then no": {
    specialist: { ...ASKS, asks: [...(ASKS.asks ?? []), ...(ASKS.asks ?? [])] },
    script: [plan("a"), call(task()), complete(true)],
    people: [["say", "Do"], ["steer", "be quick"], ["allow"], ["deny"]],
  },
  "specialists that ask beside each other": {
    specialist: ASKS,
    script: [plan("a"), call(task("one"), read("1"), task("two")), complete(true)],
    people: [["say", "Do"], ["allow"], ["deny"]],
  },
  "a stop while a specialist waits": {
    specialist: ASKS,
    script: [plan("a"), call(task())],
    people: [["say", "Do"], ["stop"]],
  },
  "a new session, at rest": {
    mode: "chat",
    script: [text("Hello.")],
    people: [
      ["say", "Hi"],
      ["say", "/new"],
    ],
  },
  "a new session, while a question waits": {
    script: [plan("a"), askUser("Which?"), work(), complete(true)],
    people: [
      ["say", "Do"],
      ["say", "/new and more"],
      ["answer", "B"],
    ],
  },
  "a chat with a tool": {
    mode: "chat",
    script: [call(read("1")), text("It says x")],
    people: [["say", "What is in 1?"]],
  },
};

const CLIENT = new Map<Harness, number>();
/** Acts as a client would: what was not acknowledged is sent again with the same id, and counts once. */
async function act(h: Harness, [what, words = ""]: Person): Promise<void> {
  const id = `p${CLIENT.get(h) ?? 0}`;
  CLIENT.set(h, (CLIENT.get(h) ?? 0) + 1);
  // A stop leaves no event with its id.
  const known = () =>
    (what === "stop" && h.head.status === "stopped") ||
    h.events.some((e) => "client_id" in e.data && e.data.client_id === id);
  for (let tries = 0; tries < 5 && !known(); tries++) {
    try {
      if (what === "release") {
        // A reply that was lost is asked for, and held back, again.
        h.model.release();
        await h.settle();
        continue;
      }
      const waiting = h.head.queue.find((q) => q.text === words);
      if (what === "remove" || what === "hasten") {
        const { id } = waiting ?? { id: "" };
        if (what === "remove") h.keep({ type: "removed", id });
        else h.keep({ type: "edited", id, delivery: "steer" });
        break;
      } else if (what === "answer") h.keep({ type: "answered", clientId: id, text: words });
      else if (what === "allow" || what === "deny") {
        h.keep({ type: "decided", clientId: id, approved: what === "allow" });
      } else if (what === "stop") h.keep({ type: "stopped", clientId: id });
      else h.say(words, what === "follow_up" || what === "replan" ? what : "steer", id);
    } catch {
      await h.settle();
    }
  }
  await h.settle();
}

async function play(scenario: Scenario, failAt: number[], dieAfter: number[]): Promise<Harness> {
  const h = new Harness(scenario);
  // Long enough that a small window needs compacting.
  h.tools.behaviour = (run) => ({ ok: true, text: `${run.id} ${"r".repeat(1_500)}` });
  h.specialists.work = () => scenario.specialist ?? {};
  for (const n of failAt) h.disk.failAt.add(n);
  for (const n of dieAfter) h.disk.dieAfter.add(n);
  for (const person of scenario.people) await act(h, person);
  return h;
}

const strip = (e: Event) => ({ ...e, ts: "" });
/** Everything that must not depend on crashes; time and the count of restarts may. */
function outcome(h: Harness, lossy = false) {
  if (lossy) return { events: h.log.filter((l) => !l.startsWith("notice")), effects: 0 };
  const { restarts: _, updated_at: __, ...state } = h.head;
  const { children } = h.specialists;
  const outside = { children: [...children], made: [...h.errands.made] };
  const effects = h.tools.effects.length;
  return { events: h.events.map(strip), rows: h.disk.rows, state, outside, effects };
}

describe.each(Object.entries(SCENARIOS))("%s", (_, scenario) => {
  it("survives a crash at every commit, and at every pair of commits", async () => {
    const calm = await play(scenario, [], []);
    expect(calm.faults()).toEqual([]);
    const wanted = outcome(calm, scenario.lossy);
    const commits = calm.disk.commits;
    expect(commits).toBeGreaterThan(2);
    const points = Array.from({ length: commits }, (_, i) => i + 1);
    const singles = points.flatMap((n) => [
      { failAt: [n], dieAfter: [] as number[] },
      { failAt: [] as number[], dieAfter: [n] },
    ]);
    // A second crash may come later than the calm run was long: recovery commits too.
    const pairs = singles.flatMap(({ failAt, dieAfter }, i) =>
      [...points, commits + 1, commits + 2]
        .filter((m) => m > Math.floor(i / 2) + 1)
        .flatMap((m) => [
          { failAt: [...failAt, m], dieAfter },
          { failAt, dieAfter: [...dieAfter, m] },
        ]),
    );
    for (const at of [...singles, ...pairs]) {
      const h = await play(scenario, at.failAt, at.dieAfter);
      const where = `fail ${at.failAt} die ${at.dieAfter}`;
      expect({ where, faults: h.faults() }).toEqual({ where, faults: [] });
      // A rerun tool may run again where its result was lost; that is what `rerun` means.
      const { effects: ___, ...got } = outcome(h, scenario.lossy);
      const { effects: ____, ...want } = wanted;
      expect({ where, ...got }).toEqual({ where, ...want });
    }
  }, 300_000);
});

describe("a tool with effects", () => {
  const shell = (command: string): Scripted => call(["shell_exec", { command }]);

  it("in flight when the object dies is reported as unknown and never run twice", async () => {
    const scenario = { script: [plan("a"), shell("pay"), work(), complete(true)], people: [] };
    const calm = new Harness(scenario);
    await calm.run("Do");
    for (let n = 1; n <= calm.disk.commits; n++) {
      for (const kind of ["failAt", "dieAfter"] as const) {
        const h = new Harness(scenario);
        h.disk[kind].add(n);
        await act(h, ["say", "Do"]);
        expect(h.tools.effects.filter((e) => e.startsWith("shell")).length).toBeLessThanOrEqual(1);
        expect(h.faults()).toEqual([]);
        expect(h.head.status).toBe("completed");
        const shells = h.of("tool").filter((t) => t.function === "shell_exec");
        expect(shells.map((t) => t.status)).toEqual(["calling", "called"]);
        const told = h.disk.rows.some((r) => r.json.includes("Outcome unknown"));
        expect({ n, kind, told }).toEqual({ n, kind, told: shells[1]?.ok === false });
      }
    }
  });

  it("that can be found again is looked up, and its call is shown once", async () => {
    const script = [plan("a"), call(["attach", { command: "build" }]), complete(true)];
    const h = new Harness({ script });
    h.tools.behaviour = () => "hang";
    await h.run("Do");
    h.tools.behaviour = () => ({ ok: true, text: "built" });
    h.crash();
    await h.settle();
    expect(h.tools.dispatched.map((r) => r.reopened)).toEqual([false, true]);
    expect(h.tools.effects).toHaveLength(1);
    expect(h.of("tool").map((t) => t.status)).toEqual(["calling", "called"]);
    expect(h.head.status).toBe("completed");
    expect(h.faults()).toEqual([]);
  });
});

describe("restarts", () => {
  it("without progress are capped, and the next message works", async () => {
    const h = new Harness({ script: [] });
    await h.run("Do");
    for (let i = 0; i < 6; i++) {
      h.crash();
      await h.settle();
    }
    expect(h.log.slice(-3)).toEqual(["error(restart_limit)", "done(failed)", "status(failed)"]);
    h.model.add(plan("a"), work(), complete(true));
    await h.run("Again");
    expect(h.head.status).toBe("completed");
    expect(h.faults()).toEqual([]);
  });

  it("while waiting for a person are not counted", async () => {
    const h = await new Harness({ script: [plan("a"), askUser("?")] }).run("Do");
    for (let i = 0; i < 10; i++) h.crash();
    expect(h.head).toMatchObject({ status: "waiting", restarts: 0 });
    h.model.add(work(), complete(true));
    h.answer("B");
    await h.settle();
    expect(h.head.status).toBe("completed");
    expect(h.faults()).toEqual([]);
  });
});
