/**
 * Facts: what is worth knowing of a session at work, for those who run the deployment. Logs, traces and counters are
 * made of them and of nothing else.
 *
 * K1  A fact is told once its commit is durable, in the order in which things happened; a lost outcome tells nothing.
 * K2  It holds ids, names of models and tools, numbers and codes; never what people, models or tools said, nor
 *     arguments, file names or owners.
 * K3  What a call or a turn is called (`key`) and when it began outlive a crash: told by two lives of the object, it
 *     is the same thing.
 */
import { usedSince } from "./began.ts";
import type { ErrorCode, EventData, NudgeReason, Role, Wait } from "./events.ts";
import type { Outcome } from "./outcome.ts";
import type { Change, Clock } from "./ports.ts";
import type { Mode, Session } from "./session.ts";
import type { Usage } from "./usage.ts";

/** Whose it is, and when it was. Times are milliseconds since the epoch. */
interface Where {
  /** Or the completion, for a call of the proxy. */
  session: string;
  /** The session whose call this one works on; "" for one of its own. */
  parent: string;
  turn: number;
  at: number;
  /** `traceparent` of whoever asked for the turn; "" without one. */
  trace: string;
}

/** Something that took time. `key` names it within its session, for good. */
interface Lasted {
  key: string;
  from: number;
}

export interface ModelCallEnded extends Lasted {
  fact: "model_call_ended";
  mode: Mode | "proxy";
  role: Role;
  provider: string;
  model: string;
  /** 1 for the first; more after failures. */
  attempt: number;
  /** null: a reply came. */
  error: ErrorCode | "cancelled" | null;
  /** HTTP status of a refusal. */
  status?: number;
  finish: string | null;
  /** As the provider names it. */
  reply_model: string;
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  /** false: the tokens are estimated. */
  measured: boolean;
  cost_usd: number | null;
}
export interface ToolCallEnded extends Lasted {
  fact: "tool_call_ended";
  mode: Mode;
  call: string;
  tool: string;
  toolkit: string;
  ok: boolean;
}
export interface TurnEnded extends Lasted {
  fact: "turn_ended";
  mode: Mode;
  outcome: EventData<"done">["outcome"];
  error: ErrorCode | null;
  /** Of this turn. */
  usage: Usage;
}
export interface WaitEnded extends Lasted {
  fact: "wait_ended";
  wait: string;
  kind: Wait["kind"];
  /** By a person; else the turn was stopped in the wait. */
  answered: boolean;
}

type What =
  | { fact: "turn_started"; mode: Mode }
  | TurnEnded
  | ModelCallEnded
  | ToolCallEnded
  | { fact: "wait_began"; wait: string; kind: Wait["kind"] }
  | WaitEnded
  /** The object died in the middle of a turn and is back. */
  | { fact: "woken"; restarts: number; reopened: number }
  /** A model call is made again after a pause. */
  | { fact: "retry"; error: ErrorCode; tries: number; wait_ms: number }
  /** A reply or a call was answered with a correction. */
  | { fact: "nudged"; role: Role; reason: NudgeReason; attempt: number }
  | { fact: "noticed"; code: string }
  | { fact: "compacted"; role: Role; phase: number; before_tokens: number; after_tokens: number }
  | { fact: "repaired"; role: Role };

export type Fact = Where & What;

export interface Witness {
  /** A model is about to be asked. */
  asks(s: Session, role: Role, request: { provider: string; model: string }, key: string): void;
  /** An outcome was taken in, and what it changed is durable. */
  kept(before: Session, change: Change, outcome: Outcome): void;
}

/** The model call that is out: its beginning is known to this life of the object alone. */
interface Asked extends Lasted {
  era: number;
  role: Role;
  provider: string;
  model: string;
  attempt: number;
}

const IDLE: Witness = { asks() {}, kept() {} };

export function createWitness(tell: ((fact: Fact) => void) | undefined, clock: Clock): Witness {
  if (!tell) return IDLE;
  let asked: Asked | null = null;
  return {
    asks(s, role, { provider, model }, key) {
      const attempt = s.tries + 1;
      asked = { key, from: clock.now(), era: s.era, role, provider, model, attempt };
    },
    kept(before, change, outcome) {
      const { session, events } = change;
      // An outcome of an older era, or one that changed nothing.
      if (session === before) return;
      const at = clock.now();
      const told: What[] = [];
      if (session.run > before.run) told.push({ fact: "turn_started", mode: session.mode });
      if (outcome.type === "lost") told.push(wokenIn(session));
      if (asked) {
        const ended = callEnded(asked, change, outcome);
        if (ended) asked = null;
        if (ended) told.push(ended);
      }
      told.push(...retried(before, session, outcome, at));
      for (const event of events) told.push(...toldBy(event, session));
      told.push(...waits(before, change));
      told.push(...ends(change, at));
      for (const what of told) share(tell, { ...whereOf(session, at), ...what });
    },
  };
}

