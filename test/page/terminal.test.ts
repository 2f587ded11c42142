import { describe, expect, it } from "vitest";
import { plainText, readable, terminalRuns } from "../../src/page/viewers/terminal.ts";

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

describe("terminal output in colours", () => {
  it("gives each run the classes of its colour, and plain text none", () => {
    expect(terminalRuns("a\u001b[31mred\u001b[0mb\u001b[1;92mgo\u001b[39m!")).toEqual([
      { text: "a", style: "" },
      { text: "red", style: "sgr-1" },
      { text: "b", style: "" },
      { text: "go", style: "sgr-10 sgr-bold" },
      { text: "!", style: "sgr-bold" },
    ]);
  });

  it("maps the 256 and the true colours to the nearest of its own sixteen", () => {
    const style = (sgr: string) => terminalRuns(`\u001b[${sgr}mx`)[0]?.style;
    expect(style("38;5;196")).toBe("sgr-9");
    expect(style("38;5;9")).toBe("sgr-9");
    expect(style("38;5;244")).toBe("sgr-7");
    expect(style("38;2;20;120;20")).toBe("sgr-2");
    expect(style("48;5;1;36")).toBe("sgr-6");
    expect(style("38;5")).toBe("sgr-0");
  });

  it("T2: erases a line from the cursor, and writes over colours with colours", () => {
    expect(plainText("long text\r\u001b[Kok")).toBe("ok");
    expect(plainText("gone\u001b[2Kx")).toBe("    x");
    expect(terminalRuns("\u001b[31m10%\u001b[0m\r\u001b[32m99%\u001b[0m")).toEqual([
      { text: "99%", style: "sgr-2" },
    ]);
  });

  it("keeps colours over line ends", () => {
    expect(terminalRuns("\u001b[33ma\nb")).toEqual([{ text: "a\nb", style: "sgr-3" }]);
  });
});

it("leaves no control character in text that is no terminal's", () => {
  expect(readable("a\u001b[31mb\u001b]8;;x\u0007c\r\nd")).toBe("abc\nd");
  const text = "tabs\tand\nlines";
  expect(readable(text)).toBe(text);
});
