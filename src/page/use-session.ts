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
import { api, errorWords } from "./api.ts";
import { painter } from "./paint.ts";
import { goTo } from "./route.ts";
import { t } from "./strings.ts";
import { type Outbox, useOutbox } from "./use-outbox.ts";

export interface LiveSession extends Omit<Outbox, "arrived" | "isMine"> {
  id: string;
  view: View;
  /** The first frame has come. */
  ready: boolean;
  connection: ConnectionState;
  /** Nothing more can be shown: the session is gone, or nobody is signed in. */
  gone: ApiError | null;
  answer(waitId: string, given: { text?: string; approved?: boolean }): Promise<Receipt>;
  stop(): void;
  /** Changes a message that was not read yet, or takes it back (null). The words say what went wrong. */
  editQueued(message: string, text: string | null): Promise<string | null>;
  /** How often the server began the log anew while it was watched. */
  rebuilt: number;
}

export function useSession(id: string): LiveSession {
  const [view, setView] = useState(EMPTY_VIEW);
  const [connection, setConnection] = useState<ConnectionState>("connecting");
  const [gone, setGone] = useState<ApiError | null>(null);
  const [rebuilt, setRebuilt] = useState(0);
  const live = useRef<Connection | null>(null);
  const latest = useRef(EMPTY_VIEW);
  const { arrived, isMine, ...outbox } = useOutbox(id, live);

  useEffect(() => {
    let undrawn: Frame[] = [];
    const paint = painter(() => {
      arrived(undrawn, latest.current.lastSeq);
      undrawn = [];
      setView(latest.current);
    });
    const onFrames = (frames: Frame[]) => {
      const known = latest.current.lastSeq > 0;
      if (known && frames.some((f) => f.type === "reset")) setRebuilt((n) => n + 1);
      const next = reduceAll(latest.current, frames);
      latest.current = next;
      undrawn.push(...frames);
      for (const to of frames.flatMap((frame) => movedTo(frame, isMine))) goTo(to);
      paint.soon(next.lastSeq < (next.snapshot?.last_seq ?? 0));
    };
    const onState = (next: ConnectionState) => {
      setConnection(next);
      if (next === "offline") probe(id, setGone);
    };
    const leave = follow(id, live, onFrames, onState);
    return () => {
      paint.stop();
      leave();
    };
  }, [id]);

  const answer = useCallback(
    (waitId: string, given: { text?: string; approved?: boolean }): Promise<Receipt> =>
      live.current?.send({ type: "answer", id: newId(), wait_id: waitId, ...given }) ??
      Promise.resolve({ ok: false, code: "closed", message: "" }),
    [],
  );
  const stop = useCallback(() => void live.current?.send({ type: "stop", id: newId() }), []);
  const editQueued = useCallback(
    (message: string, text: string | null) => changeQueued(id, message, text),
    [id],
  );
  const ready = view.snapshot !== null;
  const state = { id, view, ready, connection, gone, rebuilt };
  return { ...state, ...outbox, answer, stop, editQueued };
}

/** Where `/new` leads whoever has typed it; other readers of the session stay where they are. */
function movedTo(frame: Frame, isMine: (id: string) => boolean): string[] {
  const own = frame.type === "event" && frame.event === "moved" && isMine(frame.data.client_id);
  return own ? [frame.data.to] : [];
}

/** Null: done, and the log will tell of it. Else why not, in words. */
async function changeQueued(
  id: string,
  message: string,
  text: string | null,
): Promise<string | null> {
  try {
    if (text === null) await api.removeQueued(id, message);
    else await api.editQueued(id, message, { text });
    return null;
  } catch (error) {
    const read = error instanceof ApiError && error.code === "message_not_found";
    return read ? t("alreadyRead") : errorWords(error);
  }
}

/** Connects, says at once when the network is gone, and reconnects when it is back or the page is looked at again. */
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
  const lost = () => connection.lostNetwork();
  addEventListener("online", again);
  addEventListener("offline", lost);
  document.addEventListener("visibilitychange", again);
  return () => {
    removeEventListener("online", again);
    removeEventListener("offline", lost);
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
