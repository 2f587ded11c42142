/** The embedded sandbox and its file store over real Durable Object storage. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { fileUrl } from "../../src/adapters/files/info.ts";
import { FILES_SCHEMA } from "../../src/adapters/files/schema.ts";
import { FileStore } from "../../src/adapters/files/store.ts";
import { embeddedBox } from "../../src/adapters/sandbox/embedded.ts";
import { LIMITS } from "../../src/core/limits.ts";
import { fileFindInContent } from "../../src/tools/file-find.ts";
import { boxSuite, exec } from "../support/box-suite.ts";
import { call } from "../support/run-tool.ts";

const MIB = 1024 * 1024;
let now = 1_000;
const clock = { now: () => now };
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
/** toEqual takes seconds for megabytes. */
const same = (a: Uint8Array | null, b: Uint8Array): boolean =>
  a !== null && a.byteLength === b.byteLength && a.every((byte, i) => byte === b[i]);
const filled = (size: number, byte = 7): Uint8Array => new Uint8Array(size).fill(byte);

async function withFiles(
  test: (files: FileStore, sql: SqlStorage) => Promise<void> | void,
): Promise<void> {
  const stub = env.SESSION.get(env.SESSION.newUniqueId());
  await runInDurableObject(stub, async (_, state) => {
    for (const statement of FILES_SCHEMA) state.storage.sql.exec(statement);
    await test(new FileStore(state.storage.sql, clock), state.storage.sql);
  });
}

boxSuite("embedded", (test) => withFiles((files) => test(embeddedBox(files))));

