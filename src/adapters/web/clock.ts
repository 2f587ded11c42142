/** The time of one fetch: a limit in all, one for silence, and the caller's own stop. */
export interface Clock {
  /** Aborted when any of them is over: the request goes. */
  signal: AbortSignal;
  /** Set once it is over. */
  why(): string | null;
  /** Something came. */
  touch(): void;
  /** Rejects when it is over, whatever the network does. */
  race<T>(promise: Promise<T>): Promise<T>;
  clear(): void;
}

const seconds = (ms: number): string => `${Math.round(ms / 100) / 10} s`;

export function startClock(totalMs: number, idleMs: number, caller: AbortSignal): Clock {
  const stop = new AbortController();
  const over = Promise.withResolvers<never>();
  over.promise.catch(() => undefined);
  let why: string | null = null;
  const end = (text: string) => {
    why ??= text;
    over.reject(new Error(why));
    stop.abort();
  };
  const stopped = () => end("The request was aborted.");
  const silent = () => end(`The request was aborted: nothing came for ${seconds(idleMs)}.`);
  const total = setTimeout(
    () => end(`The request was aborted: it took longer than ${seconds(totalMs)}.`),
    totalMs,
  );
  let idle = setTimeout(silent, idleMs);
  if (caller.aborted) stopped();
  else caller.addEventListener("abort", stopped, { once: true });
  return {
    signal: stop.signal,
    why: () => why,
    touch: () => {
      clearTimeout(idle);
      idle = setTimeout(silent, idleMs);
    },
    race: (promise) => Promise.race([promise, over.promise]),
    clear: () => {
      clearTimeout(total);
      clearTimeout(idle);
      caller.removeEventListener("abort", stopped);
      // What is still open is not read any further.
      stop.abort();
    },
  };
}
