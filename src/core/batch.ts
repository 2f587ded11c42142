/**
 * The calls of one accepted reply, from first to last.
 *
 * B1  Calls run in order, or all at once when every work call among them is parallel-safe.
 * B2  A question is a barrier: what stands before it runs, what stands after it is answered "not run".
 * B3  A terminal call is looked at last, when its mates have ended; a failed mate refuses it.
 * B4  The reply and the intent to run its first calls are one commit.
 */
import { callOf, conclusionOf, replyMessage, runningStepId } from "./accept.ts";
import { needsApproval } from "./approval.ts";
import { ask, goOn, hold, passOn } from "./asking.ts";
import { overBudget, reached } from "./budget.ts";
import type { Call } from "./call.ts";
import { batchOf, endCall, endOpenCalls, isOpen, patchCall, startCall } from "./calls.ts";
import { headAndTail } from "./chars.ts";
import { endOwn } from "./command.ts";
import { type Draft, harnessFor, liveId, newId, nudge, remember, say, speak } from "./draft.ts";
import { countLap, noteResult, repeats } from "./duplicates.ts";
import type { FileInfo, NudgeReason } from "./events.ts";
import type { Heard } from "./guard.ts";
import { objectionTo } from "./hooks.ts";
import { LIMITS } from "./limits.ts";
import { settle } from "./plan.ts";
import type { Reply } from "./ports.ts";
import { ENOUGH, NOT_RUN, SAME_AGAIN, toolFailed } from "./prompt.ts";
import { policyOf } from "./roles.ts";
import { settingsOf } from "./session.ts";
import { TERMINALS, type TerminalName } from "./terminal.ts";
import { isDelegate, type ToolResult, WORK_TOOLKITS } from "./tool.ts";
import { record } from "./tracker.ts";
import { answerWith, exhaust } from "./turn.ts";

/** An accepted reply with calls becomes the open batch. */
export function openBatch(d: Draft, reply: Reply, heard: Heard[]): void {
  const { memory } = policyOf(d.s);
  if (reply.text.trim() !== "") speak(d, "notice", reply.text.trim(), { id: liveId(d.s) });
  const ids = heard.map(() => newId(d, "c"));
  const row = remember(d, memory, "reply", replyMessage(reply, ids, heard), heard.length);
  const policy = policyOf(d.s);
  const harness = harnessFor(d);
  const calls = heard.map((h, index) => {
    const place = { id: ids[index] as string, index, row, share: heard.length };
    return callOf(h, place, d.s, policy, harness);
  });
  const settings = settingsOf(d.s);
  const parallel = calls.every(
    (c) => c.kind !== "work" || c.final === true || (c.parallelSafe && !needsApproval(settings, c)),
  );
  d.s.batch = { memory, row, parallel, calls };
  calls.forEach((call, i) => {
    const h = heard[i] as Heard;
    if (call.kind === "void") endCall(d, call, { ok: false, text: h.fault?.text ?? h.idle ?? "" });
  });
  advance(d);
}

/** Does what the batch allows next, until something has to be waited for or all has ended. */
export function advance(d: Draft): void {
  const batch = d.s.batch;
  if (!batch || passOn(d)) return;
  for (const { id } of batch.calls) {
    const call = batchOf(d).calls.find((c) => c.id === id) as Call;
    if (call.state === "asking") goOn(d, call);
    else if (!isOpen(call) || call.kind === "terminal" || call.final) continue;
    if (call.state === "running" || call.state === "asking") {
      if (batch.parallel) continue;
      return;
    }
    if (call.kind === "ask") return ask(d, call);
    if (call.kind === "notify") notify(d, call);
    else if (needsApproval(settingsOf(d.s), call)) {
      if (!hold(d, call)) continue;
      return;
    } else if (mustAsk(d, call)) return;
    else {
      begin(d, call);
      if (!batch.parallel) return;
    }
  }
  if (batchOf(d).calls.some((c) => c.state === "running")) return;
  closeBatch(d, []);
}

