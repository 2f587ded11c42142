/** Sums of US dollars, as far as they are known: an unknown cost is null, never zero. */

/** Sums of small dollars stay readable: a ten-billionth is exact enough. */
export const dollars = (n: number): number => Math.round(n * 1e10) / 1e10;

export const addCost = (sum: number | null, cost: number | null): number | null =>
  cost === null ? sum : dollars((sum ?? 0) + cost);
