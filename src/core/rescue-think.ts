/**
 * Thinking that a model wrote into its text, told from the text.
 *
 * N1  What is thought is never part of the answer, also when a tag is missing: an opened thought that is not closed
 *     goes on to the end, and a closing tag alone ends a thought that began with the text.
 * N2  A tag that is quoted (in code, in a whole JSON value) is talked about, not thought with: it stays.
 * N3  Linear in the text.
 */

import { readJsonAt } from "./hygiene-json.ts";

const TAG = /<(\/?)(?:think|thinking)>|◁(\/?)think▷/gi;
const QUOTES = "\"'`";

/** What stood around the thoughts, piece by piece, and the thoughts. */
export interface Split {
  parts: string[];
  thoughts: string[];
}

/** After a quote, a backtick or a line break that JSON wrote as `\n`. */
const quotedBefore = (text: string, at: number): boolean =>
  (at > 0 && QUOTES.includes(text[at - 1] as string)) || /\\[nrt]$/.test(text.slice(at - 2, at));
/** Before a quote, a backtick or an escape. */
const quotedAfter = (text: string, end: number): boolean =>
  end < text.length && `${QUOTES}\\`.includes(text[end] as string);

/** Tells whether a place lies in a JSON value; asked from left to right, and only about what is not thought. */
function jsonReader(text: string): (at: number, from: number) => boolean {
  let read = 0;
  let valueEnd = 0;
  return (at, from) => {
    read = Math.max(read, from);
    while (read < at) {
      const open = text.slice(read, at).search(/[{[]/);
      if (open < 0) read = at;
      else {
        const value = readJsonAt(text, read + open);
        read = value.ok ? value.end : Math.max(read + open + 1, value.at);
        if (value.ok) valueEnd = value.end;
      }
    }
    return at < valueEnd;
  };
}

export function splitThinking(text: string): Split {
  const thoughts: string[] = [];
  let parts: string[] = [];
  let from = 0;
  let inside = false;
  let quoted = 0;
  const inJson = jsonReader(text);
  for (const tag of text.matchAll(TAG)) {
    const end = tag.index + tag[0].length;
    const closes = tag[1] === "/" || tag[2] === "/";
    if (inside !== closes && inside) continue;
    if (!inside && inJson(tag.index, from)) continue;
    const before = quotedBefore(text, tag.index);
    if (!closes && before) {
      quoted += 1;
      continue;
    }
    if (closes && !inside && quotedAfter(text, end) && (before || quoted > 0)) {
      quoted = Math.max(0, quoted - 1);
      continue;
    }
    const piece = text.slice(from, tag.index);
    if (!closes) parts.push(piece);
    else if (inside) thoughts.push(piece);
    else {
      // Its opening tag was in the prompt: all before it was thought.
      thoughts.push([...parts, piece].join(""));
      parts = [];
    }
    inside = !closes;
    from = end;
  }
  (inside ? thoughts : parts).push(text.slice(from));
  return { parts, thoughts };
}

/** The answer without its thinking, and the thinking. A text without thinking stays byte for byte. */
export function stripThinking(text: string): { text: string; thinking: string } {
  const { parts, thoughts } = splitThinking(text);
  if (thoughts.length === 0) return { text, thinking: "" };
  const thinking = thoughts.map((t) => t.trim()).filter((t) => t !== "");
  return { text: parts.join("").trim(), thinking: thinking.join("\n\n") };
}
