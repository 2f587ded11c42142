/**
 * The stages of the loop, for debugging: what happens and when, in the order in which it does. They are told while a
 * session works, and never stored: after a crash they begin again.
 */
import type { NudgeReason, Phase, Role, Status } from "./events.ts";
import type { Outcome } from "./outcome.ts";
import type { Change } from "./ports.ts";
import type { Session } from "./session.ts";

export type Stage =
  | { stage: "turn_start"; run: number; mode: string }
  | { stage: "lap_start"; role: Role; phase: Phase; iteration: number }
  | { stage: "request_start"; role: Role; model: string; chars: number; attempt: number }
  | { stage: "request_end"; ok: boolean; error?: string }
  | { stage: "reply"; calls: string[] }
  | { stage: "text"; chars: number }
  | { stage: "tool_start"; call: string; tool: string }
  | { stage: "tool_end"; call: string; ok: boolean }
  /** `accepted`: the reply was taken in; else it was refused and the model is told why. */
  | { stage: "lap_end"; accepted: boolean }
  | { stage: "turn_end"; status: Status };

export interface Tracer {
  asks(s: Session, role: Role, request: { model: string; body: string }): void;
  runs(call: { id: string; name: string }): void;
  /** Before an outcome is kept, and after. */
  heard(outcome: Outcome): void;
  kept(before: Session, change: Change): void;
}

const SILENT: Tracer = { asks() {}, runs() {}, heard() {}, kept() {} };
const RESTS: ReadonlySet<Status> = new Set(["completed", "failed", "stopped"]);

export function createTracer(tell: ((stage: Stage) => void) | undefined): Tracer {
  if (!tell) return SILENT;
  let lap = "";
  const trace = (stage: Stage): void => {
    try {
      tell(stage);
    } catch {
      // Whoever watches must not disturb the work.
    }
  };
  return {
    asks(s, role, { model, body }) {
      const key = `${s.era} ${s.asks}`;
      if (lap !== key) trace({ stage: "lap_start", role, phase: s.phase, iteration: s.iterations });
      lap = key;
      trace({ stage: "request_start", role, model, chars: body.length, attempt: s.tries + 1 });
    },
    runs: ({ id, name }) => trace({ stage: "tool_start", call: id, tool: name }),
    heard(outcome) {
      if (outcome.type === "ran") {
        trace({ stage: "tool_end", call: outcome.callId, ok: outcome.result.ok });
      } else if (outcome.type === "model_failed") {
        trace({ stage: "request_end", ok: false, error: outcome.failure.code });
      } else if (outcome.type === "replied") {
        const { calls, text } = outcome.reply;
        trace({ stage: "request_end", ok: true });
        trace({ stage: "reply", calls: calls.map((c) => c.name) });
        if (text !== "") trace({ stage: "text", chars: text.length });
      }
    },
    kept(before, { session, events }) {
      if (session.run > before.run) {
        trace({ stage: "turn_start", run: session.run, mode: session.mode });
      }
      if (lap !== "" && session.batch === null && session.asks !== asksOf(lap)) {
        const refused = events.some((e) => e.event === "nudge" && !TAKEN.has(e.data.reason));
        lap = "";
        trace({ stage: "lap_end", accepted: !refused });
      }
      if (RESTS.has(session.status) && session.status !== before.status) {
        if (lap !== "") trace({ stage: "lap_end", accepted: false });
        lap = "";
        trace({ stage: "turn_end", status: session.status });
      }
    },
  };
}
/** What is said about a reply that was taken in all the same. */
const TAKEN: ReadonlySet<NudgeReason> = new Set(["tool_failed", "duplicate_call"]);
const asksOf = (lap: string): number => Number(lap.split(" ")[1]);
