/** What is large, broken or badly timed: bounds hold, and nothing that is stored is half a character. */

import { env } from "cloudflare:workers";
import { describe, expect } from "vitest";
import type { SessionView } from "../../src/core/wire.ts";
import { sessionStub } from "../../src/worker/ids.ts";
import { McpScript } from "../support/mcp-script.ts";
import { api, Client, it, until } from "./support/client.ts";
import { call, complete, plan, shell, text, write } from "./support/replies.ts";
import { Held, serveMcp } from "./support/upstream.ts";

const bytesOf = (value: unknown): number =>
  new TextEncoder().encode(JSON.stringify(value)).byteLength;
const wide = (chars: number): string => "漢".repeat(chars);

describe("bounds", () => {
  it("a frame stays below 1 MiB, though an answer is as large as an answer may be", async () => {
    const chunk = (delta: unknown, finish: string | null = null) => ({
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
    const c = await Client.create(
      [
        {
          raw: [
            chunk({ reasoning_content: wide(120_000) }),
            chunk({ content: wide(120_000) }),
            chunk({}, "stop"),
            "data: [DONE]\n\n",
          ],
        },
      ],
      { mode: "chat" },
    );
    const s = await c.socket();
    await c.say(wide(80_000));
    await s.ended();
    const late = await c.socket();
    await until(() => expect(late.events.length).toBe(s.events.length));
    expect([...s.live.values()]).toEqual([wide(120_000)]);
  });

  it("a snapshot stays within 256 KiB, though the plan is as large as a plan may be", async () => {
    const steps = Array.from({ length: 50 }, () => wide(2_000));
    const c = await Client.create([plan(...steps), new Held()]);
    const s = await c.socket();
    await c.say(wide(1_000));
    await until(() => expect(c.model.asked).toHaveLength(2));
    for (let i = 0; i < 40; i++) await c.say(wide(4_000));
    const view = await c.view();
    expect(bytesOf(view)).toBeLessThanOrEqual(256 * 1024);
    expect(view.plan?.steps).toHaveLength(50);
    expect(view.queue).toHaveLength(40);
    const [hello] = await (await c.socket("?after=9")).has("hello");
    expect(bytesOf(hello?.session)).toBeLessThanOrEqual(256 * 1024);
    s.close();
  });

  it("too many waiting messages are refused, and nothing of them is stored", async () => {
    const c = await Client.create([new Held()]);
    await c.say("Do it");
    for (let i = 0; i < 50; i++) await c.say(`${i}`);
    const { last_seq } = await c.view();
    const refused = await c.fetch("/messages", { json: { text: "one more" } });
    expect(refused.status).toBe(429);
    expect((await c.view()).last_seq).toBe(last_seq);
  });
});

describe("A20: half characters and NULs", () => {
  const broken = "a\ud83d b\u0000c";

  it("in a title, a message, an instruction or a client id do no harm", async () => {
    const settings = { instructions: broken };
    const c = await Client.create([plan("a"), write(), complete()], { settings });
    await c.fetch("", { method: "PATCH", json: { title: broken } });
    await c.say(broken, { id: `m1${broken}` });
    const view = await c.status("completed");
    expect(JSON.stringify(view)).not.toMatch(/\\ud83d|\\u0000/);
    const raw = c.model.asked.map((a) => a.raw).join("");
    expect(raw).not.toMatch(/\\ud83d|\\u0000/);
  });

  it("in a new session's title or key do no harm", async () => {
    const made = await api("/api/sessions", { json: { title: broken, key: broken } });
    expect(made.status).toBe(201);
    const view = await made.json<SessionView>();
    expect(view.title.isWellFormed() && !view.title.includes("\0")).toBe(true);
    const again = await api("/api/sessions", { json: { key: broken } });
    expect((await again.json<SessionView>()).id).toBe(view.id);
    await api(`/api/sessions/${view.id}`, { method: "DELETE" });
  });
});

describe("A24: stop", () => {
  it("while a command runs ends it at once, and the history stays sound", async () => {
    const c = await Client.create([plan("a"), shell("echo one; sleep 30")]);
    await c.say("Do it");
    await until(async () => expect(await c.of("tool")).toHaveLength(1));
    await c.stop();
    await c.status("stopped");
    expect((await c.of("tool")).map((t) => [t.status, t.ok])).toEqual([
      ["calling", undefined],
      ["called", false],
    ]);
    c.model.add(plan("b"), write(), complete());
    await c.say("Something else");
    await c.status("completed");
    expect(c.model.asked).toHaveLength(5);
  });

  it("between two calls of one reply answers both", async () => {
    const both = call(
      ["shell_exec", { command: "sleep 30", brief: "one" }],
      ["shell_exec", { command: "echo two > two.txt", brief: "two" }],
    );
    const c = await Client.create([plan("a"), both]);
    await c.say("Do it");
    await until(async () => expect(await c.of("tool")).toHaveLength(1));
    await c.stop();
    await c.status("stopped");
    c.model.add(plan("b"), write(), complete());
    await c.say("Something else");
    await c.status("completed");
    expect((await c.fetch("/files/two.txt")).status).toBe(404);
  });

  it("closing every socket is no stop", async () => {
    const held = new Held();
    const c = await Client.create([held], { mode: "chat" });
    const s = await c.socket();
    s.send({ type: "message", id: "m1", text: "Hi" });
    await until(() => expect(c.model.asked).toHaveLength(1));
    s.close();
    await until(() => expect(s.closed).not.toBe(null));
    held.say("hello");
    held.end();
    await c.status("completed");
  });
});

describe("creating", () => {
  it("the same session twice, as after a lost reply, changes nothing", async () => {
    const c = await Client.create([text("hello")], { mode: "chat" });
    await c.say("Hi");
    const view = await c.status("completed");
    const { id, epoch, title, mode } = view;
    const start = {
      id,
      owner: "local",
      epoch,
      mode,
      title,
      settings: {},
      ephemeral: false,
      host: "localhost",
    };
    await sessionStub(env, id).create(start);
    expect(await c.view()).toEqual(view);
  });
});

describe("what is write-only", () => {
  it("headers of tool servers are never shown, by no reply and in no frame", async () => {
    const url = serveMcp(new McpScript());
    const server = { url, headers: { authorization: "Bearer hush" } };
    const settings = { mcp: { servers: { tools: server } } };
    const c = await Client.create([text("hello")], { mode: "chat", settings });
    const s = await c.socket();
    await c.say("Hi", { settings });
    await s.ended();
    await c.fetch("", { method: "PATCH", json: { settings } });
    const shown = JSON.stringify([await c.view(), await c.events(), s.frames]);
    expect(shown).toContain('"authorization":"***"');
    expect(shown).not.toContain("hush");
  });
});
