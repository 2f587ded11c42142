/** What is under way outside: a call of a model or of a tool, an errand. */
import type { Usage } from "./usage.ts";

export interface Aloft {
  /** null: of no era, an errand. */
  era: number | null;
  cancel(): void;
  /** What others have spent on it so far. */
  spent?: (() => Usage | undefined) | undefined;
  /** The message id under which text has been sent live. */
  spoke: string | null;
}

/** What specialists at work have spent, by call: known should a call be cut off. */
export function spendingOf(aloft: ReadonlyMap<string, Aloft>): Map<string, Usage> {
  const sums = new Map<string, Usage>();
  for (const [key, { spent }] of aloft) {
    const sum = spent?.();
    if (sum) sums.set(key, sum);
  }
  return sums;
}
