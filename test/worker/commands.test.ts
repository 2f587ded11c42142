/** Commands as clients send them: over HTTP and WebSocket alike, at rest and beside a turn, over evictions. */
import { abortAllDurableObjects, evictDurableObject } from "cloudflare:test";
import { describe, expect } from "vitest";
import type { TurnResult } from "../../src/core/wire.ts";
import { Client, it, until } from "./support/client.ts";
import { pending } from "./support/crash.ts";
import { complete, plan, shell } from "./support/replies.ts";

const wait = async (c: Client, json: unknown) => {
  const response = await c.fetch("/messages", { json, headers: { prefer: "wait=10" } });
  return {
    status: response.status,
    body: await response.json<TurnResult & { delivery?: string }>(),
  };
};

describe("a command", () => {
  it("over HTTP is a turn of its own, with a result to wait for, and no model", async () => {
    const c = await Client.create([], { mode: "chat" });
    const { status, body } = await wait(c, { text: "/help" });
    expect(status).toBe(200);
    expect(body).toMatchObject({ outcome: "completed", usage: { model_calls: 0 } });
    expect(body.message).toContain("/usage");
    expect(await c.log()).toEqual([
      "message(user)",
      "status_update(running)",
      "message(answer)",
      "done(completed)",
      "status_update(completed)",
    ]);
    expect(c.model.asked).toEqual([]);
  });

  it("over a WebSocket is acknowledged, and each turn ends its stream, twice in a row too", async () => {
    const c = await Client.create([]);
    const s = await c.socket();
    for (const id of ["one", "two"]) {
      s.send({ type: "message", id, text: "/usage" });
      await s.ack(id);
    }
    await until(() => expect(s.frames.filter((f) => f.type === "stream_end")).toHaveLength(2));
    s.send({ type: "message", id: "two", text: "/usage" });
    await until(() =>
      expect(s.frames.filter((f) => f.type === "ack" && f.duplicate)).toHaveLength(1),
    );
    expect((await c.view()).run).toBe(2);
  });

  it("sent as a task is one", async () => {
    const c = await Client.create([{ text: "A path, I see." }], { mode: "chat" });
    const { body } = await wait(c, { text: "/help", route: "task" });
    expect(body.message).toBe("A path, I see.");
    expect(c.model.asked).toHaveLength(1);
  });

  it("beside a turn is answered at once, also when the message was not to wait", async () => {
    const c = await Client.create([plan("a"), { hang: true }]);
    await c.say("Do");
    await until(async () => expect(await c.log()).toContain("step(running)"));
    const { status, body } = await wait(c, { text: "/plan", delivery: "reject" });
    expect({ status, delivery: body.delivery }).toEqual({ status: 202, delivery: "command" });
    expect((await c.of("message")).at(-1)).toMatchObject({ kind: "notice" });
    expect((await c.view()).queue).toEqual([]);
    const stopped = await wait(c, { text: "/stop" });
    expect(stopped.body).toMatchObject({ outcome: "stopped" });
  });

  it("changes the session's settings as a PATCH would, and they outlive an eviction", async () => {
    const c = await Client.create([]);
    await c.say("/model other-model");
    await c.say("/lang zh");
    await evictDurableObject(c.stub);
    expect((await c.view()).settings).toMatchObject({ model: "other-model", locale: "zh" });
    expect((await c.of("message")).at(-1)?.content).toMatch(/\p{Script=Han}/u);
  });

  it("leaves nothing behind that would wake the session", async () => {
    const c = await Client.create([]);
    await wait(c, { text: "/help" });
    await until(async () => expect(await pending(c)).toEqual({ alarm: null, jobs: [] }));
  });
});

it("a change of mode takes the conversation along", async () => {
  const c = await Client.create([{ text: "Noted." }, plan()], { mode: "chat" });
  await wait(c, { text: "The password is swordfish" });
  await wait(c, { text: "/usage" });
  await wait(c, { text: "/mode agent" });
  expect((await c.view()).mode).toBe("agent");
  await wait(c, { text: "Which password?" });
  const asked = c.model.asked.at(-1)?.raw ?? "";
  expect(asked).toContain("swordfish");
  expect(asked).toContain("Noted.");
  expect(asked).not.toContain("Model calls");
});

describe("a person's own command line", () => {
  it("runs in the sandbox, and the model knows of it", async () => {
    const c = await Client.create([plan("a"), shell("cat note.txt"), complete()]);
    const { body } = await wait(c, { text: "!echo remember me > note.txt; cat note.txt" });
    expect(body).toMatchObject({ outcome: "completed", usage: { model_calls: 0, tool_calls: 1 } });
    expect(body.message).toContain("remember me");
    expect(await (await c.fetch("/files/note.txt")).text()).toBe("remember me\n");
    await wait(c, { text: "What is in it?" });
    expect(c.model.asked[0]?.raw).toContain("remember me");
  });

  it("that fails says its exit code, and is no failure", async () => {
    const c = await Client.create([]);
    const { body } = await wait(c, { text: "!cat nothing.txt" });
    expect(body.outcome).toBe("completed");
    expect(body.message).toContain("exit code 1");
  });

  it("interrupted by a crash ends its turn honestly, and is not run again", async () => {
    const c = await Client.create([]);
    const s = await c.socket();
    s.send({ type: "message", id: "a", text: "!echo x >> count.txt; sleep 20" });
    await until(async () => expect((await c.fetch("/files/count.txt")).status).toBe(200));
    await abortAllDurableObjects();
    await c.status("failed");
    expect(await c.log()).toEqual([
      "message(user)",
      "status_update(running)",
      "tool(calling)",
      "tool(called)",
      "message(answer)",
      "done(failed)",
      "status_update(failed)",
    ]);
    expect(await (await c.fetch("/files/count.txt")).text()).toBe("x\n");
  });
});
