/** GET /api/usage: what an owner spent, by day and model. Told twice, late or by a session that is gone: counted once. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, vi } from "vitest";
import { dayOf } from "../../src/core/ledger.ts";
import { NO_USAGE, type Usage } from "../../src/core/usage.ts";
import type { SessionInfo, UsageReport } from "../../src/core/wire.ts";
import { DirectoryObject } from "../../src/worker/directory.ts";
import { api, Client, failureOf, it, until, useVars } from "./support/client.ts";
import { forkOf } from "./support/copies.ts";
import { atRest, ring } from "./support/crash.ts";
import { complete, plan, text, write } from "./support/replies.ts";
import { Held, scripted } from "./support/upstream.ts";

function owner() {
  const name = `owner-${crypto.randomUUID()}`;
  useVars({ AUTH_TOKENS: JSON.stringify({ [`t-${name}`]: name }) });
  return { name, headers: { authorization: `Bearer t-${name}` } };
}
type Owner = ReturnType<typeof owner>;
const usage = async (o: Owner, query = ""): Promise<UsageReport> =>
  (await api(`/api/usage${query}`, { headers: o.headers })).json<UsageReport>();
const book = (o: Owner) => env.DIRECTORY.getByName(o.name) as unknown as DirectoryObject;
const DAY_MS = 24 * 3_600_000;
const day = (ago: number) => dayOf(Date.now() - ago * DAY_MS);

describe("a session", () => {
  it("is on its owner's account when its turn has ended, by model, with its tool calls", async () => {
    const o = owner();
    const c = await Client.create([plan("a"), write(), complete()], { headers: o.headers });
    await c.say("Do it");
    await c.status("completed");
    await atRest(c);
    const own = (await c.view()).usage;
    const report = await usage(o);
    expect(report.total).toEqual(own);
    expect(own).toMatchObject({ model_calls: 3, tool_calls: 1, input_tokens: 30 });
    const spoken = (await c.of("usage"))[0]?.model;
    const { tool_calls: _, ...mine } = own;
    expect(report.days).toEqual([{ day: day(0), model: spoken, ...mine }]);
    expect([report.from, report.to]).toEqual([day(29), day(0)]);
  });

  it("counts once, however often it tells; a copy of it counts nothing", async () => {
    const o = owner();
    const c = await Client.create([text("1"), text("2")], { mode: "chat", headers: o.headers });
    await c.say("one");
    await c.status("completed");
    await c.fetch("", { method: "PATCH", json: { title: "renamed" } });
    await evictDurableObject(c.stub);
    await c.say("two");
    await until(async () => expect((await c.view()).run).toBe(2));
    await c.status("completed");
    await atRest(c);
    const { c: copy } = await forkOf(c);
    await atRest(copy);
    expect((await usage(o)).total.model_calls).toBe(2);
  });

  it("tells later what could not be told at once", async () => {
    const o = owner();
    const c = await Client.create([text("1")], { mode: "chat", headers: o.headers });
    const quiet = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const down = vi.spyOn(DirectoryObject.prototype, "update").mockRejectedValue(new Error("down"));
    await c.say("one");
    await c.status("completed");
    await until(() => expect(down.mock.calls.at(-1)?.[0].status).toBe("completed"));
    await until(() =>
      expect(quiet.mock.calls.length).toBeGreaterThanOrEqual(down.mock.calls.length),
    );
    down.mockRestore();
    quiet.mockRestore();
    expect((await usage(o)).total.model_calls).toBe(0);
    expect(await ring(c)).toBe(true);
    await atRest(c);
    expect((await usage(o)).total.model_calls).toBe(1);
  });

  it("stays on the account when it is deleted, in the middle of its work too", async () => {
    const o = owner();
    const held = new Held();
    const c = await Client.create([plan("a"), held], { headers: o.headers });
    await c.say("Do it");
    await until(() => expect(c.model.asked).toHaveLength(2));
    expect((await c.fetch("", { method: "DELETE" })).status).toBe(204);
    c.deleted = true;
    held.end();
    expect((await usage(o)).total.model_calls).toBe(1);
  });
});

describe("the proxy", () => {
  it("counts every request to the model, refused replies included, and stores nothing else", async () => {
    const o = owner();
    const model = scripted([{ tool_calls: [{ name: "nobody", arguments: {} }] }, text("fine")]);
    const tools = [
      { type: "function", function: { name: "look", parameters: { type: "object" } } },
    ];
    const reply = await api("/v1/chat/completions", {
      json: {
        model: model.name,
        messages: [{ role: "user", content: "hi" }],
        tools,
        dormouse: { harness: { mode: "guarded_chat" } },
      },
      headers: o.headers,
    });
    expect(reply.status).toBe(200);
    await until(async () => expect((await usage(o)).total.model_calls).toBe(model.asked.length));
    const { sessions } = await (await api("/api/sessions", { headers: o.headers })).json<{
      sessions: unknown[];
    }>();
    expect(sessions).toEqual([]);
  });
});

describe("the account", () => {
  const spent = (n: number): Usage => ({ ...NO_USAGE, model_calls: n, input_tokens: n });
  const info = { id: "s1", last_seq: 1, updated_at: "2026-01-01T00:00:00Z" } as SessionInfo;
  async function opened() {
    const o = owner();
    await Client.create([], { headers: o.headers });
    return { o, account: book(o) };
  }

  it("never goes back by what is told late or twice", async () => {
    const { o, account } = await opened();
    for (const n of [1, 3, 2, 3]) await account.update(info, { [day(0)]: { m: spent(n) } });
    await account.update({ ...info, id: "s2" }, { [day(0)]: { m: spent(4), n: spent(1) } });
    const { days, total } = await usage(o);
    expect(days.map((d) => [d.model, d.model_calls])).toEqual([
      ["m", 7],
      ["n", 1],
    ]);
    expect(total.model_calls).toBe(8);
  });

  it("folds days that are closed, and hears nothing of them any more", async () => {
    const { o, account } = await opened();
    const now = vi.spyOn(Date, "now");
    const real = Date.now();
    const at = (ago: number) => now.mockReturnValue(real - ago * DAY_MS);
    at(20);
    for (const id of ["s1", "s2", "s3"]) {
      await account.update(
        { ...info, id },
        { [day(0)]: { m: spent(2), "": { ...NO_USAGE, tool_calls: 1 } } },
      );
    }
    const old = day(0);
    at(0);
    await account.update(info, { [day(0)]: { m: spent(1) }, [old]: { m: spent(9) } });
    now.mockRestore();
    await runInDurableObject(env.DIRECTORY.getByName(o.name), (_, { storage }) => {
      const held = storage.sql
        .exec("SELECT model, session, calls FROM usage WHERE day = ? ORDER BY model", old)
        .toArray();
      expect(held).toEqual([
        { model: "", session: "", calls: 0 },
        { model: "m", session: "", calls: 6 },
      ]);
    });
    const { days, total } = await usage(o);
    expect(days.map((d) => [d.day, d.model_calls])).toEqual([
      [old, 6],
      [day(0), 1],
    ]);
    expect([total.model_calls, total.tool_calls]).toEqual([7, 3]);
  });

  it("shows the days that are asked for, and refuses what are none", async () => {
    const { o, account } = await opened();
    for (const ago of [0, 1, 2]) await account.update(info, { [day(ago)]: { m: spent(ago + 1) } });
    const calls = async (query: string) => (await usage(o, query)).days.map((d) => d.model_calls);
    expect(await calls(`?from=${day(1)}`)).toEqual([2, 1]);
    expect(await calls(`?from=${day(2)}T10:00:00Z&to=${day(1)}`)).toEqual([3, 2]);
    expect(await calls(`?to=${day(5)}`)).toEqual([]);
    for (const query of [
      "?from=yesterday",
      "?from=2026-13-45",
      "?from=2020-01-01",
      `?to=${day(2)}&from=${day(1)}`,
    ]) {
      const reply = await api(`/api/usage${query}`, { headers: o.headers });
      expect([reply.status, (await failureOf(reply)).message]).toEqual([
        400,
        expect.stringMatching(/^from/),
      ]);
    }
  });

  it("of an owner who has none is empty and writes nothing", async () => {
    const o = owner();
    expect(await usage(o)).toMatchObject({
      days: [],
      total: { model_calls: 0, cost_usd: null, measured: true },
    });
    await runInDurableObject(env.DIRECTORY.getByName(o.name), (_, { storage }) => {
      expect(storage.sql.exec("SELECT 1 FROM sqlite_master").toArray()).toEqual([]);
    });
  });
});
