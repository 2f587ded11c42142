/** One session, live: its view, its connection, and what was sent but is not in the log yet. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import {
  ApiError,
  Connection,
  type ConnectionState,
  EMPTY_VIEW,
  type Frame,
  newId,
  type Receipt,
  reduceAll,
  type View,
} from "../client/index.ts";
import { api } from "./api.ts";
import { type Outbox, useOutbox } from "./use-outbox.ts";

export interface LiveSession extends Omit<Outbox, "arrived"> {
  id: string;
  view: View;
  /** The first frame has come. */
  ready: boolean;
  connection: ConnectionState;
  /** Nothing more can be shown: the session is gone, or nobody is signed in. */
  gone: ApiError | null;
  answer(waitId: string, given: { text?: string; approved?: boolean }): Promise<Receipt>;
  stop(): void;
}

export function useSession(id: string): LiveSession {
  const [view, setView] = useState(EMPTY_VIEW);
  const [connection, setConnection] = useState<ConnectionState>("connecting");
  const [gone, setGone] = useState<ApiError | null>(null);
  const live = useRef<Connection | null>(null);
  const latest = useRef(EMPTY_VIEW);
  const { arrived, ...outbox } = useOutbox(id, live);

  useEffect(() => {
    const onFrames = (frames: Frame[]) => {
      latest.current = reduceAll(latest.current, frames);
      arrived(frames, latest.current.lastSeq);
      setView(latest.current);
    };
    const onState = (next: ConnectionState) => {
      setConnection(next);
      if (next === "offline") probe(id, setGone);
    };
    return follow(id, live, onFrames, onState);
  }, [id]);

  const answer = useCallback(
    (waitId: string, given: { text?: string; approved?: boolean }): Promise<Receipt> =>
      live.current?.send({ type: "answer", id: newId(), wait_id: waitId, ...given }) ??
      Promise.resolve({ ok: false, code: "closed", message: "" }),
    [],
  );
  const stop = useCallback(() => void live.current?.send({ type: "stop", id: newId() }), []);
  return { id, view, ready: view.snapshot !== null, connection, gone, ...outbox, answer, stop };
}

/** Connects, and reconnects at once when the network is back or the page is looked at again. */
function follow(
  id: string,
  live: { current: Connection | null },
  onFrames: (frames: Frame[]) => void,
  onState: (state: ConnectionState) => void,
): () => void {
  const visible = () => document.visibilityState === "visible";
  const connection = new Connection({
    baseUrl: location.origin,
    session: id,
    keepalive: visible,
    onFrames,
    onState,
  });
  live.current = connection;
  const again = () => visible() && connection.retryNow();
  addEventListener("online", again);
  document.addEventListener("visibilitychange", again);
  return () => {
    removeEventListener("online", again);
    document.removeEventListener("visibilitychange", again);
    connection.close();
  };
}

/** A browser does not say why an upgrade was refused; asking over HTTP does. */
function probe(id: string, setGone: (error: ApiError) => void): void {
  api.getSession(id).catch((error: unknown) => {
    if (error instanceof ApiError && error.status >= 400 && error.status < 500) setGone(error);
  });
}
