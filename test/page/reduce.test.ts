import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  allRows,
  EMPTY_VIEW,
  type Frame,
  fromSnapshot,
  reduce,
  reduceAll,
  type View,
} from "../../src/client/index.ts";
import type { Event, EventBody } from "../../src/core/events.ts";
import { DEFAULTS } from "../../src/core/settings.ts";
import { NO_USAGE } from "../../src/core/usage.ts";
import type { SessionView } from "../../src/core/wire.ts";

const at = (seq: number) => new Date(Date.UTC(2026, 0, 1) + seq * 1000).toISOString();
const stamp = (bodies: EventBody[]): Event[] =>
  bodies.map((body, i) => ({ type: "event", session_id: "s", seq: i + 1, ts: at(i + 1), ...body }));

/** A snapshot as an honest server would give it at that point. */
function snapshotOf(view: View): SessionView {
  return {
    id: "s",
    title: view.title,
    mode: "agent",
    status: view.status,
    phase: view.phase,
    created_at: at(0),
    updated_at: at(view.lastSeq),
    last_seq: view.lastSeq,
    epoch: "e1",
    pinned: false,
    preview: "",
    usage: view.usage,
    run: view.run,
    plan: view.plan && { title: "", goal: "", success_criteria: [], steps: view.plan.steps },
    wait: view.wait,
    queue: view.queue.map((q) => ({ ...q, id: q.id.toUpperCase(), message_id: q.id })),
    settings: DEFAULTS,
    files_count: 0,
  };
}
const hello = (view: View, after: number): Frame => ({
  type: "hello",
  session_id: "s",
  epoch: "e1",
  after,
  last_seq: view.lastSeq,
  session: snapshotOf(view),
});
const live = (frame: object): Frame => ({ type: "live", ...frame }) as Frame;

const user = (id: string, content: string): EventBody => ({
  event: "message",
  data: { message_id: id, role: "user", content, attachments: [] },
});
const says = (
  id: string,
  content: string,
  kind?: "plan" | "question" | "notice" | "final" | "answer",
): EventBody => ({
  event: "message",
  data: { message_id: id, role: "assistant", content, attachments: [], kind },
});
const status = (s: View["status"], phase: View["phase"]): EventBody => ({
  event: "status_update",
  data: { status: s, phase },
});
const step = (id: string, s: "pending" | "running" | "completed" | "failed") => ({
  id,
  description: `do ${id}`,
  status: s,
});
const stepEvent = (id: string, s: "running" | "completed" | "failed"): EventBody => ({
  event: "step",
  data: step(id, s),
});
const calling = (id: string): EventBody => ({
  event: "tool",
  data: { tool_call_id: id, name: "shell", function: "shell_exec", status: "calling", args: {} },
});
const called = (id: string, output: string, ok = true): EventBody => ({
  event: "tool",
  data: {
    tool_call_id: id,
    name: "shell",
    function: "shell_exec",
    status: "called",
    args: {},
    ok,
    content: { command: "x", output, exit_code: 0 },
    duration_ms: 5,
  },
});
const usage: EventBody = {
  event: "usage",
  data: {
    role: "planner",
    model: "m",
    input_tokens: 10,
    output_tokens: 2,
    cached_tokens: 1,
    measured: true,
  },
};
const done = (outcome: "completed" | "failed" | "stopped", run = 1): EventBody => ({
  event: "done",
  data: { outcome, run },
});

/** Two steps, a question in the second, a steer, and a second turn that is stopped. */
const STORY = stamp([
  user("u1", "  Build it\nand test it"),
  status("running", "planning"),
  usage,
  { event: "title", data: { title: "Build" } },
  says("p1", "I will", "plan"),
  { event: "plan", data: { op: "created", steps: [step("1", "running"), step("2", "pending")] } },
  stepEvent("1", "running"),
  calling("c1"),
  called("c1", "ok"),
  usage,
  stepEvent("1", "completed"),
  { event: "plan", data: { op: "updated", steps: [step("1", "completed"), step("2", "running")] } },
  stepEvent("2", "running"),
  says("q1", "Which?", "question"),
  {
    event: "wait",
    data: { wait_id: "w1", kind: "question", text: "Which?", options: ["a", "b"], since: at(15) },
  },
  status("waiting", "waiting"),
  { event: "answer", data: { wait_id: "w1", text: "a" } },
  status("running", "executing"),
  calling("c2"),
  user("u2", "also this"),
  called("c2", "fine"),
  { event: "nudge", data: { role: "executor", reason: "bare_text", attempt: 1 } },
  stepEvent("2", "completed"),
  {
    event: "plan",
    data: { op: "updated", steps: [step("1", "completed"), step("2", "completed")] },
  },
  says("f1", "All done", "final"),
  {
    event: "plan",
    data: { op: "completed", steps: [step("1", "completed"), step("2", "completed")] },
  },
  done("completed"),
  status("completed", "completed"),
  user("u3", "more"),
  status("running", "planning"),
  { event: "plan", data: { op: "created", steps: [step("1", "running")] } },
  stepEvent("1", "running"),
  calling("c3"),
  called("c3", "", false),
  { event: "plan", data: { op: "updated", steps: [step("1", "pending")] } },
  done("stopped", 2),
  status("stopped", "idle"),
]);
const fold = (events: Frame[], from: View = EMPTY_VIEW) => reduceAll(from, events);
const started = (): View => reduce(EMPTY_VIEW, hello(EMPTY_VIEW, 0));
/** What two clients must agree on: all but the snapshot they happened to get. */
const comparable = (view: View) => ({ ...view, snapshot: null, titleSeq: 0 });

