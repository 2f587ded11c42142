/**
 * What a colour sequence (SGR) asks for, as class names of the page's own sixteen colours: every one of them can be
 * read on the terminal's ground, whatever a program wished for.
 */
export interface Style {
  /** 0 to 15, or null for the terminal's own ink. */
  colour: number | null;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  inverse: boolean;
}
export const PLAIN: Style = {
  colour: null,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  inverse: false,
};

const SWITCHES: Record<number, Partial<Style>> = {
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
  22: { bold: false, dim: false },
  23: { italic: false },
  24: { underline: false },
  27: { inverse: false },
  39: { colour: null },
};

export function restyle(style: Style, params: string): Style {
  const codes = params.split(/[;:]/).map(Number);
  let next = style;
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] as number;
    if (code === 38 || code === 48) {
      const [colour, taken] = extended(codes.slice(i + 1));
      if (code === 38 && colour !== null) next = { ...next, colour };
      i += taken;
    } else next = simple(next, code);
  }
  return next;
}

function simple(style: Style, code: number): Style {
  if (code === 0) return PLAIN;
  if (code >= 30 && code <= 37) return { ...style, colour: code - 30 };
  if (code >= 90 && code <= 97) return { ...style, colour: code - 82 };
  return { ...style, ...SWITCHES[code] };
}

/** `5;n` or `2;r;g;b`, and how many numbers that took. */
function extended(codes: number[]): [colour: number | null, taken: number] {
  const [kind, a = 0, g = 0, b = 0] = codes;
  if (kind === 5) return [a < 16 ? a : nearest(...cube(a)), 2];
  if (kind === 2) return [nearest(a, g, b), 4];
  return [null, codes.length];
}

/** The 6 × 6 × 6 cube and the ramp of greys of the 256 colours. */
function cube(n: number): [number, number, number] {
  if (n >= 232) {
    const grey = 8 + (n - 232) * 10;
    return [grey, grey, grey];
  }
  const at = n - 16;
  const level = (v: number) => (v === 0 ? 0 : 55 + v * 40);
  return [level(Math.floor(at / 36)), level(Math.floor(at / 6) % 6), level(at % 6)];
}

/** By hue: which of red, green and blue is strong, and whether it is bright. */
function nearest(r: number, g: number, b: number): number {
  const top = Math.max(r, g, b);
  const low = Math.min(r, g, b);
  if (top - low < 40) return top > 200 ? 15 : top > 110 ? 7 : 8;
  const half = (top + low) / 2;
  return (r > half ? 1 : 0) + (g > half ? 2 : 0) + (b > half ? 4 : 0) + (top > 190 ? 8 : 0);
}

/** "" for plain text. */
export function styleClass(style: Style): string {
  const { colour, ...flags } = style;
  const names = Object.entries(flags).flatMap(([name, on]) => (on ? [`sgr-${name}`] : []));
  if (colour !== null) names.unshift(`sgr-${colour}`);
  return names.join(" ");
}
