/** Cutting text, by its invariants C1 and C2, over random texts full of surrogate pairs. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { clean, head, headAndTail, titleFrom, utf8Bytes } from "../../src/core/chars.ts";

const pieces = fc.array(fc.constantFrom("a", "汉", "🚀", "e\u0301", "\ud83d", "\0", "\n"), {
  maxLength: 60,
});
const anyText = pieces.map((list) => list.join(""));
const points = (t: string) => [...t].length;

it("clean leaves no half pair and no NUL, and nothing else changes", () => {
  fc.assert(
    fc.property(anyText, (t) => {
      const out = clean(t);
      expect(out.isWellFormed() && !out.includes("\0")).toBe(true);
      expect(clean(out)).toBe(out);
    }),
  );
  expect(clean("汉🚀 ok")).toBe("汉🚀 ok");
});

it("C1, C2: a head has at most as many code points as asked, and never half a pair", () => {
  fc.assert(
    fc.property(anyText.map(clean), fc.integer({ min: 1, max: 70 }), (t, max) => {
      const cut = head(t, max);
      expect(cut.isWellFormed()).toBe(true);
      expect(points(cut)).toBeLessThanOrEqual(max);
      if (points(t) <= max) expect(cut).toBe(t);
    }),
  );
});

it("head and tail keep both ends, say what is missing, and never cut a pair", () => {
  fc.assert(
    fc.property(anyText.map(clean), fc.integer({ min: 4, max: 40 }), (t, max) => {
      const cut = headAndTail(t, max);
      expect(cut.isWellFormed()).toBe(true);
      if (points(t) <= max) expect(cut).toBe(t);
      else expect(cut).toMatch(/\[\d+ characters left out\]/);
    }),
  );
  const cut = headAndTail(`${"a".repeat(9)}🚀${"b".repeat(90)}🚀end`, 20);
  expect(cut.startsWith("aaaaaaaaa🚀")).toBe(true);
  expect(cut.endsWith("🚀end")).toBe(true);
});

it("UTF-8 bytes are counted as an encoder does", () => {
  fc.assert(
    fc.property(anyText.map(clean), (t) => {
      expect(utf8Bytes(t)).toBe(new TextEncoder().encode(t).length);
    }),
  );
});

it.each([
  ["  \n\n  hello   world \nmore", "hello world"],
  ["", ""],
  ["x".repeat(100), `${"x".repeat(9)}…`],
])("a title from %j", (t, want) => {
  expect(titleFrom(t, 10)).toBe(want === "hello world" ? "hello wor…" : want);
});
