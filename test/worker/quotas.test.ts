/** What one owner may have: sessions, stored bytes, running turns, tokens a day. What is refused has changed nothing. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, vi } from "vitest";
import { QUOTAS } from "../../src/core/limits.ts";
import type { SessionView, UsageReport } from "../../src/core/wire.ts";
import { DirectoryObject } from "../../src/worker/directory.ts";
import { api, Client, type Failure, it, until, useVars } from "./support/client.ts";
import { bring, exported, listed } from "./support/copies.ts";
import { atRest, peek } from "./support/crash.ts";
import { askUser, complete, plan, text, write } from "./support/replies.ts";
import { Held, type Scripted, scripted } from "./support/upstream.ts";

type Quotas = Partial<Record<keyof typeof QUOTAS, number | null>>;

/** An owner of their own, with these quotas. */
function owner(quotas: Quotas | string) {
  const name = `owner-${crypto.randomUUID()}`;
  const QUOTAS = typeof quotas === "string" ? quotas : JSON.stringify(quotas);
  useVars({ AUTH_TOKENS: JSON.stringify({ [`t-${name}`]: name }), QUOTAS });
  return { name, headers: { authorization: `Bearer t-${name}` } };
}
type Owner = ReturnType<typeof owner>;
const chat = (o: Owner, script: Scripted[] = []) =>
  Client.create(script, { mode: "chat", headers: o.headers });
const post = (o: Owner, path: string, json: unknown = {}) =>
  api(path, { json, headers: o.headers });
const usage = async (o: Owner) =>
  (await (await api("/api/usage", { headers: o.headers })).json<UsageReport>()).quotas;

/** How it was refused: status, quota, and when to come back. */
async function refusal(response: Response) {
  const { error } = await response.json<Failure>();
  expect(error.code).toBe("quota_exceeded");
  expect(error.message).toMatch(/nothing was changed/);
  const { quota, used, max } = error.details as { quota: string; used: number; max: number };
  expect(used).toBeGreaterThanOrEqual(max);
  return [response.status, quota, response.headers.get("retry-after")];
}
const spending = (reply: object, tokens: number): Scripted =>
  ({
    ...reply,
    usage: { prompt_tokens: tokens, completion_tokens: 0, total_tokens: tokens },
  }) as Scripted;

describe("as many sessions as an owner may have", () => {
  it("are kept to, whichever way a session comes; a delete gives back", async () => {
    const o = owner({ sessions: 2 });
    const c = await chat(o, [text("hello")]);
    await c.say("Hi");
    await c.status("completed");
    const keyed = await (await post(o, "/api/sessions", { key: "k" })).json<SessionView>();
    const lines = await exported(c);
    for (const response of [
      await post(o, "/api/sessions"),
      await c.fetch("/fork", { json: {} }),
      await c.fetch("/rotate", { json: {} }),
      await bring(lines, o.headers),
    ]) {
      expect(await refusal(response)).toEqual([429, "sessions", null]);
    }
    const again = await post(o, "/api/sessions", { key: "k" });
    expect([again.status, (await again.json<SessionView>()).id]).toEqual([200, keyed.id]);
    expect(await listed("", o.headers)).toHaveLength(2);
    await api(`/api/sessions/${keyed.id}`, { method: "DELETE", headers: o.headers });
    expect((await post(o, "/api/sessions")).status).toBe(201);
    expect(await usage(o)).toMatchObject({ sessions: { used: 2, max: 2 } });
  });

  it("of one owner are not another's", async () => {
    const o = owner({ sessions: 1 });
    expect((await post(o, "/api/sessions")).status).toBe(201);
    const p = owner({ sessions: 1 });
    expect((await post(p, "/api/sessions")).status).toBe(201);
  });
});

