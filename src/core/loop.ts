/** Between two model calls of a run of the loop: what people said, caps, budgets, and what is gathered first. */

import { openBatch } from "./batch.ts";
import { daySpent, overBudget } from "./budget.ts";
import type { Draft } from "./draft.ts";
import * as draft from "./draft.ts";
import { frontOf } from "./front.ts";
import { judgeReply } from "./guard.ts";
import { LIMITS } from "./limits.ts";
import type { Reply } from "./ports.ts";
import { policyOf } from "./roles.ts";
import { settingsOf } from "./session.ts";
import * as turn from "./turn.ts";

/** When nothing is open. Whatever comes of it, the next thing is a model call, a wait, or nothing. */
export function settleLoop(d: Draft): void {
  if (!idle(d)) return;
  readReplans(d);
  cap(d);
  if (!idle(d)) return;
  readSteers(d);
  if (policyOf(d.s).gathers) gather(d);
  if (idle(d) && !daySpent(d)) overBudget(d, "tokens", "cost");
}

const idle = (d: Draft): boolean => d.s.status === "running" && d.s.batch === null;

/** A change of plan that came while a person was asked: it is taken up now, whatever is under way. */
export function readReplans(d: Draft): void {
  const replans = d.s.queue.filter((q) => q.delivery === "replan");
  if (replans.length === 0) return;
  d.s.queue = d.s.queue.filter((q) => q.delivery !== "replan");
  const text = replans.map((q) => q.text).join("\n\n");
  turn.replan(
    d,
    text,
    replans.flatMap((q) => q.attachments),
  );
}

function cap(d: Draft): void {
  const { maxIterations } = draft.limits(d);
  if (d.s.iterations < maxIterations) return;
  const text = draft.say(d).maxIterations(maxIterations);
  if (policyOf(d.s).capEnds === "step") draft.emit(d, "notice", { code: "max_iterations", text });
  turn.exhaust(d, "max_iterations", text);
}

/** A phase that cannot act on a steer leaves it queued: the next one that can reads it, in the same turn. */
function readSteers(d: Draft): void {
  const steers = d.s.queue.filter((q) => q.delivery === "steer");
  if (steers.length === 0 || !policyOf(d.s).hears) return;
  d.s.queue = d.s.queue.filter((q) => q.delivery !== "steer");
  turn.freshEyes(d);
  turn.addToTask(d, steers.map((q) => q.text).join("\n\n"));
  for (const q of steers)
    draft.tell(d, policyOf(d.s).memory, "said", turn.withFiles(q.text, q.attachments));
}

/** Looking before a direct answer: the seed calls first, then at most a few laps; then it must speak. */
function gather(d: Draft): void {
  const { seeds } = settingsOf(d.s).evidence;
  const fresh = d.s.gathered === null;
  d.s.gathered ??= 0;
  const enough = d.s.iterations >= LIMITS.evidenceLaps || d.s.gathered >= LIMITS.evidenceTotal;
  if (enough) d.s.withdrawn = true;
  else if (fresh && seeds.length > 0) openSeeds(d);
}

/** Calls that the settings name, made as if the model had: what cannot be called is answered so, and harms nothing. */
function openSeeds(d: Draft): void {
  const { evidence } = settingsOf(d.s);
  const said = d.s.turn?.message ?? "";
  const calls = evidence.seeds.map(({ tool, args }, i) => ({
    id: String(i),
    name: tool,
    arguments: JSON.stringify(filled(args, said)),
  }));
  const reply: Reply = {
    text: "",
    thinking: "",
    calls,
    finish: "tool_calls",
    model: "",
    usage: null,
  };
  const policy = policyOf(d.s);
  const { offered } = frontOf(d.s, d.kit);
  const { work, done, attempts } = d.s;
  const harness = draft.harnessFor(d);
  const verdict = judgeReply(reply, { policy, offered, harness, work, done, attempts });
  if (verdict.type === "accepted") openBatch(d, reply, verdict.calls);
}

const filled = (args: Record<string, unknown>, message: string): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(args).map(([key, value]) => [
      key,
      typeof value === "string" ? value.replaceAll("{message}", () => message) : value,
    ]),
  );
