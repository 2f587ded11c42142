/** Files over HTTP, and the names of A32. */
import { describe, expect } from "vitest";
import type { FileInfo } from "../../src/core/events.ts";
import { Client, failureOf, it } from "./support/client.ts";
import { complete, plan, shell, write } from "./support/replies.ts";

const session = () => Client.create([]);
const put = (c: Client, path: string, body: BodyInit) =>
  c.fetch(`/files/${path}`, { method: "PUT", body });
const listed = async (c: Client) =>
  (await (await c.fetch("/files")).json<{ files: FileInfo[] }>()).files;

describe("a file", () => {
  it("is uploaded, listed, read, replaced and deleted", async () => {
    const c = await session();
    const made = await put(c, "docs/a%20b.txt", "hello");
    expect(made.status).toBe(201);
    const info = await made.json<FileInfo>();
    expect(info).toMatchObject({
      path: "/workspace/docs/a b.txt",
      name: "a b.txt",
      size: 5,
      content_type: expect.stringMatching(/^text\/plain/),
    });
    expect((await put(c, "docs/a%20b.txt", "hello again")).status).toBe(200);
    const files = await listed(c);
    expect(files).toMatchObject([{ path: "/workspace/docs/a b.txt", size: 11 }]);
    expect((await c.view()).files_count).toBe(1);
    const { pathname } = new URL(files[0]?.url ?? "", "http://localhost");
    expect(pathname).toBe(`/api/sessions/${c.id}/files/docs/a%20b.txt`);
    expect(await (await c.fetch("/files/docs/a%20b.txt")).text()).toBe("hello again");
    expect((await c.fetch("/files/docs/a%20b.txt", { method: "DELETE" })).status).toBe(204);
    expect((await c.fetch("/files/docs/a%20b.txt")).status).toBe(404);
    expect((await c.fetch("/files/docs/a%20b.txt", { method: "DELETE" })).status).toBe(404);
    expect(await listed(c)).toEqual([]);
  });

  it("comes back byte for byte, however large, whole and in ranges", async () => {
    const c = await session();
    const bytes = Uint8Array.from({ length: 3_000_001 }, (_, i) => (i * 31) % 256);
    expect((await put(c, "big.bin", bytes)).status).toBe(201);
    const read = async (headers: Record<string, string> = {}) => {
      const response = await c.fetch("/files/big.bin", { headers });
      return { response, got: new Uint8Array(await response.arrayBuffer()) };
    };
    const same = (a: Uint8Array, b: Uint8Array) =>
      a.length === b.length && a.every((byte, i) => byte === b[i]);
    const whole = await read();
    expect(whole.response.status).toBe(200);
    expect(same(whole.got, bytes)).toBe(true);
    for (const [range, from, to] of [
      ["bytes=0-0", 0, 1],
      ["bytes=1048570-1048580", 1_048_570, 1_048_581],
      ["bytes=2999990-", 2_999_990, 3_000_001],
      ["bytes=-7", 2_999_994, 3_000_001],
      ["bytes=2999999-9999999", 2_999_999, 3_000_001],
    ] as const) {
      const part = await read({ range });
      expect([range, part.response.status]).toEqual([range, 206]);
      expect(same(part.got, bytes.slice(from, to))).toBe(true);
      const sent = part.response.headers.get("content-range");
      expect(sent).toBe(`bytes ${from}-${to - 1}/3000001`);
    }
    expect((await read({ range: "bytes=3000001-" })).response.status).toBe(416);
  });

  it("above 25 MiB is 413, and nothing is stored", async () => {
    const c = await session();
    const response = await put(c, "huge", new Uint8Array(25 * 1024 * 1024 + 1));
    expect([response.status, (await failureOf(response)).code]).toEqual([413, "too_large"]);
    expect(await listed(c)).toEqual([]);
  });

  it("is never a page: it is saved, not sniffed, and sandboxed", async () => {
    const c = await session();
    for (const name of ["a.html", "a.svg", "a.js", "a.pdf", "a.png", "a.txt"]) {
      await put(c, name, "<script>alert(1)</script>");
      for (const query of ["", "?inline=1"]) {
        const { headers } = await c.fetch(`/files/${name}${query}`);
        const shown = query !== "" && (name === "a.png" || name === "a.txt");
        expect(headers.get("content-disposition")).toMatch(shown ? /^inline;/ : /^attachment;/);
        expect(headers.get("x-content-type-options")).toBe("nosniff");
        expect(headers.get("content-security-policy")).toMatch(/^sandbox/);
        expect(headers.get("cache-control")).toMatch(/private|no-store/);
      }
    }
  });

  it("that a tool wrote is there for the client, and the other way round", async () => {
    const c = await Client.create([plan("a"), shell("cat in.txt > out.txt"), complete()]);
    await put(c, "in.txt", "from the client");
    await c.say("Copy it", { attachments: ["in.txt", "/workspace/in.txt"] });
    await c.status("completed");
    expect(await (await c.fetch("/files/out.txt")).text()).toBe("from the client");
    const [message] = await c.of("message");
    expect(message?.attachments.map((f) => f.path)).toContain("/workspace/in.txt");
  });

  it("A21: binary output of a command reaches the model as text", async () => {
    const script = [plan("a"), shell("cat raw.bin"), complete()];
    const c = await Client.create(script);
    const raw = Uint8Array.from({ length: 2560 }, (_, i) => i % 256);
    await put(c, "raw.bin", raw);
    await c.say("Look at it");
    await c.status("completed");
    const got = new Uint8Array(await (await c.fetch("/files/raw.bin")).arrayBuffer());
    expect(got).toEqual(raw);
  });

  it("A22: a result of megabytes is cut for the model and the log, and fails no write", async () => {
    const script = [plan("a"), shell("seq 1 900000"), write(), complete()];
    const c = await Client.create(script);
    await c.say("Count");
    await c.status("completed");
    const [, called] = await c.of("tool");
    expect(called).toMatchObject({ function: "shell_exec", status: "called", ok: true });
    expect(JSON.stringify(called).length).toBeLessThan(200_000);
    const last = c.model.asked.at(-1)?.body.messages.find((m) => m.role === "tool");
    expect(last?.content?.length).toBeLessThanOrEqual(16_000);
  });
});