/** Throws at whoever writes into it. */
function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    Object.freeze(value);
    Object.values(value).forEach(frozen);
  }
  return value;
}

describe("the story as a person sees it", () => {
  it("puts rows into their steps and prose between them", () => {
    const view = fold(STORY);
    expect(view.items.map((i) => i.kind)).toEqual([
      "user",
      "prose",
      "step",
      "step",
      "prose",
      "sum",
      "user",
      "step",
      "end",
      "sum",
    ]);
    const second = view.items[3];
    expect(second?.kind === "step" && second.rows.map((r) => r.kind)).toEqual([
      "ask",
      "tool",
      "user",
      "nudge",
    ]);
    expect(view.title).toBe("Build");
    expect(view.run).toBe(2);
    expect(view.usage).toMatchObject({ model_calls: 2, tool_calls: 3, input_tokens: 20 });
  });

  it("knows the plan's progress, the wait and the queue at every point", () => {
    expect(fold(STORY.slice(0, 8)).plan?.counts).toEqual({ total: 2, completed: 0, failed: 0 });
    expect(fold(STORY.slice(0, 8)).plan?.current?.id).toBe("1");
    expect(fold(STORY.slice(0, 16)).wait?.wait_id).toBe("w1");
    expect(fold(STORY.slice(0, 17)).wait).toBeNull();
    expect(fold(STORY.slice(0, 20)).queue.map((q) => q.id)).toEqual(["u2"]);
    expect(fold(STORY.slice(0, 21)).queue).toEqual([]);
  });

  it("names a session after the first line of its first message until a title comes", () => {
    expect(fold(STORY.slice(0, 2)).title).toBe("Build it");
  });

  it("keeps an answered question with its answer", () => {
    const ask = [...allRows(fold(STORY).items)].find((r) => r.kind === "ask");
    expect(ask).toMatchObject({ text: "Which?", answer: { text: "a" }, closed: false });
  });

  it("says what was interrupted, and leaves no step running, when a turn is stopped", () => {
    const view = fold(STORY);
    expect(view.items.at(-2)).toMatchObject({ outcome: "stopped", interrupted: "do 1" });
    const last = view.items.at(-3);
    expect(last?.kind === "step" && last.step.status).toBe("pending");
    expect(view.open).toBe(-1);
  });

  it("tells a call that a stop has ended from one that had failed before", () => {
    const log = stamp([
      user("u", "Go"),
      status("running", "executing"),
      calling("c1"),
      called("c1", "no", false),
      calling("c2"),
      called("c2", "", false),
      done("stopped"),
    ]);
    const [end] = log.slice(-1);
    // One commit, one time.
    const view = fold(log.map((e, i) => (i === 5 ? { ...e, ts: end?.ts ?? "" } : e)));
    const calls = [...allRows(view.items)].flatMap((r) => (r.kind === "tool" ? [r.state] : []));
    expect(calls).toEqual(["failed", "stopped"]);
  });

  it("shows a step as failed when its turn fails without another word", () => {
    const view = fold(stamp([...STORY.slice(0, 8), done("failed")] as EventBody[]));
    expect(view.plan?.steps[0]?.status).toBe("failed");
    expect([...allRows(view.items)].find((r) => r.kind === "tool")).toMatchObject({
      state: "lost",
    });
  });

  it("does not count the time that it waited for a person", () => {
    const view = fold(STORY.slice(0, 28));
    // status_update(waiting) came with event 16, status_update(running) with event 18.
    expect(view.waitedMs).toBe(2_000);
    expect(view.pausedAt).toBeNull();
    expect(fold(STORY.slice(0, 17)).pausedAt).toBe(at(16));
    expect(view.items[3]).toMatchObject({ kind: "step", waitedMs: 2_000 });
  });

  it("shows a changed plan as one line with both versions", () => {
    const replanned: EventBody = {
      event: "plan",
      data: { op: "updated", steps: [step("1", "failed"), step("9", "running")] },
    };
    const view = fold(stamp([...STORY.slice(0, 7), stepEvent("1", "failed"), replanned]));
    expect(view.items.at(-1)).toMatchObject({ kind: "replan" });
    expect(view.plan?.counts.failed).toBe(1);
  });
});

