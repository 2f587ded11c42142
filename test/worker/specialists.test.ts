/** What reaches a specialist from its parent, and its parent from it: approvals, budgets, spending, stops, deletes. */
import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect } from "vitest";
import type { SessionView, TurnResult } from "../../src/core/wire.ts";
import { childId } from "../../src/worker/children.ts";
import type { SessionObject } from "../../src/worker/session.ts";
import { api, Client, failureOf, it, openSocket, until, useVars } from "./support/client.ts";
import { atRest, pending, ring } from "./support/crash.ts";
import { answer, call, complete, delegate, plan, write } from "./support/replies.ts";
import { specialist } from "./support/specialist.ts";
import { Held, type Model, type Scripted } from "./support/upstream.ts";

const ASK = { settings: { tools: { approval: { file_write: "ask" } } } };
const view = async (id: string) => (await api(`/api/sessions/${id}`)).json<SessionView>();
const stubOf = (id: string): DurableObjectStub<SessionObject> => env.SESSION.getByName(id);

/** A parent that waits for its specialist's approval of a write, and the specialist's session. */
async function waiting(
  script: Scripted[] = [complete()],
): Promise<{ c: Client; child: string; model: Model }> {
  const model = specialist([write("made.txt"), answer("written")]);
  const c = await Client.create([plan("a"), delegate(), ...script], ASK);
  await c.say("Do it");
  const { wait } = await c.status("waiting");
  return { c, child: await childId(c.id, wait?.tool_call_id ?? ""), model };
}
const decide = async (c: Client, approved: boolean, id = "yes") => {
  const { wait } = await c.view();
  return c.fetch("/answers", { json: { id, wait_id: wait?.wait_id, approved } });
};
const turn = async (c: Client, json: unknown) => {
  const response = await c.fetch("/messages", { json, headers: { prefer: "wait=10" } });
  return response.json<TurnResult>();
};

describe("a specialist's approval", () => {
  it("waits in its parent, with its tool, its arguments and its name; both sleep without an alarm", async () => {
    const { c, child } = await waiting([]);
    expect((await c.view()).wait).toMatchObject({
      kind: "approval",
      specialist: "tester",
      tool: { function: "file_write", args: { path: "made.txt" } },
    });
    expect((await c.view()).wait?.text).toContain("tester");
    expect((await c.log()).slice(-3)).toEqual(["tool(calling)", "wait", "status_update(waiting)"]);
    await atRest(c);
    expect((await view(child)).status).toBe("waiting");
    // What looks after an ephemeral session lets one that waits be.
    const other = { stub: stubOf(child) } as Client;
    expect(await ring(other)).toBe(true);
    await until(async () => expect(await pending(other)).toEqual({ alarm: null, jobs: [] }));
    expect((await view(child)).status).toBe("waiting");
  });

  it("that is given goes down, over an eviction of both, and is taken once", async () => {
    const { c, child, model } = await waiting();
    const { wait } = await c.view();
    await atRest(c);
    await evictDurableObject(c.stub);
    await evictDurableObject(stubOf(child));
    expect((await decide(c, true)).status).toBe(202);
    await c.status("completed");
    expect((await view(child)).status).toBe("completed");
    expect(model.asked).toHaveLength(2);
    expect(await (await c.fetch("/files/made.txt")).text()).toBe("x");
    expect((await c.of("tool")).map((t) => t.status)).toEqual(["calling", "called"]);
    const again = await c.fetch("/answers", {
      json: { id: "no", wait_id: wait?.wait_id, approved: false },
    });
    expect([again.status, (await failureOf(again)).code]).toEqual([409, "already_answered"]);
    const same = await c.fetch("/answers", {
      json: { id: "yes", wait_id: wait?.wait_id, approved: true },
    });
    expect(await same.json()).toMatchObject({ duplicate: true });
  });

  it("goes down although the files that it was given, and its profile, are gone by then", async () => {
    const model = specialist([write("made.txt"), answer("written")]);
    const c = await Client.create([plan("a"), delegate({ files: ["in.txt"] }), complete()], ASK);
    await c.fetch("/files/in.txt", { method: "PUT", body: "in" });
    await c.say("Do it");
    await c.status("waiting");
    await c.fetch("/files/in.txt", { method: "DELETE" });
    useVars({ PROFILES: JSON.stringify({ another: {} }) });
    await decide(c, true);
    await c.status("completed");
    expect(model.asked).toHaveLength(2);
    expect(await (await c.fetch("/files/made.txt")).text()).toBe("x");
  });

  it("that is not given is told there, and the specialist goes on without", async () => {
    const { c, child, model } = await waiting();
    await decide(c, false);
    await c.status("completed");
    expect(model.asked[1]?.raw).toContain("not allow");
    expect(await (await api(`/api/sessions/${child}/files`)).json()).toEqual({ files: [] });
  });

  it("that somebody gave in its own session is not waited for twice", async () => {
    const { c, child } = await waiting();
    const { wait } = await view(child);
    const given = { wait_id: wait?.wait_id, approved: true };
    expect((await api(`/api/sessions/${child}/answers`, { json: given })).status).toBe(202);
    await until(async () => expect((await view(child)).status).toBe("completed"));
    await decide(c, false);
    await c.status("completed");
    expect(await (await c.fetch("/files/made.txt")).text()).toBe("x");
  });

  it("of a budget of its own is asked alike, and a no ends the specialist alone", async () => {
    specialist([call(["file_read", { path: "a", brief: "r" }]), answer("read")], {
      budget: { maxToolCalls: 1, maxTokens: 15 },
    });
    const c = await Client.create([plan("a"), delegate(), complete(false, "no"), plan()]);
    await c.say("Do it");
    const { wait } = await c.status("waiting");
    expect(wait).toMatchObject({ kind: "budget", specialist: "tester" });
    await decide(c, false);
    await until(async () => expect((await c.of("tool")).length).toBe(2));
    expect((await c.of("tool"))[1]).toMatchObject({ ok: false });
    expect((await view(await childId(c.id, wait?.tool_call_id ?? ""))).status).toBe("stopped");
    expect(await c.of("done")).toEqual([]);
  });
});

