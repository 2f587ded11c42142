/**
 * Puts a reply together from what servers really send: chunks of a stream, or one whole JSON completion.
 *
 * U1  Two calls are never glued together and one call is never split, with `index` reused or missing.
 * U2  Arguments are text: an object in their place becomes JSON text.
 * U3  Text handed out while it streams never holds half a character or a NUL.
 * U4  A refusal is the reply's text only when nothing else was said, and its finish reason says so.
 * U5  Beyond the caps the reply counts as cut (`finish: "length"`), whatever the server says afterwards.
 */
import { clean } from "../../core/chars.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Piece, RawCall, Reply } from "../../core/ports.ts";

type Json = Record<string, unknown>;

interface Held {
  id: string;
  name: string;
  arguments: string;
  index: number | null;
}

export interface Accumulator {
  /** Takes one chunk (or one whole completion) in and returns what of it can be shown now. */
  add(chunk: unknown): Piece;
  /** Characters or calls are past the cap: nothing more needs to be read. */
  full(): boolean;
  /** What the provider gave as reason for the end; null while there is none. */
  finish(): string | null;
  reply(): Reply;
}

export interface Caps {
  chars: number;
  calls: number;
}

const CAPS: Caps = { chars: LIMITS.replyChars, calls: LIMITS.replyCalls };

export function accumulate(model: string, caps: Caps = CAPS): Accumulator {
  const calls: Held[] = [];
  const text = spoken();
  const thinking = spoken();
  const refusal = spoken();
  let named = "";
  let finish: string | null = null;
  let usage: Reply["usage"] = null;
  let chars = 0;
  let over = false;

  /** Counts, and says whether it still fits. Calls beyond the cap are dropped, half of nothing is kept. */
  const fits = (size: number): boolean => {
    chars += size;
    over ||= chars > caps.chars;
    return !over;
  };
  const speak = (into: Spoken, part: string): string =>
    part !== "" && fits(part.length) ? into.add(part) : "";
  const takeCalls = (deltas: unknown): void => {
    for (const raw of listOf(deltas)) {
      const delta = callDelta(raw);
      if (!delta || !fits(delta.name.length + delta.arguments.length)) continue;
      const held = heldFor(calls, delta);
      if (held) extend(held, delta);
      else if (calls.length < caps.calls) calls.push(delta);
      else over = true;
    }
  };

  return {
    add(raw) {
      const chunk = record(raw);
      if (!chunk) return {};
      if (typeof chunk.model === "string" && chunk.model !== "") named = chunk.model;
      usage = usageOf(chunk.usage) ?? usage;
      const choice = record(listOf(chunk.choices)[0]);
      if (!choice || (typeof choice.index === "number" && choice.index !== 0)) return {};
      const part = record(choice.delta) ?? record(choice.message) ?? {};
      const piece: Piece = {};
      const parts = partsOf(part.content);
      const aside = textOf(part.reasoning_content ?? part.reasoning ?? part.thinking);
      const thought = speak(thinking, aside + parts.thinking);
      if (thought !== "") piece.thinking = thought;
      const said = speak(text, parts.text);
      if (said !== "") piece.text = said;
      speak(refusal, textOf(part.refusal) + parts.refusal);
      takeCalls(part.tool_calls);
      takeCalls(part.function_call ? [{ function: part.function_call }] : null);
      if (typeof choice.finish_reason === "string" && choice.finish_reason !== "") {
        finish = choice.finish_reason;
      }
      return piece;
    },
    full: () => over,
    finish: () => (over ? "length" : finish),
    reply: () => {
      const said = text.all();
      const refused = refusal.all();
      const end = over ? "length" : finish;
      return {
        text: said === "" ? refused : said,
        thinking: thinking.all(),
        calls: calls.map(finished),
        finish: refused !== "" && end !== null && end !== "length" ? "refusal" : end,
        model: named || model,
        usage,
      };
    },
  };
}

const finished = (held: Held): RawCall => ({
  id: clean(held.id),
  name: clean(held.name),
  arguments: clean(held.arguments),
});

interface Spoken {
  /** Keeps the part and returns what may be shown: half a character waits for its other half. */
  add(part: string): string;
  all(): string;
}

function spoken(): Spoken {
  let all = "";
  let half = "";
  return {
    add(part) {
      // Looks at the new part alone: a look into the whole text would copy it with every delta.
      const fresh = half + part;
      const last = fresh.charCodeAt(fresh.length - 1);
      const end = last >= 0xd800 && last <= 0xdbff ? fresh.length - 1 : fresh.length;
      half = fresh.slice(end);
      const piece = clean(fresh.slice(0, end));
      all += piece;
      return piece;
    },
    all: () => all + clean(half),
  };
}

