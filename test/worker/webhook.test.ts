/** Webhooks: told when a session waits or ends, signed, tried again over evictions, and costing nothing otherwise. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { createHmac } from "node:crypto";
import { describe, expect, vi } from "vitest";
import { api, Client, failureOf, it, until, useVars } from "./support/client.ts";
import { atRest, pending, ring } from "./support/crash.ts";
import { askUser, complete, plan, write } from "./support/replies.ts";

const URL_ = "https://hooks.test.example/dormouse";
const SECRET = "s3cret";
interface Told {
  url: string;
  headers: Headers;
  body: string;
  json: Record<string, unknown>;
}

/** Answers the webhook's requests with these statuses, then 200; everything else goes the usual way. */
function receiver(statuses: number[] = []): Told[] {
  const told: Told[] = [];
  const before = vi.mocked(globalThis.fetch).getMockImplementation();
  vi.mocked(globalThis.fetch).mockImplementation(async (input, init) => {
    const url = String(input);
    if (!url.includes("/dormouse")) return before?.(input, init) as Promise<Response>;
    const body = String(init?.body);
    const json = JSON.parse(body) as Told["json"];
    told.push({ url, headers: new Headers(init?.headers), body, json });
    return new Response(null, { status: statuses.shift() ?? 200 });
  });
  return told;
}
const hooked = (script: Parameters<typeof Client.create>[0], webhook: object = {}) =>
  Client.create(script, { settings: { webhook: { url: URL_, secret: SECRET, ...webhook } } });
/** Lets what is due come, until that many have been told. */
const rung = (c: Client, told: Told[], count: number) =>
  until(async () => {
    if (told.length < count && (await pending(c)).alarm !== null) await ring(c);
    expect(told).toHaveLength(count);
  });

describe("a webhook", () => {
  it("is told of a wait and of the end, signed, with an id of its own each", async () => {
    const told = receiver();
    const c = await hooked([plan("a"), askUser("Which?"), write(), complete(true, "All done")]);
    await c.say("Do it");
    await c.status("waiting");
    await rung(c, told, 1);
    expect(told[0]?.json).toMatchObject({
      type: "session.waiting",
      session: { id: c.id, run: 1 },
      message: "Which?",
      wait: { kind: "question", text: "Which?" },
    });
    await c.answer("This");
    await c.status("completed");
    await rung(c, told, 2);
    const [first, last] = told;
    expect(last?.json).toMatchObject({
      type: "session.completed",
      message: "All done",
      wait: null,
    });
    expect(last?.json.id).not.toBe(first?.json.id);
    const time = last?.headers.get("dormouse-timestamp");
    const expected = createHmac("sha256", SECRET).update(`${time}.${last?.body}`).digest("hex");
    expect(last?.headers.get("dormouse-signature")).toBe(`v1=${expected}`);
    expect(last?.headers.get("dormouse-event-id")).toBe(last?.json.id);
    expect(told.map((t) => t.body).join()).not.toContain(SECRET);
    await atRest(c);
  });

  it("that fails is tried again with the same id, over an eviction, and then forgotten", async () => {
    const told = receiver([500, 302]);
    const c = await hooked([plan()]);
    await c.say("Hi");
    await c.status("completed");
    await rung(c, told, 1);
    await until(async () => {
      const [job] = (await pending(c)).jobs;
      expect(job ?? 0).toBeGreaterThan(Date.now());
    });
    await evictDurableObject(c.stub);
    await rung(c, told, 3);
    expect(new Set(told.map((t) => t.json.id)).size).toBe(1);
    await atRest(c);
    await runInDurableObject(c.stub, (_, { storage }) =>
      expect([...storage.kv.list({ prefix: "webhook:" })]).toEqual([]),
    );
  });

  it("that never answers is given up, and one that is gone is not asked again", async () => {
    const told = receiver(Array(20).fill(503));
    const c = await hooked([plan()]);
    await c.say("Hi");
    await c.status("completed");
    await rung(c, told, 8);
    await atRest(c);
    const gone = receiver([410]);
    const other = await hooked([plan()]);
    await other.say("Hi");
    await other.status("completed");
    await rung(other, gone, 1);
    await atRest(other);
  });

  it("goes with its session", async () => {
    const told = receiver([500, 500]);
    const c = await hooked([plan()]);
    await c.say("Hi");
    await c.status("completed");
    await rung(c, told, 1);
    await c.fetch("", { method: "DELETE" });
    c.deleted = true;
    expect(await pending(c)).toEqual({ alarm: null, jobs: [] });
  });

  it("costs nothing where none is set", async () => {
    const c = await Client.create([plan()]);
    await c.say("Hi");
    await c.status("completed");
    await atRest(c);
    await runInDurableObject(c.stub, (_, { storage }) =>
      expect([...storage.kv.list({ prefix: "" })]).toEqual([]),
    );
  });
});

describe("its settings", () => {
  it("show no secret, keep it when they are sent back, and belong together", async () => {
    const told = receiver();
    const c = await hooked([plan(), plan()]);
    expect((await c.view()).settings.webhook).toEqual({ url: URL_, secret: "***" });
    const { settings } = await c.view();
    await c.fetch("", { method: "PATCH", json: { settings: { webhook: settings.webhook } } });
    await c.say("Hi");
    await c.status("completed");
    await rung(c, told, 1);
    expect(told[0]?.headers.get("dormouse-signature")).toMatch(/^v1=[0-9a-f]{64}$/);
    // Another address in a nearer layer is not signed with the secret of this one.
    await c.say("Hi again", { settings: { webhook: { url: `${URL_}/other` } } });
    await until(async () => expect((await c.view()).run).toBe(2));
    await rung(c, told, 2);
    expect(told[1]?.headers.get("dormouse-signature")).toBe(null);
  });

  it("name the public web alone, unless the product is served on this machine or the host is listed", async () => {
    const state = (url: string, headers = {}) =>
      api("/api/sessions", { json: { settings: { webhook: { url } } }, headers });
    expect((await state("ftp://a.example/x")).status).toBe(400);
    const local = await state("http://127.0.0.1:9000/hook");
    expect(local.status).toBe(201);
    useVars({ AUTH_TOKENS: '{"t":"me"}' });
    const headers = { authorization: "Bearer t" };
    for (const url of [
      "http://127.0.0.1:9000/hook",
      "http://169.254.169.254/",
      "http://box.local/",
    ]) {
      const refused = await state(url, headers);
      expect(refused.status).toBe(400);
      expect((await failureOf(refused)).message).toContain("settings.webhook.url");
    }
    useVars({ WEBHOOK_ALLOW_PRIVATE: "127.0.0.1:9000" });
    expect((await state("http://127.0.0.1:9000/hook", headers)).status).toBe(201);
    expect((await state("http://127.0.0.1:9001/hook", headers)).status).toBe(400);
  });
});
