/**
 * Session → the exact request to the model, as text.
 *
 * Q1  `messages` is the last key. Between compactions a memory's request begins with the bytes of its last one,
 *     and its `tools` text is the same, so that the provider's cache hits.
 * Q2  The same session and rows give the same bytes: a lost model call is asked again unchanged.
 * Q3  Rows are joined as text, never parsed.
 */

import { compaction, estimate, shown, UNTOUCHED } from "./compaction.ts";
import { frontOf, targetOf } from "./front.ts";
import type { About } from "./hooks.ts";
import type { MemoryName, Row } from "./memory.ts";
import type { ModelRequest } from "./ports.ts";
import { type Profile, shapeMessage } from "./profile.ts";
import { compactedHint } from "./prompt.ts";
import { type Kit, policyOf } from "./roles.ts";
import { type Session, settingsOf } from "./session.ts";
import { harnessOf } from "./settings-merge.ts";

/** A row as an endpoint takes it. Most rows are sent many times, and are worked out once. */
const shapes = new WeakMap<Profile, WeakMap<Row, string>>();
function shapedRow(row: Row, profile: Profile): string {
  const held = shapes.get(profile) ?? new WeakMap<Row, string>();
  shapes.set(profile, held);
  const text = held.get(row) ?? shapeMessage(row.json, profile);
  held.set(row, text);
  return text;
}

/** The request for the session's next model call. `rows`: the memory that its policy names. */
export function buildRequest(s: Session, kit: Kit, rows: readonly Row[]): ModelRequest {
  const front = frontOf(s, kit);
  const { provider, model, profile } = targetOf(s, kit);
  const boundary = s.compacted[policyOf(s).memory];
  const texts = rows.flatMap((row) => {
    const text = boundary ? shown(row, boundary) : row.json;
    if (text === null) return [];
    return [text === row.json ? shapedRow(row, profile) : shapeMessage(text, profile)];
  });
  const messages = texts.join(",");
  return {
    provider,
    model,
    body: `${front.text}${messages === "" ? "" : ","}${messages}]}`,
    timeoutMs: settingsOf(s).limits.modelTimeoutMs,
  };
}

/** What a request needs to be shortened by, if it does: see compaction.ts. */
export function shorten(
  s: Session,
  kit: Kit,
  rows: readonly Row[],
  request: ModelRequest,
): ReturnType<typeof compaction> {
  const { memory, role } = policyOf(s);
  const settings = settingsOf(s);
  const { compact } = harnessOf(settings, role);
  const { key, profile } = targetOf(s, kit);
  const window = Math.min(
    settings.limits.maxContextTokens,
    s.windows[key] ?? Number.POSITIVE_INFINITY,
  );
  const forced = s.overflow === "found";
  const asked = s.squeeze.includes(memory);
  const tokens = tokensIn(s, memory);
  const least = compact.enabled ? Math.min(...compact.phaseThresholds, 1) : 1;
  // The usual case costs one look at a length.
  if (!forced && !asked && tokens(request.body.length) < least * window) return null;
  return compaction({
    rows,
    held: s.compacted[memory] ?? UNTOUCHED,
    compact,
    window,
    front: tokens(frontOf(s, kit).text.length),
    hint: tokens(hintOf(s, 3).length),
    sent: (text) => shapeMessage(text, profile).length,
    tokens,
    forced,
    asked,
  });
}

/** Characters to tokens, as far as the provider's own counts have taught. */
export const tokensIn =
  (s: Session, memory: MemoryName) =>
  (chars: number): number =>
    Math.ceil(estimate(chars) * (s.scale[memory] ?? 1));

/** What stands at the end of a history that was shortened. A plan that is about to be made anew is left out. */
export function hintOf(s: Session, phase: number): string {
  const tools = [...new Set(s.done.map((d) => d.tool))].slice(-30);
  return compactedHint(phase, s.phase === "planning" ? null : s.plan, tools);
}

/** The provider finds the request too long, and nothing is left that could be shortened. */
export const TOO_LONG = {
  code: "context_overflow" as const,
  message: "The conversation is too long for this model, and nothing more of it can be shortened.",
  retryable: false,
};

/** Whose request it is, for hooks. */
export const aboutOf = (s: Session): About => ({
  session: s.id,
  run: s.run,
  role: policyOf(s).role,
  phase: s.phase,
  iteration: s.iterations,
});