describe("a stop", () => {
  it("while the specialist waits ends it too, and leaves nothing that would wake its parent", async () => {
    const { c, child } = await waiting([]);
    await c.stop();
    await c.status("stopped");
    await until(async () => expect((await view(child)).status).toBe("stopped"));
    await atRest(c);
  });
});

describe("what a specialist spends", () => {
  it("is in the result of its parent's turn, over a wait, and in the session's sum", async () => {
    const model = specialist([write("made.txt"), answer("written")]);
    const c = await Client.create([plan("a"), delegate(), complete()], ASK);
    expect(await turn(c, { text: "Do it" })).toMatchObject({ outcome: "waiting" });
    await decide(c, true);
    const { usage } = await c.status("completed");
    const all = model.asked.length + c.model.asked.length;
    expect(usage).toMatchObject({ model_calls: all, tool_calls: 2, input_tokens: 10 * all });
    const result = await turn(c, { id: "again", text: "/usage" });
    expect(result.usage.model_calls).toBe(0);
    expect(result.message).toContain(`Model calls: ${all}`);
    expect((await c.of("tool"))[1]?.usage).toMatchObject({ model_calls: 2, tool_calls: 1 });
  });

  it("until its parent is stopped counts as well", async () => {
    const model = specialist([write("made.txt"), new Held()]);
    const c = await Client.create([plan("a"), delegate()]);
    const result = turn(c, { text: "Do it" });
    await until(() => expect(model.asked).toHaveLength(2));
    // Whoever joins the specialist gets what it has said so far, and so has its parent by then.
    const call = (await c.of("tool")).find((t) => t.function.startsWith("delegate"));
    await openSocket(`/api/sessions/${await childId(c.id, call?.tool_call_id ?? "")}/ws`);
    await c.stop();
    const { outcome, usage } = await result;
    expect(outcome).toBe("stopped");
    expect(usage).toMatchObject({ model_calls: c.model.asked.length + 1, tool_calls: 2 });
    expect((await c.view()).usage).toEqual(usage);
  });

  it("and fails counts as well", async () => {
    const bad = { status: 401, body: { error: { message: "bad key" } } } as Scripted;
    specialist([write("made.txt"), bad]);
    const c = await Client.create([plan("a"), delegate(), complete(false, "no"), new Held()]);
    await c.say("Do it");
    await until(async () => expect((await c.of("tool"))[1]).toMatchObject({ ok: false }));
    expect((await c.of("tool"))[1]?.usage).toMatchObject({ model_calls: 1, tool_calls: 1 });
  });

  it("at the same time as another shares what is left with it", async () => {
    const model = specialist([new Held(), new Held()]);
    const c = await Client.create([plan("a"), delegate({ task: "one" }, { task: "two" })], {
      settings: { budget: { maxTokens: 1_000, maxToolCalls: 12 } },
    });
    await c.say("Do it");
    await until(() => expect(model.asked).toHaveLength(2));
    const used = c.model.asked.length * 15;
    const ids = (await c.of("tool")).map((t) => t.tool_call_id);
    expect(ids).toHaveLength(2);
    for (const id of ids) {
      const { budget } = (await view(await childId(c.id, id))).settings;
      expect(budget).toMatchObject({ maxTokens: Math.floor((1_000 - used) / 2), maxToolCalls: 5 });
    }
  });
});

describe("deleting the parent", () => {
  const there = async (id: string) => (await api(`/api/sessions/${id}`)).status;

  it("deletes its specialists at once: one that has ended, one that waits, one at work", async () => {
    const ended = await waiting();
    await decide(ended.c, true);
    await ended.c.status("completed");
    const asks = await waiting([]);
    const model = specialist([new Held()]);
    const c = await Client.create([plan("a"), delegate()]);
    await c.say("Do it");
    await until(() => expect(model.asked).toHaveLength(1));
    const [tool] = await c.of("tool");
    const working = { c, child: await childId(c.id, tool?.tool_call_id ?? "") };
    for (const { c, child } of [ended, asks, working]) {
      expect(await there(child)).toBe(200);
      expect((await c.fetch("", { method: "DELETE" })).status).toBe(204);
      c.deleted = true;
      expect(await there(child)).toBe(404);
    }
    await until(() => expect(model.asked[0]?.aborted).toBe(true));
  });
});
