/** Always in reach: how far it is, what it is doing, for how long. Opens to the whole plan. */
import { useState } from "preact/hooks";
import type { PlanState, View } from "../client/index.ts";
import { Icon } from "./icons.tsx";
import { StateMark } from "./status.tsx";
import { t } from "./strings.ts";
import { Line } from "./text.tsx";
import { clock, since, useNow } from "./time.ts";

export function PlanCard({ view }: { view: View }) {
  const [open, setOpen] = useState(false);
  const { plan } = view;
  const active = view.status === "running" || view.status === "waiting";
  const now = useNow(view.status === "running");
  if (!plan || plan.steps.length === 0 || isOld(view)) return null;
  const { total, completed, failed } = plan.counts;
  const began = view.turnStartedAt ?? plan.startedAt;
  const until = view.turnEndedAt ?? view.pausedAt;
  const time = clock(since(began, until, now) - view.waitedMs);
  return (
    <section class="plan" data-testid="plan" aria-label={t("plan")}>
      <div class="plan-card">
        <button type="button" class="plan-head" aria-expanded={open} onClick={() => setOpen(!open)}>
          <Ring done={completed} failed={failed} total={total} />
          <span class="plan-count" title={t("progress", { done: completed, total })}>
            {completed} / {total}
          </span>
          <span class="plan-now" dir="auto">
            <Line text={headline(plan, active)} />
          </span>
          <span class="duration" title={t("elapsed", { time })}>
            {time}
          </span>
          <Icon name="chevron" class="fold" />
        </button>
        {open && <PlanSteps plan={plan} />}
      </div>
    </section>
  );
}

/** A new turn has begun and has no plan yet: the last one's would only mislead. */
const isOld = ({ plan, turnStartedAt }: View): boolean =>
  plan?.endedAt != null && turnStartedAt !== null && turnStartedAt > plan.endedAt;

function headline(plan: PlanState, active: boolean): string {
  if (plan.current) return plan.current.description;
  if (plan.counts.completed === plan.counts.total) return t("planDone");
  return t(active ? "planNext" : "planOver");
}

function PlanSteps({ plan }: { plan: PlanState }) {
  return (
    <ol class="plan-steps">
      {plan.steps.map((step) => (
        <li key={step.id} class={`plan-step is-${step.status}`}>
          <StateMark state={step.success === false ? "failed" : step.status} />
          <span dir="auto">
            <Line text={step.description} />
          </span>
        </li>
      ))}
    </ol>
  );
}

const AROUND = 2 * Math.PI * 7;
function Ring({ done, failed, total }: { done: number; failed: number; total: number }) {
  const part = (n: number) => `${(AROUND * n) / total} ${AROUND}`;
  return (
    <svg class="ring" viewBox="0 0 18 18" aria-hidden="true" focusable="false">
      <circle class="ring-track" cx="9" cy="9" r="7" />
      {failed > 0 && (
        <circle class="ring-failed" cx="9" cy="9" r="7" stroke-dasharray={part(done + failed)} />
      )}
      {done > 0 && <circle class="ring-done" cx="9" cy="9" r="7" stroke-dasharray={part(done)} />}
    </svg>
  );
}
