/**
 * Our own clock around something that may not keep its own: at the limit, or when the caller gives up, it is told to
 * end, and after a grace nobody waits for it any longer.
 */
export interface Cutoff {
  /** Aborted at the limit or when the caller gives up, whichever comes first. */
  signal: AbortSignal;
  /** Resolves when the grace is over as well; never rejects. */
  late: Promise<null>;
  /** It was the limit, not the caller. */
  timedOut(): boolean;
  /** Must be called: a timer left behind keeps a Durable Object awake. */
  clear(): void;
}

export function cutoff(limitMs: number, graceMs: number, caller: AbortSignal): Cutoff {
  const stop = new AbortController();
  const late = Promise.withResolvers<null>();
  const timers: ReturnType<typeof setTimeout>[] = [];
  let timedOut = false;
  const end = () => {
    stop.abort();
    timers.push(setTimeout(() => late.resolve(null), graceMs));
  };
  const limit = () => {
    if (stop.signal.aborted) return;
    timedOut = true;
    end();
  };
  if (caller.aborted) end();
  else caller.addEventListener("abort", end, { once: true });
  timers.push(setTimeout(limit, limitMs));
  return {
    signal: stop.signal,
    late: late.promise,
    timedOut: () => timedOut,
    clear: () => {
      caller.removeEventListener("abort", end);
      for (const timer of timers) clearTimeout(timer);
    },
  };
}
