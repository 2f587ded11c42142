/**
 * The state machine: `next` says what must happen, `apply` takes in what did happen. Pure and synchronous.
 *
 * F1  What to do next is derived from the saved session alone; waking up is `lost`, then the same as ever.
 * F2  An outcome of an older era (before a stop, a replan, a new turn) changes nothing.
 * F3  What people say while it works joins the queue at once, and a memory only when an outcome leaves no open
 *     call; never in `said`, `lost` or `model_failed`, so that a repeated request is byte-identical.
 * F4  Every cap ends in a typed, visible outcome.
 * F5  A wait is data: nothing runs, nothing is due.
 */
import { advance, openBatch, replyMessage, takeAnswer, takeResult } from "./batch.ts";
import { endCall, patchCall } from "./calls.ts";
import { clean, head, titleFrom } from "./chars.ts";
import type { Draft } from "./draft.ts";
import * as draft from "./draft.ts";
import { judgeReply, refusalOf, type Verdict } from "./guard.ts";
import { LIMITS } from "./limits.ts";
import type { Act, Outcome, Said } from "./outcome.ts";
import type { Change, ModelFailure, Reply } from "./ports.ts";
import { NOT_RUN, resume } from "./prompt.ts";
import { settingsOf } from "./request.ts";
import { type Kit, offeredTools, policyOf } from "./roles.ts";
import type { Session } from "./session.ts";
import { patchLayer } from "./settings.ts";
import type { ToolResult } from "./tool.ts";
import * as turn from "./turn.ts";

/** The key of the model call that the session asks for next; an attempt after a failure has its own. */
const askKey = (s: Session) => `ask:${s.era}:${s.asks}:${s.tries}`;

/** `flying`: the keys (calls: their ids) of what is under way. */
export function next(s: Session, now: number, flying: ReadonlySet<string>): Act {
  if (s.status !== "running") return { type: "rest" };
  const running = s.batch?.calls.filter((c) => c.state === "running") ?? [];
  if (running.length > 0) {
    const calls = running.filter((c) => !flying.has(c.id));
    return calls.length > 0 ? { type: "run", calls } : { type: "hold" };
  }
  if (s.retry && s.retry.at > now) return { type: "sleep", until: s.retry.at };
  const key = askKey(s);
  return flying.has(key) ? { type: "hold" } : { type: "ask", key };
}

/** Takes in one outcome. An outcome that no longer matters gives the session back unchanged. */
export function apply(s: Session, outcome: Outcome, kit: Kit, at: number): Change {
  if ("era" in outcome && (outcome.era !== s.era || s.status !== "running")) {
    return { session: s, events: [], rows: [] };
  }
  const d = draft.draftOf(s, kit, at);
  const changed = take(d, outcome);
  return changed ? draft.finish(d) : { session: s, events: [], rows: [] };
}

/** False: nothing came of it. */
function take(d: Draft, outcome: Outcome): boolean {
  switch (outcome.type) {
    case "said":
      return said(d, outcome);
    case "answered":
      return answered(d, outcome.text, outcome.clientId);
    case "stopped":
      if (d.s.status === "running" || d.s.status === "waiting") turn.stopTurn(d);
      // Stored even when there was nothing to stop: sent again later, it must not stop another turn.
      d.client = { id: outcome.clientId, seq: d.s.seq, as: "stop" };
      return true;
    case "replied":
      replied(d, outcome.reply, outcome.inputChars);
      return true;
    case "model_failed":
      modelFailed(d, outcome.failure);
      return true;
    case "ran":
      return ran(d, outcome.callId, outcome.result);
    case "repaired":
      d.rows.push(...outcome.rows);
      draft.emit(d, "repair", {
        role: outcome.memory,
        what: `${outcome.rows.length} missing tool results`,
      });
      return true;
    case "compacted":
      compacted(d, outcome);
      return true;
    case "patched":
      patched(d, outcome);
      return true;
    case "lost":
      return lost(d);
  }
}

function said(d: Draft, o: Said): boolean {
  if (d.s.wait?.kind === "question") return answered(d, o.text, o.clientId);
  const busy = d.s.status === "running" || d.s.status === "waiting";
  if (busy && o.delivery === "reject") return false;
  const text = clean(o.text);
  if (!busy) {
    turn.beginTurn(d);
    const attachments = o.attachments.map((f) => f.path);
    d.s.turn = { message: text, attachments, settings: o.settings };
    if (!d.s.titled && d.s.mode !== "agent") {
      // No title event in these modes: clients take the same words from the message.
      d.s.title = titleFrom(text, LIMITS.titleChars);
      d.s.titled = true;
    }
  }
  draft.emit(d, "message", {
    message_id: draft.newId(d, "m"),
    role: "user",
    content: text,
    attachments: o.attachments,
    client_id: o.clientId,
    ...(busy ? { delivery: o.delivery } : {}),
  });
  d.client = { id: o.clientId, seq: d.s.seq, as: o.delivery };
  d.s.preview = head(text.replace(/\s+/g, " ").trim(), 140);
  const paths = o.attachments.map((f) => f.path);
  if (!busy) {
    turn.takeUp(d, text, paths);
    draft.setStatus(d, "running", d.s.phase);
  } else if (o.delivery === "replan" && d.s.status === "running") turn.replan(d, text, paths);
  else
    d.s.queue = [...d.s.queue, { id: o.clientId, text, delivery: o.delivery, attachments: paths }];
  return true;
}

