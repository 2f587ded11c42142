/**
 * A log that is taken over from elsewhere, event by event: a copy, an export, or what is left of one.
 *
 * G1  Events are numbered anew, 1, 2, 3 … without a gap, whatever is missing.
 * G2  What contradicts the events before it is left out: an end without a beginning, the same message twice.
 * G3  `close` adds what a log needs to be at rest: every call ended, the turn done.
 */
import type { Event, EventBody, EventData } from "./events.ts";

type Tool = EventData<"tool">;
export type Body = EventBody & { ts: string };

/** Events that belong to a turn: without one, its beginning was lost. */
const IN_TURN: ReadonlySet<string> = new Set(["tool", "step", "wait", "nudge", "usage", "done"]);

export interface Relog {
  /** The events that this one becomes, none when it has no place. */
  take(body: Body): Event[];
  close(ts: string, planNow: EventData<"plan">["steps"] | null): Event[];
  /** One more event of ours. */
  add(body: EventBody, ts: string): Event;
  last(): number;
  run(): number;
  status(): EventData<"status_update">["status"];
}

type Status = EventData<"status_update">["status"];

export function relog(sessionId: string): Relog {
  const open = new Map<string, Tool>();
  const seen = new Set<string>();
  const waits = new Set<string>();
  let seq = 0;
  let run = 0;
  let status: Status = "idle";
  let outcome: EventData<"done">["outcome"] = "stopped";
  /** No turn is open. */
  let over = true;

  const add = (body: EventBody, ts: string): Event => {
    seq += 1;
    return { type: "event", session_id: sessionId, seq, ts, ...body };
  };
  const busy = () => status === "running" || status === "waiting";
  const become = (to: Status, phase: EventData<"status_update">["phase"], ts: string): Event => {
    status = to;
    if (to === "running" && over) {
      over = false;
      run += 1;
    }
    return add({ event: "status_update", data: { status: to, phase } }, ts);
  };
  /** The end of a turn whose `done` came and whose status did not. */
  const settle = (ts: string): Event[] =>
    over && busy() ? [become(outcome, outcome === "completed" ? "completed" : "idle", ts)] : [];
  const once = (id: string): boolean => !seen.has(id) && Boolean(seen.add(id));
  const fits = (body: Body): boolean => {
    switch (body.event) {
      case "message": {
        const { message_id: id, client_id: client } = body.data;
        return once(`m ${id}`) && (client === undefined || once(`c ${client}`));
      }
      case "wait":
        return once(`w ${body.data.wait_id}`) && Boolean(waits.add(body.data.wait_id));
      case "answer":
        return waits.delete(body.data.wait_id);
      case "tool": {
        const { tool_call_id: id, status: now } = body.data;
        if (now === "called") return open.delete(id);
        return once(`t ${id}`) && Boolean(open.set(id, body.data));
      }
      default:
        return true;
    }
  };
  const endCalls = (ts: string): Event[] => {
    const ended = [...open.values()].map((tool) =>
      add({ event: "tool", data: { ...tool, status: "called", ok: false } }, ts),
    );
    open.clear();
    return ended;
  };
  const done = (data: EventData<"done">, ts: string): Event[] => {
    const ended = endCalls(ts);
    over = true;
    outcome = data.outcome;
    return [...ended, add({ event: "done", data: { outcome, run } }, ts)];
  };
  const takeStatus = ({ status: to, phase }: EventData<"status_update">, ts: string): Event[] => {
    const ends = to !== "running" && to !== "waiting";
    if (ends) return over && busy() ? [become(to, phase, ts)] : [];
    const before = settle(ts);
    if (to === status || (over && to === "waiting")) return before;
    return [...before, become(to, phase, ts)];
  };

  return {
    take(body) {
      const { ts } = body;
      if (body.event === "status_update") return takeStatus(body.data, ts);
      const events = settle(ts);
      const spoken = body.event === "message" && body.data.role === "assistant";
      if (over && (spoken || IN_TURN.has(body.event))) events.push(become("running", "idle", ts));
      if (body.event === "done") return [...events, ...done(body.data, ts)];
      if (!fits(body)) return events;
      return [...events, add(body, ts)];
    },
    close(ts, steps) {
      const events = over ? [] : endCalls(ts);
      if (!over && steps) events.push(add({ event: "plan", data: { op: "updated", steps } }, ts));
      if (!over) events.push(...done({ outcome: "stopped", run }, ts));
      return [...events, ...settle(ts)];
    },
    add,
    last: () => seq,
    run: () => run,
    status: () => status,
  };
}