describe("the file store", () => {
  it("F2: keeps contents over chunk borders, whole and in ranges", () =>
    withFiles((files) => {
      const content = Uint8Array.from({ length: 2 * MIB + 3 }, (_, i) => (i * 31) % 251);
      expect(files.write("/workspace/big", content)).toEqual({ ok: true, created: true });
      expect(same(files.read("/workspace/big"), content)).toBe(true);
      for (const [start, end] of [
        [0, 0],
        [MIB - 1, MIB + 1],
        [MIB, 2 * MIB],
        [2 * MIB + 1, 2 * MIB + 3],
      ] as const) {
        const part = files.read("/workspace/big", { start, end });
        expect(same(part, content.slice(start, end))).toBe(true);
      }
      expect(files.read("/workspace/big", { start: 2 * MIB, end: 99 * MIB })?.byteLength).toBe(3);
      expect(files.read("/workspace/big", { start: 9 * MIB, end: 10 * MIB })?.byteLength).toBe(0);
    }));

  it("F2: leaves no chunk of a replaced or removed content behind", () =>
    withFiles((files, sql) => {
      const chunks = () => sql.exec<{ n: number }>("SELECT count(*) n FROM file_chunks").one().n;
      files.write("/workspace/a", filled(3 * MIB));
      files.write("/workspace/a", bytes("x"));
      expect(chunks()).toBe(1);
      files.write("/workspace/d/b", filled(MIB + 1));
      expect(files.remove("/workspace/d")).toBe(true);
      expect(files.remove("/workspace/d")).toBe(false);
      expect(chunks()).toBe(1);
      files.remove("/workspace/a");
      expect(chunks()).toBe(0);
      expect(files.totals()).toEqual({ files: 0, bytes: 0 });
    }));

  it("appends across chunk borders and keeps the order", () =>
    withFiles((files) => {
      files.append("/workspace/log", filled(MIB - 2, 1));
      files.append("/workspace/log", filled(4, 2));
      files.append("/workspace/log", filled(MIB - 2, 3));
      files.append("/workspace/log", filled(1, 4));
      const all = files.read("/workspace/log") as Uint8Array;
      expect(all.byteLength).toBe(2 * MIB + 1);
      expect([...all.slice(MIB - 3, MIB + 3)]).toEqual([1, 2, 2, 2, 2, 3]);
      expect(all.at(-1)).toBe(4);
    }));

  it("writes two rows for a small file, and one to rename it", () =>
    withFiles((files, sql) => {
      const written: number[] = [];
      const real = sql.exec.bind(sql);
      const counting = new Proxy(sql, {
        get: (target, key) =>
          key === "exec"
            ? (query: string, ...bindings: unknown[]) => {
                const cursor = real(query, ...(bindings as SqlStorageValue[]));
                written.push(cursor.rowsWritten);
                return cursor;
              }
            : Reflect.get(target, key),
      });
      const counted = new FileStore(counting, clock);
      const cost = (work: () => unknown): number => {
        written.length = 0;
        work();
        return written.reduce((sum, n) => sum + n, 0);
      };
      expect(cost(() => counted.write("/workspace/a", bytes("x")))).toBe(2);
      expect(cost(() => counted.read("/workspace/a"))).toBe(0);
      expect(cost(() => counted.stat("/workspace/none"))).toBe(0);
      expect(cost(() => counted.rename("/workspace/a", "/workspace/b"))).toBeLessThanOrEqual(2);
      expect(files.read("/workspace/b")).toEqual(bytes("x"));
    }));

  it("F5: has folders that were made and folders that hold something", () =>
    withFiles((files) => {
      expect(files.stat("/workspace")).toMatchObject({ kind: "folder" });
      expect(files.stat("/workspace/d")).toBe(null);
      files.write("/workspace/d/e/f", bytes("x"));
      expect(files.stat("/workspace/d")).toMatchObject({ kind: "folder" });
      files.remove("/workspace/d/e/f");
      expect(files.stat("/workspace/d")).toBe(null);
      expect(files.mkdir("/workspace/d")).toEqual({ ok: true });
      expect(files.mkdir("/workspace/d")).toEqual({ ok: true });
      expect(files.stat("/workspace/d")).toMatchObject({ kind: "folder" });
      expect(files.children("/workspace")).toEqual([{ name: "d", kind: "folder" }]);
      expect(files.list()).toEqual([]);
      expect(files.count()).toBe(0);
    }));

  it("lists what stands in a folder by name, and files by path", () =>
    withFiles((files) => {
      for (const path of ["b", "a/x", "a/y/z", "a.txt", "ab/q"]) {
        files.write(`/workspace/${path}`, bytes(path));
      }
      expect(files.children("/workspace").map((c) => c.name)).toEqual(["a", "a.txt", "ab", "b"]);
      expect(files.children("/workspace/a")).toEqual([
        { name: "x", kind: "file" },
        { name: "y", kind: "folder" },
      ]);
      expect(files.list("/workspace/a").map((f) => f.path)).toEqual([
        "/workspace/a/x",
        "/workspace/a/y/z",
      ]);
      expect(files.count()).toBe(5);
      expect(files.totals()).toEqual({ files: 5, bytes: 18 });
    }));

  it("renames a folder with all below it and takes the place of a file", () =>
    withFiles((files) => {
      files.write("/workspace/d/a", bytes("1"));
      files.write("/workspace/d/e/b", bytes("2"));
      files.write("/workspace/d2", bytes("3"));
      expect(files.rename("/workspace/d", "/workspace/d/e/x")).toMatchObject({ code: "EINVAL" });
      expect(files.rename("/workspace/d", "/workspace/d2")).toMatchObject({ code: "ENOTDIR" });
      expect(files.rename("/workspace/no", "/workspace/x")).toMatchObject({ code: "ENOENT" });
      expect(files.rename("/workspace/d2", "/workspace/d")).toMatchObject({ code: "EEXIST" });
      expect(files.rename("/workspace/d", "/workspace/n")).toEqual({ ok: true });
      expect(files.read("/workspace/n/e/b")).toEqual(bytes("2"));
      expect(files.stat("/workspace/d")).toBe(null);
      expect(files.rename("/workspace/d2", "/workspace/n/a")).toEqual({ ok: true });
      expect(files.read("/workspace/n/a")).toEqual(bytes("3"));
      expect(files.totals()).toEqual({ files: 2, bytes: 2 });
    }));

  it("F3: refuses a folder as a file and a file as a folder", () =>
    withFiles((files) => {
      files.write("/workspace/f", bytes("x"));
      files.write("/workspace/d/e", bytes("x"));
      expect(files.write("/workspace/f/g", bytes("y"))).toMatchObject({ code: "ENOTDIR" });
      expect(files.mkdir("/workspace/f/g/h")).toMatchObject({ code: "ENOTDIR" });
      expect(files.mkdir("/workspace/f")).toMatchObject({ code: "EEXIST" });
      for (const folder of ["/workspace", "/workspace/d"]) {
        expect(files.write(folder, bytes("y"))).toMatchObject({ code: "EISDIR" });
        expect(files.append(folder, bytes("y"))).toMatchObject({ code: "EISDIR" });
        expect(files.read(folder)).toBe(null);
      }
    }));

  it("F3: refuses what is over a limit and keeps what was there", () =>
    withFiles((files, sql) => {
      files.write("/workspace/a", bytes("kept"));
      const big = filled(LIMITS.fileBytes + 1);
      expect(files.write("/workspace/a", big)).toMatchObject({ ok: false, code: "EFBIG" });
      expect(files.append("/workspace/a", filled(LIMITS.fileBytes))).toMatchObject({
        code: "EFBIG",
      });
      expect(files.read("/workspace/a")).toEqual(bytes("kept"));
      // Rows that claim to be large stand in for 500 MB of bytes and for 20,000 files.
      sql.exec(
        "INSERT INTO files VALUES ('/workspace/z', 'file', ?, 420, 0, 0)",
        LIMITS.filesBytes - 10,
      );
      const full = new FileStore(sql, clock);
      expect(full.write("/workspace/b", filled(7))).toMatchObject({ code: "ENOSPC" });
      expect(full.append("/workspace/a", filled(7))).toMatchObject({ code: "ENOSPC" });
      expect(full.write("/workspace/b", filled(6))).toMatchObject({ ok: true });
      expect(full.write("/workspace/a", bytes("less"))).toMatchObject({ ok: true });
      sql.exec(
        `INSERT INTO files WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
         SELECT '/workspace/n/' || i, 'file', 0, 420, 0, 0 FROM n`,
        LIMITS.filesCount - 3,
      );
      full.forget();
      expect(full.write("/workspace/one-more", bytes(""))).toMatchObject({ code: "ENOSPC" });
      expect(full.mkdir("/workspace/folder")).toMatchObject({ code: "ENOSPC" });
      expect(full.write("/workspace/a", bytes("less"))).toMatchObject({ ok: true });
    }));

  it("says what clients see of a file", () =>
    withFiles((files) => {
      now = Date.UTC(2026, 0, 2, 3, 4, 5);
      files.write("/workspace/d #1/é?.md", bytes("x"));
      const urlOf = (path: string) => fileUrl("s1", path);
      expect(files.info("/workspace/d #1/é?.md", urlOf)).toEqual({
        path: "/workspace/d #1/é?.md",
        name: "é?.md",
        size: 1,
        content_type: "text/markdown",
        modified_at: "2026-01-02T03:04:05.000Z",
        url: "/api/sessions/s1/files/d%20%231/%C3%A9%3F.md",
      });
      expect(files.info("/workspace/d #1", urlOf)).toBe(null);
      expect(files.info("/workspace/none", urlOf)).toBe(null);
    }));

  it("F4: a look at an object without the tables writes nothing", async () => {
    const stub = env.SESSION.get(env.SESSION.newUniqueId());
    await runInDurableObject(stub, (_, state) => {
      const files = new FileStore(state.storage.sql, clock);
      expect(() => files.stat("/workspace/a")).toThrow(/no such table/);
      expect(state.storage.sql.databaseSize).toBeLessThanOrEqual(4096);
    });
  });
});

