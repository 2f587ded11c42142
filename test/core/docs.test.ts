/** The docs say what is so: their commands are proved, their links lead somewhere, the files they name are there. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { commands, docFiles, ROOT } from "../docs/collect.ts";
import { PROOFS } from "../docs/proofs.ts";

const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");

describe("commands of the docs", () => {
  it("are each proved in test/docs/proofs.ts", () => {
    const unproved = commands().filter(({ command }) => !Object.hasOwn(PROOFS, command));
    expect(unproved.map((c) => `${c.file}:${c.line} ${c.command}`)).toEqual([]);
  });

  it("are still there where a proof says so", () => {
    const typed = new Set(commands().map((c) => c.command));
    expect(Object.keys(PROOFS).filter((command) => !typed.has(command))).toEqual([]);
  });

  it("name no script that package.json does not have", () => {
    const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
    const named = commands().flatMap(({ command, file }) =>
      [...command.matchAll(/npm run (?:-s )?([\w:-]+)/g)].map((m) => ({
        file,
        script: m[1] ?? "",
      })),
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter(({ script }) => !(script in scripts))).toEqual([]);
  });

  it("point at tests that are there, where another one proves them", () => {
    const missing = Object.values(PROOFS).filter((p) => "by" in p && !existsSync(join(ROOT, p.by)));
    expect(missing).toEqual([]);
  });
});

/** Without what stands in a fence. */
const prose = (file: string): string => read(file).replace(/^```[\s\S]*?^```/gm, "");
/** As GitHub makes them. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s-]/gu, "")
    .trim()
    .replace(/\s/g, "-");
const anchorsOf = (file: string): string[] =>
  [...prose(file).matchAll(/^#+ (.*)$/gm)].map((m) => anchorOf(m[1] ?? ""));

it("links in the docs lead to files and headings that are there", () => {
  const broken = docFiles().flatMap((file) => {
    const links = [
      ...prose(file).matchAll(/\]\(([^)\s]+)\)/g),
      ...prose(file).matchAll(/(?:src|srcset)="([^"]+)"/g),
    ].map((m) => m[1] ?? "");
    return links
      .filter((link) => !/^[a-z]+:/.test(link))
      .filter((link) => {
        const [path = "", anchor] = link.split("#");
        const target = path === "" ? file : join(dirname(file), path);
        if (!existsSync(join(ROOT, target))) return true;
        return anchor !== undefined && !anchorsOf(target).includes(anchor);
      })
      .map((link) => `${file}: ${link}`);
  });
  expect(broken).toEqual([]);
});

/** Folders that a name may stand in without them, as the docs shorten it. */
const HOMES = ["", "src/core/", "src/worker/", "src/page/", "src/tools/", "src/", "docs/"];
const NAMED = /`((?:[\w.-]+\/)*[\w.*<>-]+\.(?:ts|tsx|md|mjs|toml|json|sh|css))`/g;
const FOLDERS = ["src", "test", "docs", "scripts", "examples", "prompts"];
const bare = new Set(
  FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((f) => basename(f)),
  ),
);
const isThere = (name: string): boolean =>
  HOMES.some((home) => existsSync(join(ROOT, home, name))) ||
  (!name.includes("/") && bare.has(name));
/** Named as what one makes, or what comes into being. */
const MADE =
  /[*<>]|^(?:scores|bench|faults|soak|config|worker-configuration\.d|hello|src\/tools\/file-hash)\.\w+$|file-hash\.ts$/;

it("files that the docs name are there", () => {
  const named = docFiles().flatMap((file) =>
    [...prose(file).matchAll(NAMED)].map((m) => ({ file, name: m[1] ?? "" })),
  );
  expect(named.length).toBeGreaterThan(50);
  const missing = named.filter(({ name }) => !MADE.test(name)).filter(({ name }) => !isThere(name));
  expect(missing.map(({ file, name }) => `${file}: ${name}`)).toEqual([]);
});

it("the tool in docs/tools.md is the one in examples/03-tool.ts", () => {
  const example = read("examples/03-tool.ts").replaceAll('"../src/tools/', '"./');
  const code = example.slice(example.indexOf("import "));
  expect(read("docs/tools.md")).toContain(code);
});
