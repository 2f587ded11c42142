/** Turns that go as planned, and the ways in which a plan changes or runs out. */
import { call, complete, deliver, fail, plan, type Scripted, update, work } from "../fakes.ts";
import { prefixStability } from "./prefix.ts";
import { finalText, type Scenario, same } from "./scenario.ts";

const TEN = Array.from({ length: 10 }, (_, i) => `part ${i + 1}`);

export const TURNS: readonly Scenario[] = [
  {
    name: "single_step_success",
    about: "One step: plan, work, its own result as the answer.",
    options: { script: [plan("a"), work(), complete(true, "real")] },
    play: (h) => h.run("Do"),
    expect: {
      outcome: "completed",
      model_calls: 3,
      tool_calls: 1,
      update_plan_calls: 0,
      nudges: {},
    },
    also: (h) => same("the answer", finalText(h), "real"),
  },
  {
    name: "single_step_with_summary",
    about: "One step with a summary asked for.",
    options: {
      script: [plan("a"), work(), complete(true), deliver("All done")],
      settings: { summarize: "always" },
    },
    play: (h) => h.run("Do"),
    expect: {
      outcome: "completed",
      model_calls: 4,
      tool_calls: 1,
      update_plan_calls: 0,
      nudges: {},
    },
    also: (h) => same("the answer", finalText(h), "All done"),
  },
  {
    name: "two_steps",
    about: "Two steps in order, then a summary; no planner in between.",
    options: {
      script: [plan("a", "b"), work(), complete(true), work(), complete(true), deliver("Both")],
    },
    play: (h) => h.run("Do"),
    expect: {
      outcome: "completed",
      model_calls: 6,
      tool_calls: 2,
      update_plan_calls: 0,
      nudges: {},
    },
  },
  {
    name: "failed_step_triggers_replan",
    about: "A step without success asks the planner once; the new step reaches the goal.",
    options: {
      script: [
        plan("a"),
        work(),
        complete(false, "blocked"),
        update(["2", "another way"]),
        work(),
        complete(true),
        deliver("Done the other way"),
      ],
    },
    play: (h) => h.run("Do"),
    expect: { outcome: "completed", model_calls: 7, tool_calls: 2, update_plan_calls: 1 },
    also: (h) =>
      same(
        "steps",
        h
          .of("plan")
          .at(-1)
          ?.steps.map((s) => s.success),
        [false, true],
      ),
  },
  {
    name: "replan_cap_is_honest",
    about:
      "The plan may be changed twice; then the user is told what failed, whatever the model says.",
    options: {
      script: [
        plan("a"),
        ...[1, 2].flatMap((n) => [complete(false, "Blocked"), update([`x${n}`, "again"])]),
        complete(false, "Blocked"),
        deliver("It went fine!"),
      ],
      settings: { limits: { maxReplans: 2 } },
    },
    play: (h) => h.run("Do"),
    expect: { outcome: "failed", model_calls: 7, tool_calls: 0, update_plan_calls: 2 },
    also: (h) =>
      finalText(h).includes("Blocked") ? [] : ["the final message hides that the step failed"],
  },
  {
    name: "iteration_cap",
    about: "A step that never ends is ended by its cap, and the planner is asked.",
    options: {
      script: [plan("a"), work("1"), work("2"), work("3"), update(), deliver("Not finished")],
      settings: { limits: { maxIterations: 3 } },
    },
    play: (h) => h.run("Do"),
    expect: { outcome: "failed", model_calls: 6, tool_calls: 3, update_plan_calls: 1 },
    also: (h) =>
      same(
        "notices",
        h.of("notice").map((n) => n.code),
        ["max_iterations"],
      ),
  },
  {
    name: "ten_steps_prefix_stability",
    about:
      "Ten steps without compaction: every request begins with the whole prompt of the last one.",
    options: {
      script: [
        plan(...TEN),
        ...TEN.flatMap((_, i): Scripted[] => [work(`f${i}`), complete(true, `part ${i} – ✓`)]),
        deliver("Ten"),
      ],
    },
    play: (h) => h.run("Do – größtenteils 🚀"),
    expect: {
      outcome: "completed",
      model_calls: 22,
      tool_calls: 10,
      update_plan_calls: 0,
      nudges: {},
    },
    also: (h) => stable(h.model.bodies.slice(1), 20),
  },
  {
    name: "empty_plan_direct_answer",
    about: "Nothing to do: the planner's message is the answer, in one model call.",
    options: {
      script: [
        call([
          "create_plan",
          { message: "Hello!", language: "en", title: "T", goal: "", steps: [] },
        ]),
      ],
    },
    play: (h) => h.run("Hi"),
    expect: {
      outcome: "completed",
      model_calls: 1,
      tool_calls: 0,
      update_plan_calls: 0,
      nudges: {},
    },
    also: (h) => same("the answer", finalText(h), "Hello!"),
  },
  {
    name: "provider_failure_retried",
    about: "The provider fails twice; the same bytes are asked again and the turn goes on.",
    options: {
      script: [
        plan("a"),
        fail("provider_error", true),
        fail("rate_limited", true, 1_000),
        work(),
        complete(true),
      ],
    },
    play: (h) => h.run("Do"),
    expect: {
      outcome: "completed",
      model_calls: 5,
      tool_calls: 1,
      update_plan_calls: 0,
      nudges: {},
    },
    also: (h) => {
      const [, first, second, third] = h.model.bodies;
      return first === second && second === third ? [] : ["a repeated request was not the same"];
    },
  },
];

function stable(bodies: readonly string[], pairs: number): string[] {
  const executor = prefixStability(bodies).executor;
  return same("executor prefixes", executor, {
    pairs,
    prompt: { min: 1, mean: 1 },
    messages: { min: 1, mean: 1 },
    tools: { min: 1, mean: 1 },
  });
}
