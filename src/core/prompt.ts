/**
 * What the harness itself says to a model within a turn. (Roles and house rules stand in prompts/*.md.)
 *
 * The tags are fixed: models find the parts by them, and so does the practice model.
 */
import { head } from "./chars.ts";
import type { Step } from "./events.ts";
import { LIMITS } from "./limits.ts";
import type { Plan } from "./session.ts";

const tag = (name: string, text: string) => `<${name}>\n${text}\n</${name}>`;
const files = (paths: string[]) =>
  paths.length > 0 ? `\n${tag("attachments", paths.join("\n"))}` : "";

export const createPlan = (message: string, attachments: string[]): string =>
  `Plan the user's task with the create_plan tool.\n${tag("message", message)}${files(attachments)}`;

const forPlanner = (s: Step) => ({
  id: s.id,
  description: s.description,
  status: s.status === "running" ? "pending" : s.status,
  ...(s.success === undefined ? {} : { success: s.success }),
  ...(s.result ? { result: head(s.result, 500) } : {}),
  ...(s.error ? { error: head(s.error, 500) } : {}),
});

/** Why a plan is changed: the step that did not work out, what the user has just said, what a review found. */
export interface Why {
  step?: Step;
  message?: string;
  issues?: string[];
}

export const updatePlan = (plan: Plan, why: Why): string =>
  [
    "Update the plan with the update_plan tool: give only the steps that are still to be done. Steps that are done stay as they are.",
    ...(why.step ? [tag("finished_step", JSON.stringify(forPlanner(why.step)))] : []),
    ...(why.message ? [tag("message", why.message)] : []),
    ...(why.issues ? [reviewIssues(why.issues)] : []),
    tag(
      "plan",
      JSON.stringify({
        goal: plan.goal,
        language: plan.language,
        steps: plan.steps.map(forPlanner),
      }),
    ),
  ].join("\n");

const lines = (texts: string[]): string => texts.map((t) => `- ${t}`).join("\n");

export const reviewIssues = (issues: string[]): string =>
  `The finished work was reviewed and did not pass. What is not met:\n${tag("issues", lines(issues) || "The goal as a whole is not reached.")}`;

/** What the reviewer judges by: the task, what it was to reach, and what came of each step, in full. */
export const review = (plan: Plan, task: string, answer: string, tools: string[]): string =>
  [
    "All steps have ended. Judge the work with the submit_review tool, before it is handed to the user.",
    tag("task", task),
    tag("goal", plan.goal),
    tag("success_criteria", lines(plan.success_criteria) || "(none were named: judge by the task)"),
    tag("work", plan.steps.map(workOf).join("\n")),
    ...(answer ? [tag("answer", head(answer, LIMITS.reviewAnswerChars))] : []),
    `Tools that have succeeded in this turn: ${tools.join(", ") || "(none)"}`,
    `Write issues in this language: ${plan.language}`,
  ].join("\n");

const workOf = (s: Step): string => {
  const well = s.status === "completed" && s.success !== false;
  return `- [${s.id}] ${s.description} → ${well ? "ok" : "failed"}: ${s.error || s.result || ""}`;
};

const outcomeOf = (s: Step) =>
  `- [${s.id}] ${s.description} → ${s.status === "completed" && s.success !== false ? "ok" : "failed"}: ${head(s.error || s.result || "", 500)}`;

/** Steps whose outcome is told in full; of older ones only that they ended, so that a long plan stays readable. */
const TOLD = 6;

/** Finished steps, one a line; the model reads them before each step and before the summary. */
export const priorSteps = (plan: Plan): string => {
  const ended = plan.steps.filter((s) => s.status === "completed" || s.status === "failed");
  const line = (s: Step, i: number): string =>
    i < ended.length - TOLD ? head(outcomeOf({ ...s, result: "", error: "" }), 160) : outcomeOf(s);
  return ended.length > 0 ? ended.map(line).join("\n") : "(none)";
};

/** `task`: the user's message, for the first step of a turn only; it stays in the memory after that. */
export const execution = (
  plan: Plan,
  step: Step,
  task: { message: string; attachments: string[] } | null,
): string =>
  [
    "Work on this one step with your tools, verify the result, then call complete_step.",
    ...(task ? [tag("message", task.message) + files(task.attachments)] : []),
    tag("goal", plan.goal),
    tag("prior_steps", priorSteps(plan)),
    tag("step", step.description),
    `Write to the user in this language: ${plan.language}`,
  ].join("\n");

export const resume = (step: Step | undefined): string =>
  step
    ? `The user has answered. Go on with the same step, then call complete_step.\n${tag("step", step.description)}`
    : "The user has answered. Go on.";

/** `unmet`: what the last review found, if that is how it ends. */
export const summarize = (plan: Plan, spent: boolean, unmet: string[] | null): string =>
  [
    ...(unmet ? [reviewIssues(unmet)] : []),
    spent
      ? "The plan has been changed as often as is allowed and a step still failed. Tell the user honestly, with deliver_result, what was reached, what failed and why."
      : "All steps have ended. Hand the user the result with deliver_result: the answer to the task itself, complete and in their language, with the files that belong to it as attachments. If something failed, say so.",
    tag("prior_steps", priorSteps(plan)),
  ].join("\n");

