import { describe, expect, it } from "vitest";
import { plainText } from "../../src/page/viewers/terminal.ts";

describe("terminal output as plain text", () => {
  it("T1: drops colours, titles, links and cursor moves", () => {
    expect(plainText("\u001b[1;31mred\u001b[0m plain")).toBe("red plain");
    expect(plainText("\u001b]0;title\u0007text")).toBe("text");
    expect(plainText("\u001b]8;;javascript:alert(1)\u001b\\click\u001b]8;;\u001b\\")).toBe("click");
    expect(plainText("a\u001b(Bb\u001b7c\u009b2Jd\u009dtitle\u009ce")).toBe("abcde");
    expect(plainText("nul\u0000 bell\u0007 del\u007f")).toBe("nul bell del");
  });

  it("T1: drops what was cut off in the middle", () => {
    expect(plainText("ok\u001b")).toBe("ok");
    expect(plainText("ok\u001b[12;")).toBe("ok");
    expect(plainText("ok\u001b]8;;http://x")).toBe("ok");
  });

  it("T2: lets a carriage return write over its line", () => {
    expect(plainText("10%\r50%\r100%\nnext\r\n")).toBe("100%\nnext\n");
    expect(plainText("abcdef\rXY")).toBe("XYcdef");
    expect(plainText("ab\bc")).toBe("ac");
  });

  it("leaves ordinary text alone", () => {
    const text = "ünïcode 榛 🌰\n\tindented <b>&amp;</b>\n";
    expect(plainText(text)).toBe(text);
  });
});
