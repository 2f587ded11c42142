/** How sessions come and go besides create and delete: by the beginning of an id, rotated, half made. */
import { runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { describe, expect, vi } from "vitest";
import { createClient } from "../../src/client/index.ts";
import type { SessionView } from "../../src/core/wire.ts";
import { DirectoryObject } from "../../src/worker/directory.ts";
import { newSessionId } from "../../src/worker/ids.ts";
import { quotasOf } from "../../src/worker/quotas.ts";
import { api, Client, it, until } from "./support/client.ts";
import { exported, listed, stubOf } from "./support/copies.ts";
import { pending, ring } from "./support/crash.ts";
import { text } from "./support/replies.ts";

const made = async (json: unknown): Promise<SessionView> => {
  const reply = await api("/api/sessions", { json });
  return reply.json<SessionView>();
};

describe("the beginning of an id", () => {
  it("finds the sessions that have it; a whole id finds one", async () => {
    const { id } = await made({});
    await made({});
    expect((await listed(`prefix=${id}`)).map((s) => s.id)).toEqual([id]);
    const some = await listed(`prefix=${id.slice(0, 6)}`);
    expect(some.map((s) => s.id)).toContain(id);
    expect(some.every((s) => s.id.startsWith(id.slice(0, 6)))).toBe(true);
    expect(await listed("prefix=1")).toEqual([]);
    expect((await api("/api/sessions?prefix=a_b")).status).toBe(400);
  });
});

it("OS-S11: created, used, left and found again by the beginning of its id; what a new one leaves stays; a broken line is skipped", async () => {
  const c = await Client.create([text("One."), text("Two.")], { mode: "chat" });
  await c.say("First");
  await c.status("completed");
  const first = await c.events();
  expect((await listed(`prefix=${c.id.slice(0, 12)}`)).map((s) => s.id)).toEqual([c.id]);
  await c.say("Second");
  await c.status("completed");
  expect(c.model.asked[1]?.raw).toContain("One.");
  expect((await c.events()).slice(0, first.length)).toEqual(first);
  // A beginning that two have finds neither for certain.
  const client = createClient({
    baseUrl: "http://localhost",
    fetch: (url, init) => exports.default.fetch(url, init),
  });
  const twins = await listed("prefix=");
  expect(twins.length).toBeGreaterThan(1);
  expect(await client.resolveSession("")).toBe(null);
  expect((await client.resolveSession(c.id.slice(0, 12)))?.id).toBe(c.id);
  const next = await client.rotateSession(c.id);
  expect([next.id === c.id, next.last_seq]).toEqual([false, 0]);
  expect(await c.events()).toHaveLength((await c.view()).last_seq);
  const lines = (await exported(c)).split("\n");
  lines.splice(2, 1, '{"type":"broken');
  const copy = await client.importSession(lines.join("\n"));
  expect(copy.skipped_lines).toBe(1);
});

describe("rotating", () => {
  it("keeps the old session and gives a new one in its place: mode, settings and keys are its own now", async () => {
    const key = `chat:${crypto.randomUUID()}`;
    const old = await made({
      key,
      mode: "chat",
      title: "old",
      settings: { instructions: "be brief" },
    });
    const reply = await api(`/api/sessions/${old.id}/rotate`, { method: "POST" });
    expect(reply.status).toBe(201);
    const next = await reply.json<SessionView>();
    expect(next).toMatchObject({ mode: "chat", title: "", last_seq: 0, status: "idle" });
    expect(next.settings.instructions).toBe("be brief");
    expect((await made({ key })).id).toBe(next.id);
    expect((await (await api(`/api/sessions/${old.id}`)).json<SessionView>()).title).toBe("old");
    await api(`/api/sessions/${old.id}`, { method: "DELETE" });
    expect((await made({ key })).id).toBe(next.id);
  });

  it("by key alone: `fresh` binds it to a new session", async () => {
    const key = `chat:${crypto.randomUUID()}`;
    const old = await made({ key });
    const reply = await api("/api/sessions", { json: { key, fresh: true, title: "new" } });
    expect(reply.status).toBe(201);
    const next = await reply.json<SessionView>();
    expect(next.id).not.toBe(old.id);
    expect((await made({ key })).id).toBe(next.id);
    expect((await api(`/api/sessions/${old.id}`)).status).toBe(200);
  });

  it("of none is 404 and lists nothing", async () => {
    const before = (await listed()).length;
    expect((await api(`/api/sessions/${newSessionId()}/rotate`, { method: "POST" })).status).toBe(
      404,
    );
    expect((await listed()).length).toBe(before);
  });
});

describe("a copy that broke off", () => {
  const birth = (id: string) => ({ id, owner: "local", epoch: "e".repeat(12), fork: false });
  const tables = (id: string) =>
    runInDurableObject(stubOf(id), (_, { storage }) =>
      storage.sql
        .exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'")
        .toArray(),
    );
  const list = async (id: string) => {
    const { sessions } = await env.DIRECTORY.getByName("local").list(1, null, "", id);
    return sessions.length;
  };
  async function lines(): Promise<string> {
    const c = await Client.create([text("hi")], { mode: "chat" });
    await c.say("Hi");
    await c.status("completed");
    return exported(c);
  }

  it("is no session, and is unlisted and gone with the job that was stored before it began", async () => {
    const bytes = new TextEncoder().encode(await lines());
    const id = newSessionId();
    const { id: other } = await made({});
    const [info] = await listed(`prefix=${other}`);
    await env.DIRECTORY.getByName("local").add({ ...(info as SessionView), id }, quotasOf(env));
    let stall = () => {};
    const stream = new ReadableStream<Uint8Array>({
      type: "bytes" as "",
      pull: (controller) => {
        if (stall.length > 0) return;
        controller.enqueue(bytes.slice(0, bytes.length - 200));
        return new Promise<void>((resolve) => {
          stall = resolve;
        });
      },
    });
    const quiet = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const stub = stubOf(id) as unknown as { unpack(b: unknown, s: unknown): Promise<unknown> };
    const broken = stub.unpack(birth(id), stream).then(
      () => "made",
      () => "broken",
    );
    await until(async () => expect(await tables(id)).not.toEqual([]));
    expect((await api(`/api/sessions/${id}`)).status).toBe(404);
    await runInDurableObject(stubOf(id), (_, state) => state.abort("gone")).catch(() => {});
    expect(await broken).toBe("broken");
    const c = { stub: stubOf(id) } as unknown as Client;
    expect((await pending(c)).jobs).toHaveLength(1);
    const down = vi
      .spyOn(DirectoryObject.prototype, "remove")
      .mockRejectedValueOnce(new Error("down"));
    expect(await ring(c)).toBe(true);
    expect(await list(id)).toBe(1);
    down.mockRestore();
    expect(await ring(c)).toBe(true);
    quiet.mockRestore();
    expect([await list(id), await tables(id)]).toEqual([0, []]);
  });
});
