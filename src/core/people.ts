/** What people say to a session: a message that starts a turn, joins the queue or answers; an answer; a yes or no. */

import { asking, decidedFor } from "./asking.ts";
import { advance, takeAnswer } from "./batch.ts";
import { beganAt } from "./began.ts";
import { allot, allowMore } from "./budget.ts";
import { batchOf, endCall, isOpen, patchCall } from "./calls.ts";
import { clean, head, titleFrom } from "./chars.ts";
import { routeIn, takeCommand } from "./command.ts";
import type { Draft } from "./draft.ts";
import * as draft from "./draft.ts";
import type { FileInfo } from "./events.ts";
import { LIMITS } from "./limits.ts";
import { readReplans, settleLoop } from "./loop.ts";
import type { Outcome, Said } from "./outcome.ts";
import { NOT_RUN, resume } from "./prompt.ts";
import { policyOf } from "./roles.ts";
import * as turn from "./turn.ts";

/** False: nothing came of it. */
export function said(d: Draft, o: Said): boolean {
  const route = routeIn(d.s, o.text, o.plain === true);
  if (route.type !== "task") {
    takeCommand(d, o, route);
    return true;
  }
  if (d.s.wait?.kind === "question") {
    return answered(d, { ...o, text: route.text }, o.attachments);
  }
  const busy = d.s.status === "running" || d.s.status === "waiting";
  if (busy && o.delivery === "reject") return false;
  const text = clean(route.text);
  if (!busy) {
    turn.beginTurn(d);
    allot(d, o.left);
    const attachments = o.attachments.map((f) => f.path);
    d.s.turn = {
      message: text,
      attachments,
      settings: o.settings,
      began: beganAt(d.at, d.s.usage, o),
    };
    if (!d.s.titled && d.s.mode !== "agent") {
      // No title event in these modes: clients take the same words from the message.
      d.s.title = titleFrom(text, LIMITS.titleChars);
      d.s.titled = true;
    }
  }
  const { clientId, attachments, delivery } = o;
  const id = draft.hear(d, { text, attachments, clientId, ...(busy ? { delivery } : {}) });
  d.client = { id: o.clientId, seq: d.s.seq, as: o.delivery };
  d.s.preview = head(text.replace(/\s+/g, " ").trim(), 140);
  const paths = o.attachments.map((f) => f.path);
  if (!busy) {
    turn.takeUp(d, text, paths);
    draft.setStatus(d, "running", d.s.phase);
    settleLoop(d);
  } else if (o.delivery === "replan" && d.s.status === "running") turn.replan(d, text, paths);
  else
    d.s.queue = [
      ...d.s.queue,
      { id: o.clientId, message_id: id, text, delivery: o.delivery, attachments: paths },
    ];
  return true;
}

export function answered(
  d: Draft,
  { text, clientId, left }: Pick<Said, "text" | "clientId" | "left">,
  files: FileInfo[],
): boolean {
  if (d.s.wait?.kind !== "question" || !d.s.returnTo) return false;
  allot(d, left);
  const own = clean(text);
  draft.emit(d, "answer", {
    wait_id: d.s.wait.wait_id,
    text: own,
    client_id: clientId,
    ...(files.length > 0 ? { attachments: files } : {}),
  });
  d.client = { id: clientId, seq: d.s.seq, as: "answer" };
  const phase = d.s.returnTo;
  Object.assign(d.s, { wait: null, returnTo: null, restarts: 0 });
  draft.setStatus(d, "running", phase);
  takeAnswer(
    d,
    turn.withFiles(
      own,
      files.map((f) => f.path),
    ),
  );
  turn.freshEyes(d);
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

/** A person has said yes or no: to a call that waits for an approval, or to more of a budget. */
export function decided(
  d: Draft,
  { approved, clientId, left }: Extract<Outcome, { type: "decided" }>,
): boolean {
  const { wait, returnTo } = d.s;
  if (!wait || wait.kind === "question" || !returnTo) return false;
  allot(d, left);
  const specialist = asking(d, wait);
  draft.emit(d, "answer", { wait_id: wait.wait_id, approved, client_id: clientId });
  d.client = { id: clientId, seq: d.s.seq, as: "answer" };
  Object.assign(d.s, { wait: null, returnTo: null, restarts: 0 });
  if (wait.kind === "budget" && !approved && !specialist) {
    turn.stopTurn(d);
    return true;
  }
  draft.setStatus(d, "running", returnTo);
  if (specialist) decidedFor(d, specialist, approved);
  else if (wait.kind === "approval") allowed(d, approved, wait.tool_call_id ?? "");
  else allowMore(d);
  const changed = d.s.queue.some((q) => q.delivery === "replan");
  if (changed && approved && wait.kind === "approval") onlyThis(d, wait.tool_call_id ?? "");
  // A change of plan that came meanwhile leaves nothing of the old one but the call that was just allowed.
  if (wait.kind === "budget" || !approved) readReplans(d);
  advance(d);
  settleLoop(d);
  return true;
}

/** A denied call is no failure of the tool. */
function allowed(d: Draft, approved: boolean, id: string): void {
  const call = d.s.batch?.calls.find((c) => c.id === id);
  if (!call) throw new Error("the call that waits is missing");
  if (!approved) return endCall(d, call, { ok: false, text: NOT_RUN.denied });
  patchCall(d, call.id, { approved: true });
}

/** Of the open calls only this one is still to run. */
function onlyThis(d: Draft, id: string): void {
  for (const other of batchOf(d).calls.filter((c) => isOpen(c) && c.id !== id)) {
    endCall(d, other, { ok: false, text: NOT_RUN.ended });
  }
}