describe("a message that waits", () => {
  const change = (op: "edited" | "removed", text?: string): EventBody => ({
    event: "queue",
    data: { op, message_id: "u2", client_id: "c2", ...(text && { text, delivery: "follow_up" }) },
  });
  const begun = STORY.slice(0, 20) as EventBody[];
  const row = (view: View) => [...allRows(view.items)].find((r) => r.id === "u2");

  it("shows its new words where it stands, and in the queue", () => {
    const view = fold(stamp([...begun, change("edited", "rather this")]));
    expect(view.queue).toEqual([{ id: "u2", text: "rather this", delivery: "follow_up" }]);
    expect(row(view)).toMatchObject({ text: "rather this", edited: true });
  });

  it("leaves the queue when it is taken back, and its row says so", () => {
    const view = fold(stamp([...begun, change("removed")]));
    expect(view.queue).toEqual([]);
    expect(row(view)).toMatchObject({ text: "also this", removed: true });
  });

  it("is found by its id in the log also after a snapshot", () => {
    const late = fromSnapshot(snapshotOf(fold(stamp(begun))));
    const gone = { ...(stamp([...begun, change("removed")]).at(-1) as Event) };
    expect(reduce(late, gone).queue).toEqual([]);
  });
});

it("sums up costs as far as they are known", () => {
  const cost = (cost_usd: number | null): EventBody => ({
    event: "usage",
    data: { ...(usage as { data: object }).data, cost_usd } as never,
  });
  expect(fold(stamp([cost(null)])).usage.cost_usd).toBe(null);
  expect(fold(stamp([cost(0.1), cost(null), cost(0.2)])).usage.cost_usd).toBe(0.3);
});

describe("R1: idempotent by seq (A07)", () => {
  it("gives back the very same view for an event it has", () => {
    const view = fold(STORY);
    for (const event of STORY) expect(reduce(view, event)).toBe(view);
  });

  it("keeps the identity of every item that a change does not concern", () => {
    const before = fold(STORY.slice(0, 19));
    const after = reduce(before, STORY[19] as Event);
    expect(after.items[2]).toBe(before.items[2]);
    expect(after.items[3]).not.toBe(before.items[3]);
    expect(after.plan).toBe(before.plan);
  });
});

describe("R2: from the start, or from a snapshot and the tail (E2)", () => {
  it("gives the same view wherever the connection was cut, replayed frames included", () => {
    const whole = comparable(fold(STORY, started()));
    void fc.assert(
      fc.property(
        fc.nat(STORY.length),
        fc.nat(STORY.length),
        fc.nat(STORY.length),
        (cut, overlap, ahead) => {
          const first = fold(STORY.slice(0, cut), started());
          // The snapshot may be ahead of the cursor, and the replay may begin before it.
          const late = fold(STORY.slice(0, Math.max(cut, ahead)));
          const again = reduce(first, hello(late, cut));
          const tail = STORY.slice(Math.max(0, cut - overlap));
          expect(comparable(fold(tail, again))).toEqual(whole);
        },
      ),
    );
  });

  it("is the same folded together or one by one, and no view changes that was handed out", () => {
    for (let cut = 0; cut <= STORY.length; cut++) {
      const held = frozen(fold(STORY.slice(0, cut)));
      const single = STORY.slice(cut).reduce<View>(reduce, held);
      expect(fold(STORY.slice(cut), held)).toEqual(single);
    }
  });

  it("goes on from a snapshot alone to the same state, with the timeline that followed", () => {
    const whole = fold(STORY);
    for (let cut = 0; cut <= STORY.length; cut++) {
      const view = fold(STORY.slice(cut), fromSnapshot(snapshotOf(fold(STORY.slice(0, cut)))));
      expect(view.status).toBe(whole.status);
      expect(view.phase).toBe(whole.phase);
      expect(view.title).toBe(whole.title);
      expect(view.run).toBe(whole.run);
      expect(view.wait).toEqual(whole.wait);
      expect(view.queue).toEqual(whole.queue);
      expect(view.usage).toEqual(whole.usage);
      expect(view.plan?.steps).toEqual(whole.plan?.steps);
      expect(view.lastSeq).toBe(whole.lastSeq);
    }
  });

  it("takes a title that a person gave over an older one from the planner", () => {
    const snapshot = { ...snapshotOf(fold(STORY)), title: "Mine" };
    const first = reduce(EMPTY_VIEW, { ...hello(fold(STORY), 0), session: snapshot } as Frame);
    expect(fold(STORY, first).title).toBe("Mine");
  });

  it("starts over on a reset, and on a hello of another epoch", () => {
    const view = fold(STORY, started());
    const session = { ...snapshotOf(EMPTY_VIEW), epoch: "e2", title: "" };
    const reset = reduce(view, { type: "reset", epoch: "e2", last_seq: 0, session });
    expect(reset).toMatchObject({ items: [], lastSeq: 0, epoch: "e2", plan: null });
    const other = reduce(view, { ...hello(EMPTY_VIEW, 0), epoch: "e2", session } as Frame);
    expect(other).toMatchObject({ items: [], lastSeq: 0, epoch: "e2" });
  });
});

