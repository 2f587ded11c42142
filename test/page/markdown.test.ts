import { describe, expect, it } from "vitest";
import { decoded, readMarkdown } from "../../src/page/markdown/tokens.ts";

describe("Markdown of others", () => {
  it("is tokens; HTML is a token of its own that is drawn as text", () => {
    const kinds = readMarkdown("# a\n\nb **c**\n\n<script>x</script>\n")?.map(
      (token) => token.type,
    );
    expect(kinds).toEqual(expect.arrayContaining(["heading", "paragraph", "html"]));
  });

  it("stays plain where reading costs too much, or cannot end well", () => {
    expect(readMarkdown("x".repeat(70_000))).toBeNull();
    const deep = readMarkdown(">".repeat(50_000));
    expect(deep === null || deep.length > 0).toBe(true);
  });

  it("reads a fence that is never closed, as text streams in", () => {
    expect(readMarkdown("a\n\n```js\nlet x")?.at(-1)).toMatchObject({
      type: "code",
      lang: "js",
      text: "let x",
    });
  });

  it("resolves character references, and only those", () => {
    expect(decoded("&lt;b&gt; &amp;amp; &#20320;&#x597d; &unknown; & &#0; &#xd800;")).toBe(
      "<b> &amp; 你好 &unknown; & \ufffd \ufffd",
    );
    expect(decoded("&constructor;")).toBe("&constructor;");
  });
});
