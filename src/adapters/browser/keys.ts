/** Keys by the names that the web gives them, as the browser wants to be told of them. */

export interface Key {
  key: string;
  code: string;
  windowsVirtualKeyCode: number;
  /** What it writes, if anything. */
  text?: string;
  /** Bits: 1 Alt, 2 Control, 4 Meta, 8 Shift. */
  modifiers: number;
}

const NAMED: Record<string, readonly [key: string, code: number, text?: string]> = {
  enter: ["Enter", 13, "\r"],
  return: ["Enter", 13, "\r"],
  tab: ["Tab", 9],
  escape: ["Escape", 27],
  esc: ["Escape", 27],
  backspace: ["Backspace", 8],
  delete: ["Delete", 46],
  insert: ["Insert", 45],
  space: [" ", 32, " "],
  home: ["Home", 36],
  end: ["End", 35],
  pageup: ["PageUp", 33],
  pagedown: ["PageDown", 34],
  arrowleft: ["ArrowLeft", 37],
  left: ["ArrowLeft", 37],
  arrowup: ["ArrowUp", 38],
  up: ["ArrowUp", 38],
  arrowright: ["ArrowRight", 39],
  right: ["ArrowRight", 39],
  arrowdown: ["ArrowDown", 40],
  down: ["ArrowDown", 40],
};
const MODIFIERS: Record<string, number> = {
  alt: 1,
  option: 1,
  control: 2,
  ctrl: 2,
  meta: 4,
  cmd: 4,
  command: 4,
  shift: 8,
};

/** null: there is no such key. */
export function keyOf(name: string): Key | null {
  // The last character may itself be a plus.
  const parts = name.trim() === "" ? [name] : name.trim().split(/\+(?=.)/);
  const last = parts.pop() ?? "";
  let modifiers = 0;
  for (const part of parts) {
    const bit = MODIFIERS[part.trim().toLowerCase()];
    if (bit === undefined) return null;
    modifiers |= bit;
  }
  const plain = plainKey(last.trim() === "" ? last : last.trim());
  if (!plain) return null;
  const { text, ...key } = plain;
  // With Control, Alt or Meta a key is a command and writes nothing.
  return { ...key, ...(text && (modifiers & 7) === 0 ? { text } : {}), modifiers };
}

function plainKey(name: string): Omit<Key, "modifiers"> | null {
  const lower = name.toLowerCase();
  const known = Object.hasOwn(NAMED, lower) ? NAMED[lower] : undefined;
  if (known) {
    const [key, windowsVirtualKeyCode, text] = known;
    const code = key === " " ? "Space" : key;
    return { key, code, windowsVirtualKeyCode, ...(text ? { text } : {}) };
  }
  const f = /^f([1-9]|1[0-2])$/.exec(lower);
  if (f) return { key: `F${f[1]}`, code: `F${f[1]}`, windowsVirtualKeyCode: 111 + Number(f[1]) };
  if ([...name].length !== 1) return null;
  if (name === " ") return { key: " ", code: "Space", windowsVirtualKeyCode: 32, text: " " };
  const upper = name.toUpperCase();
  if (/^[A-Z]$/.test(upper)) {
    const windowsVirtualKeyCode = upper.charCodeAt(0);
    return { key: name, code: `Key${upper}`, windowsVirtualKeyCode, text: name };
  }
  const digit = /^\d$/.test(name);
  const windowsVirtualKeyCode = digit ? name.charCodeAt(0) : 0;
  return { key: name, code: digit ? `Digit${name}` : "", windowsVirtualKeyCode, text: name };
}
