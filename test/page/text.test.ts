import { describe, expect, it } from "vitest";
import { blocks, safeUrl } from "../../src/page/blocks.ts";
import { translate } from "../../src/page/strings.ts";

describe("text of others (A29)", () => {
  it("A1: knows paragraphs and code blocks and nothing else", () => {
    expect(blocks("one\ntwo\n\n```js\nlet a;\n\nb\n```\nend")).toEqual([
      { type: "text", text: "one\ntwo" },
      { type: "code", text: "let a;\n\nb" },
      { type: "text", text: "end" },
    ]);
    expect(blocks("<img src=x onerror=alert(1)>")).toEqual([
      { type: "text", text: "<img src=x onerror=alert(1)>" },
    ]);
  });

  it("A1: a fence that is never closed runs to the end", () => {
    expect(blocks("a\n```\nb\nc")).toEqual([
      { type: "text", text: "a" },
      { type: "code", text: "b\nc" },
    ]);
  });

  it("A2: links lead to http, https and mail only", () => {
    expect(safeUrl("https://example.com/a")).toBe("https://example.com/a");
    expect(safeUrl("mailto:a@example.com")).toBe("mailto:a@example.com");
    for (const bad of [
      "javascript:alert(1)",
      "data:text/html,x",
      " javascript:x",
      "file:///etc",
      "//x",
    ]) {
      expect(safeUrl(bad)).toBeNull();
    }
  });
});

describe("strings", () => {
  it("fills in what is named and leaves the rest", () => {
    expect(translate("progress", { done: 1, total: 3 }, "en")).toBe("1 of 3 steps");
    expect(translate("progress", { done: 1, total: 3 }, "zh")).toBe("共 3 步，完成 1 步");
    expect(translate("notSent", { why: "{why} $&" }, "en")).toBe("Not sent: {why} $&");
  });
});
