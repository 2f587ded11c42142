/**
 * Cutting text without breaking characters.
 *
 * C1  No result holds half a surrogate pair or a NUL, whatever came in.
 * C2  Lengths are code points, except where a name says bytes.
 */

/** Mends lone surrogates and drops NULs: some providers refuse both, for ever. */
export const clean = (text: string): string => text.toWellFormed().replaceAll("\0", "");

/** UTF-8 bytes. */
export function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1;
  }
  return bytes;
}

/** The index after `count` code points from `from` on; costs what is skipped, not the whole text. */
function forward(text: string, count: number): number {
  let at = 0;
  for (let n = 0; n < count && at < text.length; n++) {
    at += (text.codePointAt(at) as number) > 0xffff ? 2 : 1;
  }
  return at;
}
function backward(text: string, count: number): number {
  let at = text.length;
  for (let n = 0; n < count && at > 0; n++) {
    const pair = at > 1 && (text.codePointAt(at - 2) as number) > 0xffff;
    at -= pair ? 2 : 1;
  }
  return at;
}

/** At most `max` code points from the start; `mark` stands for the rest and counts. */
export function head(text: string, max: number, mark = "…"): string {
  if (text.length <= max) return text;
  const end = forward(text, max);
  if (end >= text.length) return text;
  return text.slice(0, forward(text, Math.max(0, max - mark.length))) + mark;
}

/** Head and tail of a long text, with a marker that says how much is missing between them. */
export function headAndTail(text: string, max: number, hint = ""): string {
  if (text.length <= max || forward(text, max) >= text.length) return text;
  const keepHead = Math.ceil(max * 0.6);
  const end = forward(text, keepHead);
  const start = Math.max(end, backward(text, max - keepHead));
  const missing = start - end;
  return `${text.slice(0, end)}\n... [${missing} characters left out${hint ? `; ${hint}` : ""}] ...\n${text.slice(start)}`;
}

/** A title from any text: its first line, one space between words, at most `max` code points. */
export function titleFrom(text: string, max: number): string {
  const line = text
    .split("\n")
    .map((l) => l.replace(/\s+/g, " ").trim())
    .find((l) => l !== "");
  return head(line ?? "", max);
}
