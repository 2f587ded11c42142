/** One stored event into the view: a case per event name. The rules stand in reduce.ts. */
import type { Event, EventData } from "../core/events.ts";
import { addUsage } from "../core/ledger.ts";
import { NO_USAGE, type Usage } from "../core/usage.ts";
import { addItem, addRow, changeRow, changeTool, mapRows, turnStart } from "./items.ts";
import { foldPlan, foldStep, resume, settleSteps } from "./plan.ts";
import { enqueue, foldQueue } from "./queue.ts";
import type { AskItem, ProseItem, Row, ToolItem, View } from "./view.ts";

type Stamp = { seq: number; ts: string };
type Of<N extends Event["event"]> = Extract<Event, { event: N }>;

export function foldEvent(view: View, event: Event): View {
  const at: Stamp = { seq: event.seq, ts: event.ts };
  switch (event.event) {
    case "message":
      return message(view, event, at);
    case "title":
      return at.seq <= view.titleSeq
        ? view
        : { ...view, title: event.data.title, titleSeq: at.seq };
    case "plan":
      return foldPlan(view, event.data, at);
    case "step":
      return foldStep(view, event.data, at);
    case "tool":
      return tool(view, event.data, at);
    case "wait":
      return wait(view, event.data, at);
    case "answer":
      return answer(view, event.data, at);
    case "queue":
      return foldQueue(view, event.data);
    case "usage":
      return usage(view, event.data);
    case "status_update":
      return status(view, event.data, at);
    case "done":
      return done(view, event.data, at);
    default:
      return small(view, event, at);
  }
}

/** Events that only add a line, or nothing. */
function small(
  view: View,
  event: Of<"review" | "nudge" | "notice" | "moved" | "error" | "compaction" | "repair">,
  at: Stamp,
): View {
  const base = { id: `${event.event}-${at.seq}`, ...at };
  switch (event.event) {
    case "review":
      return addItem(view, { kind: "review", ...base, review: event.data });
    case "nudge": {
      const { reason, attempt } = event.data;
      return addRow(view, { kind: "nudge", ...base, reason, attempt });
    }
    case "notice":
      return addRow(view, { kind: "note", ...base, ...event.data });
    case "moved":
      return addRow(view, { kind: "moved", ...base, to: event.data.to });
    case "error":
      return addItem(view, { kind: "error", ...base, error: event.data });
    default:
      return view;
  }
}

function message(view: View, event: Of<"message">, at: Stamp): View {
  const { data } = event;
  const text = data.content;
  const base = { id: data.message_id, ...at, text };
  const seen = view.live.some((entry) => entry.id === data.message_id)
    ? { ...view, live: view.live.filter((entry) => entry.id !== data.message_id) }
    : view;
  if (data.role === "user") {
    const { attachments, delivery, client_id: clientId } = data;
    return addRow(enqueue(seen, event), {
      kind: "user",
      ...base,
      attachments,
      ...(delivery && { delivery }),
      ...(clientId && { clientId }),
    });
  }
  if (data.kind === "question") {
    return addRow(seen, { kind: "ask", ...base, wait: null, answer: null, closed: false });
  }
  const prose: ProseItem = {
    kind: "prose",
    ...base,
    tone: data.kind ?? "plain",
    attachments: data.attachments,
    ...(data.thinking && { thinking: data.thinking }),
  };
  const last = data.kind === "final" || data.kind === "answer" || data.kind === "plan";
  return last ? addItem(seen, prose) : addRow(seen, prose);
}

function tool(view: View, data: EventData<"tool">, at: Stamp): View {
  if (data.status === "calling") {
    const row: ToolItem = {
      kind: "tool",
      id: data.tool_call_id,
      ...at,
      toolkit: data.name,
      function: data.function,
      args: data.args,
      ...(data.brief && { brief: data.brief }),
      state: "running",
      live: "",
      durationMs: null,
      endedAt: null,
    };
    return addRow(view, row);
  }
  const own = { ...NO_USAGE, tool_calls: 1 };
  const counted = spent(view, data.usage ? addUsage(own, data.usage) : own);
  return changeTool(counted, data.tool_call_id, (row) => ({
    ...row,
    state: data.ok === false ? "failed" : "ok",
    live: "",
    durationMs: data.duration_ms ?? Date.parse(at.ts) - Date.parse(row.ts),
    endedAt: at.ts,
    ...(data.content && { content: data.content }),
  }));
}

