/** A plan that changed: one thin line, opened to the old and the new. */
import type { ReplanItem } from "../client/index.ts";
import type { Step } from "../core/events.ts";
import { Icon } from "./icons.tsx";
import { t } from "./strings.ts";

export function Replan({ row }: { row: ReplanItem }) {
  return (
    <details class="replan">
      <summary>
        <Icon name="swap" /> {t("planChanged")}
      </summary>
      <div class="replan-both">
        <PlanList title={t("before")} steps={row.before} />
        <PlanList title={t("after")} steps={row.after} />
      </div>
    </details>
  );
}

function PlanList({ title, steps }: { title: string; steps: Step[] }) {
  return (
    <div>
      <p class="muted">{title}</p>
      <ol>
        {steps.map((step) => (
          <li key={step.id} dir="auto">
            {step.description}
          </li>
        ))}
      </ol>
    </div>
  );
}
