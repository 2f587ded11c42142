/** Slips of a model that it is told of and mends, and the ends of the ones that it does not. */
import { call, complete, deliver, plan, text, update, work } from "../fakes.ts";
import { finalText, type Scenario, same } from "./scenario.ts";

export const REPAIRS: readonly Scenario[] = [
  {
    name: "invalid_output_self_repair",
    about: "Arguments that break their schema are told on the tool channel and corrected.",
    options: {
      script: [
        call(["create_plan", { title: "no steps" }]),
        plan("a"),
        work(),
        call(["complete_step", { success: true }]),
        complete(true, "real"),
      ],
    },
    play: (h) => h.run("Do"),
    expect: {
      outcome: "completed",
      model_calls: 5,
      tool_calls: 1,
      update_plan_calls: 0,
      invalid_output: 2,
      rejected_calls: 2,
      self_repairs: 2,
    },
  },
  {
    name: "premature_complete_rejected",
    about: "Success without work is refused; the result that counts is the real one.",
    options: { script: [plan("a"), complete(true, "made up"), work(), complete(true, "real")] },
    play: (h) => h.run("Do"),
    expect: {
      outcome: "completed",
      model_calls: 4,
      tool_calls: 1,
      premature_completions: 1,
      rejected_calls: 1,
      self_repairs: 1,
    },
    also: (h) => [
      ...same("the step's result", h.of("step").at(-1)?.result, "real"),
      ...same("the answer", finalText(h), "real"),
    ],
  },
  {
    name: "unknown_tool_recovers",
    about: "A tool that does not exist: the model is told which do, and goes on.",
    options: { script: [plan("a"), call(["nope", {}]), work(), complete(true)] },
    play: (h) => h.run("Do"),
    expect: {
      outcome: "completed",
      model_calls: 4,
      tool_calls: 1,
      unknown_calls: 1,
      rejected_calls: 1,
      self_repairs: 1,
    },
  },
  {
    name: "wrong_phase_recovers",
    about: "A terminal tool of another phase is refused without ending anything.",
    options: {
      script: [plan("a"), work(), call(["deliver_result", { message: "early" }]), complete(true)],
    },
    play: (h) => h.run("Do"),
    expect: {
      outcome: "completed",
      model_calls: 4,
      tool_calls: 1,
      rejected_calls: 1,
      self_repairs: 1,
      nudges: { wrong_phase: 1 },
    },
  },
  {
    name: "plain_text_nudged",
    about: "Text in place of a tool call is nudged, for the planner as for the executor.",
    options: {
      script: [text("I plan"), plan("a"), work(), text("I am done"), complete(true)],
    },
    play: (h) => h.run("Do"),
    expect: {
      outcome: "completed",
      model_calls: 5,
      tool_calls: 1,
      rejected_calls: 0,
      self_repairs: 2,
      nudges: { bare_text: 2 },
    },
  },
  {
    name: "cut_reply_runs_nothing",
    about: "A reply cut at the output limit runs nothing, however whole its call looks.",
    options: {
      script: [plan("a"), { ...work("cut"), finish: "length" }, work("whole"), complete(true)],
    },
    play: (h) => h.run("Do"),
    expect: {
      outcome: "completed",
      model_calls: 4,
      tool_calls: 1,
      self_repairs: 1,
      nudges: { output_limit: 1 },
    },
    also: (h) =>
      same(
        "dispatched",
        h.tools.dispatched.map((r) => r.args.path),
        ["whole"],
      ),
  },
  {
    name: "tool_failure_recovers",
    about: "A tool fails once; the model is told and its next call counts.",
    options: { script: [plan("a"), work("bad"), work("good"), complete(true)] },
    play: (h) => {
      h.tools.behaviour = (run) => ({ ok: run.args.path !== "bad", text: "as asked" });
      return h.run("Do");
    },
    expect: {
      outcome: "completed",
      model_calls: 4,
      tool_calls: 2,
      rejected_calls: 0,
      nudges: { tool_failed: 1 },
    },
  },
  {
    name: "tool_errors_are_capped",
    about: "A tool that keeps failing ends its step; the planner finds another way.",
    options: {
      script: [
        plan("a"),
        work("1"),
        work("2"),
        update(["2", "another way"]),
        work("3"),
        complete(true),
        deliver("Done the other way"),
      ],
      settings: { harness: { maxToolErrors: 2 } },
    },
    play: (h) => {
      h.tools.behaviour = (run) => ({ ok: run.args.path === "3", text: "as asked" });
      return h.run("Do");
    },
    expect: {
      outcome: "completed",
      model_calls: 7,
      tool_calls: 3,
      update_plan_calls: 1,
      nudges: { tool_failed: 2 },
    },
  },
  {
    name: "unusable_replies_are_capped",
    about: "A planner that never calls its tool ends the turn with a typed error.",
    options: {
      script: [text("a"), text("b"), text("c")],
      settings: { harness: { maxRetriesPerStep: 2 } },
    },
    play: (h) => h.run("Do"),
    expect: {
      outcome: "failed",
      model_calls: 3,
      tool_calls: 0,
      self_repairs: 0,
      error_events: 1,
      nudges: { bare_text: 3 },
    },
    also: (h) => same("the error", h.of("error")[0]?.code, "retry_exhausted"),
  },
];
