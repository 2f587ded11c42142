import { describe, expect, it } from "vitest";
import { fileRead, fileStrReplace, fileWrite } from "../../src/tools/file.ts";
import { fileFindByName, fileFindInContent } from "../../src/tools/file-find.ts";
import { FakeBox } from "../support/fake-box.ts";
import { call } from "../support/run-tool.ts";

const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2]);

describe("file_read", () => {
  const box = new FakeBox()
    .put("/workspace/a.txt", "one\ntwo\nthree\n")
    .put("/workspace/empty", "")
    .put("/workspace/pic.png", PNG)
    .put("/workspace/src/b.ts", "b");

  it("gives the text and shows it in the event", async () => {
    expect(await call(fileRead, box, { path: "a.txt" })).toEqual({
      ok: true,
      text: "one\ntwo\nthree\n",
      content: { path: "/workspace/a.txt", content: "one\ntwo\nthree\n" },
    });
  });

  it("gives the lines asked for and says which", async () => {
    const read = async (args: object) =>
      (await call(fileRead, box, { path: "a.txt", ...args })).text;
    expect(await read({ start_line: 2, end_line: 3 })).toBe("two\nthree\n[lines 2 to 3 of 3]");
    expect(await read({ start_line: 3 })).toBe("three\n[lines 3 to 3 of 3]");
    expect(await read({ end_line: 1 })).toBe("one\n[lines 1 to 1 of 3]");
    expect(await read({ start_line: 9 })).toBe("[no lines 9 to the end; the file has 3 lines]");
  });

  it("L1: takes a missing file, a folder and a refused path as observations", async () => {
    expect(await call(fileRead, box, { path: "nope" })).toEqual({
      ok: true,
      text: "There is no file /workspace/nope.",
    });
    expect(await call(fileRead, box, { path: "src" })).toEqual({
      ok: true,
      text: "/workspace/src is a folder, not a file. It holds:\nb.ts",
    });
    const outside = await call(fileRead, box, { path: "../etc/passwd" });
    expect(outside).toMatchObject({ ok: true, text: expect.stringContaining("outside") });
  });

  it("says when a file is empty", async () => {
    expect((await call(fileRead, box, { path: "empty" })).text).toBe("(empty file)");
  });

  it("A21, B1: describes a binary file, with its download link", async () => {
    const info = (path: string) => ({
      path,
      name: "pic.png",
      size: 7,
      content_type: "image/png",
      modified_at: "2026-01-01T00:00:00.000Z",
      url: "/api/sessions/s/files/pic.png",
    });
    const result = await call(fileRead, box, { path: "pic.png" }, { files: { info } });
    expect(result).toEqual({
      ok: true,
      text: "/workspace/pic.png: binary, 7 bytes, type image/png; its content is not shown. The user can download it: /api/sessions/s/files/pic.png",
      content: { path: "/workspace/pic.png" },
    });
  });

  it("says how to read the rest of a long file", async () => {
    const long = new FakeBox().put("/workspace/long", "🚀".repeat(5_000));
    const { text, content } = await call(fileRead, long, { path: "long" }, { maxChars: 1_000 });
    expect(text).toContain("start_line");
    expect([...text].length).toBeLessThanOrEqual(1_000);
    expect(text.isWellFormed()).toBe(true);
    expect(content?.content).toBe("🚀".repeat(5_000));
  });
});

