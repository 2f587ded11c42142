/** What the benchmark tells: one figure a line, with what it is held against. */

export interface Figure {
  /** What was measured, and in which case. */
  section: string;
  case: string;
  harness: string;
  value: number;
  unit: "ms" | "µs" | "KiB" | "rows";
  /** Over the floor's: the median of the ratios of each round, and their ends. */
  ratio?: number;
  ratio_min?: number;
  ratio_max?: number;
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const [low = 0, high = 0] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return (low + high) / 2;
};

/** Medians of each harness over rounds that were measured in turn; the first harness is the floor. */
export function figuresOf(
  about: Pick<Figure, "section" | "case" | "unit">,
  taken: ReadonlyMap<string, readonly number[]>,
): Figure[] {
  const floor = taken.values().next().value ?? [];
  return [...taken].map(([harness, values]) => {
    const ratios = values.map((value, i) => value / (floor[i] ?? Number.NaN));
    const [ratio_min, ratio_max] = [Math.min(...ratios), Math.max(...ratios)];
    const value = median(values);
    return { ...about, harness, value, ratio: median(ratios), ratio_min, ratio_max };
  });
}

const number = (n: number): string => (Math.abs(n) >= 100 ? n.toFixed(0) : n.toFixed(2));

export function tableOf(figures: readonly Figure[]): string {
  const rows = [
    ["what", "case", "harness", "value", ": floor", "(min–max)"],
    ...figures.map((f) => [
      f.section,
      f.case,
      f.harness,
      `${number(f.value)} ${f.unit}`,
      f.ratio === undefined ? "" : f.ratio.toFixed(2),
      f.ratio === undefined ? "" : `${f.ratio_min?.toFixed(2)}–${f.ratio_max?.toFixed(2)}`,
    ]),
  ];
  const widths = rows[0]?.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
