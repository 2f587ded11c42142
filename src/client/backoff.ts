/** How long to wait before the next try of something that failed. */
export type Timer = ReturnType<typeof setTimeout> | undefined;

const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

/** 1 s, 2 s, 4 s … 30 s; `random` (0 to 1) spreads it, so that clients do not come back in one wave. */
export function backoff(tries: number, random: number): number {
  const base = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(tries, 10));
  return Math.round(Math.min(LONGEST_MS, base * (0.8 + 0.4 * random)));
}

export const cancel = (timer: Timer): void => {
  if (timer !== undefined) clearTimeout(timer);
};