/** Whoever listens must not disturb the work. */
function share(tell: (fact: Fact) => void, fact: Fact): void {
  try {
    tell(fact);
  } catch {
    // Nobody is left to tell it to.
  }
}

const whereOf = (s: Session, at: number): Where => ({
  session: s.id,
  parent: s.parent,
  turn: s.run,
  at,
  trace: s.turn?.began?.trace ?? "",
});

const wokenIn = ({ restarts, batch }: Session): What => ({
  fact: "woken",
  restarts,
  reopened: batch?.calls.filter((c) => c.reopened === true && c.state === "running").length ?? 0,
});

const NO_TOKENS = {
  ...{ finish: null, reply_model: "", cost_usd: null, measured: true },
  ...{ input_tokens: 0, output_tokens: 0, cached_tokens: 0 },
};

/** null: it is still out. */
function callEnded(asked: Asked, { session, events }: Change, outcome: Outcome): What | null {
  const { era, ...about } = asked;
  const base = { fact: "model_call_ended" as const, mode: session.mode, ...about, ...NO_TOKENS };
  if (outcome.type === "replied") {
    const usage = events.find((e) => e.event === "usage")?.data;
    const { finish, model } = outcome.reply;
    const { input_tokens = 0, output_tokens = 0, cached_tokens = 0 } = usage ?? {};
    const { measured = true, cost_usd = null } = usage ?? {};
    const spent = { input_tokens, output_tokens, cached_tokens, measured, cost_usd };
    return { ...base, error: null, finish, reply_model: model, ...spent };
  }
  if (outcome.type === "model_failed") {
    const { code, status } = outcome.failure;
    return { ...base, error: code, ...(status === undefined ? {} : { status }) };
  }
  return session.era === era ? null : { ...base, error: "cancelled" };
}

function retried(before: Session, { retry, tries }: Session, o: Outcome, at: number): What[] {
  if (o.type !== "model_failed" || !retry || retry === before.retry) return [];
  return [{ fact: "retry", error: o.failure.code, tries, wait_ms: Math.max(0, retry.at - at) }];
}

function toldBy(event: Change["events"][number], { mode }: Session): What[] {
  switch (event.event) {
    case "tool": {
      const { status, tool_call_id: call, function: tool, name: toolkit, ok } = event.data;
      if (status !== "called") return [];
      const from = Date.parse(event.ts) - (event.data.duration_ms ?? 0);
      return [
        { fact: "tool_call_ended", key: call, mode, call, tool, toolkit, ok: ok === true, from },
      ];
    }
    case "nudge": {
      const { role, reason, attempt } = event.data;
      return [{ fact: "nudged", role, reason, attempt }];
    }
    case "notice":
      return [{ fact: "noticed", code: event.data.code }];
    case "compaction":
      return [{ fact: "compacted", ...event.data }];
    case "repair":
      return [{ fact: "repaired", role: event.data.role }];
    default:
      return [];
  }
}

function waits(before: Session, { session, events }: Change): What[] {
  const [was, is] = [before.wait, session.wait];
  if (was?.wait_id === is?.wait_id) return [];
  const told: What[] = [];
  if (was) {
    const { wait_id: wait, kind } = was;
    const from = Date.parse(was.since);
    const answered = events.some((e) => e.event === "answer" && e.data.wait_id === wait);
    told.push({ fact: "wait_ended", key: wait, wait, kind, from, answered });
  }
  if (is) told.push({ fact: "wait_began", wait: is.wait_id, kind: is.kind });
  return told;
}

function ends({ session, events }: Change, at: number): What[] {
  const done = events.find((e) => e.event === "done");
  if (!done) return [];
  const error = events.find((e) => e.event === "error")?.data.code ?? null;
  // A turn that began under an older program does not know when.
  const { began } = session.turn ?? {};
  const usage = began ? usedSince(began, session.usage) : session.usage;
  const { mode } = session;
  const { outcome, run } = done.data;
  return [
    { fact: "turn_ended", key: `turn ${run}`, mode, outcome, error, from: began?.at ?? at, usage },
  ];
}
