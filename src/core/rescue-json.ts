/**
 * Calls written as JSON without any mark: the whole text, a fenced block, or embedded in prose.
 *
 * E1  Embedded JSON is a call only with a name and arguments; a name alone counts only when it is all there is.
 * E2  What stands in the middle of a long text, in inline code, or inside other code is an example, not a call.
 * E3  A broken call spoils the reply: of calls that belong together none is taken alone.
 * E4  Linear: what was read, or failed to be, is not read again.
 */
import { isObject, readJsonAt } from "./hygiene-json.ts";
import type { JsonObject } from "./tool.ts";

/** A call as it was found: its name as written, its arguments as text. */
export interface Written {
  name: string;
  arguments: string;
  /** Nothing said that it has arguments: an object with a name, and no more. */
  bare: boolean;
}

/** Where calls stand in a text. */
export interface Span {
  from: number;
  to: number;
  calls: Written[];
}

/** Prose after the last call, beyond which the call was an example. */
const AFTERWORD_CHARS = 300;
const NAME_KEYS = ["name", "tool", "tool_name", "toolName", "function"] as const;
const ARGS_KEYS = ["args", "arguments", "parameters", "input"] as const;
const OTHER_KEYS = ["id", "tool_call_id", "toolCallID", "type"] as const;
const BARE_KEYS: ReadonlySet<string> = new Set([...NAME_KEYS, ...OTHER_KEYS]);
const OPENER = /```|\{|\[\s*\{/g;
const FENCE_LINE = /```[\w-]*[ \t]*\r?\n?/y;
const BETWEEN = /[\s,;]*/y;
const FENCE_OPEN = /```[\w-]*$/;
/** Wrappers and tokens of the formats that may be left beside the calls. */
const LEFT =
  /<\/?(?:minimax:)?tool_calls?>|<\/?(?:｜DSML｜)?function_calls>|<[|｜][^<>|｜\n]{1,40}[|｜]>|\[\/?TOOL_CALLS\]|<\/s>/g;
/** Stands where thinking was cut out: no reader takes it, so no call is read across it. `clean` leaves none. */
export const SEAM = "\0";
const CALL_LIKE = /"(?:args|arguments|parameters|input|tool_calls|toolCalls)"\s*:/;

/** The end of a sticky match; where it began when nothing matches. */
export function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return at + (pattern.exec(text)?.[0].length ?? 0);
}

/** What is left around the calls, without the separators and tokens between them. */
export function proseAround(text: string, spans: readonly Span[]): string {
  const edges = [0, ...spans.flatMap((s) => [s.from, s.to]), text.length];
  const pieces = edges
    .filter((_, i) => i % 2 === 0)
    .map((from, i) =>
      text
        .slice(from, edges[2 * i + 1])
        .replaceAll(SEAM, "")
        .replace(LEFT, ""),
    )
    .map((piece) => piece.trim());
  const [first = "", last = ""] = [pieces[0], pieces.at(-1)];
  if (pieces.length > 1 && FENCE_OPEN.test(first) && last.startsWith("```")) {
    pieces[0] = first.replace(FENCE_OPEN, "").trim();
    pieces[pieces.length - 1] = last.slice(3).trim();
  }
  return pieces.filter((p) => !/^[\s;,]*$/.test(p)).join("\n\n");
}

// ---------------------------------------------------------------- shapes

/** A tool's description, quoted: its parameters are a schema. */
const isSchema = (args: JsonObject) => args.type === "object" && isObject(args.properties);

function callOf(value: JsonObject): Written | null {
  // OpenAI's own form: {"type": "function", "function": {…}}.
  if (isObject(value.function)) return callOf(value.function);
  const name = NAME_KEYS.map((key) => value[key]).find((v) => typeof v === "string");
  if (name === undefined) return null;
  const key = ARGS_KEYS.find((k) => Object.hasOwn(value, k));
  if (key === undefined) {
    const bare = Object.keys(value).every((k) => BARE_KEYS.has(k));
    return bare ? { name, arguments: "", bare } : null;
  }
  const args = value[key];
  if (typeof args === "string") return { name, arguments: args, bare: false };
  if (args === null) return { name, arguments: "", bare: false };
  if (!isObject(args) || isSchema(args)) return null;
  return { name, arguments: JSON.stringify(args), bare: false };
}