/** The row whose result a read would only repeat. */
const repeated = (d: Draft, call: Call): number | undefined =>
  settingsOf(d.s).duplicates.enabled ? repeats(d.s, call, batchOf(d).memory) : undefined;

/** The budget of tool calls is used up; a specialist also calls models. What runs is let end first, then it is asked. */
function mustAsk(d: Draft, call: Call): boolean {
  const whats = isDelegate(call) ? (["tools", "tokens", "cost"] as const) : (["tools"] as const);
  if (!whats.some((what) => reached(d, what)) || repeated(d, call) !== undefined) return false;
  return batchOf(d).calls.some((c) => c.state === "running") || overBudget(d, ...whats);
}

function notify(d: Draft, call: Call): void {
  speak(d, "notice", String(call.args.text));
  endCall(d, call, { ok: true, text: '{"success":true}' });
  if (call.done) d.s.done = record(d.s.done, call.done);
}

/** A read that would only repeat what is known as of now becomes a copy; all else runs. */
function begin(d: Draft, call: Call): void {
  const row = repeated(d, call);
  if (row === undefined) return startCall(d, call);
  const copy = { kind: "copy" as const, copyOf: row };
  patchCall(d, call.id, copy);
  startCall(d, { ...call, ...copy });
}

function refuseTerminal(d: Draft, call: Call, reason: NudgeReason, text: string): void {
  d.s.attempts += 1;
  if (reason === "premature_complete") d.s.premature += 1;
  nudge(d, reason, call.id);
  endCall(d, call, { ok: false, text });
  endOpenCalls(d, NOT_RUN.mateFailed, NOT_RUN.mateFailed);
  d.s.batch = null;
  if (Math.max(d.s.attempts, d.s.premature) > harnessFor(d).maxRetriesPerStep) {
    exhaust(d, "retry_exhausted", say(d).retryExhausted(d.s.attempts));
  }
}

/** A reply whose calls only repeat what was there is a lap; too many, and the tools are taken away. */
function lap(d: Draft): void {
  const { enabled, stagnationLaps } = settingsOf(d.s).duplicates;
  if (!enabled) return;
  countLap(d.s, batchOf(d));
  if (d.s.laps >= stagnationLaps) d.s.withdrawn = true;
}

/** All that does not end the phase has ended: what does is taken in, refused, or sent to run or look up its files. */
function closeBatch(d: Draft, files: FileInfo[], looked = false): void {
  const { calls } = batchOf(d);
  const call = calls.find((c) => (c.kind === "terminal" || c.final) && isOpen(c));
  if (!call) {
    lap(d);
    // New work is progress: what was refused before is forgiven.
    if (calls.some((c) => c.kind === "work" && c.ok && !c.stale)) d.s.attempts = 0;
    d.s.batch = null;
    return;
  }
  if (calls.some((c) => c.kind === "work" && c.ok === false)) {
    return refuseTerminal(d, call, "tool_failed", NOT_RUN.mateFailed);
  }
  if (call.final) {
    const held = needsApproval(settingsOf(d.s), call) && hold(d, call);
    if (held) return;
    const open = batchOf(d).calls.find((c) => c.id === call.id && isOpen(c));
    if (!open) return closeBatch(d, []);
    return mustAsk(d, open) ? undefined : startCall(d, open);
  }
  if (policyOf(d.s).workNeeded && call.args.success === true && d.s.work === 0) {
    return refuseTerminal(d, call, "premature_complete", NOT_RUN.noWork);
  }
  const wanted = call.args.attachments;
  const conclusion = looked ? null : conclusionOf(call, d.s, policyOf(d.s));
  const objection = conclusion && objectionTo(d.kit.hooks, () => conclusion);
  if (objection !== null) return refuseTerminal(d, call, "premature_complete", objection);
  if (!looked && Array.isArray(wanted) && wanted.length > 0) return startCall(d, call);
  const name = call.name as TerminalName;
  const parsed = TERMINALS[name].parse(call.args);
  if (!parsed.ok) throw new Error(`an accepted call no longer parses: ${parsed.error}`);
  endCall(d, call, { ok: true, text: '{"success":true}' });
  d.s.batch = null;
  settle(d, name, parsed.value, files);
}

