/**
 * The loop: `next` → perform → `keep`. It starts what must happen and takes in what comes back.
 *
 * V1  `keep` applies to the live session, synchronously, at once; nothing is ever applied to a stale copy.
 * V2  After every keep, flights of an older era are cancelled; their outcomes change nothing.
 * V3  The same thing is never in flight twice.
 * V4  If a commit fails, the drive is dead: it starts nothing and keeps nothing until the object is woken anew. If it
 *     failed because it can never be stored, the turn ends instead, as long as that much can be.
 */

import type { Call } from "./call.ts";
import { liveId } from "./draft.ts";
import { apply, goesOn, next } from "./flow.ts";
import { missingResults } from "./history.ts";
import { splitLive } from "./live.ts";
import type { MemoryName } from "./memory.ts";
import type { Outcome } from "./outcome.ts";
import type { Change, Flight, LiveFrame, ModelRequest, Piece, Ports, ToolRun } from "./ports.ts";
import { resultAgain, wholeArguments } from "./recall.ts";
import { aboutOf, buildRequest, shorten, TOO_LONG } from "./request.ts";
import { type Kit, policyOf } from "./roles.ts";
import { serversOf } from "./servers.ts";
import { settingsOf } from "./session.ts";
import { createTracer } from "./trace.ts";

export interface Drive {
  /** Takes in an outcome durably and starts what follows from it. Throws when it could not be stored. */
  keep(outcome: Outcome): Change;
  /** The saved state can be gone on with. False: it contradicts itself, and would end whoever wakes it. */
  sound(): boolean;
  /** The object has come to life: what was in flight is lost, the work goes on. */
  wake(): void;
  /** Goes on after a sleep, or looks whether there is anything to do. */
  kick(): void;
  /** Something is under way. */
  busy(): boolean;
  /** Cancels everything; the drive is not used again. */
  halt(): void;
}

interface Aloft {
  era: number;
  cancel(): void;
  /** The message id under which text has been sent live. */
  spoke: string | null;
}

