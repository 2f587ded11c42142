/**
 * Deleting with a way back: the session leaves the list at once, the server hears of it a moment later.
 *
 * D1  What was undone is never sent; what was not is sent even when the page is closed first.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import type { SessionInfo } from "../core/wire.ts";
import { api, errorWords } from "./api.ts";
import type { Notice } from "./shell.ts";
import { t } from "./strings.ts";

const UNDO_MS = 7_000;

export function useRemoval(say: (notice: Notice) => void, reload: () => void) {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const timers = useRef(new Map<string, ReturnType<typeof setTimeout>>());
  const show = (id: string) => setHidden((now) => new Set([...now].filter((held) => held !== id)));
  const send = (id: string) => {
    timers.current.delete(id);
    api.deleteSession(id).then(reload, (error: unknown) => {
      show(id);
      say({ text: t("notDeleted", { why: errorWords(error) }), problem: true });
    });
  };
  useEffect(() => {
    const leaving = () => {
      for (const [id, timer] of timers.current) {
        clearTimeout(timer);
        // `keepalive` outlives the page.
        void fetch(`/api/sessions/${id}`, { method: "DELETE", keepalive: true });
      }
      timers.current.clear();
    };
    addEventListener("pagehide", leaving);
    return () => removeEventListener("pagehide", leaving);
  }, []);
  const remove = (session: SessionInfo) => {
    const { id } = session;
    setHidden((now) => new Set([...now, id]));
    timers.current.set(
      id,
      setTimeout(() => send(id), UNDO_MS),
    );
    const undo = () => {
      clearTimeout(timers.current.get(id));
      if (timers.current.delete(id)) show(id);
    };
    const text = t("deleted", { title: session.title || t("untitled") });
    say({ text, action: { label: t("undo"), act: undo } });
  };
  return { hidden, remove };
}
