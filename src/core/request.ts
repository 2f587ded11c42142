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
import type { Row } from "./memory.ts";
import type { ModelRequest } from "./ports.ts";
import { shapeMessage } from "./profile.ts";
import { type Kit, policyOf } from "./roles.ts";
import { type Session, settingsOf } from "./session.ts";
import { harnessOf } from "./settings.ts";

/** The request for the session's next model call. `rows`: the memory that its policy names. */
export function buildRequest(s: Session, kit: Kit, rows: readonly Row[]): ModelRequest {
  const front = frontOf(s, kit);
  const { provider, model, profile } = targetOf(s, kit);
  const boundary = s.compacted[policyOf(s).memory];
  const texts = rows.flatMap((row) => {
    const text = boundary ? shown(row, boundary) : row.json;
    return text === null ? [] : [shapeMessage(text, profile)];
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
  const window = settings.limits.maxContextTokens;
  const forced = s.overflow === "found";
  const scale = s.scale[memory] ?? 1;
  const tokens = (chars: number) => Math.ceil(estimate(chars) * scale);
  const least = compact.enabled ? Math.min(...compact.phaseThresholds, 1) : 1;
  // The usual case costs one look at a length.
  if (!forced && tokens(request.body.length) < least * window) return null;
  const front = tokens(frontOf(s, kit).text.length);
  const held = s.compacted[memory] ?? UNTOUCHED;
  return compaction({ rows, held, compact, window, front, tokens, forced });
}
