/**
 * Sessions of the list that begin to wait while another one is open, or none.
 *
 * N1  What waited when the list first came is no news, and neither is what waits still.
 * N2  A session that the list did not hold before is news only if it is younger than all that it held.
 */
import { useEffect, useRef } from "preact/hooks";
import type { SessionInfo } from "../core/wire.ts";
import { notify } from "./notify.ts";
import { t } from "./strings.ts";

export interface Known {
  /** Times in one format compare as texts. */
  newest: string;
  waiting: ReadonlySet<string>;
  held: ReadonlySet<string>;
}

export function know(sessions: readonly SessionInfo[], before: Known | null): Known {
  const waiting = new Set(before?.waiting);
  const held = new Set(before?.held);
  let newest = before?.newest ?? "";
  for (const { id, status, updated_at } of sessions) {
    held.add(id);
    if (status === "waiting") waiting.add(id);
    else waiting.delete(id);
    if (updated_at > newest) newest = updated_at;
  }
  return { newest, waiting, held };
}

export const newlyWaiting = (before: Known, sessions: readonly SessionInfo[]): SessionInfo[] =>
  sessions.filter(
    ({ id, status, updated_at }) =>
      status === "waiting" &&
      !before.waiting.has(id) &&
      (before.held.has(id) || updated_at > before.newest),
  );

/** Tells of them; the open session tells of itself, and sooner. */
export function useNewsOfOthers(
  loaded: boolean,
  sessions: readonly SessionInfo[],
  current: string | null,
): void {
  const known = useRef<Known | null>(null);
  useEffect(() => {
    if (!loaded) return;
    const before = known.current;
    known.current = know(sessions, before);
    for (const { id, title, preview } of before ? newlyWaiting(before, sessions) : []) {
      if (id !== current) notify(`${t("badge")} · ${title || t("untitled")}`, preview, id);
    }
  }, [loaded, sessions]);
}
