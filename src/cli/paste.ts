/**
 * Keys on their way to the line editor. Of a pasted text every newline becomes a mark, so that a paste is one message
 * and not one a line; the terminal says where a paste begins and ends ("bracketed paste").
 */
import { Transform } from "node:stream";

const BEGIN = "\u001b[200~";
const END = "\u001b[201~";
const NEWLINE = "⏎";

export const PASTE_ON = "\u001b[?2004h";
export const PASTE_OFF = "\u001b[?2004l";

/** The text as it was pasted. */
export const unmarked = (line: string): string => line.replaceAll(NEWLINE, "\n");

export function pasteFilter(): (chunk: string) => string {
  let pasting = false;
  return (chunk) => {
    let out = "";
    for (let rest = chunk; rest !== ""; ) {
      const mark = pasting ? END : BEGIN;
      const at = rest.indexOf(mark);
      const part = at < 0 ? rest : rest.slice(0, at);
      out += pasting ? part.replace(/\r\n|\r|\n/g, NEWLINE) : part;
      if (at >= 0) pasting = !pasting;
      rest = at < 0 ? "" : rest.slice(at + mark.length);
    }
    return out;
  };
}

/** A terminal's keys through that filter; still a terminal to the line editor. */
export function pasteStream(input: NodeJS.ReadStream): Transform {
  const filter = pasteFilter();
  const stream = new Transform({
    transform(chunk, _, done) {
      done(null, filter(String(chunk)));
    },
  });
  input.setEncoding("utf8");
  return Object.assign(stream, {
    isTTY: true as const,
    setRawMode(mode: boolean) {
      input.setRawMode(mode);
      return stream;
    },
  });
}
