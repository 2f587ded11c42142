/** Contract 2: what drives a session over HTTP: messages, waiting for a turn, answers, stop. */
import { describe, expect } from "vitest";
import type { TurnResult } from "../../src/core/wire.ts";
import { Client, failureOf, it, type Receipt } from "./support/client.ts";
import { askUser, complete, plan, text, write } from "./support/replies.ts";
import { Held } from "./support/upstream.ts";

describe("a message", () => {
  it("runs one step in the exact order of the contract", async () => {
    const c = await Client.create([plan("a"), write(), complete(true, "It is done.")]);
    const receipt = await c.say("Do it", { id: "m1" });
    expect(receipt).toEqual({ id: "m1", seq: 1, duplicate: false, delivery: "steer" });
    const view = await c.status("completed");
    expect(await c.log()).toEqual([
      "message(user)",
      "status_update(running)",
      "title",
      "message(plan)",
      "plan(created)",
      "step(running)",
      "tool(calling)",
      "tool(called)",
      "step(completed)",
      "plan(updated)",
      "message(final)",
      "plan(completed)",
      "done(completed)",
      "status_update(completed)",
    ]);
    expect(view).toMatchObject({ run: 1, title: "The task", preview: "It is done." });
    expect(view.usage).toMatchObject({ model_calls: 3, tool_calls: 1, input_tokens: 30 });
  });

  it("A25: with the same client id counts once, over HTTP and in the same tick", async () => {
    const c = await Client.create([plan("a"), write(), complete()]);
    const both = await Promise.all([1, 2].map(() => c.say("Do it", { id: "m1" })));
    await c.status("completed");
    both.push(await c.say("Do it", { id: "m1" }));
    expect(both.map((r) => r.seq)).toEqual([1, 1, 1]);
    expect(both.map((r) => r.duplicate).filter(Boolean)).toHaveLength(2);
    expect((await c.of("message")).filter((m) => m.role === "user")).toHaveLength(1);
    expect(await c.of("done")).toEqual([{ outcome: "completed", run: 1 }]);
  });

  it("A25: two ids with equal text are two messages, in order", async () => {
    const first = new Held();
    const c = await Client.create([first, text("two")], { mode: "chat" });
    const [a, b] = [await c.say("Hi", { id: "x" }), await c.say("Hi", { id: "y" })];
    expect([a.seq, b.seq, a.duplicate, b.duplicate]).toEqual([1, 3, false, false]);
    first.say("one");
    first.end();
    await c.status("completed");
    const users = (await c.of("message")).filter((m) => m.role === "user");
    expect(users.map((m) => m.client_id)).toEqual(["x", "y"]);
  });

  it("with delivery reject is refused while the session works, and nothing is stored", async () => {
    const c = await Client.create([new Held()]);
    await c.say("Do it");
    const response = await c.fetch("/messages", { json: { text: "And?", delivery: "reject" } });
    expect(response.status).toBe(409);
    expect(await failureOf(response)).toMatchObject({ code: "busy" });
    expect((await c.of("message")).map((m) => m.content)).toEqual(["Do it"]);
    expect((await c.view()).queue).toEqual([]);
  });

  it("while a question waits, answers it", async () => {
    const c = await Client.create([plan("a"), askUser("Which?"), write(), complete()]);
    await c.say("Do it");
    await c.status("waiting");
    expect(await c.say("blue", { delivery: "reject" })).toMatchObject({ delivery: "answer" });
    await c.status("completed");
    expect(await c.of("answer")).toMatchObject([{ text: "blue" }]);
    expect((await c.of("message")).filter((m) => m.role === "user")).toHaveLength(1);
  });
});

