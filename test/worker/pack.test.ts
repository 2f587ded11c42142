/** Export and import: a session as lines of JSON, there and back; and what becomes of damaged or hostile ones. */
import { runInDurableObject } from "cloudflare:test";
import { describe, expect } from "vitest";
import { Client, failureOf, it, until } from "./support/client.ts";
import { adopt, bring, exported, listed, MEMORY, stubOf } from "./support/copies.ts";
import { askUser, complete, deliver, plan, review, text, write } from "./support/replies.ts";
import { Held } from "./support/upstream.ts";

type Line = Record<string, unknown> & { type: string };
const linesIn = (pack: string): Line[] =>
  pack
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
const packed = (lines: unknown[]) => lines.map((l) => JSON.stringify(l)).join("\n");
const rows = (id: string, query: string) =>
  runInDurableObject(stubOf(id), (_, { storage }) => storage.sql.exec(query).toArray());

async function worked() {
  const c = await Client.create([
    plan("a", "b"),
    write("a.txt", "one"),
    complete(),
    write("a.txt", "one"),
    complete(),
    deliver("Both done"),
  ]);
  await c.say("The work");
  await c.status("completed");
  return c;
}

describe("an export", () => {
  it("is a header, then events, memories and files, one a line", async () => {
    const c = await worked();
    const response = await c.fetch("/export");
    expect(response.headers.get("content-type")).toBe("application/x-ndjson");
    expect(response.headers.get("content-disposition")).toMatch(/^attachment/);
    const lines = linesIn(await response.text());
    expect(lines[0]).toMatchObject({ type: "header", dormouse: 1, session: { id: c.id } });
    expect(lines.filter((l) => l.type === "event")).toEqual(await c.events());
    const order = [...new Set(lines.map((l) => l.type))];
    expect(order).toEqual(["header", "event", "rest", "memory", "file", "chunk", "end"]);
    expect(lines.filter((l) => l.type === "memory")).toHaveLength(
      (await rows(c.id, MEMORY)).length,
    );
  });

  it("holds no secret", async () => {
    const headers = { authorization: "k-42", "x-key": "k-43" };
    const mcp = { servers: { box: { url: "https://mcp.example/", headers, enabled: false } } };
    const c = await Client.create([text("hi")], { mode: "chat", settings: { mcp } });
    await c.say("Hi");
    await c.status("completed");
    const all = await exported(c);
    expect(all).toContain("https://mcp.example/");
    expect(all).not.toMatch(/k-4[23]|"local"/);
  });

  it("is 404 to anyone else", async () => {
    const c = await worked();
    const stub = stubOf(c.id) as unknown as { pack(o: string): Promise<{ ok: boolean }> };
    expect((await stub.pack("somebody")).ok).toBe(false);
  });
});

