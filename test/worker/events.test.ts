/** The log over HTTP: pages, cursors, and the stream of server-sent events. */
import { runInDurableObject } from "cloudflare:test";
import { describe, expect } from "vitest";
import type { Event } from "../../src/core/events.ts";
import { Client, failureOf, it, until } from "./support/client.ts";
import { askUser, complete, plan, text, write } from "./support/replies.ts";

const done = async () => {
  const c = await Client.create([plan("a"), write(), complete()]);
  await c.say("Do it");
  await c.status("completed");
  return c;
};

describe("pages of events", () => {
  it("come in order from any cursor, with the last seq and the epoch", async () => {
    const c = await done();
    const whole = await c.page();
    expect(whole.events.map((e) => e.seq)).toEqual(whole.events.map((_, i) => i + 1));
    expect(whole).toMatchObject({ last_seq: whole.events.length, epoch: c.epoch });
    expect(whole.reset).toBe(undefined);
    for (let after = 0; after <= whole.last_seq; after++) {
      for (const limit of [1, 3, 1000]) {
        const page = await c.page(`?after=${after}&limit=${limit}&epoch=${c.epoch}`);
        expect(page.events).toEqual(whole.events.slice(after, after + limit));
        expect(page.last_seq).toBe(whole.last_seq);
      }
    }
  });

  it("start over and say so when the cursor is ahead or of another log", async () => {
    const c = await done();
    const whole = await c.page();
    for (const query of ["?after=999", "?after=3&epoch=another", "?after=0&epoch=another"]) {
      expect(await c.page(query)).toEqual({ ...whole, reset: true });
    }
  });

  it("refuse a malformed cursor or limit by name", async () => {
    const c = await Client.create([]);
    for (const query of ["after=x", "after=-1", "after=1.5", "limit=0", "limit=many"]) {
      const response = await c.fetch(`/events?${query}`);
      expect(response.status).toBe(400);
      const { code, message } = await failureOf(response);
      expect(code).toBe("invalid_request");
      expect(message.startsWith(query.split("=")[0] as string)).toBe(true);
    }
  });

  it("of an idle session are empty", async () => {
    const c = await Client.create([]);
    expect(await c.page()).toEqual({ events: [], last_seq: 0, epoch: c.epoch });
  });
});

interface Message {
  id?: string;
  event?: string;
  data?: string;
}
/** Reads a stream of server-sent events as a browser does. */
class Stream {
  readonly messages: Message[] = [];
  over = false;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;

  constructor(response: Response) {
    this.#reader = (response.body as ReadableStream<Uint8Array>).getReader();
    // Cancelled by the test itself: an end like any other.
    this.#read().catch(() => undefined);
  }
  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    let held = "";
    for (;;) {
      const { done: last, value } = await this.#reader.read();
      held += decoder.decode(value, { stream: true });
      const blocks = held.split("\n\n");
      held = blocks.pop() ?? "";
      for (const block of blocks) this.#take(block);
      if (last) break;
    }
    this.over = true;
  }
  #take(block: string): void {
    const message: Message = {};
    for (const line of block.split("\n").filter((l) => !l.startsWith(":"))) {
      const at = line.indexOf(": ");
      message[line.slice(0, at) as keyof Message] = line.slice(at + 2);
    }
    if (message.data !== undefined) this.messages.push(message);
  }
  get events(): Event[] {
    return this.messages
      .filter((m) => m.event !== "reset")
      .map((m) => JSON.parse(m.data ?? "null") as Event);
  }
  async seen(n: number): Promise<void> {
    await until(() => expect(this.events.length).toBeGreaterThanOrEqual(n));
  }
  close(): Promise<void> {
    return this.#reader.cancel();
  }
}

const open = async (c: Client, query = "", headers: Record<string, string> = {}) => {
  const response = await c.fetch(`/events${query}`, {
    headers: { accept: "text/event-stream", ...headers },
  });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
  expect(response.headers.get("cache-control")).toMatch(/no-store|no-cache/);
  return new Stream(response);
};

