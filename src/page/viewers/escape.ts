/**
 * Terminal output cut into what is text and what is a command to the terminal.
 *
 * T1  No escape sequence survives as text, complete or cut off at the end.
 */
const ESC = 0x1b;
const BEL = 0x07;
const DEL = 0x7f;
/** Single-character forms of ESC [ and of the introducers of a string (DCS, SOS, OSC, PM, APC). */
const C1_CSI = 0x9b;
const C1_ST = 0x9c;
const C1_STRINGS: ReadonlySet<number> = new Set([0x90, 0x98, 0x9d, 0x9e, 0x9f]);
const ESC_STRINGS: ReadonlySet<string> = new Set(["]", "P", "X", "^", "_"]);
const KEPT: ReadonlySet<string> = new Set(["\n", "\t", "\r", "\b"]);

/** A control sequence that changes what is shown: colours (`m`) and the erasing of a line (`K`). */
export interface Control {
  final: "m" | "K";
  params: string;
}

export function* pieces(text: string): Generator<string | Control> {
  let from = 0;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    const control = code < 0x20 || (code >= DEL && code < 0xa0);
    if (!control || KEPT.has(text.charAt(at))) {
      at++;
      continue;
    }
    if (at > from) yield text.slice(from, at);
    const end = afterControl(text, at, code);
    const known = meaning(text.slice(at, end));
    if (known) yield known;
    at = from = end;
  }
  if (from < text.length) yield text.slice(from);
}

function meaning(sequence: string): Control | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
  const match = /^(?:\u001b\[|\u009b)([\d;:]*)([mK])$/.exec(sequence);
  return match ? { final: match[2] as "m" | "K", params: match[1] ?? "" } : null;
}

/** The index after the control character or the whole sequence that begins at `at`. */
function afterControl(text: string, at: number, code: number): number {
  if (code === C1_CSI) return afterCsi(text, at + 1);
  if (C1_STRINGS.has(code)) return afterString(text, at + 1);
  if (code !== ESC) return at + 1;
  const next = text.charAt(at + 1);
  if (next === "[") return afterCsi(text, at + 2);
  if (ESC_STRINGS.has(next)) return afterString(text, at + 2);
  let end = at + 1;
  while (isBetween(text, end, " ", "/")) end++;
  return Math.min(text.length, end + 1);
}

const isBetween = (text: string, at: number, low: string, high: string): boolean =>
  at < text.length && text.charAt(at) >= low && text.charAt(at) <= high;

/** Parameters, intermediates, one final character. */
function afterCsi(text: string, from: number): number {
  let at = from;
  while (isBetween(text, at, " ", "?")) at++;
  return isBetween(text, at, "@", "~") ? at + 1 : at;
}

/** Up to BEL or ST. A string that is not ended is cut at the next escape, or at the end. */
function afterString(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BEL || code === C1_ST) return at + 1;
    if (code === ESC) return text.charAt(at + 1) === "\\" ? at + 2 : at;
  }
  return text.length;
}
