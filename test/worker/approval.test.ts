/** Approvals as clients see them: asked, answered once, kept over an eviction, blocked when nobody is there. */
import { evictDurableObject } from "cloudflare:test";
import { describe, expect } from "vitest";
import { Client, failureOf, it } from "./support/client.ts";
import { complete, plan, shell, write } from "./support/replies.ts";

const settings = { tools: { approval: { "shell_*": "ask" as const } } };
const asking = async () => {
  const script = [plan("a"), shell("echo ran > out.txt"), complete()];
  const c = await Client.create(script, { settings });
  const s = await c.socket();
  await c.say("Do it");
  const { wait } = await c.status("waiting");
  return { c, s, wait_id: wait?.wait_id ?? "", wait };
};
const decide = (c: Client, json: unknown) => c.fetch("/answers", { method: "POST", json });

describe("an approval", () => {
  it("shows the call, survives an eviction, and runs it once after a yes over HTTP", async () => {
    const { c, wait, wait_id } = await asking();
    expect(wait).toMatchObject({
      kind: "approval",
      tool: { function: "shell_exec", args: { command: "echo ran > out.txt" } },
    });
    await evictDurableObject(c.stub);
    expect((await decide(c, { wait_id, approved: true })).status).toBe(202);
    await c.status("completed");
    expect(await (await c.fetch("/files/out.txt")).text()).toBe("ran\n");
    const again = await decide(c, { wait_id, approved: true });
    expect(again.status).toBe(409);
    expect(await failureOf(again)).toMatchObject({ code: "already_answered" });
  });

  it("is not answered by words, by a message, or by nothing; it keeps waiting", async () => {
    const { c, s, wait_id } = await asking();
    for (const json of [{ wait_id, text: "yes" }, { wait_id }]) {
      const response = await decide(c, json);
      expect(response.status).toBe(400);
      expect((await failureOf(response)).message).toContain("approved");
    }
    const said = await c.say("yes please");
    expect(said).toMatchObject({ delivery: "steer" });
    expect(await c.view()).toMatchObject({ status: "waiting", queue: [{ text: "yes please" }] });
    s.send({ type: "answer", id: "no", wait_id, approved: false });
    await s.ack("no");
    await c.status("failed", "completed", "running");
    expect((await c.fetch("/files/out.txt")).status).toBe(404);
    await c.stop();
  });
});

it("with nobody connected and `unattended: block` the call is refused and the work goes on", async () => {
  const script = [plan("a"), shell("echo ran > out.txt"), write(), complete()];
  const tools = { ...settings.tools, unattended: "block" as const };
  const c = await Client.create(script, { settings: { tools } });
  await c.say("Do it");
  await c.status("completed");
  expect((await c.fetch("/files/out.txt")).status).toBe(404);
  expect(c.model.asked[2]?.raw).toContain("Blocked");
});
