/**
 * Only the end of a long conversation is drawn; what came before is drawn when somebody goes there.
 *
 * N1  A reader at the bottom has a bounded number of items below them, however long the session lives.
 * N2  What somebody reads is never taken away: while they are not at the bottom, nothing leaves the top.
 * N3  Drawing earlier items does not move what is being read.
 * N4  Earlier items come a few at a time and well before they are reached: no scroll waits for many of them.
 */
import type { RefObject } from "preact";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

const ITEMS = 60;
/** What is added at once, and what stands together (items.tsx): a group begins at a multiple of it. */
export const GROUP = 15;
const ROWS = 120;

const wholeGroups = (items: number): number => items - (items % GROUP);

interface Window_ {
  /** Index of the first item that is drawn. */
  from: number;
  /** Put on what stands above it. */
  sentinel: RefObject<HTMLDivElement | null>;
  earlier(): void;
}

export function useWindow(
  total: number,
  atBottom: boolean,
  scroller: RefObject<HTMLElement | null>,
): Window_ {
  const [wanted, setWanted] = useState<number | null>(null);
  const held = useRef(0);
  const sentinel = useRef<HTMLDivElement>(null);
  const before = useRef<{ height: number; top: number } | null>(null);
  if (atBottom && wanted === null) held.current = wholeGroups(Math.max(0, total - ITEMS));
  const from = Math.min(wanted ?? held.current, Math.max(0, total - 1));
  const earlier = useCallback(() => {
    const box = scroller.current;
    if (box) before.current = { height: box.scrollHeight, top: box.scrollTop };
    setWanted((now) => Math.max(0, wholeGroups(now ?? held.current) - GROUP));
  }, []);
  useEffect(() => {
    if (atBottom) setWanted(null);
  }, [atBottom]);
  useLayoutEffect(() => {
    const box = scroller.current;
    const was = before.current;
    before.current = null;
    if (box && was) box.scrollTop = was.top + box.scrollHeight - was.height;
  }, [from]);
  useEffect(() => {
    const mark = sentinel.current;
    if (!mark || from === 0) return;
    const watcher = new IntersectionObserver(
      (entries) => entries.some((entry) => entry.isIntersecting) && earlier(),
      { root: scroller.current, rootMargin: "900px 0px 0px" },
    );
    watcher.observe(mark);
    return () => watcher.disconnect();
  }, [from]);
  return { from, sentinel, earlier };
}

/** The same for the rows of one step, by a button. */
export function useTail(total: number): { from: number; showAll(): void } {
  const [all, setAll] = useState(false);
  return { from: all ? 0 : Math.max(0, total - ROWS), showAll: () => setAll(true) };
}
