/** The scores as a table for a terminal: one line a scenario, columns aligned. */
import type { Score } from "./run.ts";

const percent = (share: number) => `${(share * 100).toFixed(share === 1 ? 0 : 1)} %`;

/** The worst prompt stability of each role that was asked more than once. */
const prefixes = (s: Score): string =>
  Object.entries(s.prefix_stability)
    .map(([role, { prompt }]) => `${role} ${percent(prompt.min)}`)
    .join(", ");

const COLUMNS: readonly [title: string, of: (s: Score) => string | number][] = [
  ["scenario", (s) => s.name],
  ["", (s) => (s.passed ? "ok" : "FAILED")],
  ["outcome", (s) => s.outcome],
  ["model", (s) => s.model_calls],
  ["tool", (s) => s.tool_calls],
  ["replan", (s) => s.update_plan_calls],
  ["repair", (s) => s.self_repairs],
  ["premature", (s) => s.premature_completions],
  ["rejected", (s) => s.rejected_calls],
  ["unknown", (s) => s.unknown_calls],
  ["error", (s) => s.error_events],
  ["events", (s) => s.event_count],
  ["prefix kept, at least", prefixes],
];

export function tableOf(scores: readonly Score[]): string {
  const rows = [
    COLUMNS.map(([title]) => title),
    ...scores.map((s) => COLUMNS.map(([, of]) => String(of(s)))),
  ];
  const widths = COLUMNS.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  const numeric = COLUMNS.map(([, of]) => scores.every((s) => typeof of(s) === "number"));
  return rows
    .map((row) =>
      row
        .map((cell, i) =>
          numeric[i] ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0),
        )
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
