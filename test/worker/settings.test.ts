/** The owner's own settings: a layer between the profile and the session, kept with the owner's list. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, vi } from "vitest";
import type { Settings } from "../../src/core/settings.ts";
import type { SettingsLayers } from "../../src/core/wire.ts";
import { DirectoryObject } from "../../src/worker/directory.ts";
import { api, Client, failureOf, it, until, useVars } from "./support/client.ts";
import { text } from "./support/replies.ts";
import { Held } from "./support/upstream.ts";

/** A new owner and how they sign in. */
function owner(vars: Record<string, string> = {}) {
  const name = `owner-${crypto.randomUUID()}`;
  useVars({ AUTH_TOKENS: JSON.stringify({ [`t-${name}`]: name, other: "other" }), ...vars });
  return { name, headers: { authorization: `Bearer t-${name}` } };
}
type Owner = ReturnType<typeof owner>;

const settings = async (o: Owner): Promise<Settings> =>
  (await api("/api/settings", { headers: o.headers })).json<Settings>();
const state = (o: Owner, json: unknown): Promise<Response> =>
  api("/api/settings", { method: "PATCH", json, headers: o.headers });
const chat = (o: Owner, script: Parameters<typeof Client.create>[0], more = {}) =>
  Client.create(script, { mode: "chat", headers: o.headers, ...more });
const prompt = (c: Client, n: number) => c.model.asked[n]?.body.messages[0]?.content ?? "";

describe("GET and PATCH /api/settings", () => {
  it("show what holds for a session that states nothing, and change the owner's part of it alone", async () => {
    const o = owner({ SETTINGS: JSON.stringify({ locale: "en", limits: { maxReplans: 3 } }) });
    expect(await settings(o)).toMatchObject({ locale: "en", limits: { maxReplans: 3 }, model: "" });
    const reply = await state(o, { model: "m", limits: { maxReplans: 2 } });
    expect(reply.status).toBe(200);
    const wanted = { model: "m", locale: "en", limits: { maxReplans: 2, maxIterations: 100 } };
    expect(await reply.json()).toMatchObject(wanted);
    await state(o, { locale: "zh" });
    expect(await settings(o)).toMatchObject({ ...wanted, locale: "zh" });
    const theirs = await api("/api/settings", { headers: { authorization: "Bearer other" } });
    expect(await theirs.json()).toMatchObject({ model: "", locale: "en" });
  });

  it("keep headers of MCP servers to themselves; `***` sent back means as it is", async () => {
    const o = owner();
    const server = { url: "https://mcp.example/", headers: { authorization: "secret-9f" } };
    const reply = await state(o, { mcp: { servers: { box: server } } });
    expect(await reply.text()).not.toContain("secret-9f");
    const shown = await settings(o);
    expect(shown.mcp.servers.box?.headers).toEqual({ authorization: "***" });
    await state(o, { mcp: shown.mcp, locale: "en" });
    const own = await env.DIRECTORY.getByName(o.name).settings();
    expect(own.mcp?.servers?.box?.headers).toEqual({ authorization: "secret-9f" });
    const c = await chat(o, []);
    expect(JSON.stringify(await c.view())).not.toContain("secret-9f");
  });

  it("take back with null what was stated: a field, a block, a server; the rest stays", async () => {
    const o = owner({ SETTINGS: JSON.stringify({ locale: "en", model: "theirs" }) });
    const servers = { a: { url: "https://a.example/" }, b: { url: "https://b.example/" } };
    const reviewer = { enabled: true, maxRetries: 7 };
    await state(o, { model: "mine", locale: "zh", reviewer, mcp: { servers } });
    const reply = await state(o, { model: null, reviewer: null, mcp: { servers: { a: null } } });
    expect(reply.status).toBe(200);
    const shown = await reply.json<Settings>();
    expect(shown).toMatchObject({ model: "theirs", locale: "zh", reviewer: { enabled: false } });
    expect(Object.keys(shown.mcp.servers)).toEqual(["b"]);
    await state(o, { mcp: { servers: { b: null } }, roles: { planner: null }, unheard: null });
    const own = await env.DIRECTORY.getByName(o.name).settings();
    expect(own).toEqual({ locale: "zh" });
  });

  it("can be read as what is stated beside what is inherited, headers hidden", async () => {
    const o = owner({
      SETTINGS: JSON.stringify({ locale: "en", budget: { maxTokens: 500 } }),
      PROFILES: JSON.stringify({ careful: { reviewer: { enabled: true } } }),
    });
    const servers = { box: { url: "https://mcp.example/", headers: { key: "secret-7a" } } };
    await state(o, { profile: "careful", budget: { maxTokens: 100 }, mcp: { servers } });
    const reply = await api("/api/settings/own", { headers: o.headers });
    const text = await reply.text();
    expect(text).not.toContain("secret-7a");
    const { own, inherited } = JSON.parse(text) as SettingsLayers;
    expect(own).toMatchObject({ profile: "careful", budget: { maxTokens: 100 } });
    expect(own).not.toHaveProperty("locale");
    expect(inherited).toMatchObject({
      ...{ profile: "", locale: "en", budget: { maxTokens: 500 }, reviewer: { enabled: true } },
      mcp: { servers: {} },
    });
  });

  it("refuse what is wrong, unknown or too much, and keep what was there", async () => {
    const o = owner();
    await state(o, { locale: "zh", instructions: "a".repeat(30_000) });
    const bad = await state(o, { locale: "fr" });
    expect([bad.status, (await failureOf(bad)).message]).toEqual([
      400,
      expect.stringMatching(/^locale/),
    ]);
    expect((await state(o, { profile: "nobody" })).status).toBe(400);
    const roles = {
      planner: { prompt: "b".repeat(30_000) },
      executor: { prompt: "c".repeat(30_000) },
    };
    expect((await state(o, { roles: { planner: roles.planner } })).status).toBe(200);
    expect((await state(o, { roles: { executor: roles.executor } })).status).toBe(413);
    expect(await settings(o)).toMatchObject({ locale: "zh", roles: { executor: {} } });
  });

  it("write nothing for an owner who only looks", async () => {
    const o = owner();
    await settings(o);
    await runInDurableObject(env.DIRECTORY.getByName(o.name), (_, { storage }) => {
      const query = "SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'";
      expect(storage.sql.exec(query).toArray()).toEqual([]);
    });
  });
});