export function createDrive(ports: Ports, kit: Kit): Drive {
  const { store, clock } = ports;
  const aloft = new Map<string, Aloft>();
  const sound = new Set<MemoryName>();
  const tracer = createTracer(ports.trace);
  let dead = false;
  /** The last error of a commit that was lived with. */
  let spared: unknown = null;
  let wakeAt: number | null = null;

  const forget = (flight: Aloft): void => {
    if (flight.spoke) ports.live({ event: "delta_reset", data: { message_id: flight.spoke } });
  };
  const sweep = (era: number): void => {
    for (const [key, flight] of aloft) {
      if (flight.era === era) continue;
      aloft.delete(key);
      forget(flight);
      flight.cancel();
    }
  };
  const die = (error: unknown): void => {
    if (dead || (spared !== null && error === spared)) return;
    dead = true;
    for (const flight of aloft.values()) flight.cancel();
    aloft.clear();
    ports.broken(error);
  };

  const commit = (outcome: Outcome): Change => {
    const before = store.session();
    const change = apply(before, outcome, kit, clock.now(), ports.attended());
    tracer.heard(outcome);
    if (change.session !== before) store.commit(change);
    tracer.kept(before, change);
    sweep(change.session.era);
    return change;
  };
  /** Ends the turn for an outcome that can never be stored. False: not even that can be. */
  const giveUp = (error: unknown): boolean => {
    const why = store.refusal(error);
    if (!why) return false;
    try {
      commit({ type: "unstorable", why });
      return true;
    } catch {
      return false;
    }
  };
  /** `then`: what to tell about the change before anything follows from it. */
  const keep = (outcome: Outcome, then: (change: Change) => void = () => {}): Change => {
    if (dead) throw new Error("the session is being restarted; try again");
    let change: Change;
    try {
      change = commit(outcome);
    } catch (error) {
      if (giveUp(error)) spared = error;
      else die(error);
      throw error;
    }
    then(change);
    pump();
    return change;
  };
  /** Live text that no stored message stands for (a refused reply, bare thinking) is taken back. */
  const tidyUp = (flight: Aloft, { events }: Change): void => {
    const said = events.some((e) => e.event === "message" && e.data.message_id === flight.spoke);
    if (!said) forget(flight);
  };

  /** Something outside is under way; what comes of it is kept, unless it is void by then. */
  function fly<T>(
    key: string,
    flight: Flight<T>,
    self: Aloft,
    outcomeOf: (result: T) => Outcome,
  ): void {
    aloft.set(key, self);
    const landed = (result: T): void => {
      if (dead || aloft.get(key) !== self) return;
      aloft.delete(key);
      try {
        keep(outcomeOf(result), (change) => tidyUp(self, change));
      } catch (error) {
        die(error);
      }
    };
    flight.outcome.then(landed, die);
  }

  /** Whatever goes wrong here leaves nothing in flight: the object must die and be woken, not sit still. */
  function pump(): void {
    try {
      if (!dead) go();
    } catch (error) {
      die(error);
    }
  }

  function go(): void {
    const s = store.session();
    const act = next(s, clock.now(), new Set(aloft.keys()));
    const due = act.type === "sleep" ? act.until : null;
    if (due !== wakeAt) {
      wakeAt = due;
      ports.wake(due);
      if (due !== null && s.retry) {
        const until = new Date(due).toISOString();
        ports.live({ event: "retry_wait", data: { until, reason: s.retry.reason } });
      }
    }
    if (act.type === "run") for (const call of act.calls) run(call);
    if (act.type === "prepare") prepare(act.key);
    if (act.type === "ask") ask(act.key);
  }

  function prepare(key: string): void {
    const s = store.session();
    const { era } = s;
    const flight = ports.servers.list(serversOf(settingsOf(s)));
    fly(key, flight, { era, cancel: flight.cancel, spoke: null }, (listed) => ({
      type: "prepared",
      era,
      listed,
    }));
  }

  function run(call: Call): void {
    const { era } = store.session();
    const { limits } = settingsOf(store.session());
    if (call.copyOf !== undefined) return repeat(call, call.copyOf);
    const request: ToolRun = {
      id: call.id,
      name: call.name,
      args: call.cut ? wholeArguments(store, call) : call.args,
      reopened: call.reopened === true,
      ...(call.once === undefined ? {} : { idempotencyKey: call.once }),
      timeoutMs: limits.toolTimeoutMs,
      retries: limits.maxToolRetries,
      maxChars: limits.maxToolResultChars,
    };
    tracer.runs(call);
    const live = (text: string) =>
      ports.live({ event: "terminal_update", data: { tool_call_id: call.id, text } });
    const flight = ports.tools.run(request, live);
    fly(call.id, flight, { era, cancel: flight.cancel, spoke: null }, (result) => ({
      type: "ran",
      era,
      callId: call.id,
      result,
    }));
  }

  /** A read that was made before. */
  function repeat(call: Call, row: number): void {
    const { era } = store.session();
    const self: Aloft = { era, cancel: () => {}, spoke: null };
    const text = resultAgain(store, row);
    const flight = { outcome: Promise.resolve({ ok: true, text }), cancel: self.cancel };
    fly(call.id, flight, self, (result) => ({ type: "ran", era, callId: call.id, result }));
  }

  /** A memory is looked over once in a life of the object: what it lacks is put in. True: that was committed. */
  function mend(memory: MemoryName): boolean {
    if (sound.has(memory)) return false;
    sound.add(memory);
    const rows = missingResults(store.rows(memory));
    if (rows.length > 0) keep({ type: "repaired", memory, rows });
    return rows.length > 0;
  }

  /** True: the request was too large, and what makes it smaller (or says that nothing does) was committed. */
  function shrink(memory: MemoryName, request: ModelRequest): boolean {
    const s = store.session();
    const fit = shorten(s, kit, store.rows(memory), request);
    if (fit) keep({ type: "compacted", memory, ...fit });
    else if (s.overflow === "found")
      keep({
        type: "model_failed",
        era: s.era,
        failure: TOO_LONG,
        inputChars: request.body.length,
      });
    return fit !== null || s.overflow === "found";
  }

  function ask(key: string): void {
    const policy = policyOf(store.session());
    if (!store.fits(policy.memory)) return void keep({ type: "out_of_memory" });
    if (mend(policy.memory)) return;
    const s = store.session();
    const request = { ...buildRequest(s, kit, store.rows(policy.memory)), about: aboutOf(s) };
    if (shrink(policy.memory, request)) return;
    const self: Aloft = { era: s.era, cancel: () => {}, spoke: null };
    const id = liveId(s);
    // In the air before the call: a model may speak at once.
    aloft.set(key, self);
    tracer.asks(s, policy.role, request);
    const split = splitLive();
    const flight = ports.model.call(request, (piece) => {
      const { text, thinking } = split(piece.text ?? "");
      const heard = { text, thinking: (piece.thinking ?? "") + thinking };
      if (aloft.get(key) === self && hear(heard, id, policy.liveText)) self.spoke = id;
    });
    self.cancel = flight.cancel;
    fly(key, flight, self, (result) => {
      const call = { era: s.era, inputChars: request.body.length };
      if (result.type === "reply") return { type: "replied", ...call, reply: result.reply };
      return { type: "model_failed", ...call, failure: result.failure };
    });
  }

  /** Sends live text on; true when something was sent. */
  function hear(piece: Piece, id: string, liveText: boolean): boolean {
    const frames: LiveFrame[] = [];
    if (piece.thinking) {
      frames.push({ event: "thinking_delta", data: { message_id: id, text: piece.thinking } });
    }
    if (piece.text && liveText) {
      frames.push({ event: "message_delta", data: { message_id: id, text: piece.text } });
    }
    for (const frame of frames) ports.live(frame);
    return frames.length > 0;
  }

  return {
    keep: (outcome) => keep(outcome),
    sound: () => goesOn(store.session(), kit, clock.now()),
    wake() {
      if (store.session().status !== "running") return;
      const id = liveId(store.session());
      ports.live({ event: "delta_reset", data: { message_id: id } });
      keep({ type: "lost" });
    },
    kick: pump,
    busy: () => aloft.size > 0,
    halt() {
      dead = true;
      for (const flight of aloft.values()) flight.cancel();
      aloft.clear();
    },
  };
}
