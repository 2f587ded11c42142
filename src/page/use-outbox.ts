/**
 * What a person sent and the log does not hold yet.
 *
 * O1  A sent text is on screen at once, and leaves the list only when the log has it.
 * O2  A refused text is kept with the reason, until its writer tries again or discards it; one that could not be
 *     delivered before its session was left becomes the draft again.
 */
import { useCallback, useRef, useState } from "preact/hooks";
import { type Connection, type Frame, newId } from "../client/index.ts";
import { wordsFor } from "./api.ts";
import { keepDraft, readDraft } from "./storage.ts";

/** A file of the session that goes with a message. */
export interface Attached {
  path: string;
  name: string;
  size: number;
}
export interface Pending {
  id: string;
  text: string;
  files: Attached[];
  /** Known once it is durable. */
  seq: number | null;
  problem: string | null;
}
export interface Outbox {
  pending: Pending[];
  send(text: string, files?: Attached[]): void;
  retry(id: string): void;
  discard(id: string): void;
  /** It was sent from here. */
  isMine(id: string): boolean;
  /** Frames were folded in, up to that seq. */
  arrived(frames: Frame[], lastSeq: number): void;
}

const clientIds = (frames: Frame[]): string[] =>
  frames.flatMap((f) =>
    f.type === "event" && f.event === "message" && f.data.client_id ? [f.data.client_id] : [],
  );

function stillPending(list: Pending[], lastSeq: number, ids: readonly string[] = []): Pending[] {
  const left = list.filter((p) => !ids.includes(p.id) && (p.seq === null || p.seq > lastSeq));
  return left.length === list.length ? list : left;
}

export function useOutbox(session: string, live: { current: Connection | null }): Outbox {
  const [pending, setPending] = useState<Pending[]>([]);
  const seen = useRef(0);
  const mine = useRef(new Set<string>());
  const isMine = useCallback((id: string) => mine.current.has(id), []);
  const mark = (id: string, change: Partial<Pending>) =>
    setPending((list) =>
      stillPending(
        list.map((p) => (p.id === id ? { ...p, ...change } : p)),
        seen.current,
      ),
    );
  const dispatch = ({ id, text, files }: Pending) => {
    const attachments = files.map((file) => file.path);
    const frame = { type: "message", id, text } as const;
    const sent = live.current?.send(attachments.length > 0 ? { ...frame, attachments } : frame);
    void sent?.then((receipt) => {
      if (receipt.ok) mark(id, { seq: receipt.seq });
      else if (receipt.code === "closed") giveBack(session, text);
      else mark(id, { problem: wordsFor(receipt.code, receipt.message) });
    });
  };
  const send = (text: string, files: Attached[] = []) => {
    const fresh: Pending = { id: newId(), text, files, seq: null, problem: null };
    mine.current.add(fresh.id);
    setPending((list) => [...list, fresh]);
    dispatch(fresh);
  };
  const retry = (id: string) => {
    const held = pending.find((p) => p.id === id);
    mark(id, { problem: null });
    if (held) dispatch(held);
  };
  const discard = (id: string) => setPending((list) => list.filter((p) => p.id !== id));
  const arrived = useCallback((frames: Frame[], lastSeq: number) => {
    seen.current = lastSeq;
    setPending((list) => stillPending(list, lastSeq, clientIds(frames)));
  }, []);
  return { pending, send, retry, discard, isMine, arrived };
}

function giveBack(session: string, text: string): void {
  const draft = readDraft(session);
  keepDraft(session, draft === "" ? text : `${text}\n${draft}`);
}
