/**
 * One outcome being taken in: a private copy of the session, and what comes of it. The only mutable thing in the
 * core, and it never leaves `apply`.
 *
 * D1  The session that `apply` was given is never changed; parts that did not change keep their identity.
 * D2  Ids are derived from the turn and a counter, so they are the same after a crash.
 */

import type { Call } from "./call.ts";
import { clean, head } from "./chars.ts";
import type {
  Delivery,
  Event,
  EventBody,
  EventData,
  EventName,
  FileInfo,
  NudgeReason,
  Phase,
  Status,
  Wait,
} from "./events.ts";
import { toolMessage } from "./history.ts";
import { LIMITS } from "./limits.ts";
import type { MemoryName, Row, RowKind } from "./memory.ts";
import type { Change, ClientMark } from "./ports.ts";
import { type Kit, policyOf } from "./roles.ts";
import { type Session, settingsOf } from "./session.ts";
import type { Harness, Settings } from "./settings.ts";
import { harnessOf } from "./settings-merge.ts";
import { localeOf, words } from "./text.ts";
import type { JsonObject } from "./tool.ts";
import type { Usage } from "./usage.ts";

/** What is known of the outside while an outcome is taken in. */
export interface Around {
  /** Milliseconds since the epoch. */
  at: number;
  attended: boolean;
  spending: ReadonlyMap<string, Usage>;
}

export interface Draft {
  s: Session;
  readonly kit: Kit;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Somebody is connected who could be asked. */
  readonly attended: boolean;
  /** What others have spent so far on the calls that run, by call. */
  readonly spending: Around["spending"];
  readonly events: Event[];
  readonly rows: Row[];
  client?: ClientMark;
}

export const draftOf = (s: Session, kit: Kit, around: Around): Draft => ({
  s: { ...s, updated_at: new Date(around.at).toISOString() },
  kit,
  ...around,
  events: [],
  rows: [],
});

export const finish = ({ s, events, rows, client }: Draft): Change => ({
  session: s,
  events,
  rows,
  ...(client ? { client } : {}),
});

export function emit<N extends EventName>(d: Draft, event: N, data: EventData<N>): void {
  d.s.seq += 1;
  const body = { event, data } as unknown as EventBody;
  d.events.push({
    type: "event",
    session_id: d.s.id,
    seq: d.s.seq,
    ts: new Date(d.at).toISOString(),
    ...body,
  });
}

/** A new id of this turn: `m` message, `c` call, `w` wait. */
export function newId(d: Draft, letter: "m" | "c" | "w"): string {
  d.s.ids += 1;
  return `${letter}${d.s.run}n${d.s.ids}`;
}

/** The message id of the model call in flight, known before its reply: live text carries it. */
export const liveId = (s: Session): string => `m${s.run}a${s.asks}`;

/** Appends a memory row; `reserve` keeps that many rows after it free for results. */
export function remember(
  d: Draft,
  memory: MemoryName,
  kind: RowKind,
  json: string,
  reserve = 0,
): number {
  const id = d.s.row + 1;
  d.s.row = id + reserve;
  d.rows.push({ id, memory, kind, json });
  return id;
}
export const tell = (d: Draft, memory: MemoryName, kind: RowKind, text: string): void => {
  remember(
    d,
    memory,
    kind,
    JSON.stringify({ role: "user", content: head(clean(text), LIMITS.rowChars) }),
  );
};
export const answerCall = (
  d: Draft,
  memory: MemoryName,
  call: Pick<Call, "row" | "id">,
  text: string,
  kind: RowKind = "result",
): void => {
  d.rows.push({
    id: call.row,
    memory,
    kind,
    json: toolMessage(call.id, head(clean(text), LIMITS.rowChars)),
  });
};

export function setStatus(d: Draft, status: Status, phase: Phase): void {
  d.s.phase = phase;
  if (d.s.status === status) return;
  d.s.status = status;
  emit(d, "status_update", { status, phase });
}

export function nudge(d: Draft, reason: NudgeReason, callId?: string): void {
  emit(d, "nudge", {
    role: policyOf(d.s).role,
    reason,
    attempt: d.s.attempts,
    ...(callId ? { tool_call_id: callId } : {}),
  });
}

export const say = (d: Draft) =>
  words(localeOf(settingsOf(d.s).locale, d.s.plan?.language ?? "", d.s.turn?.message ?? ""));

/** Nothing goes on until this is answered. */
export function openWait(d: Draft, wait: Omit<Wait, "wait_id" | "since">): void {
  d.s.wait = { wait_id: newId(d, "w"), ...wait, since: new Date(d.at).toISOString() };
  d.s.returnTo = d.s.phase;
  emit(d, "wait", d.s.wait);
  setStatus(d, "waiting", "waiting");
}

/** The harness of the role that has the word. */
export const harnessFor = (d: Draft): Harness => harnessOf(settingsOf(d.s), policyOf(d.s).role);

export const limits = (d: Draft): Settings["limits"] => settingsOf(d.s).limits;

/** A person's message, as soon as it is accepted. `delivery`: how it reaches a turn that is under way. */
export function hear(
  d: Draft,
  said: { text: string; attachments: FileInfo[]; clientId: string; delivery?: Delivery },
): string {
  const id = newId(d, "m");
  emit(d, "message", {
    message_id: id,
    role: "user",
    content: said.text,
    attachments: said.attachments,
    client_id: said.clientId,
    ...(said.delivery ? { delivery: said.delivery } : {}),
  });
  return id;
}

/** A message of the assistant's. */
export function speak(
  d: Draft,
  kind: "plan" | "question" | "notice" | "final" | "answer",
  text: string,
  more: Partial<Pick<EventData<"message">, "attachments" | "thinking">> & { id?: string } = {},
): void {
  const content = head(clean(text), LIMITS.proseChars);
  d.s.preview = head(content.replace(/\s+/g, " ").trim(), 140);
  emit(d, "message", {
    message_id: more.id ?? newId(d, "m"),
    role: "assistant",
    content,
    attachments: more.attachments ?? [],
    kind,
    ...(more.thinking ? { thinking: more.thinking } : {}),
  });
}

/** Arguments cut to what an event shows; tells whether anything was cut. `share`: calls in the same reply. */
export function shownArgs(args: JsonObject, share: number): { args: JsonObject; cut: boolean } {
  const max = Math.min(LIMITS.shownArgsChars, Math.floor(LIMITS.shownBatchChars / share));
  if (JSON.stringify(args).length <= Math.min(max, LIMITS.shownArgChars))
    return { args, cut: false };
  const short: JsonObject = {};
  for (const [key, value] of Object.entries(args)) {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    short[key] = text.length <= LIMITS.shownArgChars ? value : head(text, LIMITS.shownArgChars);
  }
  const whole = JSON.stringify(short);
  return {
    args: whole.length <= max ? short : { cut: head(whole, LIMITS.shownArgChars) },
    cut: true,
  };
}
