/** A28: a title from whatever a model gives for one; the work never waits for it and never fails by it. */
import { describe, expect, it } from "vitest";
import { titleOf } from "../../src/core/title.ts";
import { call, complete, Harness, work } from "../fakes.ts";

const planned = (title: unknown) =>
  call([
    "create_plan",
    {
      message: "ok",
      language: "en",
      ...(title === undefined ? {} : { title }),
      goal: "g",
      steps: [{ id: "1", description: "a" }],
    },
  ]);

describe("A28: a title", () => {
  it.each([
    ["Build a page", "Build a page"],
    ["Sure! Here's a title: Build a page", "Build a page"],
    ["Here is the title you asked for:\n\n**Build a page**", "Build a page"],
    ["Title: “Build a page”", "Build a page"],
    ["标题：做一个页面", "做一个页面"],
    ["# Build a page\n\n- one\n- two", "Build a page"],
    ["<think>They want a page.</think>Build a page", "Build a page"],
    ["<think>They want", ""],
    ["  \n\t\n", ""],
    ["***", ""],
    ["C++ and C#", "C++ and C#"],
    ['Say "hi" to "you', 'Say "hi" to "you'],
    ["Here be dragons", "Here be dragons"],
    ["<b>bold</b>", "<b>bold</b>"],
  ])("from %j is %j", (proposed, title) => {
    expect(titleOf(proposed)).toBe(title);
  });

  it("of 5,000 characters is cut by whole characters", () => {
    const title = titleOf("🚀".repeat(5_000));
    expect([...title]).toHaveLength(80);
    expect(title.isWellFormed()).toBe(true);
  });

  it.each([undefined, "", " ", 7, { a: 1 }, "<think>hm"])(
    "given as %j is the first words of the message, without another model call",
    async (title) => {
      const h = new Harness({ script: [planned(title), work(), complete(true)] });
      await h.run("Make a page\nwith a title");
      expect(h.of("nudge")).toEqual([]);
      expect(h.of("title")).toEqual([{ title: "Make a page" }]);
      expect(h.requests).toHaveLength(3);
      expect(h.faults()).toEqual([]);
    },
  );

  it("is asked for in the schema all the same", async () => {
    const h = await new Harness({ script: [planned("T"), work(), complete(true)] }).run("Do");
    const fn = h.requests[0]?.tools?.[0]?.function as unknown as {
      parameters: { required: string[]; properties: Record<string, { type: string }> };
    };
    expect(fn.parameters.properties.title?.type).toBe("string");
    expect(fn.parameters.required).toContain("title");
  });
});