describe("an import", () => {
  it("believes nothing of a file: no webhook, servers off, settings bounded", async () => {
    const c = await worked();
    const [first = "", ...lines] = (await exported(c)).split("\n");
    const stating = (settings: unknown) => {
      const header = JSON.parse(first) as { session: Record<string, unknown> };
      const session = { ...header.session, settings };
      return [JSON.stringify({ ...header, session }), ...lines].join("\n");
    };
    const servers = { e: { url: "https://mcp.example/", approval: "allow" } };
    const webhook = { url: "http://169.254.169.254/x", secret: "abc" };
    const reply = await bring(stating({ webhook, mcp: { servers }, profile: "constructor" }));
    const { c: copy, view } = await adopt(reply, [plan("c"), write(), complete()]);
    expect(view.settings.webhook.url).toBe("");
    expect(view.settings.mcp.servers.e).toMatchObject({ enabled: false });
    await copy.say("Go on");
    await copy.status("completed");
    const prices = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, n) => [`model-${n}`, { input: 1, output: 1 }]),
    );
    expect((await bring(stating({ prices }))).status).toBe(400);
  });

  it("of a session that was reviewed lacks nothing", async () => {
    const c = await Client.create([plan("a"), write(), complete(), review("pass")], {
      settings: { reviewer: { enabled: true } },
    });
    await c.say("Do it");
    await c.status("completed");
    const reply = await bring(await exported(c));
    const { view, c: copy } = await adopt(reply, []);
    expect(view).toMatchObject({ skipped_lines: 0 });
    expect(await rows(copy.id, MEMORY)).toEqual(await rows(c.id, MEMORY));
  });

  it("gives the session back: log, memories, files and plan, with a new id and epoch, ready to go on", async () => {
    const c = await worked();
    const reply = await bring(await exported(c));
    const { c: copy, view } = await adopt(reply, [plan("c"), write(), complete()]);
    expect(view).toMatchObject({
      title: "The task",
      run: 1,
      status: "completed",
      skipped_lines: 0,
    });
    expect(view).toMatchObject({
      plan: (await c.view()).plan,
      usage: { model_calls: 0 },
      files_count: 1,
    });
    expect([view.id === c.id, view.epoch === c.epoch]).toEqual([false, false]);
    const mine = await c.events();
    expect(await copy.events()).toEqual(mine.map((e) => ({ ...e, session_id: copy.id })));
    expect(await rows(copy.id, MEMORY)).toEqual(await rows(c.id, MEMORY));
    expect(await (await copy.fetch("/files/a.txt")).text()).toBe("one");
    expect((await listed()).map((s) => [s.id, s.title])).toContainEqual([copy.id, "The task"]);
    await copy.say("Go on");
    await until(async () => expect((await copy.view()).run).toBe(2));
    await copy.status("completed");
  });

  it("can be forked at its earlier turns", async () => {
    const c = await Client.create([text("1"), text("2")], { mode: "chat" });
    await c.say("one");
    const { last_seq } = await c.status("completed");
    await c.say("two");
    await until(async () => expect((await c.view()).run).toBe(2));
    await c.status("completed");
    const { c: copy } = await adopt(await bring(await exported(c)));
    const fork = await copy.fetch("/fork", { json: { after_seq: last_seq } });
    expect((await adopt(fork)).view).toMatchObject({ run: 1, mode: "chat" });
  });

  it("of a session in the middle of a call is at rest: the call ended, the turn done, the next message works", async () => {
    const held = new Held();
    const c = await Client.create([plan("a"), write(), askUser("Which?"), held]);
    await c.say("Do it");
    await c.status("waiting");
    const { c: copy, view } = await adopt(await bring(await exported(c)), [
      plan("b"),
      write(),
      complete(),
    ]);
    expect(view).toMatchObject({ status: "stopped", wait: null, run: 1 });
    expect((await copy.log()).slice(-3)).toEqual([
      "plan(updated)",
      "done(stopped)",
      "status_update(stopped)",
    ]);
    expect(view.plan?.steps.map((s) => s.status)).toEqual(["pending"]);
    await copy.say("And now this");
    await until(async () => expect((await copy.view()).run).toBe(2));
    await copy.status("completed");
  });

  it("leaves bad lines out, says how many, numbers the events anew and mends the history", async () => {
    const c = await worked();
    const lines = linesIn(await exported(c));
    const at = lines.findIndex((l) => l.event === "tool");
    const result = lines.findIndex((l) => l.type === "memory" && l.kind === "result");
    const damaged = lines.filter((_, i) => i !== result).map((l) => JSON.stringify(l));
    damaged[at] = '{"type":"event","seq":';
    damaged.splice(3, 0, "not json", '{"type":"memory","id":1}', '{"type":"who knows"}');
    const reply = await bring(damaged.join("\n"));
    const { c: copy, view } = await adopt(reply, [plan("c"), write(), complete()]);
    // The lost `calling` takes its `called` with it.
    expect(view.skipped_lines).toBe(5);
    const events = await copy.events();
    expect(events.map((e) => e.seq)).toEqual(events.map((_, i) => i + 1));
    expect(await copy.of("notice")).toEqual([
      { code: "import_skipped", text: expect.stringContaining("5") },
    ]);
    const ids = (await rows(copy.id, MEMORY)).map((r) => r.id);
    expect(ids).toEqual((await rows(c.id, MEMORY)).map((r) => r.id));
    await copy.say("Go on");
    await until(async () => expect((await copy.view()).run).toBe(2));
    await copy.status("completed");
  });

  it("survives the loss of any one of its lines", async () => {
    const c = await worked();
    const lines = (await exported(c)).trim().split("\n");
    for (let i = 1; i < lines.length; i++) {
      const { c: copy } = await adopt(await bring(lines.filter((_, n) => n !== i).join("\n")));
      expect(["completed", "stopped"]).toContain((await copy.view()).status);
    }
  }, 60_000);

  it("that breaks off anywhere is a session all the same, once its header is whole", async () => {
    const c = await worked();
    const all = await exported(c);
    const header = all.indexOf("\n");
    for (const share of [0, 0.2, 0.5, 0.8, 0.95]) {
      const cut = all.slice(0, header + 2 + Math.floor((all.length - header) * share));
      const { c: copy } = await adopt(await bring(cut));
      expect((await copy.view()).status).not.toBe("running");
    }
  });

  const refusal = async (body: string) => {
    const reply = await bring(body);
    const { code, message } = await failureOf(reply);
    return [reply.status, code, message];
  };

  it("refuses what is no export, is newer or is too large, and leaves nothing in the list", async () => {
    const before = (await listed()).map((s) => s.id);
    expect(await refusal("")).toEqual([400, "invalid_import", expect.any(String)]);
    expect(await refusal("hello\nworld")).toEqual([400, "invalid_import", expect.any(String)]);
    expect(await refusal('{"type":"event","seq":1}')).toEqual([
      400,
      "invalid_import",
      expect.any(String),
    ]);
    const newer = '{"type":"header","dormouse":99,"session":{}}';
    expect(await refusal(newer)).toEqual([400, "invalid_import", expect.stringContaining("newer")]);
    const large = new Uint8Array(25 * 1024 * 1024 + 1);
    const reply = await bring(large as unknown as string);
    expect([reply.status, (await failureOf(reply)).code]).toEqual([413, "too_large"]);
    expect((await listed()).map((s) => s.id)).toEqual(before);
  });

  it("takes nothing from a hostile file that a session could not be", async () => {
    const c = await worked();
    const [header, ...rest] = linesIn(await exported(c));
    const file = { type: "file", kind: "file", size: 1, mode: 420, modified: 1 };
    const chunk = { type: "chunk", data: "eA==" };
    const message = (role: string, more = {}) => ({ role, content: "x", ...more });
    const row = (id: number, kind: string, m: unknown) => ({
      type: "memory",
      memory: "planner",
      id,
      kind,
      message: m,
    });
    const bad: unknown[] = [
      { ...file, path: "/etc/passwd" },
      { ...file, path: "/workspace/../x" },
      { ...file, path: "/workspace" },
      { ...file, path: "/workspace/short.txt", size: 9 },
      { ...file, path: "/workspace/long.txt", size: 0 },
      chunk,
      { ...file, path: "/workspace/huge.txt", size: -1 },
      row(-1, "said", message("user")),
      row(9e15, "said", message("user")),
      row(1, "said", message("user")),
      row(5_000, "said", message("system")),
      row(5_001, "result", message("tool", { tool_call_id: "nobody" })),
      row(
        5_002,
        "reply",
        message("assistant", {
          tool_calls: [{ id: "a", type: "function", function: { name: "x", arguments: "[]" } }],
        }),
      ),
      { type: "rest", rest: { upto: 1, plan: "x" } },
      { type: "event", event: "message", ts: "yesterday", data: {} },
      {
        type: "event",
        event: "status_update",
        ts: "2026-01-01T00:00:00Z",
        data: { status: "owned", phase: "idle" },
      },
      { type: "header", owner: "somebody" },
      "x".repeat(5 * 1024 * 1024),
      null,
      [],
    ];
    const text = packed([header, ...rest.slice(0, -1), ...bad]);
    const evil = text.replace('"owner"', '"__proto__":{"owner":"x"},"owner"');
    const { c: copy, view } = await adopt(await bring(evil), [plan("c"), write(), complete()]);
    expect(view.skipped_lines).toBe(bad.length);
    const files = await (await copy.fetch("/files")).json<{ files: { path: string }[] }>();
    expect(files.files.map((f) => f.path)).toEqual(["/workspace/a.txt"]);
    await copy.say("Go on");
    await until(async () => expect((await copy.view()).run).toBe(2));
    await copy.status("completed");
  });

  it("belongs to whoever brings it, whatever it says", async () => {
    const c = await worked();
    const text = (await exported(c)).replace('"session":{', '"session":{"owner":"eve",');
    const { view } = await adopt(await bring(text));
    const owner = await rows(
      view.id,
      "SELECT json_extract(json, '$.owner') AS o FROM head WHERE part = 'state'",
    );
    expect(owner).toEqual([{ o: "local" }]);
  });
});
