/**
 * A turn from its message to `done`, and how it can end.
 *
 * U1  `done` comes exactly once a turn, after the last of its messages has been concluded.
 * U2  Whatever ends a turn leaves every call answered and nothing in flight: the next message works.
 * U3  A message is never lost: what was not read when a turn ended stands in the memory that reads next.
 */

import { endOpenCalls } from "./calls.ts";
import { clean, head } from "./chars.ts";
import { type Draft, emit, limits, say, setStatus, speak, tell } from "./draft.ts";
import type { ErrorCode, FileInfo, Step } from "./events.ts";
import { LIMITS } from "./limits.ts";
import * as prompt from "./prompt.ts";
import { policyOf } from "./roles.ts";
import { NOTHING, type Plan, type Queued, type Ready, settingsOf } from "./session.ts";

/** A run of the loop begins: a phase, or a step. */
export function startLoop(d: Draft): void {
  Object.assign(d.s, { iterations: 0, attempts: 0, toolErrors: 0, work: 0 });
  Object.assign(d.s, {
    premature: 0,
    overflow: "no",
    gathered: null,
  });
  freshEyes(d);
}

/** Something changed that no tool did (people spoke, files came): what was read before may be read again. */
export function freshEyes(d: Draft): void {
  Object.assign(d.s, { seen: [], same: null, laps: 0, withdrawn: false });
}

/** A message becomes the work at hand: of a new turn, or of one that goes on. */
export function takeUp(d: Draft, message: string, attachments: string[]): void {
  startLoop(d);
  Object.assign(d.s, {
    replans: 0,
    spent: false,
    failing: false,
    reviews: 0,
    unmet: null,
    ready: null,
    turn: { ...d.s.turn, message, attachments, settings: settingsOf(d.s) },
  });
  if (d.s.mode === "agent") {
    d.s.phase = "planning";
    tell(d, "planner", "prompt", prompt.createPlan(message, attachments));
  } else {
    d.s.phase = "answering";
    tell(d, "assistant", "said", withFiles(message, attachments));
  }
}
/** A person's words, and the files that came with them. */
export const withFiles = (text: string, paths: string[]): string =>
  paths.length > 0 ? `${text}\n<attachments>\n${paths.join("\n")}\n</attachments>` : text;

export const planOf = (d: Draft): Plan => {
  if (!d.s.plan) throw new Error("there is no plan");
  return d.s.plan;
};
export const runningStep = (d: Draft): Step | undefined =>
  d.s.plan?.steps.find((s) => s.status === "running");
export const nextStep = (plan: Plan): Step | undefined =>
  plan.steps.find((s) => s.status === "pending" || s.status === "running");

export function patchStep(d: Draft, id: string, patch: Partial<Step>): void {
  const plan = planOf(d);
  d.s.plan = { ...plan, steps: plan.steps.map((s) => (s.id === id ? { ...s, ...patch } : s)) };
}

/** The step that is next becomes `running`, before the plan event that shows it. */
export function markNext(d: Draft): Step | undefined {
  const step = nextStep(planOf(d));
  if (step) patchStep(d, step.id, { status: "running" });
  return step;
}

/** Begins the step that `markNext` chose. */
export function enterStep(d: Draft, first: boolean): void {
  const step = runningStep(d);
  if (!step) throw new Error("no step is running");
  emit(d, "step", step);
  Object.assign(d.s, { phase: "executing", ready: null });
  startLoop(d);
  const task = first && d.s.turn ? d.s.turn : null;
  tell(d, "executor", "prompt", prompt.execution(planOf(d), step, task));
}

/** Ends the running step without success, for a reason that the harness found. */
export function failStep(d: Draft, error: string): void {
  const step = runningStep(d);
  if (!step) throw new Error("no step is running");
  patchStep(d, step.id, { status: "failed", error: head(error, LIMITS.stepChars) });
  const failed = { ...step, status: "failed" as const, error: head(error, LIMITS.stepChars) };
  emit(d, "step", failed);
  askPlanner(d, failed);
}

