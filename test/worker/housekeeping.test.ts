/** The list of sessions hears of everything in the end; a deleted or expired session leaves nothing. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { describe, expect, vi } from "vitest";
import { DirectoryObject } from "../../src/worker/directory.ts";
import { api, Client, it, until } from "./support/client.ts";
import { atRest, peek, pending, ring } from "./support/crash.ts";
import { askUser, plan, text } from "./support/replies.ts";
import { scripted } from "./support/upstream.ts";

const waiting = async () => {
  const c = await Client.create([plan("a"), askUser("Which?")]);
  await c.say("Do it");
  await c.status("waiting");
  return c;
};

describe("the list of sessions", () => {
  const listedStatus = async (c: Client) => {
    const reply = await api("/api/sessions?limit=200");
    const { sessions } = await reply.json<{ sessions: { id: string; status: string }[] }>();
    return sessions.find((s) => s.id === c.id)?.status;
  };

  it("hears of the end of a turn again from the wake job, when it could not be told", async () => {
    const quiet = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const down = vi.spyOn(DirectoryObject.prototype, "update").mockRejectedValue(new Error("down"));
    const c = await Client.create([text("hello")], { mode: "chat" });
    await c.say("Hi");
    await until(async () => expect((await peek(c)).status).toBe("completed"));
    await until(() => expect(down.mock.calls.at(-1)?.[0].status).toBe("completed"));
    await until(() =>
      expect(quiet.mock.calls.length).toBeGreaterThanOrEqual(down.mock.calls.length),
    );
    down.mockRestore();
    expect(await listedStatus(c)).toBe("idle");
    const stillDown = vi.spyOn(DirectoryObject.prototype, "update");
    stillDown.mockRejectedValueOnce(new Error("down"));
    expect(await ring(c)).toBe(true);
    expect((await pending(c)).jobs).toHaveLength(1);
    stillDown.mockRestore();
    expect(await ring(c)).toBe(true);
    quiet.mockRestore();
    await until(async () => expect(await listedStatus(c)).toBe("completed"));
    await atRest(c);
  });

  it("hears of a new name by the wake job, when it could not be told", async () => {
    const c = await Client.create([]);
    const quiet = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const down = vi.spyOn(DirectoryObject.prototype, "update").mockRejectedValue(new Error("down"));
    const title = crypto.randomUUID();
    await c.fetch("", { method: "PATCH", json: { title } });
    await until(async () => expect((await pending(c)).jobs).toHaveLength(1));
    down.mockRestore();
    quiet.mockRestore();
    expect(await ring(c)).toBe(true);
    const reply = await api(`/api/sessions?q=${title}`);
    expect(await reply.json()).toMatchObject({ sessions: [{ id: c.id, title }] });
    await atRest(c);
  });

  it("a message that comes while the wake job tells the list still has its wake job", async () => {
    const c = await waiting();
    await atRest(c);
    await runInDurableObject(c.stub, async (o) => {
      const time = Date.now() + 60_000;
      await o.lifecycle.jobs.push({ id: "wake", fn: "wake", time, singleflight: true });
    });
    let telling = false;
    let held = true;
    const slow = vi.spyOn(DirectoryObject.prototype, "update").mockImplementation(async () => {
      telling = true;
      while (held) await new Promise((resolve) => setTimeout(resolve, 3));
      return null;
    });
    const ringing = ring(c);
    await until(() => expect(telling).toBe(true));
    await c.say("blue");
    await until(() => expect(c.model.asked).toHaveLength(3));
    held = false;
    await ringing;
    slow.mockRestore();
    expect((await peek(c)).status).toBe("running");
    const { alarm, jobs } = await pending(c);
    expect([alarm !== null, jobs.length]).toEqual([true, 1]);
  });
});

const emptied = (c: Client) =>
  runInDurableObject(c.stub, async (_, { storage }) => {
    const query = "SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'";
    expect(storage.sql.exec(query).toArray()).toEqual([]);
    expect(await storage.getAlarm()).toBe(null);
  });

describe("deleting", () => {
  it("leaves nothing in the object, whoever asks meanwhile", async () => {
    for (let i = 0; i < 5; i++) {
      const c = await Client.create([plan("a"), askUser("Which?")]);
      c.deleted = true;
      await c.say("Do it");
      await c.status("waiting");
      const during = [0, 1, 2, 3].map(() => c.fetch(""));
      await Promise.all([c.fetch("", { method: "DELETE" }), ...during, c.fetch("/events")]);
      expect((await c.fetch("")).status).toBe(404);
      await emptied(c);
    }
  });
});

describe("an ephemeral session", () => {
  const due = (c: Client) =>
    runInDurableObject(c.stub, (_, { storage }) => {
      const old = new Date(Date.now() - 2 * 3600_000).toISOString();
      storage.sql.exec(
        "UPDATE head SET json = json_set(json, '$.updated_at', ?) WHERE part = 'state'",
        old,
      );
    });

  it("is gone an hour after its last turn, rows, list and all, and not before", async () => {
    const model = scripted([text("hello")]);
    const settings = { provider: "custom", model: model.name };
    const made = await api("/api/sessions", { json: { mode: "chat", ephemeral: true, settings } });
    const c = new Client(await made.json(), model, {});
    await c.say("Hi");
    await c.status("completed");
    await until(async () => expect((await pending(c)).jobs).toHaveLength(1));
    expect((await pending(c)).jobs[0]).toBeGreaterThan(Date.now() + 3500_000);
    expect(await ring(c)).toBe(true);
    expect((await c.view()).status).toBe("completed");
    await evictDurableObject(c.stub);
    await due(c);
    await evictDurableObject(c.stub);
    c.deleted = true;
    expect(await ring(c)).toBe(true);
    expect((await c.fetch("")).status).toBe(404);
    const { sessions } = await (await api("/api/sessions?limit=200")).json<{
      sessions: { id: string }[];
    }>();
    expect(sessions.map((s) => s.id)).not.toContain(c.id);
    await emptied(c);
  });
});
