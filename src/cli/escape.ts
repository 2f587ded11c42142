/**
 * Text of models, tools and servers on its way to a terminal.
 *
 * X1  No escape sequence reaches the terminal but colours, and those only where colours are wanted: no cursor moves,
 *     no titles, no clipboard, no links, no keys typed by an answer.
 * X2  Nothing else changes how text around it is read: no lone carriage return, no bell, no direction marks.
 */

// Written as strings: the characters themselves must not stand in a source.
const ESC = "\\u001b";
/** The rest of a CSI sequence; of a string (OSC, DCS, SOS, PM, APC), with or without its end. */
const CSI = "[0-?]*[ -/]*[@-~]?";
const STRING = `[^\\u0007\\u009c${ESC}]*(?:[\\u0007\\u009c]|${ESC}\\\\)?`;
/** Each has a form with an escape and one in a single character (C1). */
const SEQUENCE = new RegExp(
  [
    `(?:${ESC}\\[|\\u009b)${CSI}`,
    `(?:${ESC}[\\]PX^_]|[\\u0090\\u0098\\u009d-\\u009f])${STRING}`,
    `${ESC}[ -/]*[0-~]?`,
  ].join("|"),
  "g",
);
const COLOUR = new RegExp(`^${ESC}\\[[0-9;]{0,40}m$`);
/** Controls but tab, newline and what begins a colour; marks of direction. */
const REST = new RegExp(
  `[^\\P{Cc}\\t\\n${ESC}]|[\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]`,
  "gu",
);

export const tame = (text: string, colour = false): string =>
  text
    .replaceAll("\r\n", "\n")
    .replaceAll("\r", "\n")
    .replace(SEQUENCE, (found) => (colour && COLOUR.test(found) ? found : ""))
    .replace(REST, "");

/** The end of a text that may still become a sequence when more of it comes. */
const OPEN = new RegExp(`(?:${ESC}(?:\\[[0-?]*[ -/]*|[\\]PX^_][^\\u0007${ESC}]*${ESC}?)?|\\r)$`);
const OPEN_CHARS = 4_096;

/** The same for text that comes in pieces: a sequence that is cut by their border is held until it is whole. */
export function tamer(colour = false): { push(piece: string): string; end(): string } {
  let held = "";
  return {
    push(piece) {
      const text = held + piece;
      const open = OPEN.exec(text)?.[0] ?? "";
      held = open.length < OPEN_CHARS ? open : "";
      return tame(text.slice(0, text.length - open.length), colour);
    },
    end() {
      const text = tame(held, colour);
      held = "";
      return text;
    },
  };
}

/** One line, for places where a line is a line. */
export const oneLine = (text: string): string => tame(text).replace(/\s+/g, " ").trim();
