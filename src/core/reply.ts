/** What a model call came to: a reply, judged and taken in; or a failure, tried again or final. */
import { replyMessage } from "./accept.ts";
import { openBatch } from "./batch.ts";
import { costOf, tellUnknown, use } from "./budget.ts";
import { head } from "./chars.ts";
import { estimate } from "./compaction.ts";
import { addCost } from "./cost.ts";
import type { LeftOut } from "./dialect.ts";
import type { Draft } from "./draft.ts";
import * as draft from "./draft.ts";
import type { NudgeReason } from "./events.ts";
import { frontOf, targetOf } from "./front.ts";
import { judgeReply, refusalOf, type Verdict } from "./guard.ts";
import { objectionTo } from "./hooks.ts";
import { estimated, spend } from "./ledger.ts";
import { LIMITS } from "./limits.ts";
import { settleLoop } from "./loop.ts";
import type { ModelFailure, Reply } from "./ports.ts";
import { downgrade, type Hint } from "./profile.ts";
import { tokensIn } from "./request.ts";
import { rescue } from "./rescue.ts";
import { stripThinking } from "./rescue-think.ts";
import { policyOf } from "./roles.ts";
import { settingsOf } from "./session.ts";
import type { ToolSpec } from "./tool.ts";
import * as turn from "./turn.ts";

function countUsage(d: Draft, reply: Reply, inputChars: number): void {
  const measured = reply.usage !== null;
  const usage = reply.usage ?? estimated(inputChars, reply);
  const u = d.s.usage;
  const asked = targetOf(d.s, d.kit).model;
  const cost = costOf(settingsOf(d.s).prices, [asked, reply.model], usage);
  if (cost === null) tellUnknown(d, asked);
  use(d, { tokens: usage.input_tokens + usage.output_tokens, cost: cost ?? 0 });
  d.s.usage = {
    ...u,
    model_calls: u.model_calls + 1,
    input_tokens: u.input_tokens + usage.input_tokens,
    output_tokens: u.output_tokens + usage.output_tokens,
    cached_tokens: u.cached_tokens + usage.cached_tokens,
    measured: u.measured && measured,
    cost_usd: addCost(u.cost_usd, cost),
  };
  const one = { model_calls: 1, ...usage, measured, cost_usd: cost };
  d.s.ledger = spend(d.s.ledger, d.at, reply.model || "unknown", one);
  const { role } = policyOf(d.s);
  draft.emit(d, "usage", { role, model: reply.model, ...usage, measured, cost_usd: cost });
}

/** Real tokens for one that was estimated; a provider that counts oddly is believed within bounds. */
function learnScale(d: Draft, reply: Reply, inputChars: number): void {
  if (!reply.usage || reply.usage.input_tokens <= 0) return;
  const scale = reply.usage.input_tokens / estimate(inputChars);
  d.s.scale = { ...d.s.scale, [policyOf(d.s).memory]: Math.min(3, Math.max(0.3, scale)) };
}

/** Tokens that end a turn inside a model, and that some servers let through at the end of the text. */
const END_TOKENS = ["</s>", "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end|>"];

function withoutEnd(text: string): string {
  const trimmed = text.trimEnd();
  const token = END_TOKENS.find((t) => trimmed.endsWith(t));
  return token ? withoutEnd(trimmed.slice(0, -token.length)) : text;
}

/** Thinking stands apart from what was said, and a call that was written as text is a call. */
function understood(
  reply: Reply,
  offered: readonly ToolSpec[],
  rescues: boolean,
  wholeOnly: boolean,
): Reply {
  const { text, thinking } = stripThinking(reply.text);
  const plain = {
    ...reply,
    text: withoutEnd(text),
    thinking: [reply.thinking, thinking].filter(Boolean).join("\n"),
  };
  const found = rescues ? rescue(plain, offered) : null;
  // Where plain text is an answer, a call with prose around it may only be quoted: it must be all there is.
  if (found && wholeOnly && found.text !== "") return plain;
  return found ? { ...plain, text: found.text, calls: found.calls, finish: "tool_calls" } : plain;
}

function tellLeftOut(d: Draft, tools: LeftOut[]): void {
  if (d.s.leftOut) return;
  d.s.leftOut = true;
  const list = tools.map((t) => `${t.name} (${t.why})`).join("; ");
  draft.emit(d, "notice", {
    code: "tool_left_out",
    text: draft.say(d).toolLeftOut(head(list, 1_000)),
  });
}

export function replied(d: Draft, raw: Reply, inputChars: number): void {
  const policy = policyOf(d.s);
  const harness = draft.harnessFor(d);
  Object.assign(d.s, { restarts: 0, tries: 0, retry: null, overflow: "no" });
  d.s.iterations += 1;
  // What was to be shortened has been, or there was nothing to gain; unless it was asked for while this call was out.
  if (d.s.squeeze.length > 0 && d.s.asks > d.s.squeezeFrom)
    d.s.squeeze = d.s.squeeze.filter((m) => m !== policy.memory);
  countUsage(d, raw, inputChars);
  learnScale(d, raw, inputChars);
  const { offered, leftOut } = frontOf(d.s, d.kit);
  if (leftOut.length > 0) tellLeftOut(d, leftOut);
  const reply = understood(
    raw,
    offered,
    policy.guarded && harness.rescueEnabled,
    policy.bareTextFinal,
  );
  const { work, done, attempts } = d.s;
  const verdict = judgeReply(reply, { policy, offered, harness, work, done, attempts });
  if (verdict.type === "final") conclude(d, reply, verdict);
  else if (verdict.type === "refused") refuse(d, reply, verdict);
  else openBatch(d, reply, verdict.calls);
  d.s.asks += 1;
  settleLoop(d);
}

