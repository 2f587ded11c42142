/**
 * What a session looks like to a person: the state that `reduce` builds and a page draws.
 *
 * V1  Values are never changed in place: what is equal (`===`) need not be drawn again.
 * V2  Times come from the events; nothing here reads a clock.
 */
import type { Delivery, EventData, FileInfo, Phase, Status, Step, Wait } from "../core/events.ts";
import { NO_USAGE, type Usage } from "../core/usage.ts";
import type { SessionView } from "../core/wire.ts";

interface Base {
  /** Unique in its view; stable over rebuilds from the same events. */
  id: string;
  seq: number;
  ts: string;
}
export interface UserItem extends Base {
  kind: "user";
  text: string;
  attachments: FileInfo[];
  clientId?: string;
  delivery?: Delivery;
  /** Changed, or taken back, before it was read. */
  edited?: true;
  removed?: true;
}
export interface ProseItem extends Base {
  kind: "prose";
  tone: "plan" | "notice" | "final" | "answer" | "plain";
  text: string;
  thinking?: string;
  attachments: FileInfo[];
}
export interface ToolItem extends Base {
  kind: "tool";
  toolkit: string;
  function: string;
  args: Record<string, unknown>;
  brief?: string;
  /** `stopped`: a person stopped its turn meanwhile. `lost`: its turn ended and no result ever came. */
  state: "running" | "ok" | "failed" | "stopped" | "lost";
  content?: Record<string, unknown>;
  /** Terminal output so far; gone once the stored result is there. */
  live: string;
  durationMs: number | null;
  endedAt: string | null;
}
/** A question, an approval or a budget; `wait` is null between the message and its `wait` event. */
export interface AskItem extends Base {
  kind: "ask";
  text: string;
  wait: Wait | null;
  answer: { text?: string; approved?: boolean; attachments?: FileInfo[]; ts: string } | null;
  /** The turn ended before an answer came. */
  closed: boolean;
}
export interface NoteItem extends Base {
  kind: "note";
  code: string;
  text: string;
}
/** It goes on in another session. */
export interface MovedItem extends Base {
  kind: "moved";
  to: string;
}
export interface NudgeItem extends Base {
  kind: "nudge";
  reason: EventData<"nudge">["reason"];
  attempt: number;
}
export interface ReviewItem extends Base {
  kind: "review";
  review: EventData<"review">;
}
export interface ReplanItem extends Base {
  kind: "replan";
  before: Step[];
  after: Step[];
}
export interface ErrorItem extends Base {
  kind: "error";
  error: EventData<"error">;
}
export interface EndItem extends Base {
  kind: "end";
  outcome: "completed" | "failed" | "stopped";
  run: number;
  /** What was under way when it ended. */
  interrupted: string | null;
}
/** What a turn took, at its end. */
export interface SumItem extends Base {
  kind: "sum";
  usage: Usage;
  /** Milliseconds of work, without the time it waited for a person. */
  workedMs: number;
}
export type Row =
  | UserItem
  | ProseItem
  | ToolItem
  | AskItem
  | NoteItem
  | MovedItem
  | NudgeItem
  | ReviewItem
  | ReplanItem
  | ErrorItem
  | EndItem
  | SumItem;
/** One step of the plan with everything that happened while it ran. */
export interface StepItem extends Base {
  kind: "step";
  step: Step;
  /** Its place in the plan, from 1; 0 when the plan does not name it. */
  number: number;
  endedAt: string | null;
  /** Milliseconds of it that were spent waiting for a person. */
  waitedMs: number;
  rows: Row[];
}
export type Item = Row | StepItem;

export interface PlanState {
  steps: Step[];
  counts: { total: number; completed: number; failed: number };
  /** The step under way. */
  current: Step | null;
  startedAt: string;
  endedAt: string | null;
}
export interface Queued {
  id: string;
  text: string;
  delivery: Delivery;
}
/** Counted from events; costs as far as they are known. */
export interface LiveText {
  id: string;
  text: string;
  thinking: string;
}

export interface View {
  /** The last snapshot: for what events do not say (mode, settings, cost, pinned). Its counters may be old. */
  snapshot: SessionView | null;
  epoch: string;
  lastSeq: number;
  title: string;
  /** The title is known as of this seq; older `title` events say nothing new. */
  titleSeq: number;
  status: Status;
  /** As of the last `status_update`. */
  phase: Phase;
  run: number;
  items: Item[];
  /** Index in `items` of the step under way, or -1. */
  open: number;
  plan: PlanState | null;
  wait: Wait | null;
  /** Messages that were accepted and, as far as events tell, not read yet. */
  queue: Queued[];
  /** Counted from events; costs as far as they are known. */
  usage: Usage;
  /** Of the turn under way, or the last one. */
  turnUsage: Usage;
  /** Text under way, by message id, oldest first. */
  live: LiveText[];
  retry: { until: string; reason: string } | null;
  /** When the turn under way, or the last one, began. */
  turnStartedAt: string | null;
  turnEndedAt: string | null;
  /** Since when it waits for a person; null while it does not. */
  pausedAt: string | null;
  /** Milliseconds that this turn has waited so far, without the wait that is open. */
  waitedMs: number;
}

export const EMPTY_VIEW: View = {
  snapshot: null,
  epoch: "",
  lastSeq: 0,
  title: "",
  titleSeq: 0,
  status: "idle",
  phase: "idle",
  run: 0,
  items: [],
  open: -1,
  plan: null,
  wait: null,
  queue: [],
  usage: NO_USAGE,
  turnUsage: NO_USAGE,
  live: [],
  retry: null,
  turnStartedAt: null,
  turnEndedAt: null,
  pausedAt: null,
  waitedMs: 0,
};

/** Every row of a view in order, those inside steps included. */
export function* allRows(items: readonly Item[]): Generator<Row> {
  for (const item of items) {
    if (item.kind === "step") yield* item.rows;
    else yield item;
  }
}

export function findTool(view: View, id: string): ToolItem | null {
  for (const row of allRows(view.items)) if (row.kind === "tool" && row.id === id) return row;
  return null;
}
