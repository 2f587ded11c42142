/**
 * The calls of one accepted reply, from first to last.
 *
 * B1  Calls run in order, or all at once when every work call among them is parallel-safe.
 * B2  A question is a barrier: what stands before it runs, what stands after it is answered "not run".
 * B3  A terminal call is looked at last, when its mates have ended; a failed mate refuses it.
 * B4  The reply and the intent to run its first calls are one commit.
 */
import { batchOf, endCall, endOpenCalls, isOpen, patchCall, startCall } from "./calls.ts";
import { clean, head } from "./chars.ts";
import {
  type Draft,
  emit,
  liveId,
  newId,
  nudge,
  remember,
  say,
  setStatus,
  shownArgs,
  speak,
} from "./draft.ts";
import type { FileInfo, NudgeReason } from "./events.ts";
import type { Heard } from "./guard.ts";
import { LIMITS } from "./limits.ts";
import { settle } from "./plan.ts";
import type { Reply } from "./ports.ts";
import { NOT_RUN, toolFailed } from "./prompt.ts";
import { settingsOf } from "./request.ts";
import { policyOf } from "./roles.ts";
import type { Call } from "./session.ts";
import { isTerminal, TERMINALS } from "./terminal.ts";
import { type ToolResult, WORK_TOOLKITS } from "./tool.ts";
import { exhaust } from "./turn.ts";

/** The reply as it is kept: canonical calls, arguments as an object. */
export function replyMessage(reply: Reply, ids: string[], calls: Heard[]): string {
  const text = clean(reply.text);
  return JSON.stringify({
    role: "assistant",
    content: text.trim() === "" ? null : text,
    ...(calls.length > 0
      ? {
          tool_calls: calls.map((c, i) => ({
            id: ids[i],
            type: "function",
            function: { name: c.name, arguments: JSON.stringify(c.args) },
          })),
        }
      : {}),
  });
}

function kindOf(heard: Heard): Call["kind"] {
  if (heard.fault || heard.idle) return "void";
  if (isTerminal(heard.name)) return "terminal";
  if (heard.name === "message_ask_user") return "ask";
  return heard.name === "message_notify_user" ? "notify" : "work";
}

function callOf(heard: Heard, id: string, index: number, row: number, share: number): Call {
  const kind = kindOf(heard);
  const { brief, ...rest } = heard.args;
  // What the flow takes in itself stays whole; a reply is bounded, and such calls are few.
  const shown = kind === "work" ? shownArgs(rest, share) : { args: heard.args, cut: false };
  return {
    id,
    row: row + 1 + index,
    index,
    name: heard.name,
    toolkit: heard.facts.toolkit,
    kind,
    args: shown.args,
    ...(shown.cut ? { cut: true as const } : {}),
    ...(kind === "work" && typeof brief === "string" && brief ? { brief } : {}),
    state: "judged",
    parallelSafe: heard.facts.parallelSafe,
    effect: heard.facts.effect,
    volatile: heard.facts.volatile,
    recovery: heard.facts.recovery,
  };
}

/** An accepted reply with calls becomes the open batch. */
export function openBatch(d: Draft, reply: Reply, heard: Heard[]): void {
  const { memory } = policyOf(d.s);
  if (reply.text.trim() !== "") speak(d, "notice", reply.text.trim(), { id: liveId(d.s) });
  const ids = heard.map(() => newId(d, "c"));
  const row = remember(d, memory, "reply", replyMessage(reply, ids, heard), heard.length);
  const calls = heard.map((h, i) => callOf(h, ids[i] as string, i, row, heard.length));
  const parallel = calls.every((c) => c.kind !== "work" || c.parallelSafe);
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
  if (!batch) return;
  for (const { id } of batch.calls) {
    const call = batchOf(d).calls.find((c) => c.id === id) as Call;
    if (!isOpen(call) || call.kind === "terminal") continue;
    if (call.state === "running") {
      if (batch.parallel) continue;
      return;
    }
    if (call.kind === "ask") return ask(d, call);
    if (call.kind === "notify") notify(d, call);
    else {
      startCall(d, call);
      if (!batch.parallel) return;
    }
  }
  if (batchOf(d).calls.some((c) => c.state === "running")) return;
  closeBatch(d, []);
}

function notify(d: Draft, call: Call): void {
  speak(d, "notice", String(call.args.text));
  endCall(d, call, { ok: true, text: '{"success":true}' });
}

