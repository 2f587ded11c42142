/**
 * Tool calls that a model wrote as text, because its server did not tell them from text.
 *
 * R1  Only a reply without native calls that was not cut; never from thinking.
 * R2  All or nothing: every call is whole, and every name is that of an offered tool.
 * R3  A mention is no call: unmarked JSON in prose needs a name and arguments, and is taken for an example in the
 *     middle of a long text (rescue-json.ts). A mark of a model family (rescue-marked.ts) means a call.
 * R4  Linear in the text. Nothing here throws.
 */
import { clean } from "./chars.ts";
import { cleanCallName } from "./hygiene.ts";
import { readJson } from "./hygiene-json.ts";
import { LIMITS } from "./limits.ts";
import type { RawCall, Reply } from "./ports.ts";
import { proseAround, readPlain, SEAM, type Span } from "./rescue-json.ts";
import { MARKED } from "./rescue-marked.ts";
import { splitThinking } from "./rescue-think.ts";
import type { ToolSpec } from "./tool.ts";

export interface Rescued {
  calls: RawCall[];
  /** The prose around the calls. */
  text: string;
}

/** Ways of ending with which a text may lack its end. */
const CUT: ReadonlySet<string | null> = new Set([null, "length", "content_filter"]);

/** The first format that has calls has them all; null when one of them is broken. */
function readMarked(text: string): Span[] | null {
  for (const read of MARKED) {
    const spans = read(text);
    if (spans === null || spans.length > 0) return spans;
  }
  return [];
}

/** A mark inside a JSON string is content of that string, so JSON goes first where it is all there is. */
function spansIn(text: string): Span[] {
  const plain = readPlain(text) ?? [];
  const isJson = readJson(text.trim()) !== undefined;
  if (isJson || (plain.length > 0 && proseAround(text, plain) === "")) return plain;
  const marked = readMarked(text);
  if (marked === null) return [];
  const quoted = marked.some((m) => plain.some((p) => p.from < m.from && m.to <= p.to));
  return quoted || marked.length === 0 ? plain : marked;
}

/** The calls in a reply's text, or null when there is nothing to rescue. Their ids are empty. */
export function rescue(reply: Reply, offered: readonly ToolSpec[]): Rescued | null {
  if (reply.calls.length > 0 || CUT.has(reply.finish)) return null;
  const text = splitThinking(clean(reply.text)).parts.join(SEAM);
  const spans = spansIn(text);
  const names = offered.map((tool) => tool.name);
  const calls = spans
    .flatMap((s) => s.calls)
    .slice(0, LIMITS.replyCalls + 1)
    .map((c) => ({ id: "", name: cleanCallName(c.name, names), arguments: c.arguments }));
  if (calls.length === 0 || calls.length > LIMITS.replyCalls) return null;
  if (calls.some((c) => !names.includes(c.name))) return null;
  return { calls, text: proseAround(text, spans) };
}