/** A step did not succeed: the planner is asked, as often as the settings allow. */
export function askPlanner(d: Draft, step: Step): void {
  d.s.failing = true;
  const { maxReplans } = limits(d);
  if (d.s.replans >= maxReplans) {
    d.s.spent = true;
    emit(d, "notice", { code: "replans_exhausted", text: say(d).replansExhausted(d.s.replans) });
    enterSummary(d);
    return;
  }
  d.s.replans += 1;
  enterUpdate(d, { step });
}

/** The planner is asked for what is still to be done, and told why. */
export function enterUpdate(d: Draft, why: prompt.Why): void {
  Object.assign(d.s, { phase: "updating", ready: null });
  startLoop(d);
  tell(d, "planner", "prompt", prompt.updatePlan(planOf(d), why));
}

/** Every step has ended. `ready`: the result of the only one, which needs no summary. */
export function endPlan(d: Draft, ready: Ready | null): void {
  d.s.ready = ready;
  if (!settingsOf(d.s).reviewer.enabled) return handOver(d);
  d.s.phase = "reviewing";
  startLoop(d);
  const task = d.s.turn?.message ?? "";
  const tools = [...new Set(d.s.done.map((done) => done.tool))];
  tell(d, "reviewer", "prompt", prompt.review(planOf(d), task, ready?.text ?? "", tools));
}

/** The user gets the result: as it is ready, else summed up. What a review left unmet has to be summed up. */
export function handOver(d: Draft): void {
  const { ready, unmet } = d.s;
  if (ready && !unmet) deliver(d, ready.text, ready.attachments);
  else enterSummary(d);
}

export function enterSummary(d: Draft): void {
  d.s.phase = "summarizing";
  startLoop(d);
  tell(d, "executor", "prompt", prompt.summarize(planOf(d), d.s.spent, d.s.unmet));
}

/** The final message of an agent turn. After a spent replan budget the honest part is ours, not the model's. */
export function deliver(d: Draft, text: string, attachments: FileInfo[]): void {
  const steps = planOf(d).steps;
  const open = steps.filter((s) => s.status !== "completed" || s.success === false);
  const unmet = d.s.unmet ? say(d).notMet(d.s.unmet) : "";
  const honest = d.s.spent ? say(d).notFinished(open) : unmet;
  speak(d, "final", [text, honest].filter((t) => t !== "").join("\n\n"), { attachments });
  emit(d, "plan", { op: "completed", steps });
  conclude(d, d.s.spent || d.s.failing ? "failed" : "completed");
}

/** The answer of a session without a plan. */
export function answerWith(d: Draft, text: string, thinking = "", id?: string): void {
  speak(d, "answer", text, {
    ...(id === undefined ? {} : { id }),
    ...(thinking === "" ? {} : { thinking: head(clean(thinking), LIMITS.proseChars) }),
  });
  conclude(d, "completed");
}

/** All steers that nobody has read, or else the oldest follow-up. */
function unread(d: Draft): Queued[] {
  const steers = d.s.queue.filter((q) => q.delivery === "steer");
  return steers.length > 0 ? steers : d.s.queue.slice(0, 1);
}

/** A conclusion: the turn goes on with what was said meanwhile, or is done. */
export function conclude(d: Draft, outcome: "completed" | "failed"): void {
  const next = unread(d);
  if (next.length === 0) return end(d, outcome);
  d.s.queue = d.s.queue.filter((q) => !next.includes(q));
  // What was in flight or failing belonged to what is concluded.
  Object.assign(d.s, { batch: null, retry: null, tries: 0, era: d.s.era + 1, asks: d.s.asks + 1 });
  takeUp(
    d,
    next.map((q) => q.text).join("\n\n"),
    next.flatMap((q) => q.attachments),
  );
}

