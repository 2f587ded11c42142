/** Too much on one socket: it is closed with 1008; the session, its other sockets and what was taken before stay. */
import { describe, expect } from "vitest";
import { LIMITS } from "../../src/core/limits.ts";
import { pour } from "../../src/worker/flood.ts";
import { Client, it, until } from "./support/client.ts";
import { text } from "./support/replies.ts";

const opened = async () => {
  const c = await Client.create([text("hello")], { mode: "chat" });
  const s = await c.socket();
  await s.has("hello");
  return { c, s };
};
const ping = '{ "type": "ping" }';

describe("a socket that sends too many frames", () => {
  it("is closed with 1008 and told why; the others stay, and it may come back", async () => {
    const { c, s } = await opened();
    const other = await c.socket();
    for (let i = 0; i < 2 * LIMITS.frameBurst; i++) s.send(ping);
    await until(() => expect(s.closed?.code).toBe(1008));
    expect(s.closed?.reason).toContain("connect again");
    expect(s.all("pong").length).toBeGreaterThanOrEqual(LIMITS.frameBurst);
    other.send(ping);
    await other.has("pong");
    expect(other.closed).toBe(null);
    const again = await c.socket();
    again.send({ type: "message", id: "m1", text: "Hi" });
    await again.ended();
  });

  it("is closed whether they can be read or not", async () => {
    for (const frame of ["{", new Uint8Array([1]).buffer, '{"type":"stop","id":""}']) {
      const { s } = await opened();
      for (let i = 0; i < 2 * LIMITS.frameBurst; i++) s.ws.send(frame);
      await until(() => expect(s.closed?.code).toBe(1008));
      expect(s.all("error").length).toBeGreaterThanOrEqual(LIMITS.frameBurst);
    }
  });

  it("is not listened to any more, whatever was still on its way", async () => {
    const { c, s } = await opened();
    for (let i = 0; i < 2 * LIMITS.frameBurst; i++) s.send(ping);
    s.send({ type: "message", id: "late", text: "too late" });
    await until(() => expect(s.closed?.code).toBe(1008));
    expect((await c.view()).last_seq).toBe(0);
  });

  it("is not closed for pings that wake nothing", async () => {
    const { s } = await opened();
    const pings = 2 * LIMITS.frameBurst;
    for (let i = 0; i < pings; i++) s.send('{"type":"ping"}');
    await s.has("pong", pings);
    expect(s.closed).toBe(null);
  });
});

describe("a socket that sends large frames", () => {
  const large = `{"type":"message","id":"e1","text":"${"x".repeat(LIMITS.frameBytes)}"}`;

  it("gets an error for each that is too large, counted in bytes, and stays", async () => {
    const { c, s } = await opened();
    const wide = JSON.stringify({ type: "message", id: "e2", text: "漢".repeat(400_000) });
    for (const frame of [large, wide]) s.send(frame);
    const errors = await s.has("error", 2);
    expect(errors.map((e) => [e.code, e.id])).toEqual([
      ["too_large", undefined],
      ["too_large", undefined],
    ]);
    s.send({ type: "message", id: "m1", text: "Hi" });
    await s.ended();
    expect(s.closed).toBe(null);
    expect((await c.of("message")).map((m) => m.client_id)).toEqual(["m1", undefined]);
  });

  it("is closed when there are many of them", async () => {
    const { s } = await opened();
    for (let i = 0; i < 30; i++) s.send(large);
    await until(() => expect(s.closed?.code).toBe(1008));
    expect(s.all("error").length).toBeGreaterThanOrEqual(5);
  });
});

describe("a socket that sends steadily", () => {
  const sent = (perSecond: number, seconds: number): string[] => {
    const ws = new WebSocketPair()[0];
    return Array.from({ length: perSecond * seconds }, (_, i) =>
      pour(ws, 100, i * (1_000 / perSecond)),
    );
  };
  it("is listened to for ever within its rate, and closed once beyond it", async () => {
    expect(new Set(sent(LIMITS.framesPerSecond, 120))).toEqual(new Set(["ok"]));
    const beyond = sent(2 * LIMITS.framesPerSecond, 120);
    expect(beyond.filter((told) => told === "flood")).toHaveLength(1);
    expect(beyond.at(-1)).toBe("over");
    expect(beyond.indexOf("flood")).toBeGreaterThan(LIMITS.frameBurst);
  });

  it("is not closed by a clock that goes back", async () => {
    const ws = new WebSocketPair()[0];
    expect(pour(ws, 1, 10_000)).toBe("ok");
    expect(pour(ws, 1, 0)).toBe("ok");
  });
});