/** A command line that the person ran; what it printed is data, not a wish. */
export const ranByUser = (command: string, result: string): string =>
  `The user ran a command in the sandbox. Nothing is asked of you yet.\n${tag("command", command)}\n${tag("output", result)}`;

/** What was said before the session went on in another mode. */
export const earlier = (conversation: string): string =>
  `The conversation so far, before the user changed the mode. Nothing is asked of you yet.\n${tag("conversation", conversation)}`;

/** Stands at the end of a history that was shortened. */
export const compactedHint = (phase: number, plan: Plan | null, tools: string[]): string =>
  [
    `[Harness compacted context: phase ${phase}]`,
    ...(plan ? [`Steps completed:\n${priorSteps(plan)}`] : []),
    ...(tools.length > 0 ? [`Tools that have succeeded: ${tools.join(", ")}`] : []),
    "Go on from here; do not repeat what is done.",
  ].join("\n");

/** What a model reads where a call got no ordinary result. */
export const NOT_RUN = {
  stopped: "Stopped by the user before it finished; it may have run in part.",
  notStarted: "Not run: the user stopped the turn before it started.",
  replanned: "Cancelled: the user changed the task before it finished; it may have run in part.",
  asking:
    "Not run: waiting for the user's answer first. Call it again if it is still needed. Ask one question at a time.",
  mateRejected: "Not run: another call in the same reply was refused, so none of them ran.",
  denied:
    "Denied: the user did not allow this call, so it was not run. Find another way, or ask what they would accept.",
  unattended:
    "Blocked: this call needs the user's approval and nobody is connected to give it, so it was not run. Go on without it, or say what is missing.",
  twin: "Not run again: the same call stands earlier in this reply; see its result.",
  superseded: "Not used: a later call in the same reply stands in its place.",
  budget: "Not run: too many tool calls in a row had failed.",
  budgetCut: "Cancelled: too many tool calls in a row had failed; it may have run in part.",
  ended: "Not run: the turn ended before it started.",
  lost: "Outcome unknown: the service was interrupted while this ran. It may have run wholly, in part, or not at all. Check before you repeat it.",
  mateFailed:
    "Rejected: another call in the same reply failed. Look at its result, then try again.",
  noWork:
    "Rejected: you called complete_step(success=true), but no tool call has succeeded in this step. Do the work and verify it, then call complete_step again. If you are truly blocked, call complete_step with success=false and say why.",
  cut: "Not run: your reply was cut off at the output limit, so nothing of it was used. Write in smaller parts.",
} as const;

export const invalidArguments = (name: string, error: string) =>
  `Invalid arguments, please correct them and call ${name} again: ${error}`;
export const unknownTool = (name: string, offered: string[]) =>
  `Unknown tool: ${name}. Call only these tools: ${offered.join(", ")}.`;
export const wrongPhase = (name: string, accepted: readonly string[]) =>
  `Rejected: ${name} is not for this phase. ${accepted.length > 0 ? `End it with ${accepted.join(" or ")}.` : ""}`;
export const requiredStepMissing = (name: string, missing: string[]) =>
  `Rejected: the terminal tool "${name}" cannot be called yet. Complete the required step(s) first: ${missing.join(", ")}.`;
export const prerequisiteMissing = (
  name: string,
  p: { tool: string; matchArg?: string | undefined },
) =>
  `Rejected: the tool "${name}" cannot be called yet. First call "${p.tool}" successfully${p.matchArg ? ` with the same "${p.matchArg}" argument` : ""}.`;
/** Before a result that was given before. */
export const REPEATED =
  "You made this very call before in this step and nothing has changed since, so it was not run again. Its result was:";
/** In place of a result, when what was gathered for an answer is enough. */
export const ENOUGH = "[Left out: enough was gathered. Answer from what you have.]";
export const SAME_AGAIN =
  "[You made this call several times in a row with the same result. Do something else, or finish.]\n";
export const bareText = (terminal: readonly string[]) =>
  `Plain text does not end this phase. Submit your result by calling the \`${terminal.join("` or `")}\` tool.`;
export const emptyReply = (terminal: readonly string[], tools: boolean) => {
  if (!tools)
    return "Your reply said nothing. There are no tools to call: answer the user in plain text.";
  return terminal.length > 0
    ? `Your reply was empty. Call a tool; finish with \`${terminal.join("` or `")}\`.`
    : "Your reply was empty. Answer the user, or call a tool.";
};
export const WITHHELD =
  "Your last reply was withheld or declined. Answer in another way, or say plainly what you cannot do and why.";
export const BROKEN_CALL =
  "Your last reply looks like a tool call that was written as text and could not be read. Call the tool itself, or answer in plain text.";
export const toolFailed = (name: string, error: string) =>
  `The tool "${name}" failed: ${error}\nRetry with corrected arguments or choose another tool.`;
