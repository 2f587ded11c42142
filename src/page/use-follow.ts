/**
 * Keeping the newest in sight without ever moving what is being read.
 *
 * F1  Only a reader at the bottom is carried along; others get a count of what is new.
 */
import type { RefObject } from "preact";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

const NEAR_PX = 60;

export interface Follow {
  scroller: RefObject<HTMLDivElement | null>;
  atBottom: boolean;
  /** Items that came since the reader left the bottom. */
  unseen: number;
  jump(): void;
}

export function useFollow(change: unknown, count: number): Follow {
  const scroller = useRef<HTMLDivElement>(null);
  const stick = useRef(true);
  const left = useRef(count);
  const [atBottom, setAtBottom] = useState(true);
  const jump = useCallback(() => {
    stick.current = true;
    const box = scroller.current;
    if (box) box.scrollTop = box.scrollHeight;
  }, []);
  useLayoutEffect(() => {
    if (stick.current) jump();
  }, [change]);
  useEffect(() => {
    const box = scroller.current;
    if (!box) return;
    const moved = () => {
      const near = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_PX;
      stick.current = near;
      setAtBottom(near);
    };
    box.addEventListener("scroll", moved, { passive: true });
    // The dock grows (a question appears) and shrinks the room: stay at the bottom.
    const watcher = new ResizeObserver(() => stick.current && jump());
    watcher.observe(box);
    return () => {
      box.removeEventListener("scroll", moved);
      watcher.disconnect();
    };
  }, []);
  if (atBottom) left.current = count;
  return { scroller, atBottom, unseen: Math.max(0, count - left.current), jump };
}