/** A dispatched call has ended. */
export function takeResult(d: Draft, call: Call, result: ToolResult): void {
  if (call.kind === "own") return endOwn(d, call, result);
  if (call.kind === "terminal") {
    patchCall(d, call.id, { state: "judged" });
    return closeBatch(d, result.files ?? [], true);
  }
  if (call.kind === "copy") {
    nudge(d, "duplicate_call", call.id);
    endCall(d, call, { ok: result.ok, text: result.text });
    return advance(d);
  }
  if (result.asks) {
    patchCall(d, call.id, { state: "asking", asks: result.asks, answer: undefined });
    return advance(d);
  }
  const tooOften = noteResult(d.s, call, runningStepId(d.s), result);
  if (result.ok) succeeded(d, call, result, tooOften);
  else failed(d, call, result);
}

/** Results that are gathered for an answer are bounded, one and all together. */
function bounded(d: Draft, text: string): string {
  if (d.s.gathered === null) return text;
  const room = Math.min(LIMITS.evidenceChars, LIMITS.evidenceTotal - d.s.gathered);
  const kept = room > 0 ? headAndTail(text, room) : ENOUGH;
  d.s.gathered += Math.min(text.length, LIMITS.evidenceChars);
  return kept;
}

function succeeded(d: Draft, call: Call, result: ToolResult, tooOften: boolean): void {
  const text = bounded(d, tooOften ? SAME_AGAIN + result.text : result.text);
  endCall(d, call, { ok: true, text, ...(result.content ? { content: result.content } : {}) });
  if (tooOften) {
    patchCall(d, call.id, { stale: true });
    nudge(d, "duplicate_call", call.id);
  }
  d.s.toolErrors = 0;
  if (call.done) d.s.done = record(d.s.done, call.done);
  if (WORK_TOOLKITS.has(call.toolkit)) d.s.work += 1;
  if (!call.final) return advance(d);
  endOpenCalls(d, NOT_RUN.superseded, NOT_RUN.superseded);
  d.s.batch = null;
  answerWith(d, finalText(result.text));
}

/** What a work tool that ends the phase has to say: its `text`, else its `output`, else the raw result. */
function finalText(raw: string): string {
  try {
    const { text, output } = JSON.parse(raw) as { text?: unknown; output?: unknown };
    if (typeof text === "string") return text;
    return typeof output === "string" ? output : raw;
  } catch {
    return raw;
  }
}

function failed(d: Draft, call: Call, result: ToolResult): void {
  const text = toolFailed(call.name, result.text);
  endCall(d, call, { ok: false, text, ...(result.content ? { content: result.content } : {}) });
  d.s.toolErrors += 1;
  nudge(d, "tool_failed", call.id);
  if (!policyOf(d.s).guarded || d.s.toolErrors < harnessFor(d).maxToolErrors) return advance(d);
  endOpenCalls(d, NOT_RUN.budgetCut, NOT_RUN.budget);
  const why = say(d).toolErrors(call.name, d.s.toolErrors, result.text);
  exhaust(d, "tool_errors_exhausted", why);
}

/** A person has answered the question: its call ends with their words, byte for byte. */
export function takeAnswer(d: Draft, text: string): void {
  const call = batchOf(d).calls.find((c) => c.kind === "ask" && isOpen(c));
  if (!call) throw new Error("no question is open");
  endCall(d, call, { ok: true, text, kind: "answer" });
  if (call.done) d.s.done = record(d.s.done, call.done);
  advance(d);
}