describe("R3: live text", () => {
  const delta = (text: string) => live({ event: "message_delta", data: { message_id: "m", text } });

  it("grows, is forgotten on a reset of the attempt, and gives way to the stored message", () => {
    let view = fold([delta("He"), delta("llo")]);
    expect(view.live).toEqual([{ id: "m", text: "Hello", thinking: "" }]);
    view = reduce(view, live({ event: "delta_reset", data: { message_id: "m" } }));
    expect(view.live).toEqual([]);
    view = fold([delta("Hi"), ...stamp([says("m", "Hi there", "answer")])], view);
    expect(view.live).toEqual([]);
    expect(view.items).toMatchObject([{ kind: "prose", text: "Hi there" }]);
    expect(reduce(view, delta("late")).live).toEqual([]);
  });

  it("is not doubled when a new connection sends all of it again", () => {
    const first = fold([delta("Hel"), delta("lo")], started());
    const again = fold([hello(EMPTY_VIEW, 0), delta("Hello"), delta(" you")], first);
    expect(again.live).toEqual([{ id: "m", text: "Hello you", thinking: "" }]);
  });

  it("keeps thinking apart from text", () => {
    const thought = live({ event: "thinking_delta", data: { message_id: "m", text: "hm" } });
    expect(fold([thought, delta("ok")]).live).toEqual([{ id: "m", text: "ok", thinking: "hm" }]);
  });

  it("adds terminal output to its row until the result is stored", () => {
    const output = live({ event: "terminal_update", data: { tool_call_id: "c1", text: "a\n" } });
    const tool = (view: View) => [...allRows(view.items)].find((r) => r.kind === "tool");
    const running = fold([...STORY.slice(0, 8), output, output]);
    expect(tool(running)).toMatchObject({ live: "a\na\n", state: "running" });
    // A new connection is told all of it again.
    expect(tool(reduce(running, hello(running, 8)))).toMatchObject({ live: "" });
    const ended = reduce(running, STORY[8] as Event);
    expect(tool(ended)).toMatchObject({ live: "", content: { output: "ok" } });
    expect(reduce(ended, output)).toEqual(ended);
  });
});

describe("what a turn took", () => {
  it("stands at its end, without the time it waited and without earlier turns", () => {
    const view = fold(
      stamp([
        user("u", "one"),
        status("running", "planning"),
        usage,
        done("completed"),
        status("completed", "completed"),
        user("v", "two"),
        status("running", "planning"),
        usage,
        usage,
        says("q", "Which?", "question"),
        status("waiting", "waiting"),
        status("running", "executing"),
        done("completed", 2),
      ]),
    );
    const sums = view.items.filter((item) => item.kind === "sum");
    expect(sums.map((sum) => sum.usage.model_calls)).toEqual([1, 2]);
    expect(sums[1]?.workedMs).toBe(5_000);
    expect(view.usage.model_calls).toBe(3);
  });

  it("counts what a specialist has spent, which its call tells", () => {
    const more = { ...NO_USAGE, model_calls: 3, tool_calls: 2, input_tokens: 50, cost_usd: 0.25 };
    const tool = { tool_call_id: "c", name: "delegate", function: "delegate_task", args: {} };
    const view = fold(
      stamp([
        user("u", "one"),
        status("running", "planning"),
        usage,
        { event: "tool", data: { ...tool, status: "calling" } },
        { event: "tool", data: { ...tool, status: "called", ok: true, usage: more } },
        done("completed"),
      ]),
    );
    const own = usage.event === "usage" ? usage.data.input_tokens : 0;
    expect(view.turnUsage).toMatchObject({
      model_calls: 4,
      tool_calls: 3,
      input_tokens: own + 50,
    });
    expect(view.usage).toEqual(view.turnUsage);
  });
});

it("says where it goes on", () => {
  const view = fold(stamp([{ event: "moved", data: { to: "other", client_id: "n" } }]));
  expect(view.items).toMatchObject([{ kind: "moved", to: "other" }]);
});
