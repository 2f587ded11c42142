/**
 * What a run of the flow is scored by, read from its events and requests alone.
 *
 * M1  Nothing here looks into the product's state: whoever has the log and the requests can count the same.
 */
import type { Event, NudgeReason } from "../../src/core/events.ts";
import { type Harness, label } from "../fakes.ts";
import { type PromptRole, prefixStability, type Stability } from "./prefix.ts";

/** What a scenario may state an exact expectation of. */
export interface Counts {
  /** How the last turn ended, `waiting`, or `running` when it never did. */
  outcome: "completed" | "failed" | "stopped" | "waiting" | "running";
  model_calls: number;
  /** Work calls that ended. */
  tool_calls: number;
  /** Requests that offer `update_plan`: replans. */
  update_plan_calls: number;
  /** Refusals in a row that the model mended by itself. */
  self_repairs: number;
  /** Replies whose arguments broke their schema. */
  invalid_output: number;
  /** `complete_step(success)` without work, refused. */
  premature_completions: number;
  /** Replies refused for a call in them, whatever the reason. */
  rejected_calls: number;
  /** Of these, for a tool that does not exist. */
  unknown_calls: number;
  error_events: number;
  /** All refusals and failures that the model was told of, by reason. */
  nudges: Partial<Record<NudgeReason, number>>;
}

export interface Metrics extends Counts {
  completed: boolean;
  event_count: number;
  prefix_stability: Partial<Record<PromptRole, Stability>>;
  remaining_replies: number;
  /** What the history and event oracles found. */
  oracle_faults: string[];
}

/** Milestones that show that a refusal was overcome. */
const GOES_ON = new Set([
  "tool(calling)",
  "plan(created)",
  "plan(updated)",
  "message(final)",
  "message(answer)",
  "wait",
]);
const isComplete = (text: string) => /^step\(.* completed/.test(text);
const GIVES_UP = (text: string) => /^(error|done)\(|^step\(.* failed/.test(text);

function selfRepairs(events: readonly Event[]): number {
  let refused = false;
  let repaired = 0;
  for (const e of events) {
    const text = label(e);
    if (e.event === "nudge" && e.data.reason !== "tool_failed") refused = true;
    else if (GIVES_UP(text)) refused = false;
    else if (refused && (GOES_ON.has(text) || isComplete(text))) {
      refused = false;
      repaired += 1;
    }
  }
  return repaired;
}

function outcomeOf(events: readonly Event[]): Counts["outcome"] {
  const last = events.findLast((e) => e.event === "done" || e.event === "status_update");
  if (last?.event === "done") return last.data.outcome;
  if (last?.event !== "status_update" || last.data.status === "idle") return "running";
  return last.data.status;
}

function nudgesOf(events: readonly Event[]): Counts["nudges"] {
  const counts: Counts["nudges"] = {};
  for (const e of events) {
    if (e.event === "nudge") counts[e.data.reason] = (counts[e.data.reason] ?? 0) + 1;
  }
  return counts;
}

export function metricsOf(h: Harness): Metrics {
  const events = h.events;
  const count = (wanted: (e: Event) => boolean) => events.filter(wanted).length;
  const nudges = nudgesOf(events);
  const outcome = outcomeOf(events);
  return {
    completed: outcome === "completed",
    outcome,
    model_calls: h.model.bodies.length,
    tool_calls: count((e) => e.event === "tool" && e.data.status === "called"),
    update_plan_calls: h.requests.filter((r) =>
      r.tools?.some((t) => t.function.name === "update_plan"),
    ).length,
    self_repairs: selfRepairs(events),
    invalid_output: nudges.invalid_arguments ?? 0,
    premature_completions: nudges.premature_complete ?? 0,
    rejected_calls: count(
      (e) => e.event === "nudge" && e.data.reason !== "tool_failed" && Boolean(e.data.tool_call_id),
    ),
    unknown_calls: nudges.unknown_tool ?? 0,
    error_events: count((e) => e.event === "error"),
    nudges,
    event_count: events.length,
    prefix_stability: prefixStability(h.model.bodies),
    remaining_replies: h.model.left,
    oracle_faults: h.faults(),
  };
}
