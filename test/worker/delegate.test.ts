/** delegate_task: a part of the work goes to a profile of the deployment, in a child session. */
import { describe, expect } from "vitest";
import type { SessionView } from "../../src/core/wire.ts";
import { api, Client, it, until } from "./support/client.ts";
import { listed } from "./support/copies.ts";
import { plant, ring } from "./support/crash.ts";
import { answer, call, complete, delegate, plan, text } from "./support/replies.ts";
import { specialist } from "./support/specialist.ts";
import { Held, type Scripted } from "./support/upstream.ts";

const offered = (asked: { raw: string } | undefined): string[] =>
  (JSON.parse(asked?.raw ?? "{}").tools ?? []).map(
    (t: { function: { name: string } }) => t.function.name,
  );
const childOf = async (c: Client): Promise<string> => {
  const tools = await c.of("tool");
  return String(tools.find((t) => t.status === "called")?.content?.session_id);
};
const view = async (id: string) => (await api(`/api/sessions/${id}`)).json<SessionView>();

describe("delegate_task", () => {
  it("hands the task to the profile, and its answer is the call's result", async () => {
    const model = specialist([answer("All is well")]);
    const c = await Client.create([plan("a"), delegate(), complete()]);
    const before = (await listed()).length;
    await c.say("Do it");
    await c.status("completed");
    const prompt = model.asked[0]?.body.messages[0]?.content ?? "";
    expect(prompt).toContain("You are the tester.");
    expect(model.asked[0]?.raw).toContain("Test the thing");
    expect(c.model.asked[2]?.body.messages.at(-1)).toMatchObject({
      role: "tool",
      content: "All is well",
    });
    expect((await c.of("tool")).at(-1)).toMatchObject({
      name: "delegate",
      ok: true,
      brief: "tests",
    });
    // Its spending is the parent's too; the list has no more than before.
    expect((await c.view()).usage.model_calls).toBe(c.model.asked.length + 1);
    expect((await listed()).length).toBe(before);
    expect(await view(await childOf(c))).toMatchObject({ status: "completed", mode: "workflow" });
  });

  it("is offered where there are profiles, to the parent alone, and the rules name them", async () => {
    const none = await Client.create([text("hi")], { mode: "chat" });
    await none.say("Hi");
    await none.status("completed");
    expect(offered(none.model.asked[0])).not.toContain("delegate_task");
    const model = specialist([answer("ok")]);
    const c = await Client.create([plan("a"), delegate(), complete()]);
    await c.say("Do it");
    await c.status("completed");
    expect(offered(c.model.asked[1])).toContain("delegate_task");
    expect(c.model.asked[1]?.raw).toMatch(/delegate_rules[^<]*tester/);
    const child = offered(model.asked[0]);
    expect(child).toContain("shell_exec");
    expect(child).not.toContain("delegate_task");
    expect(child).not.toContain("message_ask_user");
  });

  it("takes files along and brings back what was made or changed, never over what it was not given", async () => {
    const files = ["in.txt", "new.txt", "mine.txt"];
    const write = (path: string) => call(["file_write", { path, content: "theirs", brief: "w" }]);
    const model = specialist([
      call(["file_read", { path: "in.txt", brief: "r" }]),
      ...files.map(write),
      answer("ok"),
    ]);
    const c = await Client.create([plan("a"), delegate({ files: ["in.txt"] }), complete()]);
    for (const path of ["in.txt", "mine.txt"])
      await c.fetch(`/files/${path}`, { method: "PUT", body: "ours" });
    await c.say("Do it");
    await c.status("completed");
    expect(model.asked[1]?.raw).toContain("ours");
    const now = await Promise.all(files.map(async (f) => (await c.fetch(`/files/${f}`)).text()));
    expect(now).toEqual(["theirs", "theirs", "ours"]);
    expect(c.model.asked[2]?.raw).toMatch(/not brought over: \/workspace\/mine.txt/);
  });

  it("says which profiles there are, and which file is missing, without starting anything", async () => {
    const model = specialist([]);
    const c = await Client.create([
      plan("a"),
      delegate({ profile: "nobody" }),
      delegate({ files: ["no.txt"] }),
      complete(),
    ]);
    await c.say("Do it");
    await c.status("completed");
    expect(c.model.asked[2]?.raw).toMatch(/There are: tester/);
    expect(c.model.asked[3]?.raw).toContain("There is no file no.txt");
    expect(model.asked).toEqual([]);
  });

  it("of a specialist that fails is a failure, with the reason", async () => {
    specialist([{ status: 401, body: '{"error":{"message":"bad key"}}' } as unknown as Scripted]);
    const c = await Client.create([
      plan("a"),
      delegate(),
      complete(false, "no"),
      plan(),
      text("x"),
    ]);
    await c.say("Do it");
    await until(async () => expect((await c.of("tool")).length).toBe(2));
    expect((await c.of("tool")).at(-1)).toMatchObject({ status: "called", ok: false });
  });

  it("is bound by what its parent is denied", async () => {
    const model = specialist([answer("could not")]);
    const c = await Client.create([plan("a"), delegate(), complete()], {
      settings: { tools: { approval: { shell_exec: "deny" } } },
    });
    await c.say("Do it");
    await c.status("completed");
    expect(offered(model.asked[0])).not.toContain("shell_exec");
  });

  it("keeps its own restrictions where they are stricter than its parent's", async () => {
    const model = specialist([answer("ok")], {
      tools: { enabled: ["file_*"], approval: { file_write: "deny" } },
      limits: { maxIterations: 5 },
      budget: { maxTokens: 1_000_000 },
    });
    const settings = {
      tools: { approval: { file_write: "allow" } },
      limits: { maxIterations: 50 },
    };
    const c = await Client.create([plan("a"), delegate(), complete()], { settings });
    await c.say("Do it");
    await c.status("completed");
    expect(offered(model.asked[0])).toContain("file_read");
    for (const name of ["shell_exec", "file_write", "web_fetch"]) {
      expect(offered(model.asked[0])).not.toContain(name);
    }
    const { settings: held } = await view(await childOf(c));
    expect(held.limits.maxIterations).toBe(5);
    expect(held.budget.maxTokens).toBe(1_000_000);
  });

  for (const task of ["!echo run > by-hand.txt", "/plan the release"]) {
    it(`takes what a model hands over as a task, whatever it looks like: ${task}`, async () => {
      const model = specialist([answer("thought about")]);
      const c = await Client.create([plan("a"), delegate({ task }), complete()]);
      await c.say("Do it");
      await c.status("completed");
      expect(model.asked[0]?.raw).toContain(JSON.stringify(task).slice(1, -1));
      const child = await childOf(c);
      expect(await (await api(`/api/sessions/${child}/files`)).json()).toEqual({ files: [] });
    });
  }

  it("is stopped with its parent", async () => {
    const held = new Held();
    const model = specialist([held]);
    const c = await Client.create([plan("a"), delegate()]);
    await c.say("Do it");
    await until(() => expect(model.asked).toHaveLength(1));
    await c.stop();
    await c.status("stopped");
    await until(() => expect(model.asked[0]?.aborted).toBe(true));
    expect((await c.log()).slice(-4)).toEqual([
      "tool(called)",
      "plan(updated)",
      "done(stopped)",
      "status_update(stopped)",
    ]);
  });

  it("is found again when its parent dies: the specialist goes on, and works once", async () => {
    const held = new Held();
    const model = specialist([held]);
    const c = await Client.create([plan("a"), delegate(), complete()]);
    const crash = await plant(c, -1, "fail");
    await c.say("Do it");
    await until(() => expect(model.asked).toHaveLength(1));
    expect(crash.commits).toBeGreaterThan(0);
    await plant(c, 1, "fail");
    await c.fetch("", { method: "PATCH", json: { pinned: true } }).catch(() => {});
    held.call("agent_response", { text: "Found again" });
    await until(async () => expect(await ring(c)).toBe(true));
    await c.status("completed");
    expect(model.asked).toHaveLength(1);
    expect(c.model.asked.at(-1)?.raw).toContain("Found again");
    expect((await c.of("tool")).map((t) => t.status)).toEqual(["calling", "called"]);
  });
});
