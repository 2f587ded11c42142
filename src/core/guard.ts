/**
 * Judging a reply before anything of it happens. Pure: the same reply and state give the same verdict.
 *
 * G1  History holds only canonical calls: our ids, clean names, arguments that are an object.
 * G2  In a guarded phase one bad call refuses its whole batch; nothing of it runs, every call is answered.
 * G3  Corrections go on the tool channel; a user-role nudge only where there was no call to answer.
 * G4  A reply that was cut at the output limit runs nothing, however whole its calls look.
 * G5  A batch is judged on the state before it: what a mate would achieve does not count yet.
 */

import type { Done } from "./call.ts";
import { clean, head } from "./chars.ts";
import type { NudgeReason } from "./events.ts";
import { cleanCallName, dedupeCalls, readArguments } from "./hygiene.ts";
import { coerceArguments } from "./hygiene-coerce.ts";
import { LIMITS } from "./limits.ts";
import type { RawCall, Reply } from "./ports.ts";
import * as say from "./prompt.ts";
import type { Policy } from "./roles.ts";
import type { Harness } from "./settings.ts";
import { isTerminal, TERMINAL_FACTS, TERMINALS } from "./terminal.ts";
import type { JsonObject, ToolFacts, ToolSpec } from "./tool.ts";
import { missingSteps, unmet } from "./tracker.ts";

/** A call as it is kept: canonical, with its verdict. `fault` null: it may go on. */
export interface Heard {
  name: string;
  args: JsonObject;
  facts: ToolFacts;
  fault: { reason: NudgeReason; text: string } | null;
  /** It is answered at once with this text and runs nothing, without being a fault. */
  idle?: string;
}

export type Verdict =
  | { type: "accepted"; calls: Heard[] }
  | { type: "final"; text: string; cut: boolean }
  | { type: "refused"; reason: NudgeReason; calls: Heard[]; nudge: string | null };

export interface Judge {
  policy: Policy;
  offered: readonly ToolSpec[];
  harness: Harness;
  /** Successful work calls of this step, and what has succeeded in this turn. */
  work: number;
  done: readonly Done[];
  /** Replies that were refused in a row before this one. */
  attempts: number;
}

const NO_FACTS: ToolFacts = { ...TERMINAL_FACTS, toolkit: "unknown" };

type Fault = { reason: NudgeReason; text: string };
const fault = (reason: NudgeReason, text: string): Fault => ({ reason, text });

function hear(raw: RawCall, judge: Judge): Heard {
  const names = judge.offered.map((t) => t.name);
  const name = cleanCallName(raw.name, [...new Set([...names, ...Object.keys(TERMINALS)])]);
  const tool = judge.offered.find((t) => t.name === name);
  const read = readArguments(raw.arguments);
  const args = read && tool ? coerceArguments(read, tool.parameters) : (read ?? {});
  const found = objection(name, tool, raw, read === null ? null : args, judge);
  return { name, args, facts: tool ?? NO_FACTS, fault: found };
}

/** One of our terminal tools. A client's own tool may bear the same name: its facts tell them apart. */
const ends = (name: string, facts: ToolFacts | undefined): boolean =>
  isTerminal(name) && facts?.toolkit !== "client";

/** What is wrong with a call; the first rule that it breaks. */
function objection(
  name: string,
  tool: ToolSpec | undefined,
  raw: RawCall,
  args: JsonObject | null,
  judge: Judge,
): Fault | null {
  const { policy } = judge;
  const misplaced = ends(name, tool) && !policy.terminal.includes(name);
  if (misplaced) return fault("wrong_phase", say.wrongPhase(name, policy.terminal));
  if (!tool) {
    const names = judge.offered.map((t) => t.name);
    return fault("unknown_tool", say.unknownTool(name, names));
  }
  if (!args) {
    const sent = head(clean(raw.arguments), 300);
    const error = `they must be one JSON object, but were: ${sent}`;
    return fault("invalid_arguments", say.invalidArguments(name, error));
  }
  const parsed = tool.parse(args);
  if (!parsed.ok) return fault("invalid_arguments", say.invalidArguments(name, parsed.error));
  return policy.guarded && policy.tools ? order(name, args, judge) : null;
}

/** Required steps hold back what ends the work; the summary of a plan comes after it, however it went. */
const closes = (name: string, args: JsonObject, policy: Policy): boolean =>
  policy.terminal.includes(name) && name !== "deliver_result" && args.success !== false;

