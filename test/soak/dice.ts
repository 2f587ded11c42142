/** Chance that can be thrown again: the same seed and name give the same numbers. */
export interface Dice {
  /** From 0 up to 1. */
  next(): number;
  /** True with this probability. */
  hits(p: number): boolean;
  /** A whole number from `from` to `to`, both included. */
  between(from: number, to: number): number;
  pick<T>(list: readonly T[]): T;
}

export function dice(seed: number, name: string): Dice {
  let state = seed >>> 0;
  for (const c of name) state = (Math.imul(state ^ (c.codePointAt(0) ?? 0), 0x01000193) + 7) >>> 0;
  // Mulberry32.
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    hits: (p) => next() < p,
    between: (from, to) => from + Math.floor(next() * (to - from + 1)),
    pick: (list) => {
      const item = list[Math.floor(next() * list.length)];
      if (item === undefined) throw new Error("nothing to pick from");
      return item;
    },
  };
}