describe("as much as an owner may store", () => {
  it("is kept to; what is there can be read and taken along, and removing it gives back", async () => {
    const o = owner({ storedBytes: 1_500_000 });
    const c = await chat(o, [text("hello")]);
    const put = (name: string) =>
      c.fetch(`/files/${name}`, { method: "PUT", body: new Uint8Array(1_000_000).fill(7) });
    expect((await put("one")).status).toBe(201);
    await until(async () => expect((await usage(o)).storedBytes.used).toBeGreaterThan(1_000_000));
    expect((await put("two")).status).toBe(201);
    await until(async () => expect((await usage(o)).storedBytes.used).toBeGreaterThan(2_000_000));
    expect(await refusal(await put("three"))).toEqual([507, "storedBytes", null]);
    expect(await refusal(await post(o, "/api/sessions"))).toEqual([507, "storedBytes", null]);
    const said = await c.fetch("/messages", { json: { text: "Hi" } });
    expect(await refusal(said)).toEqual([507, "storedBytes", null]);
    expect((await c.view()).last_seq).toBe(0);
    expect(await exported(c)).toContain("/workspace/two");
    expect((await c.fetch("/files/one", { method: "DELETE" })).status).toBe(204);
    await until(async () => expect((await usage(o)).storedBytes.used).toBeLessThan(1_500_000));
    await c.say("Hi");
    await c.status("completed");
  });
});

describe("as many turns as may run at once", () => {
  it("are kept to, also when two are asked for at once; the same message is taken when there is room", async () => {
    const o = owner({ runningTurns: 1 });
    const [a, b] = [await chat(o, [new Held()]), await chat(o, [new Held()])];
    const say = (c: Client) => c.fetch("/messages", { json: { id: "m1", text: "Hi" } });
    const replies = await Promise.all([say(a), say(b)]);
    expect(replies.map((r) => r.status).sort()).toEqual([202, 429]);
    const [on, off] = replies[0]?.status === 202 ? [a, b] : [b, a];
    expect(await refusal(await say(off))).toEqual([429, "runningTurns", "30"]);
    expect(await off.events()).toEqual([]);
    // Beside its turn a session takes what it always takes.
    expect((await on.fetch("/messages", { json: { text: "and this" } })).status).toBe(202);
    await on.stop();
    await until(async () => expect((await usage(o)).runningTurns.used).toBe(0));
    const taken = await say(off);
    expect([taken.status, (await taken.json<{ duplicate: boolean }>()).duplicate]).toEqual([
      202,
      false,
    ]);
  });

  it("do not count what waits, whose answer needs room and is asked for again", async () => {
    const o = owner({ runningTurns: 1 });
    const c = await Client.create([plan("a"), askUser("Which?"), write(), complete()], o);
    await c.say("Do it");
    const { wait } = await c.status("waiting");
    await atRest(c);
    const other = await chat(o, [new Held()]);
    await other.say("Hi");
    const answer = () => c.fetch("/answers", { json: { wait_id: wait?.wait_id, text: "blue" } });
    expect(await refusal(await answer())).toEqual([429, "runningTurns", "30"]);
    expect((await c.view()).wait?.wait_id).toBe(wait?.wait_id);
    // What is answered at once needs none.
    expect((await c.fetch("/messages", { json: { text: "/plan" } })).status).toBe(202);
    await other.fetch("", { method: "DELETE" });
    other.deleted = true;
    expect((await answer()).status).toBe(202);
    await c.status("completed");
  });
});

