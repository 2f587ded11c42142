/** Parts of the page that come when they are needed. Until then, and where they cannot be had, the plain thing stands. */
import { useEffect, useState } from "preact/hooks";

/** A part that is loaded once; a load that failed is tried again by the next who asks. */
export function lazyPart<T>(load: () => Promise<T>) {
  let held: T | null = null;
  let coming: Promise<T> | null = null;
  const get = (): Promise<T> => {
    coming ??= load().then(
      (part) => {
        held = part;
        return part;
      },
      (error: unknown) => {
        coming = null;
        throw error;
      },
    );
    return coming;
  };
  return { get, now: () => held };
}
export type LazyPart<T> = ReturnType<typeof lazyPart<T>>;

/** null until it is there; `wanted: false` does not ask for it. */
export function useLazy<T>(part: LazyPart<T>, wanted = true): T | null {
  const [value, setValue] = useState<{ part: T } | null>(() => {
    const now = part.now();
    return now && { part: now };
  });
  useEffect(() => {
    if (value || !wanted) return;
    let current = true;
    part.get().then(
      (loaded) => current && setValue({ part: loaded }),
      () => undefined,
    );
    return () => {
      current = false;
    };
  }, [wanted, value]);
  return value?.part ?? null;
}
