/** No room left, values too large, memory too small: a clear error, nothing lost, everything readable, no loop. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, vi } from "vitest";
import { LIMITS } from "../../src/core/limits.ts";
import { api, Client, failureOf, it, until, useVars } from "./support/client.ts";
import { exported } from "./support/copies.ts";
import { atRest, ring } from "./support/crash.ts";
import { complete, plan, text, write } from "./support/replies.ts";
import { Held } from "./support/upstream.ts";

// What stands still is told on the console, and this is meant.
let loud = () => {};
beforeEach(() => {
  const quiet = vi.spyOn(console, "error").mockImplementation(() => undefined);
  loud = () => quiet.mockRestore();
});
afterEach(() => loud());

const FULL = "database or disk is full: SQLITE_FULL";
const TOO_BIG = "string or blob too big: SQLITE_TOOBIG";

/** From now on an object can store at most so many characters at once; removing works. Gives back how to make room. */
async function fill(
  stub: DurableObjectStub,
  room = 0,
  message = FULL,
): Promise<() => Promise<void>> {
  await runInDurableObject(stub, (_, { storage }) => {
    const { sql, kv } = storage;
    const exec = sql.exec.bind(sql);
    const full = (query: string, ...values: unknown[]) => {
      const size = values.reduce<number>((n, v) => n + String(v).length, 0);
      if (/^\s*(INSERT|UPDATE|REPLACE)/i.test(query) && size >= room) throw new Error(message);
      return exec(query, ...values);
    };
    Object.defineProperty(sql, "exec", { value: full, configurable: true });
    const put = () => {
      throw new Error(message);
    };
    if (room === 0) Object.defineProperty(kv, "put", { value: put, configurable: true });
  });
  return () =>
    runInDurableObject(stub, (_, { storage }) => {
      Reflect.deleteProperty(storage.sql, "exec");
      Reflect.deleteProperty(storage.kv, "put");
    });
}
const refusal = async (response: Response) => [response.status, (await failureOf(response)).code];
const look = { tool_calls: [{ name: "file_read", arguments: { path: "a.txt", brief: "look" } }] };

describe("a storage that has no room left for what a turn has done", () => {
  it("ends the turn with an error that says so; it goes on with the next message once there is room", async () => {
    const c = await Client.create([plan("a"), write("a.txt", "x".repeat(40_000)), look]);
    const held = new Held();
    c.model.add(held);
    await c.say("Do it");
    await until(() => expect(c.model.asked).toHaveLength(4));
    const free = await fill(c.stub, 20_000);
    held.call("file_write", { path: "b.txt", content: "y".repeat(60_000), brief: "write" });
    await c.status("failed");
    expect((await c.log()).slice(-3)).toEqual([
      "error(storage_full)",
      "done(failed)",
      "status_update(failed)",
    ]);
    expect((await c.of("error"))[0]?.message).toMatch(/Make room/);
    await free();
    c.model.add(plan("b"), write("b.txt"), complete());
    await c.say("Go on");
    await c.status("completed");
  });

  it("refuses a message at rest, and takes the same one later", async () => {
    const c = await Client.create([text("hello")], { mode: "chat" });
    const free = await fill(c.stub);
    const say = () => c.fetch("/messages", { json: { id: "m1", text: "Hi" } });
    expect(await refusal(await say())).toEqual([507, "storage_full"]);
    const patched = await c.fetch("", { method: "PATCH", json: { title: "New" } });
    expect(await refusal(patched)).toEqual([507, "storage_full"]);
    const upload = await c.fetch("/files/a", { method: "PUT", body: "x" });
    expect(await refusal(upload)).toEqual([507, "storage_full"]);
    expect((await c.view()).last_seq).toBe(0);
    await free();
    const taken = await say();
    expect([taken.status, (await taken.json<{ duplicate: boolean }>()).duplicate]).toEqual([
      202,
      false,
    ]);
    await c.status("completed");
  });
});

