/** What a model call came to: a reply, judged and taken in; or a failure, tried again or final. */
import { openBatch, replyMessage } from "./batch.ts";
import { clean, head } from "./chars.ts";
import type { Draft } from "./draft.ts";
import * as draft from "./draft.ts";
import { judgeReply, refusalOf, type Verdict } from "./guard.ts";
import { LIMITS } from "./limits.ts";
import { settleLoop } from "./loop.ts";
import type { ModelFailure, Reply } from "./ports.ts";
import { settingsOf } from "./request.ts";
import { offeredTools, policyOf } from "./roles.ts";
import * as turn from "./turn.ts";

function countUsage(d: Draft, reply: Reply, inputChars: number): void {
  const measured = reply.usage !== null;
  const spoken = reply.text.length + reply.calls.reduce((n, c) => n + c.arguments.length, 0);
  const usage = reply.usage ?? {
    input_tokens: Math.ceil(inputChars / 4),
    output_tokens: Math.ceil(spoken / 4),
    cached_tokens: 0,
  };
  const u = d.s.usage;
  d.s.usage = {
    ...u,
    model_calls: u.model_calls + 1,
    input_tokens: u.input_tokens + usage.input_tokens,
    output_tokens: u.output_tokens + usage.output_tokens,
    cached_tokens: u.cached_tokens + usage.cached_tokens,
    measured: u.measured && measured,
  };
  draft.emit(d, "usage", { role: policyOf(d.s).role, model: reply.model, ...usage, measured });
}

export function replied(d: Draft, reply: Reply, inputChars: number): void {
  const policy = policyOf(d.s);
  Object.assign(d.s, { restarts: 0, tries: 0, retry: null, iterations: d.s.iterations + 1 });
  countUsage(d, reply, inputChars);
  const offered = offeredTools(policy, d.kit, settingsOf(d.s));
  const verdict = judgeReply(reply, { policy, offered, work: d.s.work });
  if (verdict.type === "final") answer(d, reply, verdict);
  else if (verdict.type === "refused") refuse(d, reply, verdict);
  else openBatch(d, reply, verdict.calls);
  d.s.asks += 1;
  settleLoop(d);
}

function answer(d: Draft, reply: Reply, verdict: Extract<Verdict, { type: "final" }>): void {
  draft.remember(d, policyOf(d.s).memory, "reply", replyMessage(reply, [], []));
  draft.speak(d, "answer", verdict.text, {
    id: draft.liveId(d.s),
    ...(reply.thinking ? { thinking: head(clean(reply.thinking), LIMITS.proseChars) } : {}),
  });
  if (verdict.cut) draft.emit(d, "notice", { code: "output_limit", text: draft.say(d).cutAnswer });
  turn.conclude(d, "completed");
}

/** Nothing of the reply runs; it stays in the memory with every call answered, and the model is told why. */
function refuse(d: Draft, reply: Reply, verdict: Extract<Verdict, { type: "refused" }>): void {
  const { memory } = policyOf(d.s);
  const { calls } = verdict;
  d.s.attempts += 1;
  const ids = calls.map(() => draft.newId(d, "c"));
  draft.nudge(d, verdict.reason, ids[calls.findIndex((c) => c.fault)]);
  if (calls.length > 0 || reply.text.trim() !== "") {
    const row = draft.remember(d, memory, "reply", replyMessage(reply, ids, calls), calls.length);
    calls.forEach((call, i) => {
      draft.answerCall(
        d,
        memory,
        { id: ids[i] as string, row: row + 1 + i },
        refusalOf(call),
        "nudge",
      );
    });
  }
  if (verdict.nudge) draft.tell(d, memory, "nudge", verdict.nudge);
  if (d.s.attempts > settingsOf(d.s).harness.maxRetriesPerStep) {
    const why = draft.say(d);
    const text = verdict.reason === "output_limit" ? why.outputLimit : why.retryExhausted;
    turn.exhaust(d, "retry_exhausted", text(d.s.attempts));
  }
}

/** Milliseconds before the nth retry: 0.5, 1, 2, 4 s. */
const backoff = (tries: number) => 500 * 2 ** (tries - 1);

export function modelFailed(d: Draft, failure: ModelFailure): void {
  d.s.tries += 1;
  const spent = !failure.retryable || d.s.tries >= LIMITS.modelTries;
  if (spent) return turn.failTurn(d, failure.code, failure.message, failure.retryable);
  const asked = failure.retryAfterMs ?? 0;
  const wait = Math.max(asked, backoff(d.s.tries));
  const until = new Date(d.at + wait).toISOString();
  if (asked > draft.limits(d).maxRetryWaitMs) {
    return turn.failTurn(d, "rate_limited", draft.say(d).rateLimited(until), true);
  }
  d.s.retry = { at: d.at + wait, reason: failure.message };
  if (failure.retryAfterMs !== undefined) {
    draft.emit(d, "notice", { code: "retry_wait", text: draft.say(d).retryWait(until) });
  }
}
