/**
 * The life of one tool call: judged → running → ended.
 *
 * L1  Every call is answered exactly once, at its reserved row, whatever ends it.
 * L2  `called` follows its `calling`, once; a call that never ran has neither.
 * L3  What others have spent on a call is counted when it ends, however it ends, and told with its `called`.
 */

import { use } from "./budget.ts";
import type { Batch, Call } from "./call.ts";
import { clean, head } from "./chars.ts";
import { answerCall, type Draft, emit, tell } from "./draft.ts";
import { released } from "./errand.ts";
import { addUsage, spend } from "./ledger.ts";
import { LIMITS } from "./limits.ts";
import { memoriesOf, type RowKind } from "./memory.ts";
import { ranByUser } from "./prompt.ts";
import { isDelegate, type JsonObject } from "./tool.ts";
import type { Usage } from "./usage.ts";

export function batchOf(d: Draft): Batch {
  if (!d.s.batch) throw new Error("no batch is open");
  return d.s.batch;
}

export function patchCall(d: Draft, id: string, patch: Partial<Call>): void {
  const batch = batchOf(d);
  d.s.batch = {
    ...batch,
    calls: batch.calls.map((c) => (c.id === id ? { ...c, ...patch } : c)),
  };
}

const face = (c: Call) => ({
  tool_call_id: c.id,
  name: c.toolkit,
  function: c.name,
  args: c.args,
  ...(c.brief ? { brief: c.brief } : {}),
});

/** It has `tool` events: something runs that people see. */
const isSeen = (c: Call): boolean => c.kind === "work" || c.kind === "own";

/** Commits the intent to run a call. Terminal calls run too, when they have attachments to look up: unseen. */
export function startCall(d: Draft, call: Call): void {
  patchCall(d, call.id, { state: "running", since: d.at });
  if (call.kind === "work") use(d, { tools: 1 });
  if (isSeen(call)) emit(d, "tool", { ...face(call), status: "calling" });
}

export interface Ending {
  ok: boolean;
  /** What the model reads. */
  text: string;
  content?: JsonObject;
  kind?: RowKind;
}

/** No reply of a model holds a person's own call, so its result is told in words to every memory. */
function recall(d: Draft, call: Call, text: string): void {
  const told = ranByUser(String(call.args.command), text);
  for (const memory of memoriesOf(d.s.mode)) tell(d, memory, "said", told);
}

export function endCall(d: Draft, call: Call, ending: Ending): void {
  if (call.kind === "own") recall(d, call, ending.text);
  else answerCall(d, batchOf(d).memory, call, ending.text, ending.kind);
  patchCall(d, call.id, { state: "ended", ok: ending.ok });
  if (!isSeen(call) || !hasBegun(call)) return;
  // Nothing of it runs here that could be cancelled.
  if (call.state === "asking") release(d, call);
  d.s.usage = { ...d.s.usage, tool_calls: d.s.usage.tool_calls + 1 };
  d.s.ledger = spend(d.s.ledger, d.at, "", { tool_calls: 1 });
  emit(d, "tool", {
    ...face(call),
    status: "called",
    ok: ending.ok,
    content: ending.content ?? { result: head(clean(ending.text), LIMITS.eventOutputChars) },
    duration_ms: Math.max(0, d.at - (call.since ?? d.at)),
    ...counted(d, d.spending.get(call.id) ?? call.spent),
  });
}

/** What a specialist has spent is the session's, and counts against the turn's budget. */
function counted(d: Draft, usage: Usage | undefined): { usage?: Usage } {
  if (!usage) return {};
  d.s.usage = addUsage(d.s.usage, usage);
  const { input_tokens, output_tokens, tool_calls, cost_usd } = usage;
  use(d, { tokens: input_tokens + output_tokens, tools: tool_calls, cost: cost_usd ?? 0 });
  return { usage };
}

const release = (d: Draft, call: Call): void => {
  d.s.errands = [...d.s.errands, released(call.id)];
};
const hasBegun = ({ state }: Call): boolean => state === "running" || state === "asking";

export const isOpen = (c: Call): boolean => c.state !== "ended";

/** Answers every open call, by whether it had started; an open question had. A specialist at work is told to end. */
export function endOpenCalls(d: Draft, started: string, notStarted: string): void {
  for (const call of d.s.batch?.calls.filter(isOpen) ?? []) {
    if (call.state === "running" && isDelegate(call)) release(d, call);
    const begun = hasBegun(call) || call.kind === "ask";
    endCall(d, call, { ok: false, text: begun ? started : notStarted });
  }
}