describe("a session", () => {
  it("tells what it states beside what it inherits, and takes it back with null", async () => {
    const o = owner();
    await state(o, { instructions: "Of the owner.", locale: "zh" });
    const c = await chat(o, []);
    const layers = async () => (await c.fetch("/settings")).json<SettingsLayers>();
    const patch = (json: unknown) => c.fetch("", { method: "PATCH", json });
    await patch({ settings: { instructions: "Of the session." } });
    expect((await layers()).own).toMatchObject({ instructions: "Of the session." });
    expect((await layers()).inherited).toMatchObject({ instructions: "Of the owner." });
    expect((await c.view()).settings.instructions).toBe("Of the session.");
    await patch({ settings: { instructions: null } });
    expect((await layers()).own).not.toHaveProperty("instructions");
    expect((await c.view()).settings).toMatchObject({
      instructions: "Of the owner.",
      locale: "zh",
    });
    const wrong = await patch({ settings: { locale: "fr", instructions: null } });
    expect([wrong.status, (await failureOf(wrong)).message]).toEqual([
      400,
      expect.stringMatching(/^settings\.locale/),
    ]);
    const theirs = await c.fetch("/settings", { headers: { authorization: "Bearer other" } });
    expect(theirs.status).toBe(404);
  });

  it("works by its owner's settings from the next turn on, over HTTP and WebSocket", async () => {
    const o = owner();
    const c = await chat(o, [text("1"), text("2"), text("3")]);
    await c.say("one");
    await c.status("completed");
    await state(o, { instructions: "Speak like a pirate." });
    await c.say("two");
    await until(() => expect(c.model.asked).toHaveLength(2));
    await c.status("completed");
    await state(o, { instructions: "Speak like a judge." });
    const socket = await c.socket();
    socket.send({ type: "message", id: "x", text: "three" });
    await until(() => expect(c.model.asked).toHaveLength(3));
    await c.status("completed");
    expect([0, 1, 2].map((n) => /pirate|judge/.exec(prompt(c, n))?.[0])).toEqual([
      undefined,
      "pirate",
      "judge",
    ]);
  });

  it("keeps the settings that its turn began with", async () => {
    const o = owner();
    await state(o, { instructions: "first words" });
    const held = new Held();
    const c = await chat(o, [held, text("2")]);
    await c.say("one");
    await until(() => expect(c.model.asked).toHaveLength(1));
    await state(o, { instructions: "other words" });
    await c.say("and more", { delivery: "follow_up" });
    held.say("done");
    held.end();
    await until(() => expect(c.model.asked).toHaveLength(2));
    await c.status("completed");
    expect(prompt(c, 1)).toContain("first words");
  });

  it("shows them merged, its own nearer; what the owner denies stays denied", async () => {
    const o = owner({
      PROFILES: JSON.stringify({ tester: { locale: "zh", model: "of-profile" } }),
    });
    await state(o, {
      profile: "tester",
      locale: "en",
      tools: { approval: { shell_exec: "deny" } },
      limits: { maxReplans: 1 },
    });
    const c = await chat(o, [text("1")], {
      settings: {
        summarize: "always",
        tools: { approval: { "*": "allow" } },
        limits: { maxReplans: 4 },
      },
    });
    expect((await c.view()).settings).toMatchObject({
      profile: "tester",
      locale: "en",
      summarize: "always",
      limits: { maxReplans: 1 },
    });
    await c.say("hi");
    await c.status("completed");
    const tools = JSON.parse(c.model.asked[0]?.raw ?? "{}").tools.map(
      (t: { function: { name: string } }) => t.function.name,
    );
    expect(tools).toContain("file_read");
    expect(tools).not.toContain("shell_exec");
  });

  it("goes on by what it knew when the owner's list cannot be reached", async () => {
    const o = owner();
    await state(o, { instructions: "known words" });
    const c = await chat(o, [text("1")]);
    const quiet = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const down = vi
      .spyOn(DirectoryObject.prototype, "settings")
      .mockRejectedValue(new Error("down"));
    await c.say("hi");
    await c.status("completed");
    down.mockRestore();
    quiet.mockRestore();
    expect(prompt(c, 0)).toContain("known words");
  });
});
