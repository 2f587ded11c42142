/**
 * Which messages wait to be read. No event says that one was, so it is told from what follows it.
 *
 * Q1  A steer is read once an outcome leaves no open call; a follow_up once the turn concludes.
 * Q2  A `queue` event changes a waiting message, or takes it back.
 * Q3  Nothing is waiting once the turn has ended.
 */
import type { Event, EventData } from "../core/events.ts";
import { routeOf } from "../core/route.ts";
import { changeRow } from "./items.ts";
import { allRows, type Queued, type Row, type UserItem, type View } from "./view.ts";

const isBusy = (view: View) => view.status === "running" || view.wait !== null;

export function enqueue(view: View, event: Extract<Event, { event: "message" }>): View {
  const { data } = event;
  if (data.role !== "user" || !isBusy(view)) return view;
  // A command has been answered. (An escaped one has a delivery, as every task to a running turn.)
  if (!data.delivery && routeOf(data.content, "agent").type !== "task") return view;
  const delivery = data.delivery ?? "steer";
  const queued: Queued = { id: data.message_id, text: data.content, delivery };
  return { ...view, queue: [...view.queue, queued] };
}

/** A waiting message was changed or taken back: so is its row. */
export function foldQueue(view: View, data: EventData<"queue">): View {
  const { op, message_id: id, text, delivery } = data;
  const change = { ...(text !== undefined && { text }), ...(delivery && { delivery }) };
  const queue = view.queue
    .filter((message) => op === "edited" || message.id !== id)
    .map((message) => (message.id === id ? { ...message, ...change } : message));
  const mine = (row: Row): row is UserItem => row.kind === "user" && row.id === id;
  return changeRow({ ...view, queue }, mine, (row) =>
    op === "removed" ? { ...row, removed: true } : { ...row, ...change, edited: true },
  );
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
