/** What clients see of the guarded loop: held-back text, the answer as live text, a refused attempt never. */
import { describe, expect } from "vitest";
import { Client, it } from "./support/client.ts";
import { call, complete, plan, text, write } from "./support/replies.ts";

const respond = (t: string) => call(["agent_response", { text: t }]);

describe("FG-S10: in a guarded phase", () => {
  it("the accepted answer comes as one live text, right before its message, and a refused one never", async () => {
    const c = await Client.create([text("Sure, here you go"), respond("ok")], { mode: "workflow" });
    const s = await c.socket();
    await c.say("Do it");
    await s.ended();
    const kinds = s.frames.flatMap((f) =>
      f.type === "live" || (f.type === "event" && f.event === "message") ? [f] : [],
    );
    expect(kinds.slice(1)).toMatchObject([
      { type: "live", event: "message_delta", data: { text: "ok" } },
      { type: "event", event: "message", data: { kind: "answer", content: "ok" } },
    ]);
    expect(JSON.stringify(s.frames)).not.toContain("Sure, here");
  });

  it("the final message of a plan comes the same way, under one message id", async () => {
    const c = await Client.create([plan("a"), write(), complete(true, "all done")]);
    const s = await c.socket();
    await c.say("Do it");
    await s.ended();
    const final = (await c.of("message")).at(-1);
    const [delta] = s.all("live");
    expect(delta).toMatchObject({
      event: "message_delta",
      data: { message_id: final?.message_id, text: "all done" },
    });
  });
});

it("settings of the harness reach a session: required steps hold back the answer", async () => {
  const settings = { harness: { requiredSteps: ["file_write"] } };
  const script = [respond("early"), write(), respond("done")];
  const c = await Client.create(script, { mode: "workflow", settings });
  await c.say("Do it");
  await c.status("completed");
  expect(c.model.asked[1]?.raw).toContain("cannot be called yet");
  expect((await c.of("message")).at(-1)).toMatchObject({ kind: "answer", content: "done" });
});

it("an endpoint that refuses a forced tool choice is asked again without it, and remembered over turns", async () => {
  const refusal = {
    status: 400,
    body: { error: { message: "Thinking mode does not support this tool_choice" } },
  };
  const turn = [plan("a"), write(), complete()];
  const c = await Client.create([refusal, ...turn, ...turn]);
  await c.say("Do it");
  await c.status("completed");
  await c.say("And again");
  await c.status("completed");
  const choices = c.model.asked.map((a) => (a.body as { tool_choice?: unknown }).tool_choice);
  expect(choices[0]).toBe("required");
  expect(choices.slice(1).every((choice) => choice === "auto" || choice === undefined)).toBe(true);
});
