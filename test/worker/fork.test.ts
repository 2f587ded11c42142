/** POST /api/sessions/:id/fork: a copy as it stood at the end of a turn. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { describe, expect } from "vitest";
import { Client, failureOf, it, until } from "./support/client.ts";
import { forkOf, listed, MEMORY, stubOf } from "./support/copies.ts";
import { askUser, complete, plan, shell, text, write } from "./support/replies.ts";
import { Held } from "./support/upstream.ts";

const task = (path: string, content: string) => [plan("a"), write(path, content), complete()];
const rows = (id: string, query: string) =>
  runInDurableObject(stubOf(id), (_, { storage }) => storage.sql.exec(query).toArray());

async function worked() {
  const c = await Client.create([...task("a.txt", "one"), ...task("b.txt", "two")]);
  await c.say("First task");
  const { last_seq: first } = await c.status("completed");
  await c.say("Second task");
  await until(async () => expect((await c.view()).run).toBe(2));
  const { last_seq: second } = await c.status("completed");
  return { c, first, second };
}

describe("a fork", () => {
  it("has the log, the memories and the files of its source, an id and an epoch of its own, and no usage", async () => {
    const { c, second } = await worked();
    const before = await c.view();
    const { c: copy, view } = await forkOf(c);
    expect(view).toMatchObject({
      status: "completed",
      run: 2,
      files_count: 2,
      title: "Copy of The task",
      usage: { model_calls: 0, tool_calls: 0, input_tokens: 0 },
      plan: before.plan,
    });
    expect(view.id).not.toBe(c.id);
    expect(view.epoch).not.toBe(c.epoch);
    const [mine, theirs] = [await c.events(), await copy.events()];
    expect(theirs.slice(0, second)).toEqual(mine.map((e) => ({ ...e, session_id: copy.id })));
    expect(theirs.slice(second).map((e) => [e.event, e.data])).toEqual([
      ["title", { title: "Copy of The task" }],
    ]);
    expect(await rows(copy.id, MEMORY)).toEqual(await rows(c.id, MEMORY));
    expect(await (await copy.fetch("/files/b.txt")).text()).toBe("two");
    expect((await listed()).map((s) => s.id)).toContain(copy.id);
    expect(await c.view()).toEqual(before);
  });

  it("goes on by itself: neither hears of the other", async () => {
    const { c } = await worked();
    const { c: copy } = await forkOf(c, {}, task("a.txt", "three"));
    const before = await c.events();
    await copy.say("Third task");
    await until(async () => expect((await copy.view()).run).toBe(3));
    await copy.status("completed");
    expect(copy.model.asked[0]?.raw).toContain("Second task");
    expect(await c.events()).toEqual(before);
    expect(await (await c.fetch("/files/a.txt")).text()).toBe("one");
    expect(await (await copy.fetch("/files/a.txt")).text()).toBe("three");
  });

  it("of an earlier event stands at the last end of a turn before it, memories and plan included", async () => {
    const { c, first, second } = await worked();
    for (const after_seq of [first, first + 2, second - 2]) {
      const { c: copy, view } = await forkOf(c, { after_seq }, [plan()]);
      expect(view).toMatchObject({ run: 1, status: "completed", last_seq: first + 1 });
      const text = JSON.stringify([await copy.events(), await rows(copy.id, MEMORY)]);
      expect(text).toContain("First task");
      expect(text).not.toContain("Second task");
    }
    const done = (await c.events()).find((e) => e.event === "done")?.seq;
    expect((await forkOf(c, { after_seq: done })).view.run).toBe(1);
    const { c: empty, view } = await forkOf(c, { after_seq: 3 });
    expect(view).toMatchObject({ run: 0, status: "idle", last_seq: 0, plan: null });
    expect(await empty.events()).toEqual([]);
  });

  it("of an earlier event can be forked again, and its files survive eviction", async () => {
    const { c, first } = await worked();
    const { c: copy } = await forkOf(c);
    await evictDurableObject(copy.stub);
    const { c: again, view } = await forkOf(copy, { after_seq: first });
    expect(view).toMatchObject({ run: 1, title: "Copy of The task" });
    expect(await (await again.fetch("/files/a.txt")).text()).toBe("one");
  });

  it("links its files to itself", async () => {
    const c = await Client.create([
      plan("a"),
      write("a b.txt", "x"),
      {
        tool_calls: [
          {
            name: "complete_step",
            arguments: { success: true, result: "ok", attachments: ["a b.txt"] },
          },
        ],
      },
    ]);
    await c.say("Do it");
    await c.status("completed");
    const { c: copy } = await forkOf(c);
    const log = JSON.stringify(await copy.events());
    expect(log).toContain(`/api/sessions/${copy.id}/files/a%20b.txt`);
    expect(log).not.toContain(c.id);
  });

  it("copies files of many chunks byte for byte, with their rights", async () => {
    const c = await Client.create([
      plan("a"),
      shell("echo x > run.sh; chmod 755 run.sh; mkdir -p leer"),
      complete(),
    ]);
    await c.say("Do it");
    await c.status("completed");
    const bytes = new Uint8Array(3 * 1024 * 1024 + 7);
    for (let at = 0; at < bytes.length; at += 65_536) {
      crypto.getRandomValues(bytes.subarray(at, at + 65_536));
    }
    await c.fetch("/files/big.bin", { method: "PUT", body: bytes });
    const { c: copy } = await forkOf(c);
    const got = new Uint8Array(await (await copy.fetch("/files/big.bin")).arrayBuffer());
    expect(Buffer.compare(Buffer.from(got), Buffer.from(bytes))).toBe(0);
    const nodes = "SELECT path, kind, size, mode, modified FROM files ORDER BY path";
    expect(await rows(copy.id, nodes)).toEqual(await rows(c.id, nodes));
  });

  it("keeps its owner's secrets, which no reply shows", async () => {
    const mcp = {
      servers: { box: { url: "https://mcp.example/", headers: { authorization: "k-77" } } },
    };
    const c = await Client.create([text("hi")], { mode: "chat", settings: { mcp } });
    const reply = await c.fetch("/fork", { json: {} });
    const shown = await reply.clone().text();
    expect(shown).not.toContain("k-77");
    const { id } = JSON.parse(shown) as { id: string };
    const [held] = await rows(id, "SELECT json FROM head WHERE part = 'settings'");
    expect(String(held?.json)).toContain("k-77");
  });

  it("is refused while the session works or waits, and a cursor ahead of the log is an error", async () => {
    const held = new Held();
    const c = await Client.create([plan("a"), held]);
    await c.say("Do it");
    await until(() => expect(c.model.asked).toHaveLength(2));
    const refusal = async (json: unknown) => {
      const reply = await c.fetch("/fork", { json });
      return [reply.status, (await failureOf(reply)).code];
    };
    expect(await refusal({})).toEqual([409, "busy"]);
    held.call("message_ask_user", { text: "Which?" });
    await c.status("waiting");
    expect(await refusal({})).toEqual([409, "busy"]);
    expect(await refusal({ after_seq: 9_999 })).toEqual([400, "invalid_request"]);
    expect(await refusal({ after_seq: -1 })).toEqual([400, "invalid_request"]);
  });

  it("of a session of somebody else, or of none, is 404 and leaves nothing", async () => {
    const c = await Client.create([askUser("?")]);
    const before = (await listed()).length;
    const stub = stubOf(c.id) as unknown as { packFork(o: string): Promise<{ ok: boolean }> };
    expect((await stub.packFork("somebody")).ok).toBe(false);
    const none = await c.fetch("/../aaaaaaaaaaaaaaaaaaaaaaaaaa/fork", { json: {} });
    expect(none.status).toBe(404);
    expect((await listed()).length).toBe(before);
  });

  it("costs one row a turn in the source", async () => {
    const { c } = await worked();
    expect(await rows(c.id, "SELECT count(*) AS n FROM rests")).toEqual([{ n: 2 }]);
  });
});