describe("file_write", () => {
  it("writes a new file and replaces an old one, showing both contents", async () => {
    const box = new FakeBox();
    expect(await call(fileWrite, box, { path: "d/a.txt", content: "é\n" })).toEqual({
      ok: true,
      text: "Wrote /workspace/d/a.txt (3 bytes, 1 lines).",
      content: { path: "/workspace/d/a.txt", content: "é\n" },
    });
    const again = await call(fileWrite, box, { path: "d/a.txt", content: "new" });
    expect(again.content).toEqual({
      path: "/workspace/d/a.txt",
      content: "new",
      old_content: "é\n",
    });
    expect(box.text("/workspace/d/a.txt")).toBe("new");
  });

  it("appends, also to a file that is not there yet", async () => {
    const box = new FakeBox();
    for (const content of ["a", "b"]) {
      await call(fileWrite, box, { path: "log", content, append: true });
    }
    expect(box.text("/workspace/log")).toBe("ab");
  });

  it("L3: does not append again when it is unknown whether it did", async () => {
    const box = new FakeBox().put("/workspace/log", "a");
    const args = { path: "log", content: "b", append: true };
    const result = await call(fileWrite, box, args, { reopened: true });
    expect(result).toMatchObject({ ok: true, text: expect.stringContaining("not known") });
    expect(box.text("/workspace/log")).toBe("a");
  });

  it("writes whole again after a crash", async () => {
    const box = new FakeBox().put("/workspace/a", "half");
    await call(fileWrite, box, { path: "a", content: "whole" }, { reopened: true });
    expect(box.text("/workspace/a")).toBe("whole");
  });

  it("L1: writes nothing outside, to a folder or behind a binary file", async () => {
    const box = new FakeBox().put("/workspace/src/b.ts", "b").put("/workspace/p.png", PNG);
    for (const path of ["/etc/passwd", "src", ".", "p.png"]) {
      const result = await call(fileWrite, box, { path, content: "x", append: true });
      expect(result.ok).toBe(true);
      expect(result.text).toMatch(/Nothing was written|nothing was added/);
    }
    expect([...box.files.keys()]).toEqual(["/workspace/src/b.ts", "/workspace/p.png"]);
  });

  it("L2: fails with the quota's reason", async () => {
    const box = new FakeBox();
    box.full = "ENOSPC: no room";
    const result = await call(fileWrite, box, { path: "a", content: "x" });
    expect(result).toMatchObject({ ok: false, text: "Nothing was written: ENOSPC: no room" });
  });

  it("A20: mends half a character before it is stored", async () => {
    const box = new FakeBox();
    await call(fileWrite, box, { path: "a", content: "x\ud83d" });
    expect(box.text("/workspace/a")).toBe("x\ufffd");
  });

  it("bounds both contents of the event", async () => {
    const box = new FakeBox().put("/workspace/a", "o".repeat(200_000));
    const result = await call(fileWrite, box, { path: "a", content: "n".repeat(200_000) });
    expect(JSON.stringify(result.content).length).toBeLessThan(140_000);
  });
});

describe("file_str_replace", () => {
  const box = () => new FakeBox().put("/workspace/a", "x = 1\ny = 2\nx = 1\nz = $&\n");

  it("replaces what stands there once, taking nothing for a pattern", async () => {
    const files = box();
    const result = await call(fileStrReplace, files, {
      path: "a",
      old_str: "y = 2",
      new_str: "y = $& $1 $'",
    });
    expect(result).toMatchObject({ ok: true, text: "Replaced it at line 2 of /workspace/a." });
    expect(files.text("/workspace/a")).toBe("x = 1\ny = $& $1 $'\nx = 1\nz = $&\n");
    expect(result.content).toMatchObject({ old_content: "x = 1\ny = 2\nx = 1\nz = $&\n" });
  });

  it("L1: changes nothing when it is absent or not unique, and says where", async () => {
    const files = box();
    const edit = async (old_str: string) =>
      (await call(fileStrReplace, files, { path: "a", old_str, new_str: "q" })).text;
    expect(await edit("nope")).toMatch(/^old_str is not in \/workspace\/a; nothing was changed/);
    expect(await edit("x = 1")).toMatch(/^old_str stands 2 times in \/workspace\/a \(lines 1, 3\)/);
    expect(files.text("/workspace/a")).toBe("x = 1\ny = 2\nx = 1\nz = $&\n");
  });

  it("points at Windows line ends", async () => {
    const files = new FakeBox().put("/workspace/w", "a\r\nb\r\n");
    const result = await call(fileStrReplace, files, { path: "w", old_str: "a\nb", new_str: "" });
    expect(result.text).toContain("\\r\\n");
  });

  it("L1: takes a missing and a binary file as observations", async () => {
    const files = box().put("/workspace/p.png", PNG);
    for (const path of ["nope", "p.png"]) {
      const result = await call(fileStrReplace, files, { path, old_str: "a", new_str: "b" });
      expect(result).toMatchObject({ ok: true });
      expect(result.text.toLowerCase()).toContain("nothing was changed");
    }
  });

  it("refuses an empty old_str as an argument", () => {
    expect(fileStrReplace.parse({ path: "a", old_str: "", new_str: "b" }).ok).toBe(false);
  });
});

