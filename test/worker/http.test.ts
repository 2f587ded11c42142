/** Contract 2 over HTTP: sessions, their list, and what everyone may ask. */
import { exports } from "cloudflare:workers";
import { describe, expect } from "vitest";
import type { SessionView } from "../../src/core/wire.ts";
import { api, Client, failureOf, it } from "./support/client.ts";
import { complete, plan, text, write } from "./support/replies.ts";
import { Held, scripted } from "./support/upstream.ts";

const unknown = "a".repeat(26);

describe("the headers of a reply", () => {
  for (const path of ["/api/health", "/api/sessions", "/api/nowhere", "/v1/models"]) {
    it(`keep it from being stored, framed, sniffed or run: ${path}`, async () => {
      const { headers } = await exports.default.fetch(`https://dormouse.example${path}`);
      const of = (name: string) => headers.get(name);
      expect(of("cache-control")).toBe("no-store");
      expect(of("x-content-type-options")).toBe("nosniff");
      expect(of("referrer-policy")).toBe("no-referrer");
      expect(of("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'");
      expect(of("cross-origin-resource-policy")).toBe("same-origin");
      expect(of("strict-transport-security")).toMatch(/^max-age=\d+/);
    });
  }

  it("do not bind a browser to https on loopback", async () => {
    expect((await api("/api/health")).headers.has("strict-transport-security")).toBe(false);
  });
});

describe("creating a session", () => {
  it("gives the whole snapshot of an idle session", async () => {
    const response = await api("/api/sessions", { json: { title: "  A  title " } });
    expect(response.status).toBe(201);
    const view = await response.json<SessionView>();
    expect(view).toMatchObject({
      title: "A title",
      mode: "agent",
      status: "idle",
      phase: "idle",
      last_seq: 0,
      run: 0,
      pinned: false,
      preview: "",
      plan: null,
      wait: null,
      queue: [],
      files_count: 0,
      usage: { model_calls: 0, tool_calls: 0, measured: true, cost_usd: null },
    });
    expect(view.id).toMatch(/^[a-z0-9]{20,}$/);
    expect(view.created_at).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(view.settings.limits.maxIterations).toBe(100);
  });

  it("takes a bare POST", async () => {
    expect((await api("/api/sessions", { method: "POST" })).status).toBe(201);
  });

  it("binds a key once: the same key gives the same session", async () => {
    const key = `chat:${crypto.randomUUID()}`;
    const first = await api("/api/sessions", { json: { key, title: "one" } });
    const again = await api("/api/sessions", { json: { key, title: "two" } });
    expect([first.status, again.status]).toEqual([201, 200]);
    const [a, b] = [await first.json<SessionView>(), await again.json<SessionView>()];
    expect(b.id).toBe(a.id);
    expect(b.title).toBe("one");
  });

  it("gives one session to two requests with the same key in the same tick", async () => {
    const key = `chat:${crypto.randomUUID()}`;
    const both = await Promise.all([1, 2].map(() => api("/api/sessions", { json: { key } })));
    const views = await Promise.all(both.map((r) => r.json<SessionView>()));
    expect(new Set(views.map((v) => v.id)).size).toBe(1);
    expect(both.map((r) => r.status).sort()).toEqual([200, 201]);
  });

  it("frees the key with its session", async () => {
    const key = `chat:${crypto.randomUUID()}`;
    const first = await (await api("/api/sessions", { json: { key } })).json<SessionView>();
    expect((await api(`/api/sessions/${first.id}`, { method: "DELETE" })).status).toBe(204);
    const second = await api("/api/sessions", { json: { key } });
    expect(second.status).toBe(201);
    expect((await second.json<SessionView>()).id).not.toBe(first.id);
  });

  for (const mode of ["chat", "workflow", "direct"]) {
    it(`has the mode ${mode} that was asked for`, async () => {
      const response = await api("/api/sessions", { json: { mode } });
      expect(response.status).toBe(201);
      expect(await response.json()).toMatchObject({ mode });
    });
  }
});

describe("the list", () => {
  it("shows newest activity first, in pages, and finds words", async () => {
    const word = crypto.randomUUID().slice(0, 8);
    const ids: string[] = [];
    for (const n of [1, 2, 3]) {
      const made = await api("/api/sessions", { json: { title: `${word} ${n}` } });
      ids.push((await made.json<SessionView>()).id);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const list = async (query: string) =>
      (await api(`/api/sessions?${query}`)).json<{
        sessions: SessionView[];
        next_cursor: string | null;
      }>();
    const first = await list(`limit=2&q=${word.toUpperCase()}`);
    expect(first.sessions.map((s) => s.title)).toEqual([`${word} 3`, `${word} 2`]);
    const cursor = encodeURIComponent(first.next_cursor ?? "");
    const second = await list(`limit=2&q=${word}&cursor=${cursor}`);
    expect(second).toMatchObject({ sessions: [{ title: `${word} 1` }], next_cursor: null });
    expect(await list("q=no-such-words-anywhere")).toEqual({ sessions: [], next_cursor: null });
    await api(`/api/sessions/${ids[0]}`, { method: "PATCH", json: { pinned: true } });
    const after = await list(`q=${word}`);
    expect(after.sessions.map((s) => [s.title, s.pinned])).toContainEqual([`${word} 1`, true]);
  });

  it("refuses a limit that is none", async () => {
    for (const limit of ["0", "x", "-1", "1.5"]) {
      const response = await api(`/api/sessions?limit=${limit}`);
      expect(response.status).toBe(400);
      expect((await failureOf(response)).message).toMatch(/^limit/);
    }
  });
});

describe("changing and deleting", () => {
  it("a title of the user's own stays over the planner's", async () => {
    const c = await Client.create([plan("a"), write(), complete()]);
    const patched = await c.fetch("", { method: "PATCH", json: { title: "Mine", pinned: true } });
    expect(await patched.json()).toMatchObject({ title: "Mine", pinned: true });
    await c.say("Do it");
    expect(await c.status("completed")).toMatchObject({ title: "Mine", pinned: true });
    expect(await c.of("title")).toEqual([{ title: "Mine" }]);
  });

  it("settings apply from the next turn and are merged field by field", async () => {
    const c = await Client.create([], { settings: { instructions: "Be brief." } });
    await c.fetch("", { method: "PATCH", json: { settings: { limits: { maxReplans: 2 } } } });
    const { settings } = await c.view();
    expect(settings).toMatchObject({
      instructions: "Be brief.",
      limits: { maxReplans: 2, maxIterations: 100 },
    });
  });

  it("after a delete there is nothing left, and a message finds no session", async () => {
    const c = await Client.create([plan("a"), write(), complete()]);
    await c.say("Do it");
    await c.status("completed");
    expect((await c.fetch("", { method: "DELETE" })).status).toBe(204);
    c.deleted = true;
    for (const path of ["", "/events", "/files", "/files/a.txt"]) {
      expect((await c.fetch(path)).status).toBe(404);
    }
    const said = await c.fetch("/messages", { json: { text: "still there?" } });
    expect(said.status).toBe(404);
    expect(await failureOf(said)).toMatchObject({ code: "session_not_found" });
    expect((await c.fetch("", { method: "DELETE" })).status).toBe(404);
  });

  it("a delete in the middle of a turn stops it", async () => {
    const c = await Client.create([new Held()]);
    await c.say("Do it");
    await expect.poll(() => c.model.asked.length).toBe(1);
    expect((await c.fetch("", { method: "DELETE" })).status).toBe(204);
    c.deleted = true;
    await expect.poll(() => c.model.asked[0]?.aborted).toBe(true);
    expect((await c.fetch("")).status).toBe(404);
  });
});

describe("an unknown session", () => {
  for (const id of [unknown, "x", "A".repeat(26), "%2e%2e", `${unknown}a`]) {
    it(`is a plain 404 (${id})`, async () => {
      const replies = await Promise.all([
        api(`/api/sessions/${id}`),
        api(`/api/sessions/${id}`, { method: "DELETE" }),
        api(`/api/sessions/${id}/messages`, { json: { text: "hi" } }),
        api(`/api/sessions/${id}/stop`, { method: "POST" }),
        api(`/api/sessions/${id}/events`),
        api(`/api/sessions/${id}/ws`, { headers: { upgrade: "websocket" } }),
        api(`/api/sessions/${id}/files`),
      ]);
      expect(replies.map((r) => r.status)).toEqual(Array(7).fill(404));
    });
  }
});

describe("what everyone may ask", () => {
  it("health is open and small", async () => {
    expect(await (await api("/api/health")).json()).toEqual({
      ok: true,
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    });
  });

  it("config names what this deployment has, and no secret", async () => {
    const config = await (await api("/api/config")).json<Record<string, unknown>>();
    expect(config).toMatchObject({
      product: "Dormouse",
      provider: "custom",
      modes: ["agent", "chat", "workflow", "direct"],
      practice: false,
      sandbox: "embedded",
    });
    for (const field of ["version", "providers", "models", "profiles", "tools", "locales"]) {
      expect(config).toHaveProperty(field);
    }
    expect(config.limits).toHaveProperty("maxIterations", 100);
  });

  it("an address that is not there is 404 in the shape of every error", async () => {
    const response = await api("/api/nothing");
    expect(response.status).toBe(404);
    expect(await failureOf(response)).toMatchObject({ code: "not_found" });
  });

  it("a session's own model is never mixed with another's", async () => {
    const other = scripted([]);
    const c = await Client.create([text("mine")], { mode: "chat" });
    await c.say("Hi");
    await c.status("completed");
    expect([c.model.asked.length, other.asked.length]).toEqual([1, 0]);
  });
});