function end(d: Draft, outcome: "completed" | "failed" | "stopped"): void {
  for (const q of d.s.queue) {
    tell(
      d,
      d.s.mode === "agent" ? "planner" : "assistant",
      "said",
      withFiles(q.text, q.attachments),
    );
  }
  Object.assign(d.s, { queue: [], batch: null, wait: null, returnTo: null, retry: null, tries: 0 });
  // A wake at rest need not read it, and the next turn asks anew.
  d.s.toolbox = null;
  d.s.era += 1;
  emit(d, "done", { outcome, run: d.s.run });
  setStatus(d, outcome, outcome === "completed" ? "completed" : "idle");
}

/** The turn cannot go on. A step that was running counts as failed; clients conclude so from `done`. */
export function failTurn(d: Draft, code: ErrorCode, message: string, retryable = false): void {
  endOpenCalls(d, prompt.NOT_RUN.lost, prompt.NOT_RUN.ended);
  d.s.batch = null;
  // The honest end does not need a model.
  if (d.s.phase === "summarizing" && d.s.spent) return deliver(d, "", []);
  const step = runningStep(d);
  const error = head(message, LIMITS.stepChars);
  if (step) patchStep(d, step.id, { status: "failed", error });
  d.s.error = { code, message: error };
  emit(d, "error", { code, message: error, retryable });
  end(d, "failed");
}

/** A cap of the loop was reached: the step ends and the planner is asked, the review is left out, or the turn ends. */
export function exhaust(d: Draft, code: ErrorCode, message: string, retryable = true): void {
  const { capEnds } = policyOf(d.s);
  if (capEnds === "turn") return failTurn(d, code, message, retryable);
  if (capEnds === "review") {
    Object.assign(d.s, { retry: null, tries: 0 });
    emit(d, "notice", { code: "review_failed", text: say(d).reviewFailed(message) });
    return handOver(d);
  }
  endOpenCalls(d, prompt.NOT_RUN.budgetCut, prompt.NOT_RUN.budget);
  d.s.batch = null;
  d.s.era += 1;
  failStep(d, message);
}

export function stopTurn(d: Draft): void {
  endOpenCalls(d, prompt.NOT_RUN.stopped, prompt.NOT_RUN.notStarted);
  const step = runningStep(d);
  if (step) {
    patchStep(d, step.id, { status: "pending" });
    emit(d, "plan", { op: "updated", steps: planOf(d).steps });
  }
  end(d, "stopped");
}

/** A new turn, with the settings that hold for all of it. */
export function beginTurn(d: Draft): void {
  d.s.run += 1;
  d.s.era += 1;
  Object.assign(d.s, {
    ids: 0,
    asks: 0,
    restarts: 0,
    tries: 0,
    retry: null,
    error: null,
    done: [],
    known: {},
    leftOut: false,
    used: NOTHING,
    allowedFrom: NOTHING,
    allowance: null,
    costUntold: false,
  });
  d.s.turnSeq = d.s.seq + 1;
}

/** What was asked for has changed: whoever judges the work goes by all of it. */
export function addToTask(d: Draft, message: string): void {
  if (d.s.turn) d.s.turn = { ...d.s.turn, message: `${d.s.turn.message}\n\n${message}` };
}

/** The user changed the task: what is under way is cancelled and answered, and the planner is asked again. */
export function replan(d: Draft, message: string, attachments: string[]): void {
  endOpenCalls(d, prompt.NOT_RUN.replanned, prompt.NOT_RUN.ended);
  Object.assign(d.s, { batch: null, retry: null, tries: 0 });
  d.s.era += 1;
  d.s.asks += 1;
  const step = runningStep(d);
  if (step) patchStep(d, step.id, { status: "pending" });
  const done = d.s.plan?.steps.some((s) => s.status === "completed" || s.status === "failed");
  // Planning, and a person's own command line, have no plan of this task yet.
  const working = d.s.mode === "agent" && !["planning", "answering"].includes(d.s.phase);
  if (!done || !working) return takeUp(d, message, attachments);
  addToTask(d, message);
  Object.assign(d.s, { replans: 0, spent: false, failing: false, reviews: 0, unmet: null });
  enterUpdate(d, { message: withFiles(message, attachments) });
}
