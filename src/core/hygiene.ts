/**
 * What a model wrote, made canonical before anything of it is judged. Pure, total, and shy of guessing.
 *
 * Y1  A name becomes that of an offered tool only when one tool alone can be meant; else it stays one that no
 *     provider refuses in a history, and never by chance that of an offered tool.
 * Y2  Arguments are one whole JSON object or null. Blank ones are {}; incomplete ones are never completed.
 * Y3  No string in arguments holds a NUL or half a surrogate pair; no key reaches into a prototype.
 */
import { isObject, readJson, scrub } from "./hygiene-json.ts";
import type { JsonObject } from "./tool.ts";

// ---------------------------------------------------------------- names

/** What every provider takes as a function's name. */
const NAME = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;
/** Longer names are junk: nothing is looked for beyond this. */
const NAME_CHARS = 512;
const TOKEN = /<[|｜][^<>|｜]{0,60}[|｜]>/g;
const KNOWN_PREFIX = /^(?:(?:functions?|tools?|default_api|api|namespace)\s*[.:/]+\s*)+/i;
const EDGE_JUNK = /^[\s"'`*([{,:]+|[\s"'`*)\]},:;]+$/g;

/** Chat-template tokens, call parentheses, an index and quotes around a name. */
function withoutJunk(raw: string): string {
  const addressed = /\bto=([^\s<]+)/.exec(raw)?.[1] ?? raw;
  const before = addressed.slice(0, addressed.search(/<|\(|$/)).trim();
  // Nothing stood before the first token: the name comes after it.
  const name =
    before === ""
      ? (addressed
          .replace(TOKEN, " ")
          .trim()
          .split(/[<(\s]/)[0] ?? "")
      : before;
  return name.replace(EDGE_JUNK, "").replace(/:\d{1,4}$/, "");
}

/** The one offered name that has the same form; null when there is none or several. */
function only(offered: readonly string[], name: string, form: (s: string) => string) {
  const want = form(name);
  const same = want === "" ? [] : offered.filter((o) => form(o) === want);
  return same.length === 1 ? (same[0] as string) : null;
}

const lower = (s: string) => s.toLowerCase();
/** fileRead, file-read, File Read and file_read are one name. */
const folded = (s: string) => lower(s).replace(/[^\p{L}\p{N}]+/gu, "");

/** A name that no provider refuses in a history, and that no offered tool has. */
function safeName(name: string, offered: readonly string[]): string {
  const mended = name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 56);
  const safe = NAME.test(name) ? name : NAME.test(mended) ? mended : `_${mended}`;
  const taken = new Set(offered);
  for (let n = 0; n <= offered.length + 1; n++) {
    const free = n === 0 ? safe : `${safe.slice(0, 56)}_${n}`;
    if (!taken.has(free)) return free;
  }
  return "_";
}

/**
 * The offered name that a model meant, or a history-safe name that is not offered. A prefix of another kind than
 * the usual ones (`github.`) is overlooked only when the rest is exactly an offered name.
 */
export function cleanCallName(raw: string, offeredNames: readonly string[]): string {
  const trimmed = raw.slice(0, NAME_CHARS).trim();
  if (offeredNames.includes(trimmed)) return trimmed;
  const bare = withoutJunk(trimmed);
  const short = bare.replace(KNOWN_PREFIX, "");
  for (const name of [bare, short]) {
    if (offeredNames.includes(name)) return name;
    const meant = only(offeredNames, name, lower) ?? only(offeredNames, name, folded);
    if (meant !== null) return meant;
  }
  const last = short.split(/[.:/]+/).at(-1) ?? "";
  if (offeredNames.includes(last)) return last;
  return safeName(short || bare || trimmed, offeredNames);
}

// ---------------------------------------------------------------- arguments

/** The inside of a text that is one fenced block; any other text as it is. */
function withoutFence(text: string): string {
  if (!text.startsWith("```") || !text.endsWith("```") || text.length < 6) return text;
  return text
    .slice(3, -3)
    .replace(/^[\w-]*[ \t]*\r?\n/, "")
    .trim();
}

/**
 * A call's arguments as an object; null when they are none. Taken as well: fenced, a trailing comma, a closing
 * brace too many, and an object encoded as a string once or twice.
 */
export function readArguments(raw: string): JsonObject | null {
  let text = withoutFence(raw.trim());
  for (let layer = 0; layer < 3; layer++) {
    if (text === "") return {};
    const value = readJson(text);
    if (typeof value !== "string") return isObject(value) ? (scrub(value) as JsonObject) : null;
    text = withoutFence(value.trim());
  }
  return null;
}

// ---------------------------------------------------------------- twins

/** JSON with sorted keys: equal for equal values. For values that came from JSON. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((v) => canonicalJson(v)).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  const keys = Object.keys(value).filter((key) => value[key] !== undefined);
  return `{${keys
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`)
    .join(",")}}`;
}

/** The indexes of calls that an earlier call of the same list already makes. */
export function dedupeCalls(calls: readonly { name: string; args: JsonObject }[]): number[] {
  const seen = new Set<string>();
  return calls.flatMap(({ name, args }, index) => {
    const key = `${name} ${canonicalJson(args)}`;
    if (seen.has(key)) return [index];
    seen.add(key);
    return [];
  });
}
