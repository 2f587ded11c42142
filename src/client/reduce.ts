/**
 * From frames to what a person sees: `reduce(view, frame) → view`, pure.
 *
 * R1  Idempotent by seq: an event that was folded in before changes nothing, not even identities.
 * R2  Stored events alone give the view. A snapshot only adds what no event says, so a client that joined late
 *     and one that was there from the start end up with the same view.
 * R3  Live text belongs to a message id: `delta_reset` forgets it, the stored message replaces it, a new
 *     connection starts it again from nothing, because the server sends all of it once more. The same holds for
 *     the output of a running tool, until its stored result replaces it.
 */
import { titleFrom } from "../core/chars.ts";
import type { Event } from "../core/events.ts";
import { routeOf } from "../core/route.ts";
import type { SessionView } from "../core/wire.ts";
import { foldEvent } from "./fold.ts";
import { changeTool, isStored, mapRows, together } from "./items.ts";
import { planState } from "./plan.ts";
import { dequeue } from "./queue.ts";
import type { Frame } from "./socket.ts";
import { EMPTY_VIEW, type LiveText, type View } from "./view.ts";

type Live = Extract<Frame, { type: "live" }>;

export function reduce(view: View, frame: Frame): View {
  switch (frame.type) {
    case "hello":
      return hello(view, frame.epoch, frame.session);
    case "reset":
      return withSnapshot({ ...EMPTY_VIEW, epoch: frame.epoch }, frame.session);
    case "event":
      return frame.seq <= view.lastSeq ? view : stored(view, frame);
    case "live":
      return live(view, frame);
    case "ack":
    case "stream_end":
    case "error":
    case "pong":
      return view;
    default:
      // A frame of a newer server.
      return view;
  }
}

export const reduceAll = (view: View, frames: readonly Frame[]): View =>
  together(() => frames.reduce(reduce, view));

/** What events do not say: the whole snapshot for reference, and a title that a person may have set. */
export function withSnapshot(view: View, snapshot: SessionView): View {
  const next = { ...view, snapshot };
  if (snapshot.title === "" || snapshot.last_seq < view.titleSeq) return next;
  return { ...next, title: snapshot.title, titleSeq: snapshot.last_seq };
}

/** A view as of a snapshot, without the timeline before it: to go on from its `last_seq`. */
export function fromSnapshot(snapshot: SessionView): View {
  const { usage } = snapshot;
  const ended = snapshot.status !== "running" && snapshot.status !== "waiting";
  const at = snapshot.updated_at;
  const view: View = {
    ...EMPTY_VIEW,
    epoch: snapshot.epoch,
    lastSeq: snapshot.last_seq,
    status: snapshot.status,
    phase: snapshot.phase,
    run: snapshot.run,
    wait: snapshot.wait,
    plan: snapshot.plan && planState(snapshot.plan.steps, at, ended ? at : null),
    queue: snapshot.queue.map((q) => ({
      id: q.message_id,
      text: q.text,
      delivery: deliveryOf(q.delivery),
    })),
    usage,
    pausedAt: snapshot.wait?.since ?? null,
  };
  return withSnapshot(view, snapshot);
}
const deliveryOf = (text: string) =>
  text === "follow_up" || text === "replan" || text === "reject" ? text : "steer";

function hello(view: View, epoch: string, snapshot: SessionView): View {
  // The server resets a cursor of another epoch; a client that keeps one anyway would mix two logs.
  const other = view.epoch !== "" && view.epoch !== epoch;
  const base = other ? EMPTY_VIEW : view;
  const silent = mapRows({ ...base, epoch, live: [] }, (row) =>
    row.kind === "tool" && row.live !== "" ? { ...row, live: "" } : row,
  );
  return withSnapshot(silent, snapshot);
}

function stored(view: View, event: Event): View {
  const retry = event.event === "usage" || event.event === "done" ? null : view.retry;
  const folded = foldEvent({ ...view, lastSeq: event.seq, retry }, event);
  const titled = nameIt(folded, event);
  return dequeue(titled, event);
}

/** Until someone gives a title, it is the first line of the first message. */
function nameIt(view: View, event: Event): View {
  if (view.title !== "" || event.event !== "message" || event.data.role !== "user") return view;
  // A command is not what the session is about.
  if (routeOf(event.data.content, "agent").type !== "task") return view;
  return { ...view, title: titleFrom(event.data.content, 80) };
}

function live(view: View, frame: Live): View {
  switch (frame.event) {
    case "message_delta":
      return append(view, frame.data.message_id, "text", frame.data.text);
    case "thinking_delta":
      return append(view, frame.data.message_id, "thinking", frame.data.text);
    case "delta_reset": {
      const left = view.live.filter((text) => text.id !== frame.data.message_id);
      return left.length === view.live.length ? view : { ...view, live: left };
    }
    case "terminal_update":
      return changeTool(view, frame.data.tool_call_id, (tool) =>
        tool.state === "running" ? { ...tool, live: tail(tool.live + frame.data.text) } : tool,
      );
    case "retry_wait":
      return { ...view, retry: frame.data };
    default:
      return view;
  }
}

/** A running tool may print for hours: its newest characters are enough to watch it. */
const LIVE_CHARS = 256 * 1024;
const tail = (text: string) => (text.length > LIVE_CHARS ? text.slice(-LIVE_CHARS) : text);

function append(view: View, id: string, field: "text" | "thinking", text: string): View {
  const held = view.live.find((entry) => entry.id === id);
  if (held) {
    const grown: LiveText = { ...held, [field]: held[field] + text };
    const entries = view.live.map((entry) => (entry === held ? grown : entry));
    return { ...view, live: entries, retry: null };
  }
  if (isStored(view, id)) return view;
  const fresh: LiveText = { id, text: "", thinking: "", [field]: text };
  return { ...view, live: [...view.live, fresh], retry: null };
}