/** One delta of a call; null when it brings nothing of a call (only metadata). */
function callDelta(raw: unknown): Held | null {
  const delta = record(raw);
  if (!delta) return null;
  const fn = record(delta.function) ?? {};
  const held: Held = {
    id: typeof delta.id === "string" || typeof delta.id === "number" ? String(delta.id) : "",
    name: typeof fn.name === "string" ? fn.name : "",
    arguments: argumentText(fn.arguments),
    index: typeof delta.index === "number" ? delta.index : null,
  };
  return held.id === "" && held.name === "" && held.arguments === "" ? null : held;
}

function argumentText(raw: unknown): string {
  if (typeof raw === "string") return raw;
  return raw === undefined || raw === null ? "" : JSON.stringify(raw);
}

/** The call that this delta goes on with, or undefined when it starts a new one. */
function heldFor(calls: readonly Held[], delta: Held): Held | undefined {
  if (delta.index !== null) {
    const held = calls.findLast((call) => call.index === delta.index);
    return held && startsAnother(held, delta) ? undefined : held;
  }
  const byId = delta.id === "" ? undefined : calls.findLast((call) => call.id === delta.id);
  const held = byId ?? calls.at(-1);
  if (!held || delta.name === "") return held;
  if (byId) return startsAnother(byId, delta) ? undefined : byId;
  // A name without index or known id is a new call, unless the last one would be left in pieces by that.
  const goesOn = delta.id === "" && held.name === delta.name && isUnfinished(held.arguments);
  return goesOn ? held : undefined;
}

/** Servers reuse an index (and even an id) for the next parallel call: its name gives it away. */
function startsAnother(held: Held, delta: Held): boolean {
  if (delta.name === "" || held.name === "") return false;
  if (delta.name !== held.name) return true;
  if (delta.id !== "" && held.id !== "" && delta.id !== held.id) return true;
  // The same head repeated with nothing in it is no second call.
  return delta.arguments !== "" && isObjectText(held.arguments);
}

function extend(held: Held, delta: Held): void {
  held.id ||= delta.id;
  held.name ||= delta.name;
  held.arguments += delta.arguments;
}

const isUnfinished = (text: string): boolean => text.trim() !== "" && !isObjectText(text);

function isObjectText(text: string): boolean {
  if (!text.trimEnd().endsWith("}")) return false;
  try {
    return record(JSON.parse(text)) !== null;
  } catch {
    return false;
  }
}

/** Text of a field: a string, or a list of strings and parts. */
function textOf(raw: unknown): string {
  if (typeof raw === "string") return raw;
  return listOf(raw)
    .map((part) => (typeof part === "string" ? part : record(part)?.text))
    .filter((part) => typeof part === "string")
    .join("");
}

/** What a content field says, in which voice: some servers put reasoning and refusals among its parts. */
function partsOf(raw: unknown): { text: string; thinking: string; refusal: string } {
  const parts = { text: "", thinking: "", refusal: "" };
  if (typeof raw === "string") parts.text = raw;
  for (const item of listOf(raw)) {
    const part = record(item) ?? { text: item };
    const type = typeof part.type === "string" ? part.type : "text";
    if (/thinking|reasoning/.test(type)) parts.thinking += textOf(part.thinking ?? part.text);
    else if (type === "refusal") parts.refusal += textOf(part.refusal ?? part.text);
    else parts.text += textOf(part.text);
  }
  return parts;
}

function usageOf(raw: unknown): Reply["usage"] {
  const usage = record(raw);
  const input = count(usage?.prompt_tokens);
  if (!usage || input === null) return null;
  const cached =
    record(usage.prompt_tokens_details)?.cached_tokens ?? usage.prompt_cache_hit_tokens;
  return {
    input_tokens: input,
    output_tokens: count(usage.completion_tokens) ?? 0,
    cached_tokens: count(cached) ?? 0,
  };
}

const count = (raw: unknown): number | null =>
  typeof raw === "number" && Number.isFinite(raw) && raw >= 0 ? Math.round(raw) : null;

const listOf = (raw: unknown): unknown[] => (Array.isArray(raw) ? raw : []);

const record = (raw: unknown): Json | null =>
  typeof raw === "object" && raw !== null && !Array.isArray(raw) ? (raw as Json) : null;
