/**
 * What the terminal tools of Plan-Act do once they are accepted.
 *
 * P1  A done step stays done; step ids are unique in a plan.
 * P2  A successful step needs no planner; only one that did not succeed does.
 * P3  An empty plan is a direct answer. One successful step is its own answer, unless a summary is asked for.
 */

import { clean, head, titleFrom } from "./chars.ts";
import { type Draft, emit, speak } from "./draft.ts";
import type { FileInfo, Step } from "./events.ts";
import { LIMITS } from "./limits.ts";
import { takeReview } from "./review.ts";
import { settingsOf } from "./session.ts";
import { stepsFrom } from "./steps.ts";
import type { TerminalArgs, TerminalName } from "./terminal.ts";
import { titleOf } from "./title.ts";
import * as turn from "./turn.ts";

/** Set once, and never over a title that a person chose. */
function setTitle(d: Draft, proposed: string): void {
  if (d.s.titled) return;
  d.s.title = titleOf(proposed) || titleFrom(d.s.turn?.message ?? "", LIMITS.titleChars);
  d.s.titled = true;
  emit(d, "title", { title: d.s.title });
}

function createPlan(d: Draft, args: TerminalArgs<"create_plan">): void {
  setTitle(d, args.title);
  d.s.plan = {
    title: titleOf(args.title),
    goal: head(clean(args.goal), 2_000),
    language: head(clean(args.language), 40),
    success_criteria: (args.success_criteria ?? []).slice(0, 20).map((c) => head(clean(c), 500)),
    steps: stepsFrom(args.steps, []),
  };
  const empty = d.s.plan.steps.length === 0;
  speak(d, empty ? "answer" : "plan", args.message);
  turn.markNext(d);
  emit(d, "plan", { op: "created", steps: turn.planOf(d).steps });
  if (!empty) return turn.enterStep(d, true);
  emit(d, "plan", { op: "completed", steps: [] });
  turn.conclude(d, "completed");
}

function updatePlan(d: Draft, args: TerminalArgs<"update_plan">): void {
  const plan = turn.planOf(d);
  const open = plan.steps.findIndex((s) => s.status === "pending" || s.status === "running");
  const kept = open < 0 ? plan.steps : plan.steps.slice(0, open);
  d.s.plan = { ...plan, steps: [...kept, ...stepsFrom(args.steps, kept)] };
  const next = turn.markNext(d);
  emit(d, "plan", { op: "updated", steps: turn.planOf(d).steps });
  if (next) turn.enterStep(d, false);
  else turn.endPlan(d, null);
}

function completeStep(d: Draft, args: TerminalArgs<"complete_step">, files: FileInfo[]): void {
  const step = turn.runningStep(d);
  if (!step) throw new Error("no step is running");
  const result = head(clean(args.result), LIMITS.stepChars);
  const ended: Step = { ...step, status: "completed", success: args.success, result };
  turn.patchStep(d, step.id, ended);
  emit(d, "step", ended);
  if (!args.success) return turn.askPlanner(d, ended);
  d.s.failing = false;
  const next = turn.markNext(d);
  const steps = turn.planOf(d).steps;
  emit(d, "plan", { op: "updated", steps });
  if (next) return turn.enterStep(d, false);
  const single = steps.length === 1 && settingsOf(d.s).summarize === "auto";
  const own = single && args.result.trim() !== "";
  const text = head(clean(args.result), LIMITS.proseChars);
  turn.endPlan(d, own ? { text, attachments: files } : null);
}

/** Takes in an accepted terminal call. Its batch is closed by then. */
export function settle(d: Draft, name: TerminalName, args: unknown, files: FileInfo[]): void {
  switch (name) {
    case "create_plan":
      return createPlan(d, args as TerminalArgs<"create_plan">);
    case "update_plan":
      return updatePlan(d, args as TerminalArgs<"update_plan">);
    case "complete_step":
      return completeStep(d, args as TerminalArgs<"complete_step">, files);
    case "deliver_result":
      return turn.deliver(d, (args as TerminalArgs<"deliver_result">).message, files);
    case "submit_review":
      return takeReview(d, args as TerminalArgs<"submit_review">);
    case "agent_response":
      return turn.answerWith(d, (args as TerminalArgs<"agent_response">).text);
  }
}