/** Required steps before a terminal tool, prerequisites before any. */
function order(name: string, args: JsonObject, { policy, harness, done }: Judge): Fault | null {
  const missing = closes(name, args, policy) ? missingSteps(done, harness) : [];
  if (missing.length > 0) {
    return fault("required_step_missing", say.requiredStepMissing(name, missing));
  }
  const first = unmet(done, harness, name, args);
  return first ? fault("prerequisite_missing", say.prerequisiteMissing(name, first)) : null;
}

/** Of several terminal calls the last valid one counts; the others are answered and do no harm. */
function oneTerminal(calls: Heard[], policy: Policy): Heard[] {
  const accepts = (c: Heard) => policy.terminal.includes(c.name);
  const winner = calls.findLast((c) => accepts(c) && !c.fault);
  if (!winner) return calls;
  return calls.map((c) =>
    accepts(c) && c !== winner ? { ...c, fault: null, idle: say.NOT_RUN.superseded } : c,
  );
}

/** The same call twice in one reply runs once. */
function oneOfTwins(calls: Heard[]): Heard[] {
  // Its label for people does not make a call another one; to a client's tool it is an argument like any.
  const bare = calls.map(({ name, args, facts }) => {
    const { brief: _, ...rest } = args;
    return { name, args: facts.toolkit === "client" ? args : rest };
  });
  const twins = new Set(dedupeCalls(bare));
  return calls.map((c, i) =>
    twins.has(i) && !c.fault && !c.idle && !ends(c.name, c.facts)
      ? { ...c, idle: say.NOT_RUN.twin }
      : c,
  );
}

/** Success without work is refused at once, unless work stands beside it and is still to come. */
function checkWork(calls: Heard[], { policy, work }: Judge): Heard[] {
  if (!policy.workNeeded || work > 0 || calls.some((c) => !isTerminal(c.name))) return calls;
  return calls.map((c) =>
    c.name === "complete_step" && !c.fault && !c.idle && c.args.success === true
      ? { ...c, fault: fault("premature_complete", say.NOT_RUN.noWork) }
      : c,
  );
}

/** The provider held the reply back, or the model declined: said again, it may say more. */
const WITHHELD = new Set(["content_filter", "refusal"]);
/** A text that opens like a call of some model's own format, and could not be read as one. */
const BROKEN_CALL = /^\s*(?:<tool_call|<function=|<invoke|\[TOOL_CALLS\]|<\|python_tag\|>|<｜tool)/;

function judgeText(reply: Reply, { policy, offered, attempts }: Judge): Verdict {
  const text = clean(reply.text);
  const refused = (reason: NudgeReason, nudge: string): Verdict => ({
    type: "refused",
    reason,
    calls: [],
    nudge,
  });
  if (text.trim() === "") {
    return refused("empty_reply", say.emptyReply(policy.terminal, offered.length > 0));
  }
  const cut = reply.finish === "length";
  if (policy.bareTextFinal) {
    // Nudged once; a model that keeps declining has answered.
    const withheld = policy.guarded && WITHHELD.has(reply.finish ?? "") && attempts === 0;
    if (withheld) return refused("empty_reply", say.WITHHELD);
    const broken = policy.guarded && BROKEN_CALL.test(text);
    return broken ? refused("invalid_arguments", say.BROKEN_CALL) : { type: "final", text, cut };
  }
  return cut
    ? refused("output_limit", say.NOT_RUN.cut)
    : refused("bare_text", say.bareText(policy.terminal));
}

export function judgeReply(reply: Reply, judge: Judge): Verdict {
  // Where nothing may be called, a call is only noise: a history with calls but without tools would be refused.
  if (reply.calls.length === 0 || judge.offered.length === 0) return judgeText(reply, judge);
  const raw = reply.calls.slice(0, LIMITS.replyCalls);
  if (reply.finish === "length" || reply.finish === null || reply.finish === "content_filter") {
    const cut = fault("output_limit", say.NOT_RUN.cut);
    const calls = raw.map((c) => ({ ...hear(c, judge), fault: cut }));
    return { type: "refused", reason: "output_limit", calls, nudge: null };
  }
  const heard = raw.map((c) => hear(c, judge));
  const calls = checkWork(oneOfTwins(oneTerminal(heard, judge.policy)), judge);
  const first = calls.find((c) => c.fault);
  if (!first?.fault || !judge.policy.guarded) return { type: "accepted", calls };
  return { type: "refused", reason: first.fault.reason, calls, nudge: null };
}

/** What a call of a refused reply is told. */
export const refusalOf = (call: Heard): string => call.fault?.text ?? say.NOT_RUN.mateRejected;
