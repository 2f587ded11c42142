/** What it is doing right now, in a few words; null when it rests. */
import { allRows, type ToolItem, type View } from "../client/index.ts";
import { t } from "./strings.ts";
import { timeOfDay } from "./time.ts";
import { toolLabel } from "./tool-label.ts";

export function activity(view: View): string | null {
  if (view.status !== "running") return null;
  if (view.retry) return t("retryAt", { time: timeOfDay(view.retry.until) });
  const tool = runningTool(view);
  if (tool) return t("actTool", { what: toolLabel(tool) });
  if (view.live.some((entry) => entry.text !== "")) return t("actWriting");
  const planned = view.open >= 0 || view.phase !== "planning";
  return t(planned ? "actThinking" : "actPlanning");
}

function runningTool(view: View): ToolItem | null {
  let found: ToolItem | null = null;
  for (const row of allRows(view.items)) {
    if (row.kind === "tool" && row.state === "running") found = row;
  }
  return found;
}

/** One sentence for a screen reader whenever the step or the state changes. */
export function announcement(view: View): string {
  if (view.wait) return `${t("question")}: ${view.wait.text}`;
  const current = view.plan?.current;
  if (view.status === "running" && current) {
    const n = (view.plan?.steps.indexOf(current) ?? 0) + 1;
    return `${t("step", { n })}: ${current.description}`;
  }
  return view.status === "idle" ? "" : t(view.status);
}
