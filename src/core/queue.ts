/**
 * Messages that wait for a running turn, changed or taken back before anyone has read them.
 *
 * Q1  A message can be changed only while it waits; what was read stays as it was said.
 * Q2  The log is never rewritten: a `queue` event says what became of the message.
 */
import { clean } from "./chars.ts";
import { type Draft, emit } from "./draft.ts";
import type { Delivery } from "./events.ts";
import { readReplans } from "./loop.ts";
import type { Queued, Session } from "./session.ts";

/** By the client's id of it, or by its id in the log. */
export const queuedMessage = (s: Session, id: string): Queued | undefined =>
  s.queue.find((q) => q.id === id) ?? s.queue.find((q) => q.message_id === id);

/** False: it does not wait (any more), or nothing changes. */
export function editQueued(
  d: Draft,
  id: string,
  change: { text?: string | undefined; delivery?: Exclude<Delivery, "reject"> | undefined },
): boolean {
  const held = queuedMessage(d.s, id);
  if (!held) return false;
  const text = clean(change.text ?? held.text);
  const delivery = change.delivery ?? held.delivery;
  if (text === held.text && delivery === held.delivery) return false;
  d.s.queue = d.s.queue.map((q) => (q === held ? { ...q, text, delivery } : q));
  const { message_id, id: client_id } = held;
  emit(d, "queue", { op: "edited", message_id, client_id, text, delivery });
  // Someone who works is turned around at once; while a person is asked, it waits for the answer.
  if (d.s.status === "running") readReplans(d);
  return true;
}

export function removeQueued(d: Draft, id: string): boolean {
  const held = queuedMessage(d.s, id);
  if (!held) return false;
  d.s.queue = d.s.queue.filter((q) => q !== held);
  emit(d, "queue", { op: "removed", message_id: held.message_id, client_id: held.id });
  return true;
}
