/**
 * Which messages wait to be read. No event says that one was, so it is told from what follows it.
 *
 * Q1  A steer is read once an outcome leaves no open call; a follow_up once the turn concludes.
 * Q2  Nothing is waiting once the turn has ended.
 */
import type { Event } from "../core/events.ts";
import { changeRow } from "./items.ts";
import { allRows, type Queued, type Row, type UserItem, type View } from "./view.ts";

const isBusy = (view: View) => view.status === "running" || view.wait !== null;

export function enqueue(view: View, event: Extract<Event, { event: "message" }>): View {
  const { data } = event;
  if (data.role !== "user" || !isBusy(view)) return view;
  const delivery = data.delivery ?? "steer";
  const queued: Queued = { id: data.message_id, text: data.content, delivery };
  return { ...view, queue: [...view.queue, queued] };
}

/** Called after the event is folded in. */
export function dequeue(view: View, event: Event): View {
  if (view.queue.length === 0) return view;
  const left = view.queue.filter((message) => !wasRead(view, event, message));
  return left.length === view.queue.length ? view : { ...view, queue: left };
}

function wasRead(view: View, event: Event, message: Queued): boolean {
  if (event.event === "done") return true;
  if (event.event === "message") {
    const { role, kind } = event.data;
    return role === "assistant" && (kind === "final" || kind === "answer");
  }
  if (message.delivery === "follow_up") return false;
  if (event.event === "plan") return true;
  if (event.event === "step") return event.data.status !== "running";
  return event.event === "tool" && event.data.status === "called" && !hasOpenCall(view);
}

function hasOpenCall(view: View): boolean {
  for (const row of allRows(view.items)) {
    if (row.kind === "tool" && row.state === "running") return true;
  }
  return false;
}

/** Its writer has changed a message that was not read yet, or taken it back (null). The server has agreed. */
export function withQueued(view: View, id: string, text: string | null): View {
  const queue =
    text === null
      ? view.queue.filter((message) => message.id !== id)
      : view.queue.map((message) => (message.id === id ? { ...message, text } : message));
  const own = (row: Row): row is UserItem => row.kind === "user" && row.id === id;
  return changeRow({ ...view, queue }, own, (row) =>
    text === null ? { ...row, removed: true } : { ...row, text },
  );
}
