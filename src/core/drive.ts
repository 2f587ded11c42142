/**
 * The loop: `next` → perform → `keep`. It starts what must happen and takes in what comes back.
 *
 * V1  `keep` applies to the live session, synchronously, at once; nothing is ever applied to a stale copy.
 * V2  After every keep, flights of an older era are cancelled; their outcomes change nothing.
 * V3  The same thing is never in flight twice.
 * V4  If a commit fails, the drive is dead: it starts nothing and keeps nothing until the object is woken anew. If it
 *     failed because it can never be stored, the turn ends instead, as long as that much can be.
 */

import { type Aloft, spendingOf } from "./aloft.ts";
import type { Call } from "./call.ts";
import { liveId } from "./draft.ts";
import type { Errand } from "./errand.ts";
import { apply, goesOn, next } from "./flow.ts";
import { missingResults } from "./history.ts";
import { framesOf, splitLive } from "./live.ts";
import type { MemoryName } from "./memory.ts";
import type { Outcome } from "./outcome.ts";
import type { Change, Flight, ModelRequest, Ports } from "./ports.ts";
import { repeatedResult, toolRunOf } from "./recall.ts";
import { aboutOf, buildRequest, shorten, TOO_LONG } from "./request.ts";
import { type Kit, policyOf } from "./roles.ts";
import { serversOf } from "./servers.ts";
import { settingsOf } from "./session.ts";
import { createWatch } from "./watch.ts";

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

export function createDrive(ports: Ports, kit: Kit): Drive {
  const { store, clock } = ports;
  const aloft = new Map<string, Aloft>();
  const sound = new Set<MemoryName>();
  const watch = createWatch(ports);
  let dead = false;
  /** The last error of a commit that was lived with. */
  let spared: unknown = null;
  let wakeAt: number | null = null;

  const forget = (flight: Aloft): void => {
    if (flight.spoke) ports.live({ event: "delta_reset", data: { message_id: flight.spoke } });
  };
  const sweep = (era: number): void => {
    for (const [key, flight] of aloft) {
      if (flight.era === null || flight.era === era) continue;
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
    const around = { at: clock.now(), attended: ports.attended(), spending: spendingOf(aloft) };
    const change = apply(before, outcome, kit, around);
    watch.heard(outcome);
    if (change.session !== before) store.commit(change);
    watch.kept(before, change, outcome);
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
    if (act.type === "errands") {
      for (const errand of act.errands) send(errand);
      return go();
    }
    if (act.type === "run") for (const call of act.calls) run(call);
    if (act.type === "prepare") prepare(act.key);
    if (act.type === "ask") ask(act.key);
  }

  function send(errand: Errand): void {
    const self: Aloft = { era: null, cancel: () => {}, spoke: null };
    const { id } = errand;
    fly(id, { outcome: ports.errands.run(errand), cancel: self.cancel }, self, ({ to }) => ({
      type: "errand",
      id,
      to,
    }));
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
    if (call.copyOf !== undefined) return repeat(call, call.copyOf);
    watch.runs(call);
    const live = (text: string) =>
      ports.live({ event: "terminal_update", data: { tool_call_id: call.id, text } });
    const flight = ports.tools.run(toolRunOf(store, call), live);
    const { cancel, spent } = flight;
    fly(call.id, flight, { era, cancel, spent, spoke: null }, (result) => ({
      type: "ran",
      era,
      callId: call.id,
      result,
      spent: spent?.(),
    }));
  }

  /** A read that was made before: its result stands in the memory. */
  function repeat(call: Call, id: number): void {
    const { era } = store.session();
    const self: Aloft = { era, cancel: () => {}, spoke: null };
    const outcome = Promise.resolve({ ok: true, text: repeatedResult(store, id) });
    fly(call.id, { outcome, cancel: self.cancel }, self, (result) => ({
      type: "ran",
      era,
      callId: call.id,
      result,
    }));
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
    if (!store.fits()) return void keep({ type: "out_of_memory" });
    if (mend(policy.memory)) return;
    const s = store.session();
    const request = { ...buildRequest(s, kit, store.rows(policy.memory)), about: aboutOf(s) };
    if (shrink(policy.memory, request)) return;
    const self: Aloft = { era: s.era, cancel: () => {}, spoke: null };
    const id = liveId(s);
    // In the air before the call: a model may speak at once.
    aloft.set(key, self);
    const split = splitLive();
    const flight = ports.model.call(watch.asks(s, policy.role, request, key), (piece) => {
      const { text, thinking } = split(piece.text ?? "");
      const heard = { text, thinking: (piece.thinking ?? "") + thinking };
      if (aloft.get(key) !== self) return;
      for (const frame of framesOf(heard, id, policy.liveText)) {
        ports.live(frame);
        self.spoke = id;
      }
    });
    self.cancel = flight.cancel;
    fly(key, flight, self, (result) => {
      const call = { era: s.era, inputChars: request.body.length };
      if (result.type === "reply") return { type: "replied", ...call, reply: result.reply };
      return { type: "model_failed", ...call, failure: result.failure };
    });
  }

  return {
    keep: (outcome) => keep(outcome),
    sound: () => goesOn(store.session(), kit, clock.now()),
    wake() {
      // At rest there may still be an errand.
      if (store.session().status !== "running") return pump();
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
