/** The rules of the house that a program can check: one direction of imports, no circles, a pure core. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const SRC = fileURLToPath(new URL("../../src/", import.meta.url));
const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((f) =>
  /\.tsx?$/.test(f),
);

/** What a folder may import, besides itself. */
const MAY: Record<string, string[]> = {
  core: [],
  tools: ["core"],
  adapters: ["core", "tools"],
  worker: ["core", "tools", "adapters"],
  client: ["core"],
  page: ["core", "client"],
  cli: ["core", "client"],
};
/** Packages that a folder may import; the others may import any. */
const PACKAGES: Record<string, string[]> = {
  core: ["zod"],
  tools: ["zod"],
  client: [],
  // What reads the text of others, and one for archives; none of them touches the document.
  page: ["preact", "marked", "lowlight", "highlight.js", "diff", "fflate"],
};

const importsOf = (file: string): string[] =>
  [
    ...readFileSync(join(SRC, file), "utf8").matchAll(
      /(?<![\w/])(?:from|import)\s*\(?\s*"([^"]+)"/g,
    ),
  ].map((m) => m[1] as string);
const folder = (file: string) => file.split("/")[0] as string;
const target = (file: string, spec: string) => relative(SRC, join(SRC, dirname(file), spec));
const own = (file: string) => importsOf(file).filter((spec) => spec.startsWith("."));

describe("imports", () => {
  it("point one way: worker → adapters → tools → core, page → client → core", () => {
    const wrong = files
      .filter((f) => f.includes("/"))
      .flatMap((file) =>
        own(file)
          .map((spec) => target(file, spec))
          .filter((to) => !to.startsWith("..") && folder(to) !== folder(file))
          .filter((to) => !MAY[folder(file)]?.includes(folder(to)))
          .map((to) => `${file} → ${to}`),
      );
    expect(wrong).toEqual([]);
  });

  it("of packages stay where they belong", () => {
    const wrong = files.flatMap((file) => {
      const allowed = PACKAGES[folder(file)];
      if (!allowed) return [];
      const packages = importsOf(file).filter((spec) => !spec.startsWith("."));
      return packages
        .filter((p) => !allowed.some((name) => p === name || p.startsWith(`${name}/`)))
        .map((p) => `${file} → ${p}`);
    });
    expect(wrong).toEqual([]);
  });

  it("have no circles, types aside", () => {
    const edges = new Map(
      files.map((file) => {
        const text = readFileSync(join(SRC, file), "utf8").replace(/import type [^;]+;/g, "");
        const specs = [...text.matchAll(/from\s+"(\.[^"]+)"/g)].map((m) => m[1] as string);
        return [file, specs.map((spec) => target(file, spec))] as const;
      }),
    );
    const circles: string[] = [];
    const done = new Set<string>();
    const visit = (file: string, path: string[]): void => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(" → "));
      if (path.includes(file) || done.has(file)) return;
      for (const to of edges.get(file) ?? []) visit(to, [...path, file]);
      done.add(file);
    };
    for (const file of files) visit(file, []);
    expect(circles).toEqual([]);
  });
});

it("the core names no clock, no randomness and no platform", () => {
  const impure = files
    .filter((f) => f.startsWith("core/"))
    .filter((f) =>
      /Date\.now\(|new Date\(\)|Math\.random\(|crypto\.|console\.|cloudflare:/.test(
        readFileSync(join(SRC, f), "utf8"),
      ),
    );
  expect(impure).toEqual([]);
});

it("files stay small enough to be read", () => {
  const long = files.filter((f) => readFileSync(join(SRC, f), "utf8").split("\n").length > 301);
  expect(long).toEqual([]);
});