describe("file_find_by_name", () => {
  const box = new FakeBox()
    .put("/workspace/a.ts", "")
    .put("/workspace/src/b.ts", "")
    .put("/workspace/src/c.md", "")
    .put("/workspace/node_modules/m/x.ts", "");
  const find = async (path: string, glob: string) =>
    (await call(fileFindByName, box, { path, glob })).text;

  it("finds by name at any depth, by path with a slash, and skips dependencies", async () => {
    expect(await find(".", "*.ts")).toBe("/workspace/a.ts\n/workspace/src/b.ts");
    expect(await find(".", "src/*")).toBe("/workspace/src/b.ts\n/workspace/src/c.md");
    expect(await find("src", "*.ts")).toBe("/workspace/src/b.ts");
    expect(await find(".", "node_modules/**/*.ts")).toBe("/workspace/node_modules/m/x.ts");
    expect(await find(".", "/workspace/src/*.md")).toBe("/workspace/src/c.md");
  });

  it("L1: takes nothing found as an observation", async () => {
    expect(await call(fileFindByName, box, { path: ".", glob: "*.zig" })).toEqual({
      ok: true,
      text: "No files match.",
      content: { result: "No files match." },
    });
  });

  it("Q2: caps what it gives", async () => {
    const many = new FakeBox();
    for (let i = 0; i < 600; i++) many.put(`/workspace/f${i}`, "");
    const { text } = await call(fileFindByName, many, { path: ".", glob: "f*" });
    expect(text).toContain("[100 more files left out; narrow the search]");
  });
});

describe("file_find_in_content", () => {
  it("Q1: asks the sandbox's grep, with everything quoted", async () => {
    const box = new FakeBox().put("/workspace/it's/a", "x");
    box.answer = async () => ({ output: "/workspace/it's/a:1:x\n" });
    const result = await call(fileFindInContent, box, { path: "it's", regex: "x'; rm -rf /" });
    expect(result.text).toBe("/workspace/it's/a:1:x");
    expect(box.requests[0]?.command).toBe(
      "grep -rnE --exclude-dir=node_modules --exclude-dir=.git -e 'x'\\''; rm -rf /' '/workspace/it'\\''s'",
    );
  });

  it("L1: takes no match, a bad expression and an empty folder as observations", async () => {
    const box = new FakeBox().put("/workspace/a", "x");
    box.answer = async () => ({ exitCode: 1 });
    const find = (args: object) => call(fileFindInContent, box, { path: ".", regex: "x", ...args });
    expect(await find({})).toMatchObject({ ok: true, text: "No matches." });
    box.answer = async () => ({ exitCode: 2, output: "grep: bad expression\n" });
    expect(await find({})).toMatchObject({
      ok: true,
      text: "The search failed: grep: bad expression",
    });
    expect(await find({ path: "none" })).toMatchObject({
      ok: true,
      text: "There are no files at /workspace/none.",
    });
  });

  it("L2: a search that does not end is a failure", async () => {
    const box = new FakeBox().put("/workspace/a", "x");
    box.answer = async () => ({ exitCode: 124, timedOut: true });
    expect(await call(fileFindInContent, box, { path: ".", regex: "x" })).toMatchObject({
      ok: false,
    });
  });

  it("Q2: caps matches and long lines, and leaves binary lines out", async () => {
    const box = new FakeBox().put("/workspace/a", "x");
    const hit = `/workspace/a:1:${"x".repeat(1_000)}`;
    box.answer = async () => ({ output: `bin:\0\n${`${hit}\n`.repeat(250)}` });
    const { text } = await call(
      fileFindInContent,
      box,
      { path: ".", regex: "x" },
      { maxChars: 200_000 },
    );
    expect(text).toContain("[50 more matches left out; narrow the search]");
    expect(text.split("\n")[0]?.length).toBe(400);
    expect(text).not.toContain("bin:");
  });
});
