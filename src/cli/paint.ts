/** Colours by meaning, and the width of text. NO_COLOR and anything that is no terminal mean none. */
import { styleText } from "node:util";

export type Tone = "quiet" | "strong" | "good" | "bad" | "ask" | "plain";
export type Paint = (tone: Tone, text: string) => string;

const STYLES = {
  quiet: "dim",
  strong: "bold",
  good: "green",
  bad: "red",
  ask: "yellow",
} as const;

export const painter =
  (colour: boolean): Paint =>
  (tone, text) =>
    colour && tone !== "plain" && text !== ""
      ? styleText(STYLES[tone], text, { validateStream: false })
      : text;

export function wantsColour(
  stream: { isTTY?: boolean },
  env: Record<string, string | undefined>,
): boolean {
  return stream.isTTY === true && !env.NO_COLOR && env.TERM !== "dumb";
}

/** East Asian characters and most emoji take two columns. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const columnsOf = (char: string): number => (WIDE.test(char) ? 2 : 1);

/** At most so many columns of a line. */
export function clip(text: string, columns: number): string {
  let used = 0;
  let at = 0;
  for (const char of text) {
    used += columnsOf(char);
    if (used > columns) return `${text.slice(0, Math.max(0, at - 1))}…`;
    at += char.length;
  }
  return text;
}

/** What of a growing line can be shown already: its beginning, cut where a terminal of that width would wrap. */
export function wrapPoint(text: string, columns: number): number {
  let used = 0;
  let at = 0;
  let blank = 0;
  for (const char of text) {
    used += columnsOf(char);
    if (used > columns) return blank || at;
    at += char.length;
    if (char === " " || columnsOf(char) === 2) blank = at;
  }
  return 0;
}
