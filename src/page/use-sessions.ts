/** The list of sessions: asked for again while the page is looked at, and whenever something changed. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { SessionInfo } from "../core/wire.ts";
import { api, errorWords, isSignedOut } from "./api.ts";
import { isNotifying } from "./notify.ts";

const EVERY_MS = 10_000;
const PAGE = 50;

export interface SessionList {
  sessions: SessionInfo[];
  /** The first answer has come. */
  loaded: boolean;
  signedOut: boolean;
  error: string | null;
  query: string;
  hasMore: boolean;
  setQuery(query: string): void;
  reload(): void;
  more(): void;
}

export function useSessions(): SessionList {
  const [sessions, setSessions] = useState<SessionInfo[]>([]);
  const [loaded, setLoaded] = useState(false);
  const [signedOut, setSignedOut] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const [query, setQuery] = useState("");
  const [limit, setLimit] = useState(PAGE);
  const [hasMore, setHasMore] = useState(false);
  const asked = useRef(0);

  const reload = useCallback(() => {
    const mine = ++asked.current;
    api.listSessions({ limit, q: query }).then(
      (page) => {
        // A slow answer to an older question must not replace a newer one.
        if (mine !== asked.current) return;
        setSessions(pinnedFirst(page.sessions));
        setHasMore(page.next_cursor !== null);
        setSignedOut(false);
        setError(null);
        setLoaded(true);
      },
      (problem: unknown) => {
        if (mine !== asked.current) return;
        setSignedOut(isSignedOut(problem));
        setError(errorWords(problem));
        setLoaded(true);
      },
    );
  }, [limit, query]);

  usePolling(reload);

  const more = useCallback(() => setLimit((n) => n + PAGE), []);
  return { sessions, loaded, signedOut, error, query, hasMore, setQuery, reload, more };
}

/** Within both groups the order stays as the server gave it. */
const pinnedFirst = (sessions: SessionInfo[]): SessionInfo[] => [
  ...sessions.filter((s) => s.pinned),
  ...sessions.filter((s) => !s.pinned),
];

function usePolling(reload: () => void): void {
  useEffect(() => {
    reload();
    // Unseen it goes on only for who wants to be told of what waits.
    const look = () => (document.visibilityState === "visible" || isNotifying()) && reload();
    const timer = setInterval(look, EVERY_MS);
    document.addEventListener("visibilitychange", look);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, [reload]);
}
