/**
 * Terminal output as plain text: what is left is safe to put into a text node.
 *
 * T1  No escape sequence survives, complete or cut off at the end.
 * T2  A carriage return writes over its line, as on a terminal, so that progress bars do not pile up.
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

export function plainText(output: string): string {
  return withoutControls(output).replace(/\r+\n/g, "\n").split("\n").map(settleLine).join("\n");
}

function withoutControls(text: string): string {
  let out = "";
  let from = 0;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    const control = code < 0x20 || (code >= DEL && code < 0xa0);
    if (!control || KEPT.has(text.charAt(at))) {
      at++;
      continue;
    }
    out += text.slice(from, at);
    at = from = afterControl(text, at, code);
  }
  return out + text.slice(from);
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

function settleLine(line: string): string {
  const rubbed = line.includes("\b") ? rubOut(line) : line;
  if (!rubbed.includes("\r")) return rubbed;
  let shown = "";
  for (const part of rubbed.split("\r")) shown = part + shown.slice(part.length);
  return shown;
}

function rubOut(line: string): string {
  const kept: string[] = [];
  for (const char of line) {
    if (char === "\b") kept.pop();
    else kept.push(char);
  }
  return kept.join("");
}
