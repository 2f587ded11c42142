/**
 * A guarded completion: one request of a client of the proxy, from its body to a reply that may be handed on. Pure:
 * the caller sends what `nextRequest` gives and hands what came of it to `take`, until that says `done` or `failed`.
 *
 * C1  Nothing of a reply reaches the client before the whole of it has passed the same judge as in the loop.
 * C2  The hidden tool never shows: its accepted call is the answer, and beside real calls it is dropped.
 * C3  Calls are handed on canonical (own ids, offered names, arguments that fit); none is ever run here.
 * C4  Every request ends: refused replies, failed tries and requests together are counted.
 */
import { replyMessage } from "./accept.ts";
import { clean } from "./chars.ts";
import {
  type Ask,
  bodyOf,
  HIDDEN,
  less,
  offeredIn,
  type Plan,
  planOf,
  type Shape,
  shapeOf,
} from "./complete-request.ts";
import type { NudgeReason } from "./events.ts";
import { type Heard, judgeReply, refusalOf, type Verdict } from "./guard.ts";
import { cleanCallName } from "./hygiene.ts";
import { LIMITS } from "./limits.ts";
import type { ModelFailure, ModelOutcome, RawCall, Reply } from "./ports.ts";
import { shapeMessage } from "./profile.ts";
import { rescue } from "./rescue.ts";
import { stripThinking } from "./rescue-think.ts";
import type { JsonObject, ToolSpec } from "./tool.ts";

export type { Ask };

export interface Run {
  readonly ask: Ask;
  readonly plan: Plan;
  readonly shape: Shape;
  /** Refused replies with their corrections, after the client's messages. */
  readonly added: readonly JsonObject[];
  /** Refused replies, failed tries in a row, requests in all. */
  readonly refused: number;
  readonly tries: number;
  readonly asked: number;
}

/** What the client gets. */
export interface Answer {
  text: string | null;
  refusal: string | null;
  thinking: string;
  calls: RawCall[];
  finish: string;
  /** As the provider named it. */
  model: string;
  /** Of the last request alone; null: the provider did not say. */
  usage: Reply["usage"];
}

/** `retry_exhausted`, or how the last request failed. */
export type Failure = Omit<ModelFailure, "retryable" | "hint">;

export type Next =
  | { type: "again"; run: Run; waitMs: number }
  | { type: "done"; answer: Answer }
  | { type: "failed"; failure: Failure };

/** Requests in all, unless the client itself allows more retries. */
const REQUESTS = 9;
/** Refused replies that a client may ask for. */
const MOST_RETRIES = 20;
/** A client waits for its answer: a longer wait is its own to decide. */
const LONGEST_WAIT_MS = 20_000;

export const begin = (ask: Ask): Run => ({
  ask,
  plan: planOf(ask),
  shape: shapeOf(ask),
  added: [],
  refused: 0,
  tries: 0,
  asked: 0,
});

/** Nothing is guarded: the reply may be handed on while it streams. */
export const isOpen = (run: Run): boolean => run.plan.policy === null;

export const nextRequest = ({ ask, plan, shape, added }: Run): string =>
  bodyOf(ask, plan, shape, added);

/** `begun`: some of the reply has been handed on already, so it cannot be asked for again. */
export function take(before: Run, outcome: ModelOutcome, begun = false): Next {
  const run = { ...before, asked: before.asked + 1 };
  if (outcome.type === "failed") return failed(run, outcome.failure, begun);
  return run.plan.policy === null ? straight(run, outcome.reply) : judged(run, outcome.reply);
}

// ---------------------------------------------------------------- replies

const FINISHES: ReadonlySet<string | null> = new Set(["stop", "length", "content_filter"]);

function answerOf(reply: Reply, rest: Partial<Answer>): Answer {
  const finish = FINISHES.has(reply.finish) ? (reply.finish as string) : "stop";
  const { thinking, model, usage } = reply;
  return { text: null, refusal: null, thinking, calls: [], finish, model, usage, ...rest };
}

/** The words of a reply that has no calls. */
const spoken = (reply: Reply, text: string): Partial<Answer> =>
  reply.finish === "refusal" ? { refusal: text } : { text };

/** As it came; a call needs an id to be answered by. */
function straight({ ask }: Run, reply: Reply): Next {
  if (reply.calls.length === 0)
    return { type: "done", answer: answerOf(reply, spoken(reply, reply.text)) };
  const text = reply.text === "" ? null : reply.text;
  const calls = reply.calls.map((call) => ({ ...call, id: call.id || ask.newId() }));
  const finish = reply.finish === "length" ? "length" : "tool_calls";
  return { type: "done", answer: answerOf(reply, { text, calls, finish }) };
}