function answered(d: Draft, text: string, clientId: string): boolean {
  if (d.s.wait?.kind !== "question" || !d.s.returnTo) return false;
  const own = clean(text);
  draft.emit(d, "answer", { wait_id: d.s.wait.wait_id, text: own, client_id: clientId });
  d.client = { id: clientId, seq: d.s.seq, as: "answer" };
  const phase = d.s.returnTo;
  Object.assign(d.s, { wait: null, returnTo: null, restarts: 0 });
  draft.setStatus(d, "running", phase);
  takeAnswer(d, own);
  const { memory } = policyOf(d.s);
  if (memory === "executor") {
    draft.tell(
      d,
      memory,
      "prompt",
      resume(phase === "executing" ? turn.runningStep(d) : undefined),
    );
  }
  settleLoop(d);
  return true;
}

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

function replied(d: Draft, reply: Reply, inputChars: number): void {
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
    turn.exhaust(d, "retry_exhausted", draft.say(d).retryExhausted(d.s.attempts));
  }
}

/** Between two model calls, when nothing is open: the cap of the loop, and what people said meanwhile. */
function settleLoop(d: Draft): void {
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
  for (const q of steers)
    draft.tell(d, policyOf(d.s).memory, "said", turn.withFiles(q.text, q.attachments));
}

/** Milliseconds before the nth retry: 0.5, 1, 2, 4 s. */
const backoff = (tries: number) => 500 * 2 ** (tries - 1);

function modelFailed(d: Draft, failure: ModelFailure): void {
  d.s.tries += 1;
  const spent = !failure.retryable || d.s.tries >= LIMITS.modelTries;
  if (spent) return turn.failTurn(d, failure.code, failure.message, failure.retryable);
  const wait = Math.max(failure.retryAfterMs ?? 0, backoff(d.s.tries));
  const until = new Date(d.at + wait).toISOString();
  if (wait > draft.limits(d).maxRetryWaitMs) {
    return turn.failTurn(d, "rate_limited", draft.say(d).rateLimited(until), true);
  }
  d.s.retry = { at: d.at + wait, reason: failure.message };
  if (failure.retryAfterMs !== undefined) {
    draft.emit(d, "notice", { code: "retry_wait", text: draft.say(d).retryWait(until) });
  }
}

function ran(d: Draft, callId: string, result: ToolResult): boolean {
  const call = d.s.batch?.calls.find((c) => c.id === callId && c.state === "running");
  if (!call) return false;
  d.s.restarts = 0;
  takeResult(d, call, result);
  settleLoop(d);
  return true;
}

function compacted(d: Draft, o: Extract<Outcome, { type: "compacted" }>): void {
  d.s.elided = { ...d.s.elided, [o.memory]: o.before };
  draft.emit(d, "compaction", {
    role: policyOf(d.s).role,
    phase: 1,
    before_tokens: o.from,
    after_tokens: o.to,
  });
}

function patched(d: Draft, o: Extract<Outcome, { type: "patched" }>): void {
  if (o.pinned !== undefined) d.s.pinned = o.pinned;
  if (o.settings) d.s.settings = patchLayer(d.s.settings, o.settings);
  const title = o.title === undefined ? "" : titleFrom(clean(o.title), LIMITS.titleChars);
  if (title === "" || title === d.s.title) return;
  Object.assign(d.s, { title, titled: true });
  draft.emit(d, "title", { title });
}

/** The object died while this ran: each running call follows its recovery; the rest is derived as ever. */
function lost(d: Draft): boolean {
  if (d.s.status !== "running") return false;
  // It slept until a time that the provider named: nothing was in flight, so nothing was lost.
  if (d.s.retry && d.s.retry.at > d.at) return false;
  d.s.restarts += 1;
  if (d.s.restarts > LIMITS.restarts) {
    turn.failTurn(d, "restart_limit", draft.say(d).restartLimit(LIMITS.restarts), true);
    return true;
  }
  for (const call of d.s.batch?.calls.filter((c) => c.state === "running") ?? []) {
    if (call.recovery === "report") endCall(d, call, { ok: false, text: NOT_RUN.lost });
    else patchCall(d, call.id, { reopened: true });
  }
  advance(d);
  return true;
}
