/** `/new` as clients send it: the session stays, a new one is in its place, and whoever asked is told where. */
import { afterEach, beforeEach, describe, expect, vi } from "vitest";
import type { SessionView, TurnResult } from "../../src/core/wire.ts";
import { newSessionId } from "../../src/worker/ids.ts";
import { api, Client, failureOf, it, until } from "./support/client.ts";
import { listed } from "./support/copies.ts";
import { atRest, pending, plant, settle } from "./support/crash.ts";
import { askUser, plan, text } from "./support/replies.ts";
import { scripted } from "./support/upstream.ts";

const view = async (id: string) => (await api(`/api/sessions/${id}`)).json<SessionView>();
const byKey = async (key: string) =>
  (await (await api("/api/sessions", { json: { key } })).json<SessionView>()).id;
const turn = async (c: Client, json: unknown) => {
  const response = await c.fetch("/messages", { json, headers: { prefer: "wait=10" } });
  return { status: response.status, body: await response.json<TurnResult>() };
};
const ids = async () => (await listed()).map((s) => s.id);

/** Sessions that were made meanwhile. */
const since = async (before: string[]) => (await ids()).filter((id) => !before.includes(id));

/** A client of a session that a key is bound to. */
async function keyed(script: Parameters<typeof scripted>[0] = [], mode = "chat") {
  const key = `chat:${crypto.randomUUID()}`;
  const model = scripted(script);
  const settings = { provider: "custom", model: model.name, instructions: "be brief" };
  const response = await api("/api/sessions", { json: { key, mode, settings } });
  return { key, c: new Client(await response.json<SessionView>(), model, {}) };
}

describe("/new", () => {
  it("over HTTP tells in its result where it goes on; the key names that now, and the old one stays", async () => {
    const { key, c } = await keyed([text("Hello.")]);
    await turn(c, { text: "Hi" });
    const { status, body } = await turn(c, { text: "/new" });
    expect([status, body.outcome, body.usage.model_calls]).toEqual([200, "completed", 0]);
    const to = body.moved_to ?? "";
    expect(body.message).toContain(to);
    expect(await view(to)).toMatchObject({ mode: "chat", title: "", last_seq: 0, status: "idle" });
    expect((await view(to)).settings).toMatchObject({
      instructions: "be brief",
      model: c.model.name,
    });
    expect(await byKey(key)).toBe(to);
    expect(await ids()).toEqual(expect.arrayContaining([to, c.id]));
    expect(await c.log()).toEqual([
      "message(user)",
      "status_update(running)",
      "message(answer)",
      "done(completed)",
      "status_update(completed)",
      "message(user)",
      "status_update(running)",
      "moved",
      "message(answer)",
      "done(completed)",
      "status_update(completed)",
    ]);
    c.model.add(text("Still here."));
    expect((await turn(c, { text: "And you?" })).body.message).toBe("Still here.");
    await atRest(c);
  });

  it("is undone for a key by binding it to the old session again; one that is not there keeps nothing", async () => {
    const { key, c } = await keyed();
    await turn(c, { text: "/new" });
    expect(await byKey(key)).not.toBe(c.id);
    expect((await c.fetch("", { method: "PATCH", json: { key } })).status).toBe(200);
    expect(await byKey(key)).toBe(c.id);
    const none = await api(`/api/sessions/${newSessionId()}`, { method: "PATCH", json: { key } });
    expect(none.status).toBe(404);
    expect(await byKey(key)).toBe(c.id);
  });

  it("sent again with the same id names the same session", async () => {
    const c = await Client.create([], { mode: "chat" });
    const before = await ids();
    const first = await turn(c, { id: "n", text: "/new" });
    const second = await turn(c, { id: "n", text: "/new" });
    expect(second.body.moved_to).toBe(first.body.moved_to);
    expect(await since(before)).toEqual([first.body.moved_to]);
    const third = await turn(c, { id: "o", text: "/new" });
    expect(third.body.moved_to).not.toBe(first.body.moved_to);
  });

  it("with a text says it there first, as a task, whatever it looks like", async () => {
    const { c } = await keyed([text("It rains.")]);
    const { body } = await turn(c, { text: "/new /help me with a poem" });
    const to = body.moved_to ?? "";
    await until(async () => expect((await view(to)).status).toBe("completed"));
    expect(c.model.asked[0]?.body.messages.at(-1)?.content).toBe("/help me with a poem");
    expect((await view(to)).title).toBe("/help me with a poem");
    expect((await c.view()).title).toBe("");
  });

  it("while a question waits is answered beside it, and the question stays open", async () => {
    const { key, c } = await keyed([plan("a"), askUser("Which?")], "agent");
    await c.say("Do it");
    await c.status("waiting");
    const { status } = await turn(c, { id: "n", text: "/new" });
    expect(status).toBe(202);
    await until(async () => expect(await c.of("moved")).toHaveLength(1));
    const [{ to, client_id } = { to: "", client_id: "" }] = await c.of("moved");
    expect(client_id).toBe("n");
    expect(await byKey(key)).toBe(to);
    expect((await c.of("message")).at(-1)).toMatchObject({ kind: "notice" });
    expect((await c.view()).wait?.kind).toBe("question");
    await atRest(c);
  });

  it("over a WebSocket is an event, for whoever listens", async () => {
    const c = await Client.create([], { mode: "chat" });
    const s = await c.socket();
    s.send({ type: "message", id: "n", text: "/new" });
    await until(() =>
      expect(s.frames.some((f) => f.type === "event" && f.event === "moved")).toBe(true),
    );
  });

  it("of an ephemeral session makes another one", async () => {
    const response = await api("/api/sessions", { json: { ephemeral: true, mode: "chat" } });
    const c = new Client(await response.json<SessionView>(), scripted([]), {});
    const to = (await turn(c, { text: "/new" })).body.moved_to ?? "";
    const other = new Client(await view(to), scripted([]), {});
    expect((await pending(other)).jobs).toHaveLength(1);
  });
});

describe("/new, crashed at any of its commits,", () => {
  let loud = () => {};
  beforeEach(() => {
    const quiet = vi.spyOn(console, "error").mockImplementation(() => undefined);
    loud = () => quiet.mockRestore();
  });
  afterEach(() => loud());

  for (const kind of ["fail", "lose", "die"] as const) {
    it(`makes one session, and tells of it once (${kind})`, async () => {
      for (let n = 1; n <= 2; n++) {
        const { key, c } = await keyed();
        const before = await ids();
        const crash = await plant(c, n, kind);
        const json = { id: "n", text: "/new" };
        const first = await c.fetch("/messages", { json });
        if (first.status !== 202) {
          expect((await failureOf(first)).code).toBe("restarting");
          await settle(c, crash);
          await c.post("/messages", json);
        }
        await settle(c, crash);
        await atRest(c);
        expect({ n, fired: crash.fired }).toEqual({ n, fired: true });
        const moved = await c.of("moved");
        expect({ n, moved: moved.length }).toEqual({ n, moved: 1 });
        expect(await byKey(key)).toBe(moved[0]?.to);
        expect({ n, made: await since(before) }).toEqual({ n, made: [moved[0]?.to] });
      }
    });
  }
});