/** Thinking stands apart from what was said, a call written as text is a call, and the hidden tool gives way. */
function understood(raw: Reply, offered: readonly ToolSpec[], rescues: boolean): Reply {
  const plain = { ...raw, text: stripThinking(raw.text).text };
  const found = rescues ? rescue(plain, offered) : null;
  const reply = found ? { ...plain, ...found, finish: "tool_calls" } : plain;
  const names = offered.map((tool) => tool.name);
  const real = reply.calls.filter((call) => cleanCallName(call.name, names) !== HIDDEN);
  return real.length > 0 ? { ...reply, calls: real } : reply;
}

function judged(run: Run, raw: Reply): Next {
  const { plan, shape } = run;
  const { policy, harness, done } = plan;
  if (policy === null) return straight(run, raw);
  const offered = offeredIn(plan, shape);
  const reply = understood(raw, offered, harness.rescueEnabled);
  const verdict = judgeReply(reply, {
    policy,
    offered,
    harness,
    work: 0,
    done,
    // A model that declines has answered: the client is to know.
    attempts: 1,
  });
  if (verdict.type === "refused") return refuse(run, reply, verdict);
  if (verdict.type === "final") {
    const finish = verdict.cut ? { finish: "length" } : {};
    return { type: "done", answer: answerOf(reply, { ...spoken(reply, verdict.text), ...finish }) };
  }
  return { type: "done", answer: accepted(run, reply, verdict.calls, offered) };
}

function accepted(run: Run, reply: Reply, heard: Heard[], offered: readonly ToolSpec[]): Answer {
  const live = heard.filter((call) => !call.idle);
  const real = live.filter((call) => call.facts.toolkit === "client");
  const hidden = live.find((call) => call.facts.toolkit !== "client");
  if (real.length === 0 && hidden) {
    return answerOf(reply, { text: String(hidden.args.text), finish: "stop" });
  }
  const calls = real.map(({ name, args }) => {
    const parsed = offered.find((tool) => tool.name === name)?.parse(args);
    const fitting = parsed?.ok ? parsed.value : args;
    return { id: run.ask.newId(), name, arguments: JSON.stringify(fitting) };
  });
  const text = clean(reply.text).trim() === "" ? null : clean(reply.text);
  return answerOf(reply, { text, calls, finish: "tool_calls" });
}

type Refused = Extract<Verdict, { type: "refused" }>;

/** The reply stays in sight with every call answered, and the model is told why. */
function refuse(run: Run, reply: Reply, verdict: Refused): Next {
  const { calls, nudge, reason } = verdict;
  const refused = run.refused + 1;
  const retries = Math.min(run.plan.harness.maxRetriesPerStep, MOST_RETRIES);
  if (refused > retries || run.asked >= Math.max(REQUESTS, retries + 1)) {
    return { type: "failed", failure: exhausted(refused, reason, calls) };
  }
  const ids = calls.map(() => run.ask.newId());
  const spoke = calls.length > 0 || reply.text.trim() !== "";
  const said = shapeMessage(replyMessage(reply, ids, calls), run.shape.profile);
  const added = [
    ...run.added,
    ...(spoke ? [JSON.parse(said) as JsonObject] : []),
    ...calls.map((call, i) => ({ role: "tool", tool_call_id: ids[i], content: refusalOf(call) })),
    ...(nudge === null ? [] : [{ role: "user", content: nudge }]),
  ];
  return { type: "again", run: { ...run, added, refused, tries: 0 }, waitMs: 0 };
}

function exhausted(refused: number, reason: NudgeReason, calls: readonly Heard[]): Failure {
  const fault = calls.find((call) => call.fault)?.fault?.text;
  const why = fault ? `${reason}: ${fault}` : reason;
  const message = `The model gave no reply that could be used in ${refused} ${refused === 1 ? "try" : "tries"}; the last one was refused (${why}). Try again, or use a stronger model.`;
  return { code: "retry_exhausted", message };
}

// ---------------------------------------------------------------- failures

/** Milliseconds before the nth retry: 0.5, 1, 2, 4 s. */
const backoff = (tries: number): number => 500 * 2 ** (tries - 1);

function failed(run: Run, { retryable, hint, ...failure }: ModelFailure, begun: boolean): Next {
  const over: Next = { type: "failed", failure };
  if (begun || run.asked >= REQUESTS) return over;
  const shape = hint ? less(run.shape, hint, run.ask) : null;
  if (shape) return { type: "again", run: { ...run, shape }, waitMs: 0 };
  const tries = run.tries + 1;
  const asked = failure.retryAfterMs ?? 0;
  if (!retryable || tries >= LIMITS.modelTries || asked > LONGEST_WAIT_MS) return over;
  return { type: "again", run: { ...run, tries }, waitMs: Math.max(asked, backoff(tries)) };
}
