/** From a judged reply to what is stored of it: the canonical message, and its calls with their tools' facts. */

import type { Call } from "./call.ts";
import { clean } from "./chars.ts";
import { shownArgs } from "./draft.ts";
import { callKey, onceKey } from "./duplicates.ts";
import type { Heard } from "./guard.ts";
import type { Conclusion } from "./hooks.ts";
import type { Reply } from "./ports.ts";
import type { Policy } from "./roles.ts";
import type { Session } from "./session.ts";
import type { Harness } from "./settings.ts";
import { isTerminal } from "./terminal.ts";
import { entryOf } from "./tracker.ts";

/** The reply as it is kept: canonical calls, arguments as an object; reasoning last, where it can be cut off. */
export function replyMessage(reply: Reply, ids: string[], calls: Heard[]): string {
  const text = clean(reply.text);
  const toolCalls = calls.map((c, i) => ({
    id: ids[i],
    type: "function",
    function: { name: c.name, arguments: JSON.stringify(c.args) },
  }));
  return JSON.stringify({
    role: "assistant",
    content: text.trim() === "" ? null : text,
    ...(calls.length > 0 ? { tool_calls: toolCalls } : {}),
    ...(reply.thinking ? { reasoning_content: clean(reply.thinking) } : {}),
  });
}

function kindOf(heard: Heard): Call["kind"] {
  if (heard.fault || heard.idle) return "void";
  if (isTerminal(heard.name)) return "terminal";
  if (heard.name === "message_ask_user") return "ask";
  return heard.name === "message_notify_user" ? "notify" : "work";
}

/** Where a call stands: its id, its place in the reply and in the memory. */
export interface Place {
  id: string;
  index: number;
  /** Memory row of the reply. */
  row: number;
  /** Calls in the reply. */
  share: number;
}

export function callOf(
  heard: Heard,
  place: Place,
  s: Session,
  policy: Policy,
  harness: Harness,
): Call {
  const kind = kindOf(heard);
  const { brief, ...rest } = heard.args;
  // What the flow takes in itself stays whole; a reply is bounded, and such calls are few.
  const shown = kind === "work" ? shownArgs(rest, place.share) : { args: heard.args, cut: false };
  const { toolkit, parallelSafe, effect, volatile, recovery, approval } = heard.facts;
  const call: Call = {
    id: place.id,
    row: place.row + 1 + place.index,
    index: place.index,
    name: heard.name,
    toolkit,
    kind,
    args: shown.args,
    ...(shown.cut ? { cut: true as const } : {}),
    state: "judged",
    parallelSafe,
    effect,
    volatile,
    recovery,
    ...(approval === undefined ? {} : { approval }),
  };
  if (kind === "void" || kind === "terminal") return call;
  const done = entryOf(harness, heard.name, heard.args);
  return kind === "work" ? workCall({ ...call, done }, heard, brief, s, policy) : { ...call, done };
}

/** What a terminal call would conclude; null: it ends a phase, and others go on with the work. */
export function conclusionOf({ name, args }: Call, s: Session, policy: Policy): Conclusion | null {
  const concludes =
    name === "deliver_result" ||
    name === "agent_response" ||
    (name === "complete_step" && args.success === true) ||
    (name === "create_plan" && Array.isArray(args.steps) && args.steps.length === 0);
  if (!concludes) return null;
  const text = String(args.text ?? args.message ?? args.result ?? "");
  const { work, iterations: iteration, phase } = s;
  return { role: policy.role, phase, tool: name, text, args, work, iteration };
}

/** The step under way; sessions without a plan have one endless step. */
export const runningStepId = (s: Session): string =>
  s.plan?.steps.find((step) => step.status === "running")?.id ?? "";

function workCall(call: Call, heard: Heard, brief: unknown, s: Session, policy: Policy): Call {
  const key = callKey(heard.name, heard.args);
  return {
    ...call,
    key,
    ...(call.effect ? { once: onceKey(s, runningStepId(s), key) } : {}),
    ...(typeof brief === "string" && brief ? { brief } : {}),
    ...(policy.terminal.includes(heard.name) ? { final: true as const } : {}),
  };
}
