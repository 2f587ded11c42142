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
import type { Boundary, MemoryName, Row } from "./memory.ts";
import type { ModelRequest } from "./ports.ts";
import { type Profile, shapeMessage } from "./profile.ts";
import { compactedHint } from "./prompt.ts";
import { type Kit, policyOf } from "./roles.ts";
import { type Session, settingsOf } from "./session.ts";
import { harnessOf } from "./settings-merge.ts";

/** What a memory's rows were as text when they were last sent. */
interface Told {
  profile: Profile;
  boundary: Boundary | undefined;
  /** So many rows, the last of which was this one. */
  count: number;
  last: Row | undefined;
  text: string;
}
/** By the list that a store holds of a memory, for as long as it does. */
const told = new WeakMap<readonly Row[], Told>();

const shaped = (rows: readonly Row[], { profile, boundary }: Pick<Told, "profile" | "boundary">) =>
  rows
    .map((row) => (boundary ? shown(row, boundary) : row.json))
    .filter((text) => text !== null)
    .map((text) => shapeMessage(text, profile))
    .join(",");

/** Rows are added at the end, but for a result that comes late: the usual request goes on where the last one ended. */
function textOf(rows: readonly Row[], how: Pick<Told, "profile" | "boundary">): string {
  const held = told.get(rows);
  const goesOn =
    held?.profile === how.profile &&
    held.boundary === how.boundary &&
    rows[held.count - 1] === held.last;
  const before = goesOn ? held.text : "";
  const fresh = shaped(goesOn ? rows.slice(held.count) : rows, how);
  return before !== "" && fresh !== "" ? `${before},${fresh}` : before + fresh;
}

/** The request for the session's next model call. `rows`: the memory that its policy names. */
export function buildRequest(s: Session, kit: Kit, rows: readonly Row[]): ModelRequest {
  const front = frontOf(s, kit);
  const { provider, model, profile } = targetOf(s, kit);
  const boundary = s.compacted[policyOf(s).memory];
  const messages = textOf(rows, { profile, boundary });
  const comma = messages === "" ? "" : ",";
  const body = `${front.text}${comma}${messages}]}`;
  // Cut from the body, which is one piece of memory by then: text that is only ever added to is put together anew each time.
  const text = body.slice(front.text.length + comma.length, -2);
  told.set(rows, { profile, boundary, count: rows.length, last: rows.at(-1), text });
  return { provider, model, body, timeoutMs: settingsOf(s).limits.modelTimeoutMs };
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
