/** Turns in which people take part: questions, stops, messages while it works; and the chat mode. */
import { askUser, call, complete, type Harness, plan, text, work } from "../fakes.ts";
import { finalText, positions, type Scenario, same } from "./scenario.ts";

const READS = call(["file_read", { path: "a" }], ["file_read", { path: "b" }]);

async function readTogether(h: Harness): Promise<void> {
  h.tools.behaviour = (run) => (run.name === "file_read" ? "hang" : { ok: true, text: "ok" });
  await h.run("Do");
  // The later one ends first; the model reads them in the order of its calls all the same.
  const ids = h.tools.dispatched.map((run) => run.id);
  for (const id of ids.toReversed()) {
    h.tools.release(id, { ok: true, text: `content ${ids.indexOf(id) + 1}` });
  }
  await h.settle();
}

export const TALKS: readonly Scenario[] = [
  {
    name: "ask_user_waits",
    about: "A question opens a wait: nothing is done, nothing is due.",
    options: { script: [plan("a"), askUser("Which?")] },
    play: (h) => h.run("Do"),
    expect: { outcome: "waiting", model_calls: 2, tool_calls: 0, nudges: {} },
    also: (h) => [
      ...same("wait events", h.of("wait").length, 1),
      ...same("done events", h.of("done").length, 0),
      ...same("something is due", h.wakeAt, null),
    ],
  },
  {
    name: "ask_and_resume",
    about: "The answer goes to the same step, also when the object was evicted in between.",
    options: { script: [plan("a"), askUser("Which?"), work(), complete(true, "With B")] },
    play: async (h) => {
      await h.run("Do");
      h.crash();
      h.answer("B");
      await h.settle();
    },
    expect: {
      outcome: "completed",
      model_calls: 4,
      tool_calls: 1,
      update_plan_calls: 0,
      nudges: {},
    },
    also: (h) => [
      ...same("what the question's call was answered", h.requests[2]?.messages[3]?.content, "B"),
      ...same("the answer", finalText(h), "With B"),
    ],
  },
  {
    name: "stop_mid_tool",
    about: "A stop ends the running call and the turn; the next message works.",
    options: { script: [plan("a"), work("slow"), plan("b"), work("quick"), complete(true)] },
    play: async (h) => {
      h.tools.behaviour = (run) => (run.args.path === "slow" ? "hang" : { ok: true, text: "ok" });
      await h.run("Do");
      h.stop();
      await h.settle();
      await h.run("Again");
    },
    expect: { outcome: "completed", model_calls: 5, tool_calls: 2, nudges: {} },
    also: (h) => [
      ...same(
        "turns",
        h.of("done").map((d) => d.outcome),
        ["stopped", "completed"],
      ),
      ...same("cancelled", h.tools.cancelled.length, 1),
    ],
  },
  {
    name: "crash_mid_tool",
    about:
      "The object dies while a call with an effect runs: it is not run twice, the model is told.",
    options: {
      script: [plan("a"), call(["shell_exec", { command: "x" }]), work(), complete(true)],
    },
    play: async (h) => {
      h.tools.behaviour = (run) => (run.name === "shell_exec" ? "hang" : { ok: true, text: "ok" });
      await h.run("Do");
      h.crash();
      await h.settle();
    },
    expect: { outcome: "completed", model_calls: 4, tool_calls: 2 },
    also: (h) => [
      ...same("times that it ran", h.tools.effects.filter((e) => e.startsWith("shell")).length, 1),
      ...(h.last(3).startsWith("Outcome unknown") ? [] : ["the model was not told"]),
    ],
  },
  {
    name: "steer_is_read_between_calls",
    about: "What is said while a tool runs reaches the model with its next call.",
    options: { script: [plan("a"), work("slow"), work("next"), complete(true)] },
    play: async (h) => {
      h.tools.behaviour = (run) => (run.args.path === "slow" ? "hang" : { ok: true, text: "ok" });
      await h.run("Do");
      h.say("In blue");
      h.tools.release(h.tools.dispatched[0]?.id ?? "");
      await h.settle();
    },
    expect: {
      outcome: "completed",
      model_calls: 4,
      tool_calls: 2,
      update_plan_calls: 0,
      nudges: {},
    },
    also: (h) => same("what the model reads last", h.last(3), "In blue"),
  },
  {
    name: "parallel_reads",
    about: "Two reads in one reply run at once, and are answered in call order.",
    options: { script: [plan("a"), READS, complete(true)] },
    play: readTogether,
    expect: { outcome: "completed", model_calls: 3, tool_calls: 2, nudges: {} },
    also: (h) => {
      const calling = positions(h, (e) => e.event === "tool" && e.data.status === "calling");
      const called = positions(h, (e) => e.event === "tool" && e.data.status === "called");
      const together = (calling[1] ?? 0) < (called[0] ?? 0);
      const read = h.requests[2]?.messages.slice(-2).map((m) => m.content);
      return [
        ...(together ? [] : ["the second read waited for the first"]),
        ...same("the results in order", read, ["content 1", "content 2"]),
      ];
    },
  },
  {
    name: "chat_with_tool",
    about: "Chat: a tool call, then bare text is the answer; no plan.",
    options: { mode: "chat", script: [work(), text("It is written")] },
    play: (h) => h.run("Write it"),
    expect: { outcome: "completed", model_calls: 2, tool_calls: 1, nudges: {} },
    also: (h) => [
      ...same("the answer", finalText(h), "It is written"),
      ...same("plan events", h.of("plan").length, 0),
    ],
  },
];
