/** Markdown read into tokens by `marked`; what it cannot read, or only at a price, is null and stays plain text. */
import { Lexer, type MarkedToken, type Token } from "marked";

/** Beyond it reading costs more than it gives. */
const LONGEST = 64 * 1024;

export function readMarkdown(text: string): MarkedToken[] | null {
  if (text.length > LONGEST) return null;
  try {
    return known(new Lexer({ gfm: true, breaks: true }).lex(text));
  } catch {
    // Thousands of nested quotes end the stack.
    return null;
  }
}

/** Without extensions every token is one of marked's own. */
export const known = (tokens: Token[] | undefined): MarkedToken[] =>
  (tokens ?? []) as MarkedToken[];

const NAMED: Record<string, string> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  hellip: "…",
  ndash: "–",
  mdash: "—",
  copy: "©",
  rarr: "→",
  larr: "←",
  times: "×",
  middot: "·",
};

/** Character references, which marked leaves to whoever draws. */
export const decoded = (text: string): string =>
  text.includes("&")
    ? text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]+));/gi, (whole, hex, number, name) => {
        if (name) return Object.hasOwn(NAMED, name) ? (NAMED[name] as string) : whole;
        const code = hex ? Number.parseInt(hex, 16) : Number(number);
        return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code).toWellFormed() : "\ufffd";
      })
    : text;
