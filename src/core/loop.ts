/** Between two model calls of a run of the loop. */

import type { Draft } from "./draft.ts";
import * as draft from "./draft.ts";
import { policyOf } from "./roles.ts";
import * as turn from "./turn.ts";

/** When nothing is open: the cap of the loop, and what people said meanwhile. */
export function settleLoop(d: Draft): void {
  if (d.s.status !== "running" || d.s.batch) return;
  const { maxIterations } = draft.limits(d);
  if (d.s.iterations >= maxIterations) {
    const text = draft.say(d).maxIterations(maxIterations);
    if (policyOf(d.s).capEnds === "step") draft.emit(d, "notice", { code: "max_iterations", text });
    turn.exhaust(d, "max_iterations", text);
    return;
  }
  // A summary cannot act on a steer: it stays queued, and the turn goes on with it after the final message.
  if (d.s.phase === "summarizing") return;
  const steers = d.s.queue.filter((q) => q.delivery === "steer");
  if (steers.length === 0) return;
  d.s.queue = d.s.queue.filter((q) => q.delivery !== "steer");
  turn.freshEyes(d);
  for (const q of steers)
    draft.tell(d, policyOf(d.s).memory, "said", turn.withFiles(q.text, q.attachments));
}
