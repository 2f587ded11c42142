/** What things cost in SQLite rows, counted by the storage's own cursors, the lifecycle's statements included. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect } from "vitest";
import { newSessionId, sessionStub } from "../../src/worker/ids.ts";
import { SessionStore } from "../../src/worker/store.ts";
import { Client, it, until } from "./support/client.ts";
import { atRest } from "./support/crash.ts";
import { complete, plan, shell, text } from "./support/replies.ts";
import { Held } from "./support/upstream.ts";

interface Count {
  cursors: { query: string; cursor: SqlStorageCursor<Record<string, SqlStorageValue>> }[];
  alarms: number;
}

/** Counts every statement and every alarm of an object from now on, until it is evicted. */
async function count(stub: DurableObjectStub): Promise<Count> {
  const seen: Count = { cursors: [], alarms: 0 };
  await runInDurableObject(stub, (_, { storage }) => {
    const { sql } = storage;
    const exec = sql.exec.bind(sql);
    const counted = (query: string, ...bindings: unknown[]) => {
      const cursor = exec(query, ...bindings);
      seen.cursors.push({ query, cursor });
      return cursor;
    };
    Object.defineProperty(sql, "exec", { value: counted });
    const setAlarm = storage.setAlarm.bind(storage);
    const noted: typeof setAlarm = (at, options) => {
      seen.alarms += 1;
      return setAlarm(at, options);
    };
    Object.defineProperty(storage, "setAlarm", { value: noted });
  });
  return seen;
}
const written = (seen: Count, stub: DurableObjectStub): Promise<number> =>
  runInDurableObject(
    stub,
    () => seen.alarms + seen.cursors.reduce((sum, { cursor }) => sum + cursor.rowsWritten, 0),
  );

describe("rows written", () => {
  const turn = async (commands: number): Promise<number> => {
    const steps = Array.from({ length: commands }, (_, i) => shell(`echo ${i}`));
    const c = await Client.create([plan("a"), ...steps, complete()]);
    const seen = await count(c.stub);
    await c.say("Do it");
    await c.status("completed");
    await atRest(c);
    return written(seen, c.stub);
  };

  /** Of a new session: its own, and in its owner's list. */
  const creation = async (): Promise<{ own: number; list: number }> => {
    const directory = env.DIRECTORY.getByName("local");
    await Client.create([]);
    const listed = await count(directory);
    const c = await Client.create([]);
    const list = await written(listed, directory);
    await evictDurableObject(directory);
    const id = newSessionId();
    const stub = env.SESSION.getByName(id);
    const seen = await count(stub);
    const { title, mode, epoch } = await c.view();
    const n = { id, owner: "x", epoch, mode, title, settings: {}, ephemeral: false };
    await sessionStub(env, id).create({ ...n, host: "localhost" });
    return { own: await written(seen, stub), list };
  };

  it("are at most 5 for a tool step", async () => {
    const [few, many] = [await turn(2), await turn(12)];
    expect((many - few) / 10).toBeLessThanOrEqual(5);
  });

  it("are at most 22 for a new session, its schema and its place in the list included", async () => {
    const { own, list } = await creation();
    expect(own + list).toBeLessThanOrEqual(22);
  });

  it("are at most 95 for a whole session of ten tool steps, its list included", async () => {
    const { own, list } = await creation();
    const directory = env.DIRECTORY.getByName("local");
    const listed = await count(directory);
    const session = await turn(10);
    const told = await written(listed, directory);
    // The turn's session was listed within the count.
    expect(told).toBeGreaterThan(list);
    expect(own + session + told).toBeLessThanOrEqual(95);
  });

  it("are none for streamed text: 300 pieces cost what 3 cost", async () => {
    const answer = async (pieces: number): Promise<number> => {
      const held = new Held();
      const c = await Client.create([held], { mode: "chat" });
      const s = await c.socket();
      const seen = await count(c.stub);
      await c.say("Hi");
      for (let i = 0; i < pieces; i++) held.say("abc ");
      await until(() => expect([...s.live.values()].join("")).toHaveLength(4 * pieces));
      held.end();
      await s.ended();
      await atRest(c);
      return written(seen, c.stub);
    };
    expect(await answer(300)).toBe(await answer(3));
  });

  it("are none for a look, a connection, or a wake-up of a session at rest", async () => {
    const c = await Client.create([text("hello")], { mode: "chat" });
    await c.say("Hi");
    await c.status("completed");
    await evictDurableObject(c.stub);
    const seen = await count(c.stub);
    await c.view();
    await c.events();
    await (await c.socket()).has("hello");
    await c.fetch("/files");
    expect(await written(seen, c.stub)).toBe(0);
  });
});

describe("rows read", () => {
  it("to open a session do not grow with its log", async () => {
    const reading = async (events: number): Promise<number> => {
      const c = await Client.create([]);
      await runInDurableObject(c.stub, (_, { storage: { sql } }) => {
        const event = { type: "event", session_id: c.id, ts: "2026-01-01T00:00:00.000Z" };
        const body = { event: "notice", data: { code: "test", text: "x" } };
        for (let seq = 1; seq <= events; seq++) {
          const json = JSON.stringify({ ...event, seq, ...body });
          sql.exec("INSERT INTO log (first_seq, json) VALUES (?, ?)", seq, json);
        }
        const head = "UPDATE head SET json = json_set(json, '$.seq', ?) WHERE part = 'state'";
        sql.exec(head, events);
      });
      await evictDurableObject(c.stub);
      const seen = await count(c.stub);
      expect((await c.view()).last_seq).toBe(events);
      return runInDurableObject(c.stub, () =>
        seen.cursors.reduce((sum, { cursor }) => sum + cursor.rowsRead, 0),
      );
    };
    const [few, many] = [await reading(10), await reading(10_000)];
    expect(many).toBe(few);
    expect(many).toBeLessThanOrEqual(20);
  });

  it("of a page in the middle of a long log are about as many as it has", async () => {
    const c = await Client.create([]);
    await runInDurableObject(c.stub, (_, { storage }) => {
      for (let seq = 1; seq <= 2_000; seq++) {
        storage.sql.exec("INSERT INTO log (first_seq, json) VALUES (?, ?)", seq, `{"seq":${seq}}`);
      }
      const store = SessionStore.open(storage);
      Object.assign(store?.session() ?? {}, { seq: 2_000 });
      const before = [...(store?.log(1_990) ?? [])];
      expect(before.map((row) => row.first)).toEqual([
        1991, 1992, 1993, 1994, 1995, 1996, 1997, 1998, 1999, 2000,
      ]);
      storage.sql.exec("DELETE FROM log");
    });
  });
});
