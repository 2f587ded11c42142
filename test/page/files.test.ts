import { describe, expect, it } from "vitest";
import { readTable, separatorOf } from "../../src/page/files/csv.ts";
import { languageOf, previewOf } from "../../src/page/files/kind.ts";
import { fitName, freeName } from "../../src/page/files/upload.ts";
import { resolvePath } from "../../src/tools/paths.ts";

describe("the name of an upload", () => {
  it("U1: is free: a taken one gets a number before its extension", () => {
    const taken = new Set(["a.csv", "a-2.csv", "README", ".env"]);
    expect(freeName("b.csv", taken)).toBe("b.csv");
    expect(freeName("a.csv", taken)).toBe("a-3.csv");
    expect(freeName("README", taken)).toBe("README-2");
    expect(freeName(".env", taken)).toBe(".env-2");
  });

  it("is one that the workspace takes, whatever the file was called", () => {
    const names = [
      "a/b\\c.txt",
      "..",
      "",
      " ",
      "nul\u0000.txt",
      "line\nbreak",
      "\u202egnp.exe",
      "\ud800broken.txt",
      `${"榛".repeat(200)}.csv`,
      `${"x".repeat(400)}`,
      "plain.txt",
    ];
    for (const name of names) {
      const fit = fitName(name);
      expect(fit).not.toContain("/");
      expect(resolvePath(`/workspace/upload/${fit}`)).toEqual({
        ok: true,
        path: `/workspace/upload/${fit}`,
      });
    }
    expect(fitName("plain.txt")).toBe("plain.txt");
    expect(fitName(`${"榛".repeat(200)}.csv`)).toMatch(/^榛+\.csv$/);
    expect(fitName("..")).toBe("file");
  });
});

describe("a table out of a text", () => {
  it("reads quotes, doubled quotes, separators and line ends inside them", () => {
    const text = 'a,b\r\n"x, ""y""\nz",2\n';
    expect(readTable(text, ",", 10)).toEqual([
      ["a", "b"],
      ['x, "y"\nz', "2"],
    ]);
  });

  it("stops where it is told to, and at a quote that is never closed", () => {
    expect(readTable("1\n2\n3\n", ",", 2)).toEqual([["1"], ["2"]]);
    expect(readTable('a,"b\nc', ",", 9)).toEqual([["a", "b\nc"]]);
    expect(readTable("", ",", 9)).toEqual([]);
  });

  it("takes for a separator what stands most often in the first line", () => {
    expect(separatorOf("a;b;c\n1,2;3", "x.csv")).toBe(";");
    expect(separatorOf("a,b", "x.tsv")).toBe("\t");
    expect(separatorOf("one", "x.csv")).toBe(",");
  });
});

describe("how a file is looked at", () => {
  const kind = (name: string, content_type: string) => previewOf({ name, content_type });
  it("knows text, tables, Markdown, rasters and PDF, and saves everything else", () => {
    expect(kind("a.png", "image/png")).toBe("image");
    expect(kind("a.csv", "text/csv; charset=utf-8")).toBe("table");
    expect(kind("a.md", "text/markdown")).toBe("markdown");
    expect(kind("Dockerfile", "application/octet-stream")).toBe("text");
    expect(kind("a.json", "application/json")).toBe("text");
    expect(kind("a.pdf", "application/pdf")).toBe("pdf");
    for (const [name, type] of [
      ["a.zip", "application/zip"],
      ["a.bin", "application/octet-stream"],
    ] as const)
      expect(kind(name, type)).toBe("none");
  });

  it("shows HTML and SVG as source, never as a page or a picture", () => {
    expect(kind("a.html", "text/html")).toBe("text");
    expect(kind("a.svg", "image/svg+xml")).toBe("text");
    expect(languageOf("a.html")).toBe("xml");
    expect(languageOf("constructor")).toBe("");
    expect(languageOf("a.__proto__")).toBe("");
  });
});
