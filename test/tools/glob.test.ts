import { describe, expect, it } from "vitest";
import { globMatcher } from "../../src/tools/glob.ts";

const CASES: [glob: string, path: string, matches: boolean][] = [
  ["*.ts", "a.ts", true],
  ["*.ts", "src/deep/a.ts", true],
  ["*.ts", "a.tsx", false],
  ["a?c", "abc", true],
  ["a?c", "ac", false],
  ["a?", "a🚀", true],
  ["[abc].txt", "b.txt", true],
  ["[a-c]1", "b1", true],
  ["[!a-c]1", "b1", false],
  ["[!a-c]1", "d1", true],
  ["*.{ts,js}", "x/a.js", true],
  ["*.{ts,js}", "x/a.css", false],
  ["{a,b}{1,2}", "b2", true],
  ["src/*.ts", "src/a.ts", true],
  ["src/*.ts", "src/x/a.ts", false],
  ["src/**/*.ts", "src/a.ts", true],
  ["src/**/*.ts", "src/x/y/a.ts", true],
  ["**/a.ts", "a.ts", true],
  ["**/a.ts", "x/a.ts", true],
  ["**/a.ts", "xa.ts", false],
  ["**/a.ts", "x/ya.ts", false],
  ["src/**", "src/x/y", true],
  ["src/**", "other/x", false],
  ["./src/*", "src/a", true],
  ["a.b", "axb", false],
  ["(a+)+", "(a+)+", true],
  ["[", "[", true],
  ["", "a", false],
];

describe("G1, G2: file name patterns", () => {
  it.each(CASES)("%j on %j is %s", (glob, path, expected) => {
    expect(globMatcher(glob)(path)).toBe(expected);
  });

  it("answers at once for a pattern made to backtrack", () => {
    const evil = `${"*a".repeat(100)}b`;
    expect(globMatcher(evil)("a".repeat(4_000))).toBe(false);
  });
});