/** Opens the wait once everything before the question has ended; everything after it is not run. */
function ask(d: Draft, call: Call): void {
  if (batchOf(d).calls.some((c) => c.state === "running")) return;
  for (const other of batchOf(d).calls.filter((c) => isOpen(c) && c.id !== call.id)) {
    endCall(d, other, { ok: false, text: NOT_RUN.asking });
  }
  const whole = clean(String(call.args.text));
  const text = head(whole, LIMITS.waitChars);
  const options = (call.args.options as string[] | undefined)
    ?.slice(0, 20)
    .map((o) => head(clean(o), LIMITS.optionChars));
  speak(d, "question", whole);
  d.s.wait = {
    wait_id: newId(d, "w"),
    kind: "question",
    text,
    ...(options?.length ? { options } : {}),
    tool_call_id: call.id,
    since: new Date(d.at).toISOString(),
  };
  d.s.returnTo = d.s.phase;
  emit(d, "wait", d.s.wait);
  setStatus(d, "waiting", "waiting");
}

function refuseTerminal(d: Draft, call: Call, reason: NudgeReason, text: string): void {
  d.s.attempts += 1;
  nudge(d, reason, call.id);
  endCall(d, call, { ok: false, text });
  d.s.batch = null;
  const { maxRetriesPerStep } = settingsOf(d.s).harness;
  if (d.s.attempts > maxRetriesPerStep) {
    exhaust(d, "retry_exhausted", say(d).retryExhausted(d.s.attempts));
  }
}

/** All that is not terminal has ended: the terminal call is taken in, refused, or sent to look up its files. */
function closeBatch(d: Draft, files: FileInfo[], looked = false): void {
  const { calls } = batchOf(d);
  const call = calls.find((c) => c.kind === "terminal" && isOpen(c));
  if (!call || !isTerminal(call.name)) {
    // Progress without a terminal call: what was refused before is forgiven.
    d.s.attempts = 0;
    d.s.batch = null;
    return;
  }
  if (calls.some((c) => c.kind === "work" && c.ok === false)) {
    return refuseTerminal(d, call, "tool_failed", NOT_RUN.mateFailed);
  }
  if (policyOf(d.s).workNeeded && call.args.success === true && d.s.work === 0) {
    return refuseTerminal(d, call, "premature_complete", NOT_RUN.noWork);
  }
  const wanted = call.args.attachments;
  if (!looked && Array.isArray(wanted) && wanted.length > 0) return startCall(d, call);
  const parsed = TERMINALS[call.name].parse(call.args);
  if (!parsed.ok) throw new Error(`an accepted call no longer parses: ${parsed.error}`);
  endCall(d, call, { ok: true, text: '{"success":true}' });
  d.s.batch = null;
  settle(d, call.name, parsed.value, files);
}

/** A dispatched call has ended. */
export function takeResult(d: Draft, call: Call, result: ToolResult): void {
  if (call.kind === "terminal") {
    patchCall(d, call.id, { state: "judged" });
    return closeBatch(d, result.files ?? [], true);
  }
  const text = result.ok ? result.text : toolFailed(call.name, result.text);
  endCall(d, call, { ok: result.ok, text, ...(result.content ? { content: result.content } : {}) });
  if (result.ok) {
    d.s.toolErrors = 0;
    if (WORK_TOOLKITS.has(call.toolkit)) d.s.work += 1;
    return advance(d);
  }
  d.s.toolErrors += 1;
  nudge(d, "tool_failed", call.id);
  const { maxToolErrors } = settingsOf(d.s).harness;
  if (policyOf(d.s).guarded && d.s.toolErrors >= maxToolErrors) {
    endOpenCalls(d, NOT_RUN.budgetCut, NOT_RUN.budget);
    return exhaust(
      d,
      "tool_errors_exhausted",
      say(d).toolErrors(call.name, d.s.toolErrors, result.text),
    );
  }
  advance(d);
}

/** A person has answered the question: its call ends with their words, byte for byte. */
export function takeAnswer(d: Draft, text: string): void {
  const call = batchOf(d).calls.find((c) => c.kind === "ask" && isOpen(c));
  if (!call) throw new Error("no question is open");
  endCall(d, call, { ok: true, text, kind: "answer" });
  advance(d);
}
