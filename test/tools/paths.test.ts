import { describe, expect, it } from "vitest";
import { ancestors, relative, resolvePath, within } from "../../src/tools/paths.ts";

const ACCEPTED: [spelling: string, path: string][] = [
  ["a.txt", "/workspace/a.txt"],
  ["./a.txt", "/workspace/a.txt"],
  ["a/b/c.txt", "/workspace/a/b/c.txt"],
  ["a/../b", "/workspace/b"],
  ["a/./b", "/workspace/a/b"],
  ["a//b", "/workspace/a/b"],
  ["a/b/", "/workspace/a/b"],
  [".", "/workspace"],
  ["./", "/workspace"],
  ["a/..", "/workspace"],
  ["/workspace", "/workspace"],
  ["/workspace/", "/workspace"],
  ["/workspace/a", "/workspace/a"],
  ["//workspace//a", "/workspace/a"],
  ["/workspace/../workspace/a", "/workspace/a"],
  ["/../workspace/a", "/workspace/a"],
  ["../workspace/a", "/workspace/a"],
  ["workspace/a", "/workspace/workspace/a"],
  ["...", "/workspace/..."],
  ["..a", "/workspace/..a"],
  ["a..", "/workspace/a.."],
  [".env", "/workspace/.env"],
  ["%2e%2e%2fother", "/workspace/%2e%2e%2fother"],
  ["%2e%2e/x", "/workspace/%2e%2e/x"],
  ["~", "/workspace/~"],
  ["$HOME/x", "/workspace/$HOME/x"],
  ["CON", "/workspace/CON"],
  ["C:/x", "/workspace/C:/x"],
  ["-rf", "/workspace/-rf"],
  ["a b 'c' \"d\".txt", "/workspace/a b 'c' \"d\".txt"],
  ["日本語/🚀.md", "/workspace/日本語/🚀.md"],
  [`${"n".repeat(255)}`, `/workspace/${"n".repeat(255)}`],
];

const REFUSED: [spelling: string, reason: string][] = [
  ["", "empty"],
  ["..", "outside"],
  ["../", "outside"],
  ["../x", "outside"],
  ["../../etc/passwd", "outside"],
  ["a/../../x", "outside"],
  ["a/b/../../../x", "outside"],
  ["./../x", "outside"],
  ["/", "outside"],
  ["//", "outside"],
  ["/..", "outside"],
  ["/etc/passwd", "outside"],
  ["//etc/passwd", "outside"],
  ["/tmp/x", "outside"],
  ["/workspace-evil/x", "outside"],
  ["../workspace-evil/x", "outside"],
  ["/workspace/../workspace-evil/x", "outside"],
  ["/workspacex", "outside"],
  ["/Workspace/x", "outside"],
  ["/workspace/..", "outside"],
  ["/workspace/../etc", "outside"],
  ["a\0.txt", "NUL"],
  ["..\\..\\x", "backslash"],
  ["a\\b", "backslash"],
  ["\\\\server\\share", "backslash"],
  ["a\nb", "control"],
  ["a\rb", "control"],
  ["a\tb", "control"],
  ["a\u007fb", "control"],
  ["a\u0085b", "control"],
  ["a\u2028b", "control"],
  ["invoice\u202efdp.exe", "control"],
  ["a\ud83d", "Unicode"],
  ["n".repeat(256), "255"],
  ["é".repeat(128), "255"],
  ["a/".repeat(2_100), "4096"],
  ["a/".repeat(2_046), "4096"],
];

describe("A32: paths", () => {
  it.each(ACCEPTED)("W2: %j is a file of the workspace", (spelling, path) => {
    expect(resolvePath(spelling)).toEqual({ ok: true, path });
  });

  it.each(REFUSED)("W1: %j is refused", (spelling, reason) => {
    const result = resolvePath(spelling);
    expect(result.ok).toBe(false);
    if (!result.ok) expect(result.error).toContain(reason);
  });

  it("starts relative paths at the folder that is given", () => {
    expect(resolvePath("../b", "/workspace/a")).toEqual({ ok: true, path: "/workspace/b" });
    expect(resolvePath("../../b", "/workspace/a").ok).toBe(false);
  });

  it("compares whole segments", () => {
    expect(within("/workspace", "/workspace")).toBe(true);
    expect(within("/workspace/a", "/workspace")).toBe(true);
    expect(within("/workspace-evil/a", "/workspace")).toBe(false);
  });

  it("names the folders above a path and the part below the root", () => {
    expect(ancestors("/workspace/a/b/c")).toEqual(["/workspace/a", "/workspace/a/b"]);
    expect(ancestors("/workspace/a")).toEqual([]);
    expect(relative("/workspace/a/b")).toBe("a/b");
    expect(relative("/workspace")).toBe("");
  });
});
