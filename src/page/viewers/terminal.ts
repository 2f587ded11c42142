/**
 * Terminal output as runs of text with the classes of their colours: what is left is safe to put into text nodes.
 *
 * T1  No escape sequence survives, complete or cut off at the end.
 * T2  A carriage return, a backspace or an erased line write over what was there, as on a terminal, so that progress
 *     bars do not pile up.
 */
import { PLAIN, restyle, styleClass } from "./colour.ts";
import { pieces } from "./escape.ts";

export interface Run {
  text: string;
  /** Class names, "" for plain text. */
  style: string;
}
/** Erase from the cursor to the end (0), from the beginning to the cursor (1), or the whole line (2). */
interface Erase {
  erase: number;
}
type Part = Run | Erase;
interface Cell {
  char: string;
  style: string;
}

export function terminalRuns(output: string): Run[] {
  const out: Run[] = [];
  let line: Part[] = [];
  let style = PLAIN;
  let name = "";
  const settle = () => {
    for (const run of settled(line)) join(out, run);
    line = [];
  };
  for (const piece of pieces(output)) {
    if (typeof piece !== "string") {
      if (piece.final === "K") line.push({ erase: Number(piece.params) || 0 });
      else {
        style = restyle(style, piece.params);
        name = styleClass(style);
      }
      continue;
    }
    piece.split("\n").forEach((text, i) => {
      if (i > 0) {
        settle();
        join(out, { text: "\n", style: "" });
      }
      if (text !== "") line.push({ text, style: name });
    });
  }
  settle();
  return out;
}

export const plainText = (output: string): string =>
  terminalRuns(output)
    .map((run) => run.text)
    .join("");

// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what it looks for.
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;
/** Text of others that need not be a terminal's: read as one only where it holds what a terminal would obey. */
export const readable = (text: string): string => (CONTROL.test(text) ? plainText(text) : text);

function join(runs: Run[], run: Run): void {
  const last = runs.at(-1);
  if (last && (last.style === run.style || run.text === "\n")) last.text += run.text;
  else if (run.text !== "") runs.push({ ...run });
}

function settled(parts: Part[]): Run[] {
  const simple = parts.every((part) => "text" in part && !/[\r\b]/.test(part.text));
  return simple ? (parts as Run[]) : written(parts);
}

/** T2: cell by cell, with a cursor. */
function written(parts: Part[]): Run[] {
  let cells: Cell[] = [];
  let at = 0;
  for (const part of parts) {
    if ("erase" in part) {
      cells = erased(cells, at, part.erase);
      continue;
    }
    for (const char of part.text) {
      if (char === "\r") at = 0;
      else if (char === "\b") at = Math.max(0, at - 1);
      else {
        while (cells.length < at) cells.push({ char: " ", style: "" });
        cells[at++] = { char, style: part.style };
      }
    }
  }
  return cells.map(({ char, style }) => ({ text: char, style }));
}

function erased(cells: Cell[], at: number, how: number): Cell[] {
  if (how === 0) return cells.slice(0, at);
  if (how === 2) return [];
  return cells.map((cell, i) => (i <= at ? { char: " ", style: "" } : cell));
}