describe("the stream of events", () => {
  it("has the seq as id, the name as event, the whole event as data, then goes on live", async () => {
    const c = await Client.create([plan("a"), askUser("Which?"), write(), complete()]);
    await c.say("Do it");
    const { last_seq } = await c.status("waiting");
    const stream = await open(c);
    await stream.seen(last_seq);
    await c.say("blue");
    const end = (await c.status("completed")).last_seq;
    await stream.seen(end);
    expect(stream.events).toEqual(await c.events());
    for (const { id, event, data } of stream.messages) {
      expect(JSON.parse(data ?? "")).toMatchObject({ seq: Number(id), event });
    }
    expect(stream.over).toBe(false);
    await stream.close();
  });

  it("goes on behind Last-Event-ID, which wins over the query", async () => {
    const c = await done();
    const all = await c.events();
    const stream = await open(c, "?after=1", { "last-event-id": "5" });
    await stream.seen(all.length - 5);
    expect(stream.events).toEqual(all.slice(5));
    const byQuery = await open(c, "?after=7");
    await byQuery.seen(all.length - 7);
    expect(byQuery.events).toEqual(all.slice(7));
    await Promise.all([stream.close(), byQuery.close()]);
  });

  it("says reset and starts over when the cursor cannot be served", async () => {
    const c = await done();
    const all = await c.events();
    const stream = await open(c, "?after=2&epoch=another");
    await stream.seen(all.length);
    expect(stream.messages[0]?.event).toBe("reset");
    expect(stream.events).toEqual(all);
    await stream.close();
  });

  it("ends with its session", async () => {
    const c = await done();
    const stream = await open(c);
    await stream.seen(1);
    await c.fetch("", { method: "DELETE" });
    c.deleted = true;
    await until(() => expect(stream.over).toBe(true));
  });

  it("of a session that is not there is 404 in JSON", async () => {
    const c = await Client.create([text("x")], { mode: "chat" });
    await c.fetch("", { method: "DELETE" });
    c.deleted = true;
    const response = await c.fetch("/events", { headers: { accept: "text/event-stream" } });
    expect(response.status).toBe(404);
    expect(await failureOf(response)).toMatchObject({ code: "session_not_found" });
  });
});

describe("a log that was trimmed", () => {
  it("resets a cursor before its first event, and goes on from any other", async () => {
    const c = await Client.create([text("hello")], { mode: "chat" });
    await c.say("Hi");
    const { last_seq } = await c.status("completed");
    const all = await c.events();
    const rest = JSON.stringify(all.slice(2)).slice(1, -1);
    await runInDurableObject(c.stub, (_, { storage }) => {
      storage.sql.exec("DELETE FROM log");
      storage.sql.exec("INSERT INTO log (first_seq, json) VALUES (3, ?)", rest);
    });
    for (const after of [0, 1]) {
      expect(await c.page(`?after=${after}`)).toMatchObject({ reset: true, events: all.slice(2) });
      const { webSocket } = await c.fetch(`/ws?after=${after}`, {
        headers: { upgrade: "websocket" },
      });
      const frames: unknown[] = [];
      webSocket?.addEventListener("message", (m) => frames.push(JSON.parse(String(m.data))));
      webSocket?.accept();
      await until(() => expect(frames.length).toBeGreaterThan(1));
      webSocket?.close();
      expect(frames[0]).toMatchObject({ type: "reset", last_seq });
      expect(JSON.stringify(frames.slice(1))).toContain('"seq":3');
    }
    const page = await c.page("?after=2");
    expect([page.reset, page.events]).toEqual([undefined, all.slice(2)]);
    // Put back, so that the log is held against the oracle whole.
    await runInDurableObject(c.stub, (_, { storage }) => {
      storage.sql.exec("DELETE FROM log");
      const whole = JSON.stringify(all).slice(1, -1);
      storage.sql.exec("INSERT INTO log (first_seq, json) VALUES (1, ?)", whole);
    });
  });
});