describe("A32: a name", () => {
  const SECRET = "the other session's";
  const refused = async (path: string, statuses: number[]) => {
    const [other, c] = [await session(), await session()];
    await put(other, "secret", SECRET);
    for (const init of [{}, { method: "PUT", body: "x" }, { method: "DELETE" }]) {
      const response = await c.fetch(`/files/${path.replace("OTHER", other.id)}`, init);
      const body = await response.text();
      expect([path, init.method, statuses.includes(response.status)]).toEqual([
        path,
        init.method,
        true,
      ]);
      expect(body).not.toContain(SECRET);
    }
    expect(await listed(c)).toEqual([]);
    expect((await listed(other)).map((f) => f.size)).toEqual([SECRET.length]);
  };
  const OUT = [
    "%2e%2e%2fother/secret",
    "..%2f..%2fOTHER%2fsecret",
    "%2e%2e%2f%2e%2e%2fOTHER%2ffiles%2fsecret",
    "..%5c..%5csecret",
    "a%5cb",
    "%2e%2e%2fworkspace-evil%2fx",
    "a%2f..%2f..%2fetc%2fpasswd",
    "a%00.txt",
    "a%0ab.txt",
    "a%e2%80%aetxt.exe",
    "%ff",
    "%c0%ae%c0%ae%2fsecret",
    "x".repeat(300),
  ];
  for (const path of OUT) {
    it(`that leads out or lies is refused: ${path.slice(0, 40)}`, () => refused(path, [400, 404]));
  }

  it("that leads out by dots of the URL itself never reaches a file", () =>
    refused("%2e%2e/%2e%2e/OTHER/secret", [404]));

  it("that looks absolute, or is decoded only once, stays below /workspace", async () => {
    const c = await session();
    for (const [path, stored] of [
      ["/etc/passwd", "/workspace/etc/passwd"],
      ["%252e%252e%252fx", "/workspace/%2e%2e%2fx"],
      ["workspace-evil/x", "/workspace/workspace-evil/x"],
      ["CON", "/workspace/CON"],
      ["a/./b", "/workspace/a/b"],
    ]) {
      const made = await put(c, path as string, "x");
      expect(await made.json()).toMatchObject({ path: stored });
    }
  });

  it("with quotes, emoji or umlauts is safely encoded in the header", async () => {
    const c = await session();
    const name = `a"b'c;d(é)🚀.txt`;
    const at = encodeURIComponent(name);
    expect((await put(c, at, "x")).status).toBe(201);
    const header = (await c.fetch(`/files/${at}`)).headers.get("content-disposition") ?? "";
    expect(header).toMatch(
      /^attachment; filename="[\x20-\x21\x23-\x7e]*"; filename\*=UTF-8''[\w%.!-]+$/,
    );
    expect(decodeURIComponent(header.split("UTF-8''")[1] ?? "")).toBe(name);
  });

  it("of a folder is no file", async () => {
    const c = await session();
    await put(c, "d/e.txt", "x");
    expect((await c.fetch("/files/d")).status).toBe(404);
    expect((await put(c, "d", "x")).status).toBe(409);
    expect((await put(c, "d/e.txt/f", "x")).status).toBe(409);
    expect((await c.fetch("/files/", { method: "PUT", body: "x" })).status).toBe(400);
    expect((await c.fetch("/files/", { method: "DELETE" })).status).toBe(400);
    expect((await listed(c)).map((f) => f.path)).toEqual(["/workspace/d/e.txt"]);
  });
});
