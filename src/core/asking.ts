/**
 * What a call asks of a person: words for a question, a yes or no before it runs, a yes or no for a specialist that
 * waits in its own session.
 *
 * P1  A question is asked once everything before it has ended; everything after it is not run.
 * P2  What a specialist asks is passed on once nothing runs beside its call. Until then, and until the answer has gone
 *     down, its call is `asking`: data, nothing under way.
 * P3  Where nobody could answer and the settings do not want to wait, the answer is no.
 */
import type { Call } from "./call.ts";
import { batchOf, endCall, isOpen, patchCall } from "./calls.ts";
import { clean, head } from "./chars.ts";
import { type Draft, openWait, say, speak } from "./draft.ts";
import type { Wait } from "./events.ts";
import { LIMITS } from "./limits.ts";
import { NOT_RUN } from "./prompt.ts";
import { settingsOf } from "./session.ts";

const unattended = (d: Draft): boolean =>
  settingsOf(d.s).tools.unattended === "block" && !d.attended;

/** Waits for a person to allow a call, or answers it at once when nobody could. False: it is answered. */
export function hold(d: Draft, call: Call): boolean {
  if (unattended(d)) {
    endCall(d, call, { ok: false, text: NOT_RUN.unattended });
    return false;
  }
  openWait(d, {
    kind: "approval",
    text: say(d).approve(call.name),
    tool_call_id: call.id,
    tool: { function: call.name, args: call.args },
  });
  return true;
}

/** P1. */
export function ask(d: Draft, call: Call): void {
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
  openWait(d, {
    kind: "question",
    text,
    ...(options?.length ? { options } : {}),
    tool_call_id: call.id,
  });
}

const unanswered = (d: Draft): Call[] =>
  batchOf(d).calls.filter((c) => c.state === "asking" && !c.answer);

/** P2. True: a person has the word, or will have it when what runs has ended; nothing else begins. */
export function passOn(d: Draft): boolean {
  const waiting = unanswered(d);
  if (waiting.length === 0) return false;
  if (batchOf(d).calls.some((c) => c.state === "running")) return true;
  for (const call of waiting) {
    const { asks } = call;
    if (!asks) throw new Error("a call asks for nothing");
    if (asks.kind === "approval" && unattended(d)) decidedFor(d, call, false);
    else return openFor(d, call, asks);
  }
  return false;
}

function openFor(d: Draft, call: Call, asks: NonNullable<Call["asks"]>): true {
  openWait(d, {
    kind: asks.kind,
    text: say(d).specialist(asks.who, head(clean(asks.text), LIMITS.waitChars)),
    tool_call_id: call.id,
    ...(asks.tool ? { tool: asks.tool } : {}),
    specialist: asks.who,
  });
  return true;
}

/** The call on whose behalf a specialist's wait was passed on, if it was one. */
export const asking = (d: Draft, wait: Wait): Call | undefined =>
  d.s.batch?.calls.find((c) => c.id === wait.tool_call_id && c.state === "asking" && !c.answer);

/** A person has decided. The call goes on with that once nothing else is asked. */
export function decidedFor(d: Draft, call: Call, approved: boolean): void {
  if (call.asks) patchCall(d, call.id, { answer: { id: call.asks.id, approved } });
}

/** The answer goes down, and the specialist's work on. It was shown as begun, and is counted, already. */
export const goOn = (d: Draft, call: Call): void => patchCall(d, call.id, { state: "running" });
