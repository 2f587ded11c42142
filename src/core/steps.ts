/** Steps of a plan as a model drafts them, made ours: bounded, and with ids that nobody else in the plan has. */
import { clean, head } from "./chars.ts";
import type { Step } from "./events.ts";
import { LIMITS } from "./limits.ts";
import type { TerminalArgs } from "./terminal.ts";

type StepDraft = TerminalArgs<"create_plan">["steps"][number];

export function stepsFrom(drafts: StepDraft[], kept: Step[]): Step[] {
  const taken = new Set(kept.map((s) => s.id));
  let free = 1;
  return drafts.slice(0, Math.max(0, LIMITS.planSteps - kept.length)).map((draft) => {
    let id = head(clean(draft.id).trim(), 40);
    while (id === "" || taken.has(id)) id = String(free++);
    taken.add(id);
    return {
      id,
      description: head(clean(draft.description), LIMITS.descriptionChars),
      status: "pending" as const,
    };
  });
}
