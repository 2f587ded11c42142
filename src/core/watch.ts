/** Those who watch the loop without a say in it: the stages for hooks, the facts for whoever runs the deployment. */

import type { Role } from "./events.ts";
import { createWitness } from "./facts.ts";
import type { Outcome } from "./outcome.ts";
import type { Change, ModelRequest, Ports } from "./ports.ts";
import type { Session } from "./session.ts";
import { createTracer, type Tracer } from "./trace.ts";

export interface Watch extends Pick<Tracer, "runs" | "heard"> {
  /** `key` names the call within the session, the same when a crash repeats it. Gives back what is to be sent. */
  asks(s: Session, role: Role, request: ModelRequest, key: string): ModelRequest;
  kept(before: Session, change: Change, outcome: Outcome): void;
}

export function createWatch({
  trace,
  tell,
  clock,
  traceparent,
}: Pick<Ports, "trace" | "tell" | "clock" | "traceparent">): Watch {
  const tracer = createTracer(trace);
  const witness = createWitness(tell, clock);
  return {
    runs: tracer.runs,
    heard: tracer.heard,
    asks(s, role, request, key) {
      tracer.asks(s, role, request);
      witness.asks(s, role, request, key);
      const trace = traceparent?.(s, key);
      return trace === undefined ? request : { ...request, trace };
    },
    kept(before, change, outcome) {
      tracer.kept(before, change);
      witness.kept(before, change, outcome);
    },
  };
}
