/** Links to a session: no sign-in, read-only, frozen, revocable. */
import { runInDurableObject } from "cloudflare:test";
import { exports } from "cloudflare:workers";
import { describe, expect } from "vitest";
import type { Event } from "../../src/core/events.ts";
import { newSessionId } from "../../src/worker/ids.ts";
import { api, Client, failureOf, it, type Page, until, useVars } from "./support/client.ts";
import { stubOf } from "./support/copies.ts";
import { askUser, complete, plan, write } from "./support/replies.ts";

interface Link {
  share_id: string;
  url: string;
  upto_seq: number;
}
const share = (c: Client): Promise<Link> => c.post<Link>("/share", {}, 201);
const get = (link: string, path = "", init = {}) => api(`/api/shared/${link}${path}`, init);
const eventsOf = async (link: string, query = ""): Promise<Page> =>
  (await get(link, `/events${query}`)).json<Page>();

async function worked(more: Parameters<typeof Client.create>[0] = [], headers = {}) {
  const done = {
    tool_calls: [
      {
        name: "complete_step",
        arguments: { success: true, result: "ok", attachments: ["a b.txt"] },
      },
    ],
  };
  const script = [plan("a"), write("a b.txt", "shared words"), done, ...more];
  const c = await Client.create(script, { headers });
  await c.fetch("/files/hidden.txt", { method: "PUT", body: "hidden" });
  await c.say("The work");
  await c.status("completed");
  return c;
}

describe("a link", () => {
  it("shows the session as it was, to anyone, without settings", async () => {
    useVars({ AUTH_TOKENS: '{"t-ann":"ann"}' });
    const c = await worked([], { authorization: "Bearer t-ann" });
    const link = await share(c);
    const { settings, queue, files_count, ...view } = await c.view();
    expect(link).toEqual({
      share_id: expect.stringMatching(/^[a-z0-9]{52}$/),
      url: `http://localhost/shared/${link.share_id}`,
      upto_seq: view.last_seq,
    });
    expect([settings.locale, queue, files_count]).toEqual(["auto", [], 2]);
    const reply = await get(link.share_id);
    expect(reply.status).toBe(200);
    expect(await reply.json()).toEqual({ ...view, files_count: 1 });
    expect((await get(link.share_id, "", { method: "DELETE" })).status).toBe(401);
  });

  it("is frozen: nothing that comes later is seen, not an event, a title or what a file became", async () => {
    const c = await worked([plan("b"), write("a b.txt", "later words"), complete()]);
    const link = await share(c);
    const before = await c.events();
    await c.fetch("", { method: "PATCH", json: { title: "Later title" } });
    await c.say("Later task");
    await until(async () => expect((await c.view()).run).toBe(2));
    await c.status("completed");
    const { events, last_seq } = await eventsOf(link.share_id);
    expect([last_seq, events.length]).toEqual([link.upto_seq, before.length]);
    expect(events.map((e) => e.seq)).toEqual(before.map((e) => e.seq));
    expect(await (await get(link.share_id)).text()).not.toContain("Later");
    const file = await get(link.share_id, "/files/a%20b.txt");
    expect([file.status, (await failureOf(file)).code]).toEqual([404, "file_not_found"]);
    for (const query of [`?after=${link.upto_seq}`, `?after=${link.upto_seq - 1}&limit=5`]) {
      const page = await eventsOf(link.share_id, query);
      expect(page.events.every((e: Event) => e.seq <= link.upto_seq)).toBe(true);
    }
    const ahead = await eventsOf(link.share_id, `?after=${link.upto_seq + 1}`);
    expect([ahead.reset, ahead.events.length]).toEqual([true, before.length]);
    expect((await eventsOf(link.share_id, "?after=2&limit=3")).events.map((e) => e.seq)).toEqual([
      3, 4, 5,
    ]);
  });

  it("opens the files that its events name, at addresses of its own, and no other", async () => {
    const c = await worked();
    const { share_id } = await share(c);
    const log = JSON.stringify((await eventsOf(share_id)).events);
    expect(log).toContain(`/api/shared/${share_id}/files/a%20b.txt`);
    expect(log).not.toContain("/api/sessions/");
    const file = await get(share_id, "/files/a%20b.txt");
    expect(await file.text()).toBe("shared words");
    expect(file.headers.get("content-disposition")).toMatch(/^attachment/);
    expect(file.headers.get("content-security-policy")).toContain("sandbox");
    for (const path of ["hidden.txt", "..%2f..%2fx", "none", "a%00"]) {
      expect((await get(share_id, `/files/${path}`)).status).toBe(404);
    }
    expect((await c.fetch("/files/hidden.txt")).status).toBe(200);
  });

  it("is revoked for good; a new one is another", async () => {
    const c = await worked();
    const first = await share(c);
    expect(await share(c)).toEqual(first);
    await c.fetch("", { method: "PATCH", json: { title: "Renamed" } });
    const second = await share(c);
    expect(second.share_id).not.toBe(first.share_id);
    expect((await (await get(first.share_id)).json<{ title: string }>()).title).toBe("The task");
    expect((await c.fetch("/share", { method: "DELETE" })).status).toBe(204);
    for (const { share_id } of [first, second]) {
      for (const path of ["", "/events", "/files/a%20b.txt"]) {
        const reply = await get(share_id, path);
        expect([reply.status, (await failureOf(reply)).code]).toEqual([404, "share_not_found"]);
      }
    }
    const third = await share(c);
    expect(third.share_id).not.toBe(second.share_id);
    expect((await get(third.share_id)).status).toBe(200);
  });

  it("of a waiting session shows the question, and cannot answer it", async () => {
    const c = await Client.create([plan("a"), askUser("Which?")]);
    await c.say("Do it");
    await c.status("waiting");
    const { share_id } = await share(c);
    expect(await (await get(share_id)).json()).toMatchObject({
      status: "waiting",
      wait: { text: "Which?" },
    });
    for (const path of ["/messages", "/answers", "/stop", "/ws", "/fork"]) {
      expect((await get(share_id, path, { json: {} })).status).toBeGreaterThanOrEqual(400);
    }
    expect((await c.view()).status).toBe("waiting");
  });

  it("goes with its session", async () => {
    const c = await worked();
    const { share_id } = await share(c);
    await c.fetch("", { method: "DELETE" });
    c.deleted = true;
    expect((await get(share_id)).status).toBe(404);
  });

  it("that is made up finds nothing and writes nothing", async () => {
    const c = await worked();
    const { share_id } = await share(c);
    const id = newSessionId();
    for (const link of [
      id + newSessionId(),
      c.id + newSessionId(),
      share_id.slice(0, -1),
      `${share_id}a`,
      "x",
      c.id,
    ]) {
      expect((await get(link)).status).toBe(404);
    }
    await runInDurableObject(stubOf(id), (_, { storage }) => {
      expect(storage.sql.exec("SELECT 1 FROM sqlite_master").toArray()).toEqual([]);
    });
  });

  it("is served where its owner could sign in, and on loopback alone where nobody could", async () => {
    const c = await worked();
    const { share_id } = await share(c);
    const at = (url: string) => exports.default.fetch(`${url}/api/shared/${share_id}`);
    expect((await at("https://dormouse.example")).status).toBe(503);
    const undo = useVars({ AUTH_TOKENS: '{"t-ann":"ann"}' });
    expect((await at("https://dormouse.example")).status).toBe(200);
    expect((await get(share_id, "?token=x")).status).toBe(401);
    undo();
  });
});
