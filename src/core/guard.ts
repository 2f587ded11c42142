/**
 * Judging a reply before anything of it happens. Pure: the same reply and state give the same verdict.
 *
 * G1  History holds only canonical calls: our ids, clean names, arguments that are an object.
 * G2  In a guarded phase one bad call refuses its whole batch; nothing of it runs, every call is answered.
 * G3  Corrections go on the tool channel; a user-role nudge only where there was no call to answer.
 * G4  A reply that was cut at the output limit runs nothing, however whole its calls look.
 */
import { clean, head } from "./chars.ts";
import type { NudgeReason } from "./events.ts";
import { LIMITS } from "./limits.ts";
import type { RawCall, Reply } from "./ports.ts";
import * as say from "./prompt.ts";
import type { Policy } from "./roles.ts";
import { isTerminal, TERMINAL_FACTS, type TerminalName } from "./terminal.ts";
import type { JsonObject, ToolFacts, ToolSpec } from "./tool.ts";

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
  /** Successful work calls of this step so far. */
  work: number;
}

const NO_FACTS: ToolFacts = { ...TERMINAL_FACTS, toolkit: "unknown" };
const NAME = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

/** A name that no provider refuses in a history. */
const cleanName = (raw: string): string => {
  const name = raw.trim();
  if (NAME.test(name)) return name;
  const mended = name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 60);
  return NAME.test(mended) ? mended : `_${mended}`;
};

function readArguments(raw: string): JsonObject | null {
  if (raw.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(raw, (key, v) => {
      if (key === "__proto__") return undefined;
      return typeof v === "string" ? clean(v) : v;
    });
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as JsonObject) : null;
  } catch {
    return null;
  }
}

function hear(raw: RawCall, judge: Judge): Heard {
  const name = cleanName(raw.name);
  const args = readArguments(raw.arguments);
  const tool = judge.offered.find((t) => t.name === name);
  const heard = { name, args: args ?? {}, facts: tool ?? NO_FACTS, fault: null };
  const faulty = (reason: NudgeReason, text: string): Heard => ({
    ...heard,
    fault: { reason, text },
  });
  if (!tool && isTerminal(name))
    return faulty("wrong_phase", say.wrongPhase(name, judge.policy.terminal));
  if (!tool) {
    const names = judge.offered.map((t) => t.name);
    return faulty("unknown_tool", say.unknownTool(name, names));
  }
  if (isTerminal(name) && !judge.policy.terminal.includes(name)) {
    return faulty("wrong_phase", say.wrongPhase(name, judge.policy.terminal));
  }
  if (!args) {
    const sent = head(clean(raw.arguments), 300);
    return faulty(
      "invalid_arguments",
      say.invalidArguments(name, `they must be one JSON object, but were: ${sent}`),
    );
  }
  const parsed = tool.parse(args);
  return parsed.ok ? heard : faulty("invalid_arguments", say.invalidArguments(name, parsed.error));
}

/** Of several terminal calls the last valid one counts; the others are answered and do no harm. */
function oneTerminal(calls: Heard[], policy: Policy): Heard[] {
  const accepts = (c: Heard) => policy.terminal.includes(c.name as TerminalName);
  const winner = calls.findLast((c) => accepts(c) && !c.fault);
  if (!winner) return calls;
  return calls.map((c) =>
    accepts(c) && c !== winner ? { ...c, fault: null, idle: say.NOT_RUN.superseded } : c,
  );
}

/** Success without work is refused at once, unless work stands beside it and is still to come. */
function checkWork(calls: Heard[], { policy, work }: Judge): Heard[] {
  if (!policy.workNeeded || work > 0 || calls.some((c) => !isTerminal(c.name))) return calls;
  return calls.map((c) =>
    c.name === "complete_step" && !c.fault && !c.idle && c.args.success === true
      ? { ...c, fault: { reason: "premature_complete" as const, text: say.NOT_RUN.noWork } }
      : c,
  );
}

function judgeText(reply: Reply, policy: Policy): Verdict {
  const text = clean(reply.text);
  const refused = (reason: NudgeReason, nudge: string): Verdict => ({
    type: "refused",
    reason,
    calls: [],
    nudge,
  });
  if (text.trim() === "") return refused("empty_reply", say.emptyReply(policy.terminal));
  const cut = reply.finish === "length";
  if (policy.bareTextFinal) return { type: "final", text, cut };
  return cut
    ? refused("output_limit", say.NOT_RUN.cut)
    : refused("bare_text", say.bareText(policy.terminal));
}

export function judgeReply(reply: Reply, judge: Judge): Verdict {
  if (reply.calls.length === 0) return judgeText(reply, judge.policy);
  const raw = reply.calls.slice(0, LIMITS.replyCalls);
  if (reply.finish === "length" || reply.finish === null) {
    const fault = { reason: "output_limit" as const, text: say.NOT_RUN.cut };
    const calls = raw.map((c) => ({ ...hear(c, judge), fault }));
    return { type: "refused", reason: "output_limit", calls, nudge: null };
  }
  const heard = raw.map((c) => hear(c, judge));
  const calls = checkWork(oneTerminal(heard, judge.policy), judge);
  const first = calls.find((c) => c.fault);
  if (!first?.fault || !judge.policy.guarded) return { type: "accepted", calls };
  return { type: "refused", reason: first.fault.reason, calls, nudge: null };
}

/** What a call of a refused reply is told. */
export const refusalOf = (call: Heard): string => call.fault?.text ?? say.NOT_RUN.mateRejected;
