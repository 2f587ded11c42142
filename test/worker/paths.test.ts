/** A32: names, on the file routes and on the file tools, and links made in the sandbox. */
import { describe, expect, it as plain, vi } from "vitest";
import type { FileInfo } from "../../src/core/events.ts";
import { fileRead, fileStrReplace, fileWrite } from "../../src/tools/file.ts";
import { fileFindByName, fileFindInContent } from "../../src/tools/file-find.ts";
import { ODD_NAMES, REFUSED_IN_URL } from "../support/bad-paths.ts";
import { exec } from "../support/box-suite.ts";
import { call } from "../support/run-tool.ts";
import { withBox } from "./support/box.ts";
import { Client, it } from "./support/client.ts";

vi.setConfig({ testTimeout: 60_000 });
const SECRET = "the other session's";
const listed = async (c: Client) =>
  (await (await c.fetch("/files")).json<{ files: FileInfo[] }>()).files;
const pair = async () => {
  const [other, c] = [await Client.create([]), await Client.create([])];
  for (const path of ["secret", "other/secret"]) {
    await other.fetch(`/files/${path}`, { method: "PUT", body: SECRET });
  }
  return { other, c };
};

describe("A32: over HTTP", () => {
  it("no name leads out: reading, writing and deleting are refused", async () => {
    const { other, c } = await pair();
    for (const name of REFUSED_IN_URL) {
      for (const init of [{}, { method: "PUT", body: "x" }, { method: "DELETE" }]) {
        const response = await c.fetch(`/files/${name.replace("OTHER", other.id)}`, init);
        const said = await response.text();
        expect([name, [400, 404].includes(response.status), said.includes(SECRET)]).toEqual([
          name,
          true,
          false,
        ]);
        expect(response.headers.get("set-cookie")).toBe(null);
      }
    }
    expect(await listed(c)).toEqual([]);
    expect((await listed(other)).map((f) => f.path)).toHaveLength(2);
  });

  it("odd names are one file each, listed with an address that works and a header that says the name", async () => {
    const c = await Client.create([]);
    for (const name of ODD_NAMES) {
      const made = await c.fetch(`/files/${encodeURIComponent(name)}`, {
        method: "PUT",
        body: `:${name}`,
      });
      expect([name, made.status]).toEqual([name, 201]);
    }
    const files = await listed(c);
    expect(files.map((f) => f.name).sort()).toEqual([...ODD_NAMES].sort());
    for (const { name, path, url } of files) {
      expect(path).toBe(`/workspace/${name}`);
      const response = await c.fetch(url.slice(`/api/sessions/${c.id}`.length));
      expect(await response.text()).toBe(`:${name}`);
      const header = response.headers.get("content-disposition") ?? "";
      // RFC 6266: one ASCII name without anything to escape, one encoded by RFC 5987.
      expect(header).toMatch(
        /^attachment; filename="[\x20\x21\x23\x24\x26-\x5b\x5d-\x7e]*"; filename\*=UTF-8''[A-Za-z0-9!#$&+.^_`|~%-]+$/,
      );
      expect(decodeURIComponent(header.split("UTF-8''")[1] ?? "")).toBe(name);
    }
  });
});

const OUT = [
  "..",
  "../",
  "../secret",
  "../../etc/passwd",
  "a/../../secret",
  "/etc/passwd",
  "//etc/passwd",
  "/",
  "/tmp/secret",
  "/dev/null",
  "/workspace/../secret",
  "/workspace/../../proc/self/environ",
  "/workspace-evil/x",
  "/workspacex",
  "/WORKSPACE/secret",
  "../workspace-evil/x",
  "..\\..\\secret",
  "\\\\server\\share",
  "a\0.txt",
  "a\nb",
  "a\u202etxt.exe",
  "a\ud83d",
  "",
  "x".repeat(300),
  "a/".repeat(2_100),
];

describe("A32: on the file tools", () => {
  plain.each(OUT)("%j is refused by each of them, as an observation", (path) =>
    withBox(async (box, files) => {
      await exec(
        box,
        "echo TOPSECRET > /tmp/secret; echo TOPSECRET > ../secret; mkdir /etc; echo TOPSECRET > /etc/passwd",
      );
      const results = [
        await call(fileRead, box, { path }),
        await call(fileWrite, box, { path, content: "x" }),
        await call(fileWrite, box, { path, content: "x", append: true }),
        await call(fileStrReplace, box, { path, old_str: "TOP", new_str: "x" }),
        await call(fileFindInContent, box, { path, regex: "SECRET" }),
        await call(fileFindByName, box, { path, glob: "**" }),
      ];
      for (const { ok, text } of results) {
        expect([ok, text.includes("TOPSECRET"), text.includes("passwd:")]).toEqual([
          true,
          false,
          false,
        ]);
      }
      expect(files.list()).toEqual([]);
    }),
  );
});

describe("A32: links made in the sandbox", () => {
  const LINKS = [
    "ln -s /etc/passwd l",
    "ln -s /etc l",
    "ln -s ../../ l",
    "ln -s .. l",
    "ln -s / l",
    "ln -s ../secret l",
    "ln -sf /tmp/secret l",
    "ln -s l l",
    "mkdir d; ln -s ../../tmp d/l; ln -s d/l l",
    "ln /tmp/secret l",
    "cp -s /tmp/secret l",
    "ln -s /tmp/secret /tmp/l; mv /tmp/l l",
    "ln -s /tmp /workspace/l; cd l",
    "ln -s /workspace/../tmp/secret l",
  ];
  plain.each(LINKS)("give no byte from outside to a tool: %s", (command) =>
    withBox(async (box, files) => {
      await exec(box, "echo TOPSECRET > /tmp/secret; mkdir /etc; echo TOPSECRET > /etc/passwd");
      await exec(box, command);
      for (const path of [
        "l",
        "l/passwd",
        "l/tmp/secret",
        "l/secret",
        "l/etc/passwd",
        "d/l",
        "d/l/secret",
      ]) {
        expect((await call(fileRead, box, { path })).text).not.toContain("TOPSECRET");
        await call(fileWrite, box, { path, content: "overwritten" });
      }
      const found = await call(fileFindInContent, box, { path: ".", regex: "TOPSECRET" });
      expect(found.text).not.toMatch(/\/(tmp|etc)\//);
      expect(files.list().every(({ path }) => path.startsWith("/workspace/"))).toBe(true);
      expect((await exec(box, "cat /tmp/secret /etc/passwd")).output).toBe(
        "TOPSECRET\nTOPSECRET\n",
      );
    }),
  );
});