describe("as many tokens as may be used in a day", () => {
  // Each reply of the scripts takes 15.
  const script = () => [plan("a"), write(), write("b"), complete()];

  it("make the turn that uses them up wait; a yes is refused until there are more, a no ends it", async () => {
    const o = owner({ tokensPerDay: 30 });
    const c = await Client.create(script(), o);
    await c.say("Do it");
    const { wait } = await c.status("waiting");
    expect([wait?.kind, c.model.asked.length]).toEqual(["budget", 2]);
    await atRest(c);
    const yes = () =>
      c.fetch("/answers", { json: { id: "y", wait_id: wait?.wait_id, approved: true } });
    const [status, quota, seconds] = await refusal(await yes());
    expect([status, quota]).toEqual([429, "tokensPerDay"]);
    expect(Number(seconds)).toBeGreaterThan(0);
    expect(Number(seconds)).toBeLessThanOrEqual(24 * 3_600);
    expect((await c.view()).wait).toEqual(wait);
    useVars({ QUOTAS: '{"tokensPerDay": 1000}' });
    expect((await yes()).status).toBe(202);
    await c.status("completed");
    expect((await usage(o)).tokensPerDay).toEqual({ used: 60, max: 1_000 });
  });

  it("refuse the next turn and the proxy, and a delete does not give them back", async () => {
    const o = owner({ tokensPerDay: 15 });
    const c = await chat(o, [text("hello")]);
    await c.say("Hi");
    await c.status("completed");
    await atRest(c);
    const more = await c.fetch("/messages", { json: { text: "More" } });
    expect((await refusal(more)).slice(0, 2)).toEqual([429, "tokensPerDay"]);
    // A command asks no model.
    expect((await c.fetch("/messages", { json: { text: "/usage" } })).status).toBe(202);
    await c.fetch("", { method: "DELETE" });
    c.deleted = true;
    const model = scripted([]);
    const messages = [{ role: "user", content: "hi" }];
    const proxied = await post(o, "/v1/chat/completions", { model: model.name, messages });
    const { error } = await proxied.json<{ error: { code: string } }>();
    expect([proxied.status, error.code]).toEqual([429, "insufficient_quota"]);
    expect(proxied.headers.get("x-should-retry")).toBe("false");
    expect(model.asked).toEqual([]);
  });

  it("are shared by turns that run at the same time", async () => {
    const o = owner({ tokensPerDay: 600_000 });
    const held = new Held();
    const a = await chat(o, [held]);
    await a.say("Hi");
    await until(() => expect(a.model.asked).toHaveLength(1));
    const b = await Client.create([spending(plan("a"), 590_000), complete(false), new Held()], o);
    await b.say("Do it");
    await until(() => expect(b.model.asked).toHaveLength(3));
    // The list has heard of it while it runs.
    await until(async () => expect((await usage(o)).tokensPerDay.used).toBeGreaterThan(500_000));
    const [look, again] = [["file_read", { path: "x" }] as const, new Held()];
    const read = { tool_calls: [{ name: "file_read", arguments: { path: "y" } }] };
    a.model.add(spending(read, 210_000), again);
    held.call(...look);
    // It hears what is left when it tells what it has used: alone it might go on to 600,000.
    const heard = async () => (await peek(a)) as unknown as { allowance: { upto: number } };
    await until(async () => expect((await heard()).allowance.upto).toBeLessThan(220_000));
    again.call("file_read", { path: "z" });
    const { wait } = await a.status("waiting");
    expect([wait?.kind, a.model.asked.length]).toEqual(["budget", 3]);
  });
});

describe("the quotas", () => {
  it("are the usual ones where somebody signs in, and none on loopback for oneself", async () => {
    const o = owner("");
    const max = async (of: Owner) =>
      Object.fromEntries(Object.entries(await usage(of)).map(([name, q]) => [name, q.max]));
    expect(await max(o)).toEqual(QUOTAS);
    useVars({ AUTH_TOKENS: "" });
    expect(
      new Set(Object.values(await max({ name: "local", headers: {} as Owner["headers"] }))),
    ).toEqual(new Set([null]));
  });

  it("that are stated wrongly are told, and nothing runs without its limits", async () => {
    for (const wrong of ['{"sessions": -1}', '{"session": 3}', "many"]) {
      const o = owner(wrong);
      const response = await post(o, "/api/sessions");
      const { error } = await response.json<Failure>();
      expect([response.status, error.code]).toEqual([500, "bad_configuration"]);
      expect(error.message).toContain("QUOTAS");
    }
  });

  it("refuse nothing when the list cannot be reached", async () => {
    const o = owner({ runningTurns: 1 });
    const c = await chat(o, [text("hello")]);
    const quiet = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const down = vi.spyOn(DirectoryObject.prototype, "admit").mockRejectedValue(new Error("down"));
    await c.say("Hi");
    await c.status("completed");
    down.mockRestore();
    quiet.mockRestore();
  });

  it("count in a list that an older version made", async () => {
    const o = owner({ sessions: 3 });
    await runInDurableObject(env.DIRECTORY.getByName(o.name), (_, { storage }) => {
      storage.sql.exec(
        "CREATE TABLE sessions (id TEXT PRIMARY KEY, updated TEXT NOT NULL, seq INTEGER NOT NULL, words TEXT NOT NULL, json TEXT NOT NULL) STRICT, WITHOUT ROWID",
      );
      for (const id of ["s1", "s2"]) {
        storage.sql.exec(
          "INSERT INTO sessions (id, updated, seq, words, json) VALUES (?, '2026', 0, '', '{}')",
          id,
        );
      }
    });
    expect((await usage(o)).sessions).toEqual({ used: 2, max: 3 });
    expect((await post(o, "/api/sessions")).status).toBe(201);
    expect((await post(o, "/api/sessions")).status).toBe(429);
  });
});
