/**
 * File name patterns: `*`, `?`, `[abc]`, `{a,b}` and `**` over folders.
 *
 * G1  Time is bounded by pattern length times path length: no regular expression is built, nothing backtracks.
 * G2  A pattern without a slash matches names at any depth; one with a slash matches the path below the folder.
 */
type Token =
  | { type: "char"; char: string }
  | { type: "any" }
  | { type: "set"; chars: string; ranges: [string, string][]; not: boolean }
  /** Anything but a slash, any number of times. */
  | { type: "star" }
  /** Anything at all, any number of times. */
  | { type: "deep" }
  /** Whole folders, any number of them: a run of anything that ends in a slash, or nothing. */
  | { type: "folders" };

const MAX_ALTERNATIVES = 64;

export function globMatcher(pattern: string): (path: string) => boolean {
  const inPath = pattern.includes("/");
  const rooted = pattern.replace(/^\.?\//, "");
  const alternatives = braces(rooted).map(tokens);
  return (path) => {
    const subject = inPath ? path : path.slice(path.lastIndexOf("/") + 1);
    return alternatives.some((alternative) => matches(alternative, subject));
  };
}

/** `a{b,c}d` → `abd`, `acd`; what is unbalanced or too many stays literal. */
function braces(pattern: string): string[] {
  let found = [pattern];
  for (let round = 0; round < 8; round++) {
    const next = found.flatMap((one) => {
      const match = /\{([^{}]*,[^{}]*)\}/.exec(one);
      if (!match) return [one];
      const [before, after] = [one.slice(0, match.index), one.slice(match.index + match[0].length)];
      return (match[1] ?? "").split(",").map((part) => before + part + after);
    });
    if (next.length > MAX_ALTERNATIVES || next.length === found.length) break;
    found = next;
  }
  return found;
}

function tokens(pattern: string): Token[] {
  const found: Token[] = [];
  for (let i = 0; i < pattern.length; ) {
    const char = String.fromCodePoint(pattern.codePointAt(i) as number);
    const set = char === "[" ? /^\[([!^]?)(\]?[^\]]*)\]/.exec(pattern.slice(i)) : null;
    if (pattern.startsWith("**/", i)) {
      found.push({ type: "folders" });
      i += 3;
    } else if (pattern.startsWith("**", i)) {
      found.push({ type: "deep" });
      i += 2;
    } else if (set) {
      found.push(charSet(set[2] ?? "", set[1] !== ""));
      i += set[0].length;
    } else {
      if (char === "*") found.push({ type: "star" });
      else if (char === "?") found.push({ type: "any" });
      else found.push({ type: "char", char });
      i += char.length;
    }
  }
  return found;
}

function charSet(body: string, not: boolean): Token {
  const ranges: [string, string][] = [];
  const chars = body.replace(/(.)-(.)/gu, (_, from: string, to: string) => {
    ranges.push([from, to]);
    return "";
  });
  return { type: "set", chars, ranges, not };
}

const one = (token: Token, char: string): boolean => {
  switch (token.type) {
    case "char":
      return token.char === char;
    case "any":
      return char !== "/";
    case "set": {
      const inside =
        token.chars.includes(char) || token.ranges.some(([a, b]) => char >= a && char <= b);
      return char !== "/" && inside !== token.not;
    }
    case "star":
      return char !== "/";
    case "deep":
    case "folders":
      return true;
  }
};

/** All places in the pattern at once, one character at a time. */
function matches(pattern: Token[], subject: string): boolean {
  let at = enter(pattern, [0]);
  for (const char of subject) {
    const next = new Set<number>();
    const arrived: number[] = [];
    for (const place of at) {
      const token = pattern[place];
      if (!token || !one(token, char)) continue;
      const repeats = token.type === "star" || token.type === "deep" || token.type === "folders";
      if (repeats) next.add(place);
      if (token.type !== "folders" || char === "/") arrived.push(place + 1);
    }
    at = new Set([...next, ...enter(pattern, arrived)]);
    if (at.size === 0) return false;
  }
  return at.has(pattern.length);
}

/** What repeats may also stand for nothing. */
function enter(pattern: Token[], places: number[]): Set<number> {
  const found = new Set<number>();
  for (let place of places) {
    found.add(place);
    while (["star", "deep", "folders"].includes(pattern[place]?.type ?? "")) found.add(++place);
  }
  return found;
}