/** The calls that a JSON value is; null when it, or a part of it, is none. */
function callsOf(value: unknown): Written[] | null {
  const list = isObject(value) ? (value.tool_calls ?? value.toolCalls) : value;
  const items = Array.isArray(list) ? list : [value];
  const calls = items.map((item) => (isObject(item) ? callOf(item) : null));
  const whole = calls.filter((c) => c !== null);
  return whole.length > 0 && whole.length === calls.length ? whole : null;
}

/** One value after the other, until something else comes; null when one of them is no call, or none is there. */
export function readSequence(text: string, from: number): Span | null {
  const calls: Written[] = [];
  let end = from;
  for (;;) {
    const at = skip(BETWEEN, text, end);
    if (text[at] !== "{" && text[at] !== "[") break;
    const read = readJsonAt(text, at);
    const found = read.ok ? callsOf(read.value) : null;
    if (!read.ok || !found) return null;
    calls.push(...found);
    end = read.end;
  }
  return calls.length > 0 ? { from, to: end, calls } : null;
}

// ---------------------------------------------------------------- a scan

/** What one place of a text came to. */
interface Step {
  next: number;
  span?: Span;
  /** It counts only when nothing else is said. */
  alone?: boolean;
  broken?: boolean;
}

/** A fenced block is calls as a whole, or code that nobody looks into. */
function stepFence(text: string, from: number): Step {
  const body = skip(FENCE_LINE, text, from);
  const span = readSequence(text, body);
  const after = span ? skip(BETWEEN, text, span.to) : 0;
  if (span && (after === text.length || text.startsWith("```", after))) {
    const to = Math.min(text.length, after + 3);
    return { next: to, span: { ...span, from, to }, alone: span.calls.some((c) => c.bare) };
  }
  // What is whole JSON but no call (it shows a tool's schema, say) is not broken, and not looked into.
  const start = skip(BETWEEN, text, body);
  const read = /[[{]/.test(text[start] ?? "") ? readJsonAt(text, start) : null;
  const close = text.indexOf("```", read?.ok ? read.end : body);
  const broken = read?.ok === false && CALL_LIKE.test(text.slice(start, read.at));
  return { next: close < 0 ? text.length : close + 3, broken };
}

function stepJson(text: string, start: number): Step {
  const read = readJsonAt(text, start);
  if (!read.ok) {
    const broken = CALL_LIKE.test(text.slice(start, read.at));
    return { next: Math.max(start + 1, read.at), broken };
  }
  const calls = callsOf(read.value);
  if (!calls) return { next: read.end };
  const inline = text[start - 1] === "`" && text[read.end] === "`";
  const edge = inline ? 1 : 0;
  const span = { from: start - edge, to: read.end + edge, calls };
  return { next: span.to, span, alone: inline || calls.some((c) => c.bare) };
}

/** The calls in a text; null when one of them is broken. */
export function readPlain(text: string): Span[] | null {
  const found: { span: Span; alone: boolean }[] = [];
  let at = 0;
  for (;;) {
    OPENER.lastIndex = at;
    const opener = OPENER.exec(text);
    if (!opener) break;
    const take = opener[0] === "```" ? stepFence : stepJson;
    const { next, span, alone = false, broken } = take(text, opener.index);
    if (broken) return null;
    if (span) found.push({ span, alone });
    at = next;
  }
  const all = found.map((f) => f.span);
  const kept =
    proseAround(text, all) !== "" ? found.filter((f) => !f.alone).map((f) => f.span) : all;
  const last = kept.at(-1);
  const example = last && text.slice(last.to).trim().length > AFTERWORD_CHARS;
  return example ? [] : kept;
}
