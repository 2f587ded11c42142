import { expect, it } from "vitest";
import { lineChanges } from "../../src/page/viewers/diff.ts";

it("counts what came and went, and shows it with three lines around", () => {
  const before = Array.from({ length: 20 }, (_, i) => `line ${i}`).join("\n");
  const changes = lineChanges(before, before.replace("line 10", "line ten\nand a half"));
  expect(changes).toMatchObject({ added: 2, removed: 1 });
  expect(changes?.lines.map((line) => line.kind)).toEqual([
    "gap",
    "same",
    "same",
    "same",
    "removed",
    "added",
    "added",
    "same",
    "same",
    "same",
    "gap",
  ]);
});