describe("a storage that takes nothing at all", () => {
  async function stalled() {
    let asked = 0;
    const later = () =>
      asked++ === 0 ? { ...text(""), hang: true as const } : complete(true, "done");
    const c = await Client.create([plan("a"), write("a.txt", "kept"), later]);
    const s = await c.socket();
    await c.say("Do it");
    await until(() => expect(c.model.asked).toHaveLength(3));
    const { last_seq } = await c.view();
    const free = await fill(c.stub);
    const steer = await c.fetch("/messages", { json: { id: "m1", text: "in blue" } });
    expect(await refusal(steer)).toEqual([507, "storage_full"]);
    const [error] = await s.has("error");
    expect(error?.code).toBe("storage_full");
    return { c, s, free, last_seq };
  }

  it("lets a turn stand still: it can be read and taken along, and what people send is refused", async () => {
    const { c, free, last_seq } = await stalled();
    const view = await c.view();
    expect([view.status, view.last_seq]).toEqual(["running", last_seq]);
    expect(await c.events()).toHaveLength(last_seq);
    expect(await (await c.fetch("/files/a.txt")).text()).toBe("kept");
    expect(await exported(c)).toContain("/workspace/a.txt");
    for (const [path, json] of [
      ["/messages", { id: "m2", text: "and?" }],
      ["/stop", { id: "s1" }],
    ] as const) {
      expect(await refusal(await c.fetch(path, { json }))).toEqual([507, "storage_full"]);
    }
    await free();
    await until(async () => {
      expect((await c.fetch("/stop", { json: { id: "s1" } })).status).toBe(202);
    });
    await c.status("stopped");
  });

  it("goes on by itself when room is made, and loses nothing", async () => {
    const { c, free } = await stalled();
    await c.fetch("/files/none.txt", { method: "DELETE" });
    await free();
    expect((await c.fetch("/files/a.txt", { method: "DELETE" })).status).toBe(204);
    await c.status("completed");
    expect((await c.of("done")).map((d) => d.outcome)).toEqual(["completed"]);
    await atRest(c);
  });

  it("goes on by its alarm as well", async () => {
    const { c, free } = await stalled();
    await free();
    await until(async () => {
      await ring(c);
      expect((await c.view()).status).toBe("completed");
    });
  });

  it("lets the session be deleted", async () => {
    const { c } = await stalled();
    expect((await c.fetch("", { method: "DELETE" })).status).toBe(204);
    c.deleted = true;
    expect((await c.fetch("")).status).toBe(404);
  });

  it("of the owner's list refuses a new session with the same words", async () => {
    const name = `owner-${crypto.randomUUID()}`;
    useVars({ AUTH_TOKENS: JSON.stringify({ [`t-${name}`]: name }) });
    const headers = { authorization: `Bearer t-${name}` };
    const make = () => api("/api/sessions", { json: {}, headers });
    expect((await make()).status).toBe(201);
    const free = await fill(env.DIRECTORY.getByName(name));
    expect(await refusal(await make())).toEqual([507, "storage_full"]);
    await free();
    expect((await make()).status).toBe(201);
  });
});

describe("a value that is larger than the storage takes", () => {
  it("ends the turn with an error instead of a loop", async () => {
    const held = new Held();
    const c = await Client.create([plan("a"), held]);
    await c.say("Do it");
    await until(() => expect(c.model.asked).toHaveLength(2));
    const free = await fill(c.stub, 20_000, TOO_BIG);
    held.call("file_write", { path: "b.txt", content: "y".repeat(60_000), brief: "write" });
    await c.status("failed");
    expect((await c.of("error"))[0]).toMatchObject({ code: "internal", retryable: false });
    expect((await c.of("error"))[0]?.message).toMatch(/smaller pieces/);
    await free();
    c.model.add(plan("b"), write("b.txt"), complete());
    await c.say("In pieces");
    await c.status("completed");
  });
});

describe("a memory that is too large to be loaded", () => {
  it("ends the turn with out_of_memory before the object dies of it; the rest can be read", async () => {
    const c = await Client.create([text("hello")], { mode: "chat" });
    await c.say("Hi");
    await c.status("completed");
    await runInDurableObject(c.stub, (_, state) => {
      const { sql } = state.storage;
      const rows = Math.ceil(LIMITS.memoryChars / 1_000_000) + 1;
      for (let i = 0; i < rows; i++) {
        sql.exec(
          `INSERT INTO memory (id, memory, kind, json)
           SELECT 100 + count(*), 'assistant', 'said', '{"role":"user","content":"' || replace(hex(zeroblob(500000)), '0', 'x') || '"}' FROM memory`,
        );
      }
      sql.exec(
        "UPDATE head SET json = json_set(json, '$.row', (SELECT max(id) FROM memory)) WHERE part = 'state'",
      );
    });
    await evictDurableObject(c.stub);
    await c.say("Again");
    await c.status("failed");
    expect((await c.of("error"))[0]?.code).toBe("out_of_memory");
    expect(c.model.asked).toHaveLength(1);
    expect((await c.view()).status).toBe("failed");
    expect((await c.fetch("/messages", { json: { text: "/usage" } })).status).toBe(202);
  });

  it("as the platform sees it, ends the turn once it has killed the object for good", async () => {
    const c = await Client.create([new Held()]);
    const limit = (sealed: boolean) =>
      runInDurableObject(c.stub, (o) => o.onAlarmMemoryLimit({ sealed }));
    await limit(true);
    expect(await c.events()).toEqual([]);
    await c.say("Do it");
    await until(() => expect(c.model.asked).toHaveLength(1));
    await limit(false);
    expect((await c.view()).status).toBe("running");
    await limit(true);
    expect((await c.of("error"))[0]?.code).toBe("out_of_memory");
    await c.status("failed");
  });
});
