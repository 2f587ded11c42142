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
import { advance, takeResult } from "./batch.ts";
import { allot } from "./budget.ts";
import { endCall, patchCall } from "./calls.ts";
import { clean, titleFrom } from "./chars.ts";
import { loseOwn, moved } from "./command.ts";
import type { Around, Draft } from "./draft.ts";
import * as draft from "./draft.ts";
import { isRotation, waitsForErrand } from "./errand.ts";
import { LIMITS } from "./limits.ts";
import { settleLoop } from "./loop.ts";
import type { Act, Outcome } from "./outcome.ts";
import { answered, decided, said } from "./people.ts";
import type { Change } from "./ports.ts";
import { NOT_RUN } from "./prompt.ts";
import { editQueued, removeQueued } from "./queue.ts";
import { modelFailed, replied } from "./reply.ts";
import { hintOf } from "./request.ts";
import { type Kit, policyOf } from "./roles.ts";
import { prepared, unprepared } from "./servers.ts";
import type { Session } from "./session.ts";
import * as turn from "./turn.ts";

/** How often a profile has shrunk: the same question in another form is another call. */
const learned = (s: Session): number =>
  Object.values(s.profiles).reduce((n, held) => n + held.hints.length, 0);

/** The key of the model call that the session asks for next; an attempt after a failure has its own. */
const askKey = (s: Session) => `ask:${s.era}:${s.asks}:${s.tries}:${s.overflow}:${learned(s)}`;

/** `flying`: the keys (calls: their ids) of what is under way. */
export function next(s: Session, now: number, flying: ReadonlySet<string>): Act {
  const errands = s.errands.filter((errand) => !flying.has(errand.id));
  if (errands.length > 0) return { type: "errands", errands };
  if (s.status !== "running") return { type: "rest" };
  if (waitsForErrand(s)) return { type: "hold" };
  const running = s.batch?.calls.filter((c) => c.state === "running") ?? [];
  if (running.length > 0) {
    const calls = running.filter((c) => !flying.has(c.id));
    return calls.length > 0 ? { type: "run", calls } : { type: "hold" };
  }
  if (s.retry && s.retry.at > now) return { type: "sleep", until: s.retry.at };
  if (unprepared(s)) {
    const key = `prepare:${s.era}`;
    return flying.has(key) ? { type: "hold" } : { type: "prepare", key };
  }
  const key = askKey(s);
  return flying.has(key) ? { type: "hold" } : { type: "ask", key };
}

/** Takes in one outcome. An outcome that no longer matters gives the session back unchanged. */
export function apply(s: Session, outcome: Outcome, kit: Kit, around: Around): Change {
  if ("era" in outcome && (outcome.era !== s.era || s.status !== "running")) {
    return { session: s, events: [], rows: [] };
  }
  const d = draft.draftOf(s, kit, around);
  const changed = take(d, outcome);
  return changed ? draft.finish(d) : { session: s, events: [], rows: [] };
}

/** A saved state can be gone on with. False: it contradicts itself, and would end whoever wakes it. */
export function goesOn(s: Session, kit: Kit, at: number): boolean {
  try {
    const around = { at, attended: false, spending: new Map() };
    const { session } = apply(s, { type: "lost" }, kit, around);
    next(session, at, new Set());
    return true;
  } catch {
    return false;
  }
}

/** False: nothing came of it. */
function take(d: Draft, outcome: Outcome): boolean {
  switch (outcome.type) {
    case "said":
      return said(d, outcome);
    case "answered":
      return answered(d, outcome, []);
    case "decided":
      return decided(d, outcome);
    case "stopped":
      if (d.s.status === "running" || d.s.status === "waiting") turn.stopTurn(d);
      // Stored even when there was nothing to stop: sent again later, it must not stop another turn.
      d.client = { id: outcome.clientId, seq: d.s.seq, as: "stop" };
      return true;
    case "prepared":
      return prepared(d, outcome.listed);
    case "replied":
      replied(d, outcome.reply, outcome.inputChars);
      return true;
    case "model_failed":
      modelFailed(d, outcome.failure, outcome.inputChars);
      return true;
    case "ran":
      return ran(d, outcome);
    case "errand":
      return ended(d, outcome.id, outcome.to);
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
    case "edited":
      return editQueued(d, outcome.id, outcome);
    case "removed":
      return removeQueued(d, outcome.id);
    case "noticed":
      if (d.s.status !== "running") return false;
      draft.emit(d, "notice", { code: outcome.code, text: draft.say(d).sandbox[outcome.code] });
      return true;
    case "allotted":
      if (d.s.status !== "running" || d.s.run !== outcome.run) return false;
      allot(d, Math.max(0, outcome.at + outcome.left - d.s.used.tokens));
      return true;
    case "lost":
      return lost(d);
    case "touched":
      if (d.s.seen.length === 0) return false;
      d.s.seen = [];
      return true;
    case "out_of_memory":
      if (d.s.status !== "running") return false;
      turn.failTurn(d, "out_of_memory", draft.say(d).outOfMemory);
      return true;
    case "unstorable":
      if (d.s.status !== "running") return false;
      if (outcome.why === "full") turn.failTurn(d, "storage_full", draft.say(d).storageFull, true);
      else turn.failTurn(d, "internal", draft.say(d).tooLarge);
      return true;
  }
}

function ran(d: Draft, { callId, result, spent }: Extract<Outcome, { type: "ran" }>): boolean {
  const call = d.s.batch?.calls.find((c) => c.id === callId && c.state === "running");
  if (!call) return false;
  d.s.restarts = 0;
  if (spent) patchCall(d, callId, { spent });
  takeResult(d, { ...call, ...(spent ? { spent } : {}) }, result);
  settleLoop(d);
  return true;
}

/** Of an errand nobody waits for there is nothing to say. */
function ended(d: Draft, id: string, to: string | null): boolean {
  const errand = d.s.errands.find((held) => held.id === id);
  if (!errand) return false;
  const own = waitsForErrand(d.s);
  d.s.errands = d.s.errands.filter((held) => held !== errand);
  if (!isRotation(errand)) return true;
  moved(d, errand, to);
  if (own) settleLoop(d);
  return true;
}

function compacted(d: Draft, o: Extract<Outcome, { type: "compacted" }>): void {
  const { memory, boundary, from } = o;
  d.s.compacted = { ...d.s.compacted, [memory]: boundary };
  d.s.squeeze = d.s.squeeze.filter((m) => m !== memory);
  if (d.s.overflow === "found") d.s.overflow = "met";
  draft.emit(d, "compaction", {
    role: policyOf(d.s).role,
    phase: boundary.phase,
    before_tokens: from,
    after_tokens: boundary.tokens,
  });
  // What is done must not look open to a model whose history was shortened.
  draft.tell(d, memory, "hint", hintOf(d.s, boundary.phase));
}

function patched(d: Draft, o: Extract<Outcome, { type: "patched" }>): void {
  if (o.pinned !== undefined) d.s.pinned = o.pinned;
  if (o.settings) d.s.settings = o.settings;
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
    if (call.recovery !== "report") patchCall(d, call.id, { reopened: true });
    else if (call.kind === "own") loseOwn(d, call);
    else endCall(d, call, { ok: false, text: NOT_RUN.lost });
  }
  advance(d);
  return true;
}
