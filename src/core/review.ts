/**
 * The review of finished work, when settings ask for it.
 *
 * W1  The checks come in this order: a pass, the limit, a new plan, another try. A pass on the last allowed review
 *     is a pass; at the limit nothing is sent back.
 * W2  What is sent back carries the issues: to the planner, or to the executor as a step of its own. Done steps stay
 *     done.
 * W3  At the limit the final message says what is not met, in our words, whatever the model says.
 * W4  A reviewer that gives no verdict ends nothing: the work goes on as if unreviewed, and it is said.
 */
import { clean, head } from "./chars.ts";
import { type Draft, emit, say, tell } from "./draft.ts";
import { LIMITS } from "./limits.ts";
import * as prompt from "./prompt.ts";
import { settingsOf } from "./session.ts";
import { stepsFrom } from "./steps.ts";
import type { TerminalArgs } from "./terminal.ts";
import * as turn from "./turn.ts";

type Review = TerminalArgs<"submit_review">;

/** W1. `reviews`: how often the work was sent back before. */
export function routeReview(
  { verdict, next_action }: Pick<Review, "verdict" | "next_action">,
  reviews: number,
  maxRetries: number,
): "pass" | "limit" | "replan" | "retry_actor" {
  if (verdict === "pass") return "pass";
  if (reviews >= maxRetries) return "limit";
  // `none`, or nothing: a fail asks for something, and a new plan may still choose to try again.
  return next_action === "retry_actor" ? "retry_actor" : "replan";
}

export function takeReview(d: Draft, review: Review): void {
  const { reviews } = d.s;
  const issues = (review.issues ?? [])
    .map((issue) => head(clean(issue).trim(), LIMITS.issueChars))
    .filter((issue) => issue !== "")
    .slice(0, LIMITS.reviewIssues);
  const failed = review.verdict === "fail";
  emit(d, "review", {
    verdict: review.verdict,
    score: Math.min(10, Math.max(0, review.score)),
    issues,
    next_action: !failed ? "none" : review.next_action === "retry_actor" ? "retry_actor" : "replan",
    round: reviews + 1,
  });
  const full = turn.planOf(d).steps.length >= LIMITS.planSteps;
  const max = full ? 0 : settingsOf(d.s).reviewer.maxRetries;
  switch (routeReview(review, reviews, max)) {
    case "pass":
      return turn.handOver(d);
    case "limit":
      d.s.unmet = issues;
      emit(d, "notice", { code: "review_spent", text: say(d).reviewSpent(reviews) });
      return turn.handOver(d);
    case "replan":
      d.s.reviews += 1;
      return turn.enterUpdate(d, { issues });
    case "retry_actor":
      d.s.reviews += 1;
      return mend(d, issues);
  }
}

/** All steps are done, so another try is a step of its own. */
function mend(d: Draft, issues: string[]): void {
  const plan = turn.planOf(d);
  const draft = { id: "", description: say(d).fixStep(issues) };
  d.s.plan = { ...plan, steps: [...plan.steps, ...stepsFrom([draft], plan.steps)] };
  turn.markNext(d);
  emit(d, "plan", { op: "updated", steps: turn.planOf(d).steps });
  turn.enterStep(d, false);
  tell(d, "executor", "prompt", prompt.reviewIssues(issues));
}