describe("the embedded sandbox", () => {
  it("M1: keeps files over an eviction", async () => {
    const stub = env.SESSION.get(env.SESSION.newUniqueId());
    await runInDurableObject(stub, async (_, state) => {
      for (const statement of FILES_SCHEMA) state.storage.sql.exec(statement);
      const box = embeddedBox(new FileStore(state.storage.sql, clock));
      await exec(box, "mkdir -p d; echo 'echo kept' > d/a; chmod +x d/a");
    });
    await evictDurableObject(stub);
    await runInDurableObject(stub, async (_, state) => {
      const box = embeddedBox(new FileStore(state.storage.sql, clock));
      expect((await exec(box, "./d/a")).output).toBe("kept\n");
    });
  });

  it("says honestly that what is missing is missing", () =>
    withFiles(async (files) => {
      const box = embeddedBox(files);
      for (const command of ["python3 -V", "node -v", "tar --help", "git status", "sqlite3 x"]) {
        expect((await exec(box, command)).exitCode).toBe(127);
        expect(box.about).toContain(command.split(" ")[0]?.replace("3", ""));
      }
      expect((await exec(box, "curl http://127.0.0.1/")).exitCode).not.toBe(0);
    }));

  it("M3: stops at a count where nothing yields, and says so in plain words", () =>
    withFiles(async (files) => {
      const box = embeddedBox(files);
      for (const script of ["f() { f; }; f", "awk 'BEGIN { while (1) {} }'"]) {
        const { output, exitCode } = await exec(box, script);
        expect(exitCode).toBe(126);
        expect(output).toMatch(/exceeded/);
        expect(output).not.toContain("executionLimits");
      }
    }));

  it("lets a script move its own output with exec", () =>
    withFiles(async (files) => {
      const box = embeddedBox(files);
      await exec(box, "exec > log.txt; echo hidden; ls /nope 2>&1");
      expect((await exec(box, "cat log.txt")).output).toMatch(/^hidden\n.*nope/);
    }));

  it("A32: a script cannot reach below /workspace through dots", () =>
    withFiles(async (files) => {
      const box = embeddedBox(files);
      await exec(box, "echo x > ../outside.txt; cd ..; echo y > ../../up.txt; ls /workspace");
      expect(files.list()).toEqual([]);
    }));

  it("gives a full disk to the script as an error", () =>
    withFiles(async (files, sql) => {
      sql.exec(
        "INSERT INTO files VALUES ('/workspace/z', 'file', ?, 420, 0, 0)",
        LIMITS.filesBytes - 1,
      );
      const { output, exitCode } = await exec(embeddedBox(files), "echo too long > a.txt");
      expect(exitCode).not.toBe(0);
      expect(output).toContain("ENOSPC");
    }));

  it("moves, links, tests and finds as a shell does", () =>
    withFiles(async (files) => {
      const script = [
        "mkdir a; echo 1 > a/x; mkdir a 2>/dev/null || echo exists; rmdir a 2>/dev/null || echo full",
        "cp -r a b; mv b c; ls c; rm c/x; ls -d c; rmdir c; ls -d c 2>/dev/null || echo gone",
        "cp a/x none/x 2>/dev/null || echo nofolder; ln a/x a/y; cat a/y; ln -s x a/l || echo nolink",
        "find . -type f | sort; touch t; [ -e t ] && echo t; mv t /tmp/t; cat /tmp/t; ls",
        "gzip -k a/x && gunzip -c a/x.gz",
      ].join("\n");
      const { output } = await exec(embeddedBox(files), script);
      expect(output.replace(/^ln: .*\n/m, "").split("\n")).toEqual(
        ["exists", "full", "x", "c", "gone", "nofolder", "1", "nolink", "./a/x", "./a/y"].concat([
          "t",
          "a",
          "1",
          "",
        ]),
      );
    }));

  it("Q1: searches contents, and an evil expression does not hang it", () =>
    withFiles(async (files) => {
      const box = embeddedBox(files);
      files.write("/workspace/src/it's.txt", bytes(`foo(1)\n${"a".repeat(5_000)}!\n`));
      files.write("/workspace/node_modules/m/x", bytes("foo(2)\n"));
      const find = async (regex: string, path = ".") =>
        (await call(fileFindInContent, box, { path, regex })).text;
      expect(await find("fo+\\([0-9]\\)")).toBe("/workspace/src/it's.txt:1:foo(1)");
      expect(await find("foo", "src/it's.txt")).toBe("/workspace/src/it's.txt:1:foo(1)");
      expect(await find("foo", "node_modules")).toBe("/workspace/node_modules/m/x:1:foo(2)");
      expect(await find("^(a+)+$")).toBe("No matches.");
      expect(await find("(")).toContain("The search failed");
      expect(await find("nothing here")).toBe("No matches.");
    }));
});