const openAsk = (row: Row): row is AskItem =>
  row.kind === "ask" && row.wait === null && !row.closed;

function wait(view: View, data: EventData<"wait">, at: Stamp): View {
  const next = { ...view, wait: data };
  if (data.kind === "question") {
    const joined = changeRow(next, openAsk, (ask) => ({ ...ask, wait: data }));
    if (joined !== next) return joined;
  }
  const base = { kind: "ask", id: data.wait_id, ...at, text: data.text } as const;
  return addRow(next, { ...base, wait: data, answer: null, closed: false });
}

function answer(view: View, data: EventData<"answer">, at: Stamp): View {
  const mine = (row: Row): row is AskItem =>
    row.kind === "ask" && row.wait?.wait_id === data.wait_id;
  const given = {
    ts: at.ts,
    ...(data.text !== undefined && { text: data.text }),
    ...(data.approved !== undefined && { approved: data.approved }),
    ...(data.attachments && { attachments: data.attachments }),
  };
  const open = view.wait?.wait_id === data.wait_id ? { ...view, wait: null } : view;
  return changeRow(open, mine, (ask) => ({ ...ask, answer: given }));
}

/** Of the session, and of the turn. */
const spent = (view: View, more: Usage): View => ({
  ...view,
  usage: addUsage(view.usage, more),
  turnUsage: addUsage(view.turnUsage, more),
});

function usage(view: View, data: EventData<"usage">): View {
  const { role: _, model: __, cost_usd = null, ...tokens } = data;
  return spent(view, { ...NO_USAGE, model_calls: 1, ...tokens, cost_usd });
}

function status(view: View, data: EventData<"status_update">, at: Stamp): View {
  const next = { ...view, status: data.status, phase: data.phase };
  if (data.status === "waiting") return { ...next, pausedAt: at.ts };
  if (data.status !== "running") return next;
  if (view.status === "waiting" || view.status === "running") {
    return resume({ ...next, wait: null }, at.ts);
  }
  const clock = { turnStartedAt: at.ts, turnEndedAt: null, pausedAt: null, waitedMs: 0 };
  return { ...next, run: view.run + 1, wait: null, turnUsage: NO_USAGE, ...clock };
}

function done(view: View, data: EventData<"done">, at: Stamp): View {
  const step = view.items[view.open];
  let interrupted = step?.kind === "step" ? step.step.description : null;
  const settle = (row: Row): Row => {
    if (row.kind === "ask" && !row.answer && !row.closed) return { ...row, closed: true };
    if (row.kind !== "tool") return row;
    // A stop ends the open calls in the same commit as the turn, so at the same time.
    const stopped = data.outcome === "stopped" && row.state === "failed" && row.endedAt === at.ts;
    if (stopped) return { ...row, state: "stopped" };
    if (row.state !== "running") return row;
    interrupted = row.brief ?? row.function;
    return { ...row, state: "lost", live: "" };
  };
  const settled = mapRows(resume(view, at.ts), settle, turnStart(view));
  const last = view.items.at(-1);
  const error = last?.kind === "error" ? last.error.message : undefined;
  const ended = settleSteps(settled, data.outcome, at.ts, error);
  const { outcome, run } = data;
  const over = { ...ended, run, wait: null, live: [], turnEndedAt: at.ts };
  // An error has said it already, and better.
  const told = outcome === "completed" || over.items.at(-1)?.kind === "error";
  const end = { kind: "end", id: `end-${run}`, ...at, outcome, run, interrupted } as const;
  return addSum(told ? over : addItem(over, end), at);
}

function addSum(view: View, at: Stamp): View {
  const began = view.turnStartedAt ?? at.ts;
  const workedMs = Math.max(0, Date.parse(at.ts) - Date.parse(began) - view.waitedMs);
  const usage = view.turnUsage;
  return addItem(view, { kind: "sum", id: `sum-${at.seq}`, ...at, usage, workedMs });
}
