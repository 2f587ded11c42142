/**
 * When what has arrived is drawn.
 *
 * P1  At most once a frame, however many events came; a history that is still coming in is drawn when it is there, and
 *     now and then only where that takes long.
 * P2  A page that nobody sees is drawn too, by a timer: its title and its notifications are seen.
 */
const COMING_MS = 1_000;
const HIDDEN_MS = 50;

export interface Painter {
  /** `coming`: more is known to follow at once. */
  soon(coming: boolean): void;
  stop(): void;
}

export function painter(paint: () => void): Painter {
  let frame = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    frame = 0;
    timer = undefined;
  };
  const now = () => {
    stop();
    paint();
  };
  const soon = (coming: boolean) => {
    if (coming) timer ??= setTimeout(now, COMING_MS);
    else if (document.hidden) timer ??= setTimeout(now, HIDDEN_MS);
    else if (frame === 0) frame = requestAnimationFrame(now);
  };
  return { soon, stop };
}
