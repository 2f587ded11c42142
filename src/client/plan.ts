/**
 * The plan as a view shows it, and the step groups that belong to it.
 *
 * P1  A plan's statuses are what its last `plan` event says, corrected by later `step` events.
 * P2  No step is running once its turn has ended, even if no event says so.
 */
import type { EventData, Step } from "../core/events.ts";
import { addItem, changeStep, changeStepAt, mapItems, turnStart } from "./items.ts";
import type { Item, PlanState, View } from "./view.ts";

type Stamp = { seq: number; ts: string };

export function planState(steps: Step[], startedAt: string, endedAt: string | null): PlanState {
  const completed = steps.filter((s) => s.status === "completed" && s.success !== false).length;
  const failed = steps.filter(
    (s) => s.status === "failed" || (s.status === "completed" && s.success === false),
  ).length;
  const current = steps.find((s) => s.status === "running") ?? null;
  return { steps, counts: { total: steps.length, completed, failed }, current, startedAt, endedAt };
}

const signature = (steps: readonly Step[]) =>
  steps.map((s) => `${s.id}\u0000${s.description}`).join("\u0001");

export function foldPlan(view: View, data: EventData<"plan">, at: Stamp): View {
  const before = view.plan;
  const fresh = data.op === "created" || before === null;
  const plan = planState(
    data.steps,
    fresh ? at.ts : before.startedAt,
    data.op === "completed" ? at.ts : null,
  );
  const next = { ...view, plan };
  const changed = before !== null && signature(before.steps) !== signature(data.steps);
  if (data.op !== "updated" || !changed) return next;
  return addItem(next, {
    kind: "replan",
    id: `replan-${at.seq}`,
    ...at,
    before: before.steps,
    after: data.steps,
  });
}

/** Writes one step into the plan; the list keeps its identity when the plan does not name it. */
function intoPlan(view: View, step: Step): View {
  const plan = view.plan;
  if (!plan?.steps.some((s) => s.id === step.id)) return view;
  const steps = plan.steps.map((s) => (s.id === step.id ? { ...s, ...step } : s));
  return { ...view, plan: planState(steps, plan.startedAt, plan.endedAt) };
}

export function foldStep(view: View, step: EventData<"step">, at: Stamp): View {
  const next = intoPlan(view, step);
  if (step.status === "running") {
    const number = (next.plan?.steps.findIndex((s) => s.id === step.id) ?? -1) + 1;
    const item = { kind: "step", id: `step-${at.seq}`, ...at, step, number } as const;
    const grown = addItem(next, { ...item, endedAt: null, waitedMs: 0, rows: [] });
    return { ...grown, open: grown.items.length - 1 };
  }
  const ended = changeStep(next, step.id, (group) => ({ ...group, step, endedAt: at.ts }));
  return { ...ended, open: -1 };
}

/** The wait is over: its time counts neither for the turn nor for the step under way. */
export function resume(view: View, ts: string): View {
  if (view.pausedAt === null) return view;
  const waited = Math.max(0, Date.parse(ts) - Date.parse(view.pausedAt));
  const { items } = changeStepAt(view, view.open, (step) => ({
    ...step,
    waitedMs: step.waitedMs + waited,
  }));
  return { ...view, items, pausedAt: null, waitedMs: view.waitedMs + waited };
}

/** P2: what is left running when the turn is over. */
export function settleSteps(
  view: View,
  outcome: EventData<"done">["outcome"],
  ts: string,
  error: string | undefined,
): View {
  const status = outcome === "failed" ? "failed" : "pending";
  const why = outcome === "failed" && error !== undefined ? { error } : {};
  const settled = (step: Step): Step =>
    step.status === "running" ? { ...step, status, ...why } : step;
  const settle = (item: Item): Item =>
    item.kind === "step" && item.endedAt === null
      ? { ...item, step: settled(item.step), endedAt: ts }
      : item;
  const { items } = mapItems(view, settle, turnStart(view));
  const plan = view.plan;
  if (!plan) return { ...view, items, open: -1 };
  const steps = plan.current ? plan.steps.map(settled) : plan.steps;
  return { ...view, items, open: -1, plan: planState(steps, plan.startedAt, plan.endedAt ?? ts) };
}