/** A plain text that would be the answer; a hook may have more to ask for. */
function conclude(d: Draft, reply: Reply, verdict: Extract<Verdict, { type: "final" }>): void {
  const { text } = verdict;
  const { work, iterations: iteration, phase } = d.s;
  const { role } = policyOf(d.s);
  const about = { role, phase, tool: null, text, args: {}, work, iteration };
  const nudge = objectionTo(d.kit.hooks, () => about);
  if (nudge === null) return answer(d, reply, verdict);
  refuse(d, reply, { type: "refused", reason: "premature_complete", calls: [], nudge });
}

function answer(d: Draft, reply: Reply, verdict: Extract<Verdict, { type: "final" }>): void {
  draft.remember(d, policyOf(d.s).memory, "reply", replyMessage(reply, [], []));
  if (verdict.cut) draft.emit(d, "notice", { code: "output_limit", text: draft.say(d).cutAnswer });
  turn.answerWith(d, verdict.text, reply.thinking, draft.liveId(d.s));
}

/** Ends that came too early are counted apart: other work in between does not forgive them. */
const PREMATURE: ReadonlySet<NudgeReason> = new Set([
  "premature_complete",
  "required_step_missing",
]);

/** Nothing of the reply runs; it stays in the memory with every call answered, and the model is told why. */
function refuse(d: Draft, reply: Reply, verdict: Extract<Verdict, { type: "refused" }>): void {
  const { memory } = policyOf(d.s);
  const { calls } = verdict;
  d.s.attempts += 1;
  if (PREMATURE.has(verdict.reason)) d.s.premature += 1;
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
  if (Math.max(d.s.attempts, d.s.premature) > draft.harnessFor(d).maxRetriesPerStep) {
    const why = draft.say(d);
    const text = verdict.reason === "output_limit" ? why.outputLimit : why.retryExhausted;
    turn.exhaust(d, "retry_exhausted", text(d.s.attempts));
  }
}

/** Milliseconds before the nth retry: 0.5, 1, 2, 4 s. */
const backoff = (tries: number) => 500 * 2 ** (tries - 1);

/** The endpoint does not take something: asked again without it, once for each thing; no try is counted. */
function giveUp(d: Draft, hint: Hint): boolean {
  const { key, profile } = targetOf(d.s, d.kit);
  const hints = d.s.profiles[key]?.hints ?? [];
  // Everything else can only be given up further; these two would be traded for each other for ever.
  const traded = hint.startsWith("reasoning") && hints.includes(hint);
  const less = traded ? null : downgrade(profile, hint);
  if (!less) return false;
  d.s.profiles = { ...d.s.profiles, [key]: { profile: less, hints: [...hints, hint] } };
  return true;
}

/** Too long for the endpoint: the same request would be refused again, so it is made shorter first, once. */
function overflowed(d: Draft, inputChars: number): void {
  const { key } = targetOf(d.s, d.kit);
  const size = tokensIn(d.s, policyOf(d.s).memory)(inputChars);
  d.s.overflow = "found";
  d.s.windows = { ...d.s.windows, [key]: Math.min(d.s.windows[key] ?? size, size) };
}

/** The call is given up. A turn can do without its review, and an answer without what it would have looked up. */
function lastTry(d: Draft, { code, message, retryable }: ModelFailure): void {
  const { capEnds, gathers } = policyOf(d.s);
  if (capEnds === "review") return turn.exhaust(d, code, message, retryable);
  if (!gathers || d.s.withdrawn) return turn.failTurn(d, code, message, retryable);
  Object.assign(d.s, { withdrawn: true, tries: 0, retry: null, asks: d.s.asks + 1 });
}

export function modelFailed(d: Draft, failure: ModelFailure, inputChars: number): void {
  if (failure.code === "context_overflow" && d.s.overflow === "no")
    return overflowed(d, inputChars);
  if (failure.hint && giveUp(d, failure.hint)) return;
  d.s.tries += 1;
  const spent = !failure.retryable || d.s.tries >= LIMITS.modelTries;
  if (spent) return lastTry(d, failure);
  const asked = failure.retryAfterMs ?? 0;
  const wait = Math.max(asked, backoff(d.s.tries));
  const until = new Date(d.at + wait).toISOString();
  if (asked > draft.limits(d).maxRetryWaitMs) {
    const message = draft.say(d).rateLimited(until);
    return lastTry(d, { code: "rate_limited", message, retryable: true });
  }
  d.s.retry = { at: d.at + wait, reason: failure.message };
  if (failure.retryAfterMs !== undefined) {
    draft.emit(d, "notice", { code: "retry_wait", text: draft.say(d).retryWait(until) });
  }
}
