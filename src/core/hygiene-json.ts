/**
 * Reading JSON as models write it: from any place in a text, and never more tolerant than is safe.
 *
 * L1  Tolerated: a trailing comma, raw line breaks in strings, True, False and None. Nothing is ever closed or
 *     filled in: what is incomplete is not JSON.
 * L2  Reading costs what was read; a failure says where it stopped, so that a scan goes on from there.
 * L3  No value is deeper than DEPTH, so whoever walks one may recurse. Nothing here throws.
 */
import { clean } from "./chars.ts";
import type { JsonObject } from "./tool.ts";

/** `at`: where reading stopped; at the text's end, the value was cut off. */
export type ReadJson = { ok: true; value: unknown; end: number } | { ok: false; at: number };

interface Cursor {
  text: string;
  at: number;
}

const DEPTH = 64;
const NOT_JSON = Symbol("not JSON");
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /[A-Za-z]{4,5}/y;
const SPACE = /[ \t\r\n]*/y;
const WORDS = new Map<string, unknown>([
  ["true", true],
  ["false", false],
  ["null", null],
  // Models that were taught tools in Python write its words.
  ["True", true],
  ["False", false],
  ["None", null],
]);
const RAW_BREAKS: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
/** The key that reaches into an object's prototype when code downstream merges carelessly. */
const UNSAFE_KEYS: ReadonlySet<string> = new Set(["__proto__"]);

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A sticky match at a place; its text, "" included, or null. */
function matchAt(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? null;
}

function skipSpace(c: Cursor): void {
  c.at += matchAt(SPACE, c.text, c.at)?.length ?? 0;
}

function take(c: Cursor, mark: string): boolean {
  if (c.text[c.at] !== mark) return false;
  c.at += 1;
  return true;
}

/** The index after the closing quote; -1 when there is none. */
function stringEnd(text: string, open: number): number {
  for (let i = open + 1; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === 0x5c) i += 1;
    else if (unit === 0x22) return i + 1;
  }
  return -1;
}

function readString(c: Cursor): unknown {
  const end = stringEnd(c.text, c.at);
  const literal = c.text.slice(c.at, end < 0 ? c.text.length : end);
  c.at += literal.length;
  if (end < 0) return NOT_JSON;
  try {
    return JSON.parse(literal.replace(/[\n\r\t]/g, (ch) => RAW_BREAKS[ch] as string));
  } catch {
    // A wrong escape: what was meant is a guess (`\b` in a regex is a backspace in JSON).
    return NOT_JSON;
  }
}

function readScalar(c: Cursor): unknown {
  const number = matchAt(NUMBER, c.text, c.at);
  if (number) {
    c.at += number.length;
    return Number.isFinite(Number(number)) ? Number(number) : NOT_JSON;
  }
  const word = matchAt(WORD, c.text, c.at);
  if (word === null || !WORDS.has(word)) return NOT_JSON;
  c.at += word.length;
  return WORDS.get(word);
}

function readList(c: Cursor, depth: number): unknown {
  const items: unknown[] = [];
  c.at += 1;
  for (;;) {
    skipSpace(c);
    if (take(c, "]")) return items;
    const item = readValue(c, depth);
    if (item === NOT_JSON) return NOT_JSON;
    items.push(item);
    skipSpace(c);
    if (!take(c, ",") && c.text[c.at] !== "]") return NOT_JSON;
  }
}

function readObject(c: Cursor, depth: number): unknown {
  const entries: [string, unknown][] = [];
  c.at += 1;
  for (;;) {
    skipSpace(c);
    // Entries, not assignment: `__proto__` must stay a key until it is dropped.
    if (take(c, "}")) return Object.fromEntries(entries);
    const key = c.text[c.at] === '"' ? readString(c) : NOT_JSON;
    if (typeof key !== "string") return NOT_JSON;
    skipSpace(c);
    if (!take(c, ":")) return NOT_JSON;
    const value = readValue(c, depth);
    if (value === NOT_JSON) return NOT_JSON;
    entries.push([key, value]);
    skipSpace(c);
    if (!take(c, ",") && c.text[c.at] !== "}") return NOT_JSON;
  }
}

function readValue(c: Cursor, depth: number): unknown {
  skipSpace(c);
  const mark = c.text[c.at];
  if (mark === '"') return readString(c);
  if (mark !== "{" && mark !== "[") return readScalar(c);
  if (depth === 0) return NOT_JSON;
  return mark === "{" ? readObject(c, depth - 1) : readList(c, depth - 1);
}

/** The JSON value that begins at `from`, spaces before it aside. */
export function readJsonAt(text: string, from: number): ReadJson {
  const c = { text, at: from };
  const value = readValue(c, DEPTH);
  return value === NOT_JSON ? { ok: false, at: c.at } : { ok: true, value, end: c.at };
}

/**
 * A text that is one JSON value and nothing else; undefined when it is not. Closing braces that are one too many
 * after a whole object say nothing, and are overlooked.
 */
export function readJson(text: string): unknown {
  const read = readJsonAt(text, 0);
  if (!read.ok) return undefined;
  const rest = text.slice(read.end);
  return (isObject(read.value) ? /^[\s}]*$/ : /^\s*$/).test(rest) ? read.value : undefined;
}

/** The same value without unsafe keys, half surrogate pairs and NULs, at every depth. */
export function scrub(value: unknown): unknown {
  if (typeof value === "string") return clean(value);
  if (Array.isArray(value)) return value.map(scrub);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, v]) => [clean(key), v] as const);
  return Object.fromEntries(
    entries.filter(([key]) => !UNSAFE_KEYS.has(key)).map(([key, v]) => [key, scrub(v)]),
  );
}