describe("Prefer: wait", () => {
  const waiting = (c: Client, seconds: number, json: unknown = { text: "Do it" }) =>
    c.fetch("/messages", { json, headers: { prefer: `wait=${seconds}` } });

  it("gives the result when the turn ends", async () => {
    const c = await Client.create([plan("a"), write(), complete(true, "It is done.")]);
    const response = await waiting(c, 20);
    expect(response.status).toBe(200);
    const result = await response.json<TurnResult>();
    expect(result).toMatchObject({
      outcome: "completed",
      message: "It is done.",
      attachments: [],
      wait: null,
      usage: { model_calls: 3, tool_calls: 1, input_tokens: 30, output_tokens: 15, measured: true },
    });
    expect(result.error).toBe(undefined);
    expect(result.last_seq).toBe((await c.view()).last_seq);
  });

  it("gives the wait when the turn waits", async () => {
    const c = await Client.create([plan("a"), askUser("Which?", ["A", "B"])]);
    const result = await (await waiting(c, 20)).json<TurnResult>();
    expect(result).toMatchObject({
      outcome: "waiting",
      message: "Which?",
      wait: { kind: "question", text: "Which?", options: ["A", "B"] },
    });
    c.model.add(write(), complete(true, "B it is"));
    const answered = await waiting(c, 20, { text: "B" });
    expect(await answered.json()).toMatchObject({ outcome: "completed", message: "B it is" });
  });

  it("gives the error of a failed turn", async () => {
    const c = await Client.create([{ status: 401, text: "no" }]);
    const result = await (await waiting(c, 20)).json<TurnResult>();
    expect(result).toMatchObject({ outcome: "failed", error: { code: "provider_auth" } });
  });

  it("gives 202 when the time is over first", async () => {
    const c = await Client.create([new Held()]);
    const response = await waiting(c, 1);
    expect(response.status).toBe(202);
    expect(await response.json<Receipt>()).toMatchObject({ seq: 1, duplicate: false });
  });
});

describe("an answer", () => {
  const asked = async () => {
    const c = await Client.create([plan("a"), askUser("Which?")]);
    await c.say("Do it");
    const { wait } = await c.status("waiting");
    return { c, wait_id: wait?.wait_id ?? "" };
  };
  const send = (c: Client, json: unknown) => c.fetch("/answers", { json });

  it("goes on with the turn, once; a late one hears that it is late", async () => {
    const { c, wait_id } = await asked();
    c.model.add(write(), complete());
    const first = await send(c, { id: "a1", wait_id, text: "red" });
    expect(first.status).toBe(202);
    const receipt = await first.json<Receipt>();
    expect(receipt).toEqual({ id: "a1", seq: receipt.seq, duplicate: false });
    const late = await send(c, { id: "a2", wait_id, text: "blue" });
    expect([late.status, (await failureOf(late)).code]).toEqual([409, "already_answered"]);
    const again = await send(c, { id: "a1", wait_id, text: "red" });
    expect(await again.json()).toEqual({ id: "a1", seq: receipt.seq, duplicate: true });
    await c.status("completed");
    expect(await c.of("answer")).toMatchObject([{ wait_id, text: "red", client_id: "a1" }]);
  });

  it("of the wrong kind is refused and the question still waits", async () => {
    const { c, wait_id } = await asked();
    const wrong = await send(c, { wait_id, approved: true });
    expect([wrong.status, (await failureOf(wrong)).code]).toEqual([400, "invalid_request"]);
    expect(await c.view()).toMatchObject({ status: "waiting", wait: { wait_id } });
  });

  it("to no question at all is told so", async () => {
    const { c } = await asked();
    const lost = await send(c, { wait_id: "w9n9", text: "x" });
    expect([lost.status, (await failureOf(lost)).code]).toEqual([404, "wait_not_found"]);
    expect(await c.view()).toMatchObject({ status: "waiting" });
  });
});

describe("stop", () => {
  it("when idle is accepted and does nothing, and later stops no other turn", async () => {
    const c = await Client.create([text("hello")], { mode: "chat" });
    const receipt = await c.post("/stop", { id: "s1" });
    expect(receipt).toMatchObject({ id: "s1", duplicate: false });
    await c.say("Hi");
    await c.status("completed");
    expect(await c.post("/stop", { id: "s1" })).toMatchObject({ duplicate: true });
    expect((await c.view()).status).toBe("completed");
    expect(await c.of("done")).toHaveLength(1);
  });

  it("ends a turn once, aborts the model call, and the next message works", async () => {
    const c = await Client.create([plan("a"), new Held()]);
    await c.say("Do it");
    await expect.poll(() => c.model.asked.length).toBe(2);
    await Promise.all([c.stop(), c.stop()]);
    expect(await c.status("stopped")).toMatchObject({ phase: "idle" });
    await expect.poll(() => c.model.asked[1]?.aborted).toBe(true);
    expect(await c.of("done")).toEqual([{ outcome: "stopped", run: 1 }]);
    c.model.add(plan("b"), write(), complete());
    await c.say("Again");
    await c.status("completed");
    expect(c.model.asked).toHaveLength(5);
  });

  it("A24: while a question waits closes it, with an answer for the open call", async () => {
    const c = await Client.create([plan("a"), askUser("Which?")]);
    await c.say("Do it");
    await c.status("waiting");
    await c.stop();
    expect(await c.status("stopped")).toMatchObject({ wait: null });
    c.model.add(plan("b"), write(), complete());
    await c.say("Again");
    await c.status("completed");
  });
});
