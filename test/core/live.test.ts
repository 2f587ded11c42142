/** Thinking in streamed text, by the invariants W1 and W2, cut at every place. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { splitLive } from "../../src/core/live.ts";

function stream(pieces: string[]): { text: string; thinking: string } {
  const split = splitLive();
  const all = { text: "", thinking: "" };
  for (const piece of pieces) {
    const heard = split(piece);
    all.text += heard.text;
    all.thinking += heard.thinking;
  }
  return all;
}
const cuts = (text: string, at: number[]): string[] => {
  const places = [...new Set(at.map((n) => n % (text.length + 1)))].sort((a, b) => a - b);
  return [...places, text.length].map((end, i) => text.slice(places[i - 1] ?? 0, end));
};

it.each([
  ["<think>secret</think>42", "42", "secret"],
  ["a <thinking>b</thinking> c", "a  c", "b"],
  ["1 < 2 and <b>bold</b>", "1 < 2 and <b>bold</b>", ""],
  ["<think>never closed", "", "never closed"],
  ["a<think>1</think>b<think>2</think>c", "abc", "12"],
])("%s, however it is cut", (whole, text, thinking) => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 12 }), (at) => {
      expect(stream(cuts(whole, at))).toEqual({ text, thinking });
    }),
  );
});

it("holds back no more than what may be a tag", () => {
  const split = splitLive();
  expect(split("hello <th").text).toBe("hello ");
  expect(split("ere").text).toBe("<there");
});
