/** Contract 3: the socket. Every socket's seqs and frame sizes are checked when its test ends. */
import { evictDurableObject } from "cloudflare:test";
import { describe, expect } from "vitest";
import { Client, it, until } from "./support/client.ts";
import { askUser, complete, plan, text, write } from "./support/replies.ts";
import { Held } from "./support/upstream.ts";

const oneStep = () => [plan("a"), write(), complete(true, "It is done.")];
const finished = async () => {
  const c = await Client.create(oneStep());
  await c.say("Do it");
  await c.status("completed");
  return c;
};
describe("connecting", () => {
  it("begins with hello and the snapshot, then every stored event from the cursor", async () => {
    const c = await finished();
    const all = await c.events();
    const view = await c.view();
    for (const after of [0, 1, 6, all.length - 1, all.length]) {
      const s = await c.socket(`?after=${after}&epoch=${c.epoch}`);
      await s.has("hello");
      await until(() => expect(s.events).toEqual(all.slice(after)));
      expect(s.frames[0]).toEqual({
        type: "hello",
        session_id: c.id,
        epoch: c.epoch,
        after,
        last_seq: all.length,
        session: view,
      });
    }
  });

  it("joins the replay into few frames", async () => {
    const c = await finished();
    const s = await c.socket();
    await until(() => expect(s.events.length).toBe(c.model.asked.length + 14));
    expect(s.texts).toHaveLength(2);
    expect(s.texts[1]).toMatch(/^\{"type":"batch","frames":\[/);
  });

  it("with a cursor of another log, or one ahead, begins with reset and sends all there is", async () => {
    const c = await finished();
    const all = await c.events();
    for (const query of ["?after=3&epoch=another", "?after=999", `?after=999&epoch=${c.epoch}`]) {
      const s = await c.socket(query);
      await until(() => expect(s.events).toEqual(all));
      expect(s.frames[0]).toEqual({
        type: "reset",
        epoch: c.epoch,
        last_seq: all.length,
        session: await c.view(),
      });
    }
  });

  it("with a malformed cursor is told so, and the cursor counts as 0", async () => {
    const c = await finished();
    const all = await c.events();
    for (const after of ["x", "-1", "1.5", "", "1e3"]) {
      const s = await c.socket(`?after=${after}`);
      await until(() => expect(s.events).toEqual(all));
      expect(s.all("error")).toMatchObject([{ type: "error", code: expect.any(String) }]);
      expect(s.all("hello")).toMatchObject([{ after: 0 }]);
    }
  });
});

describe("frames of a client", () => {
  it("are acknowledged once they are durable, and a second time as duplicates", async () => {
    const c = await Client.create(oneStep());
    const s = await c.socket();
    s.send({ type: "message", id: "m1", text: "Do it" });
    expect(await s.ack("m1")).toEqual({ type: "ack", id: "m1", seq: 1, duplicate: false });
    await s.ended();
    s.send({ type: "message", id: "m1", text: "Do it" });
    await s.has("ack", 2);
    expect(s.all("ack")[1]).toEqual({ type: "ack", id: "m1", seq: 1, duplicate: true });
    expect(await c.say("Do it", { id: "m1" })).toMatchObject({ seq: 1, duplicate: true });
    expect(await c.of("done")).toHaveLength(1);
  });

  it("A25: the same message twice in one tick is one message, from two sockets too", async () => {
    const c = await Client.create(oneStep());
    const [a, b] = [await c.socket(), await c.socket()];
    for (const s of [a, a, b]) s.send({ type: "message", id: "m1", text: "Do it" });
    await Promise.all([a.has("ack", 2), b.has("ack")]);
    expect([...a.all("ack"), ...b.all("ack")].map((f) => f.seq)).toEqual([1, 1, 1]);
    await Promise.all([a.ended(), b.ended()]);
    expect((await c.of("message")).filter((m) => m.role === "user")).toHaveLength(1);
  });

  it("sent in one tick are taken in the order in which they were sent", async () => {
    const c = await Client.create([new Held()]);
    const s = await c.socket();
    const ids = Array.from({ length: 20 }, (_, i) => `m${i}`);
    for (const id of ids) s.send({ type: "message", id, text: id });
    await s.has("ack", 20);
    expect(s.all("ack").map((a) => a.id)).toEqual(ids);
    expect((await c.of("message")).map((m) => m.client_id)).toEqual(ids);
  });

  it("stop ends the turn and is acknowledged", async () => {
    const c = await Client.create([new Held()]);
    const s = await c.socket();
    s.send({ type: "message", id: "m1", text: "Do it" });
    await s.status("running");
    s.send({ type: "stop", id: "s1" });
    expect(await s.ack("s1")).toMatchObject({ duplicate: false });
    await s.ended();
    expect((await c.view()).status).toBe("stopped");
  });

  const BAD: [what: string, frame: string | ArrayBuffer, code: string][] = [
    ["no JSON", "{", "bad_frame"],
    ["binary", new Uint8Array([123, 125]).buffer, "bad_frame"],
    ["no object", "[]", "invalid_request"],
    ["of an unknown type", '{"type":"shout","id":"e1"}', "invalid_request"],
    ["a message without an id", '{"type":"message","text":"hi"}', "invalid_request"],
    ["a blank message", '{"type":"message","id":"e1","text":" "}', "invalid_request"],
    ["an answer without its wait", '{"type":"answer","id":"e1","text":"x"}', "invalid_request"],
    [
      "a text that is too large",
      JSON.stringify({ type: "message", id: "e1", text: "x".repeat(256 * 1024 + 1) }),
      "too_large",
    ],
    [
      "larger than a frame may be",
      JSON.stringify({ type: "message", id: "e1", text: "x".repeat(1024 * 1024) }),
      "too_large",
    ],
  ];
  for (const [what, frame, code] of BAD) {
    it(`that are ${what} get an error frame, and the socket stays open`, async () => {
      const c = await Client.create([text("hello")], { mode: "chat" });
      const s = await c.socket();
      s.ws.send(frame);
      const [error] = await s.has("error");
      expect(error).toMatchObject({ code });
      expect(error?.message).not.toBe("");
      const named = typeof frame === "string" && frame.includes('"id":"e1"') && frame.length < 9e5;
      if (named) expect(error?.id).toBe("e1");
      s.send({ type: "message", id: "m1", text: "Hi" });
      await s.ended();
      expect(s.closed).toBe(null);
    });
  }

  it("ping is answered with pong, spelled in any way", async () => {
    const c = await Client.create([]);
    const s = await c.socket();
    s.send('{"type":"ping"}');
    s.send('{ "type": "ping" }');
    await s.has("pong", 2);
  });

  it("ping wakes nothing", async () => {
    const c = await finished();
    const s = await c.socket();
    await s.has("hello");
    await evictDurableObject(c.stub);
    s.send('{"type":"ping"}');
    await s.has("pong");
    await expect(evictDurableObject(c.stub)).rejects.toThrow(/not currently running/);
  });
});

describe("leaving", () => {
  it("is answered with the client's own code", async () => {
    const c = await Client.create([]);
    for (const code of [1000, 4001]) {
      const s = await c.socket();
      await s.has("hello");
      s.ws.close(code, "bye");
      await until(() => expect(s.closed?.code).toBe(code));
    }
  });
});

describe("what is sent live", () => {
  it("stream_end comes after the status_update that ends or pauses a turn", async () => {
    const c = await Client.create([plan("a"), askUser("Which?"), write(), complete()]);
    const s = await c.socket();
    s.send({ type: "message", id: "m1", text: "Do it" });
    await s.ended();
    s.send({ type: "message", id: "m2", text: "blue" });
    await s.ended(2);
    s.frames.forEach((frame, i) => {
      if (frame.type !== "stream_end") return;
      expect(frame).toEqual({ type: "stream_end", session_id: c.id, run: 1 });
      expect(s.frames[i - 1]).toMatchObject({ type: "event", event: "status_update" });
    });
    expect(s.all("stream_end")).toHaveLength(2);
    expect(s.all("ack").map((a) => a.duplicate)).toEqual([false, false]);
  });

  it("two clients see the same events, whoever speaks", async () => {
    const c = await Client.create([plan("a"), askUser("Which?"), write(), complete()]);
    const [a, b] = [await c.socket(), await c.socket()];
    a.send({ type: "message", id: "m1", text: "Do it" });
    await Promise.all([a.ended(), b.ended()]);
    const wait_id = (await c.view()).wait?.wait_id;
    b.send({ type: "answer", id: "a1", wait_id, text: "blue" });
    await Promise.all([a.ended(2), b.ended(2)]);
    expect(a.events).toEqual(b.events);
    expect(a.events).toEqual(await c.events());
  });

  it("text streams as it comes, and the stored message is the same text", async () => {
    const held = new Held();
    const c = await Client.create([held], { mode: "chat" });
    const s = await c.socket();
    s.send({ type: "message", id: "m1", text: "Hi" });
    held.say("Once ");
    await until(() => expect([...s.live.values()]).toEqual(["Once "]));
    held.say("upon ", "a ", "time");
    await until(() => expect([...s.live.values()]).toEqual(["Once upon a time"]));
    held.end();
    await s.ended();
    const [id] = s.live.keys();
    expect((await c.of("message")).at(-1)).toMatchObject({
      message_id: id,
      content: "Once upon a time",
      kind: "answer",
    });
  });
});
