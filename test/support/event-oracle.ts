/**
 * The event oracle E1–E5 of the house, held against every session's log in every test. Its own code: the judge
 * does not use the product's.
 */
export interface LoggedEvent {
  seq: number;
  event: string;
  data: Record<string, unknown>;
}

const ENDS = new Set(["completed", "failed", "stopped"]);

/** The faults of a log; empty for a sound one. `damaged`: a `repair` event is expected. */
export function checkEvents(events: readonly LoggedEvent[], damaged = false): string[] {
  const faults: string[] = [];
  const fault = (e: LoggedEvent, text: string) => faults.push(`#${e.seq} ${e.event}: ${text}`);
  const calling = new Set<unknown>();
  const called = new Set<unknown>();
  const clientIds = new Set<unknown>();
  const messageIds = new Set<unknown>();
  const waits = new Set<unknown>();
  let status = "idle";
  let run = 0;
  let over = true;
  events.forEach((e, i) => {
    if (e.seq !== i + 1) fault(e, `E1: expected seq ${i + 1}`);
    const d = e.data;
    if (e.event === "message") {
      if (messageIds.has(d.message_id)) fault(e, `E3: message ${d.message_id} twice`);
      messageIds.add(d.message_id);
      if (d.role === "user") {
        if (clientIds.has(d.client_id)) fault(e, `E3: client id ${d.client_id} twice`);
        clientIds.add(d.client_id);
      }
    }
    if (e.event === "status_update") {
      if (d.status === status) fault(e, "E4: status did not change");
      status = String(d.status);
      if (status === "running" && over) {
        run += 1;
        over = false;
      }
      if (ENDS.has(status) && !over) fault(e, "E4: an end without done");
    }
    if (e.event === "done") {
      if (over) fault(e, "E4: done outside of a turn");
      // What was mended may have lost whole turns.
      if (damaged && Number(d.run) > run) run = Number(d.run);
      if (d.run !== run) fault(e, `E4: done of run ${d.run} in run ${run}`);
      over = true;
    }
    const spoken = e.event === "message" && d.role === "assistant";
    if (over && (spoken || ["tool", "step", "wait", "nudge", "usage"].includes(e.event))) {
      fault(e, "E5: after the end of its turn");
    }
    if (e.event === "tool") {
      const id = d.tool_call_id;
      if (d.status === "calling" && calling.has(id)) fault(e, `calling ${id} twice`);
      if (d.status === "called" && !calling.has(id)) fault(e, `called ${id} without calling`);
      if (d.status === "called" && called.has(id)) fault(e, `called ${id} twice`);
      (d.status === "calling" ? calling : called).add(id);
    }
    if (e.event === "wait") waits.add(d.wait_id);
    if (e.event === "answer" && !waits.delete(d.wait_id)) fault(e, `no such wait ${d.wait_id}`);
    if (e.event === "repair" && !damaged) fault(e, "a healthy session was repaired");
    for (const text of strings(d)) {
      if (!text.isWellFormed() || text.includes("\0")) fault(e, "H6: broken characters");
    }
  });
  const open = [...calling].filter((id) => !called.has(id));
  if (over && open.length > 0) faults.push(`calls never ended: ${open.join(", ")}`);
  return faults;
}

function strings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(strings);
}
