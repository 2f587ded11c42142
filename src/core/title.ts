/**
 * A title out of what a model wrote where a title was asked for: its thoughts, its manners and its markdown are not.
 * Empty when nothing is left; a title is never worth another model call.
 */
import { clean, titleFrom } from "./chars.ts";
import { LIMITS } from "./limits.ts";
import { stripThinking } from "./rescue-think.ts";

/** "Sure! Here's a title:", "Title:", "标题:" before the title itself, or alone in a line. */
const MANNERS =
  /^(?:(?:sure|certainly|of course|ok(?:ay)?|here(?:'s|’s| is))\b[^:：\n]{0,60}|(?:(?:the|a|plan|suggested|session)\s+)*title|标题|題目|题目)\s*[:：]\s*/iu;
const MARKS = /^(?:#{1,6}\s+|>\s+|[-*•+]\s+|\d{1,2}[.)]\s+)/;
const PAIRS: [string, string][] = [
  ["**", "**"],
  ["__", "__"],
  ["`", "`"],
  ['"', '"'],
  ["'", "'"],
  ["“", "”"],
  ["「", "」"],
  ["《", "》"],
];

function bare(line: string): string {
  let text = line.trim();
  for (let before = ""; before !== text; ) {
    before = text;
    text = text.replace(MARKS, "").replace(MANNERS, "").trim();
    const pair = PAIRS.find(
      ([a, b]) => text.length > a.length + b.length && text.startsWith(a) && text.endsWith(b),
    );
    if (pair) text = text.slice(pair[0].length, -pair[1].length).trim();
  }
  return text;
}

export function titleOf(proposed: string): string {
  const lines = stripThinking(clean(proposed)).text.slice(0, 10_000).split("\n");
  const first = lines.map(bare).find((line) => /[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(line));
  return titleFrom(first ?? "", LIMITS.titleChars);
}
