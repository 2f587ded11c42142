/** Input that is refused: the shape of the error, its status, the field it names, and that nothing was stored. */
import { describe, expect } from "vitest";
import { api, Client, failureOf, it } from "./support/client.ts";
import { text } from "./support/replies.ts";

const KIB = 1024;
const chat = () => Client.create([text("hello")], { mode: "chat" });

async function refusal(response: Response): Promise<[status: number, code: string, text: string]> {
  expect(response.headers.get("content-type")).toMatch(/^application\/json/);
  const { code, message, ...rest } = await failureOf(response);
  expect(Object.keys(rest)).toEqual([]);
  return [response.status, code, message];
}

describe("a body", () => {
  it("that is no JSON is refused", async () => {
    const response = await api("/api/sessions", { method: "POST", body: "{not json" });
    expect(await refusal(response)).toEqual([
      400,
      "invalid_request",
      "The body is not valid JSON.",
    ]);
  });

  it("that is JSON and no object is refused", async () => {
    for (const body of ["[]", '"text"', "5", "null"]) {
      const response = await api("/api/sessions", { method: "POST", body });
      expect((await refusal(response)).slice(0, 2)).toEqual([400, "invalid_request"]);
    }
  });

  it("with fields that nobody knows is taken, and they are ignored", async () => {
    const response = await api("/api/sessions", { json: { title: "T", colour: "blue" } });
    expect(response.status).toBe(201);
  });

  const WRONG: [field: string, body: unknown][] = [
    ["title", { title: 5 }],
    ["mode", { mode: "agents" }],
    ["ephemeral", { ephemeral: "yes" }],
    ["key", { key: "" }],
    ["settings.limits.maxIterations", { settings: { limits: { maxIterations: "many" } } }],
    ["settings.onBusyMessage", { settings: { onBusyMessage: "shout" } }],
    ["settings.profile", { settings: { profile: "no-such-profile" } }],
  ];
  for (const [field, json] of WRONG) {
    it(`of the wrong type is refused by the name of its field: ${field}`, async () => {
      const [status, code, message] = await refusal(await api("/api/sessions", { json }));
      expect([status, code]).toEqual([400, "invalid_request"]);
      expect(message.startsWith(field)).toBe(true);
    });
  }

  it("above 1 MiB is 413, declared or not", async () => {
    const big = JSON.stringify({ title: "x".repeat(KIB * KIB) });
    const declared = await api("/api/sessions", { method: "POST", body: big });
    expect((await refusal(declared)).slice(0, 2)).toEqual([413, "too_large"]);
    const stream = new Response(big).body as ReadableStream<Uint8Array>;
    const streamed = await api("/api/sessions", { method: "POST", body: stream });
    expect((await refusal(streamed)).slice(0, 2)).toEqual([413, "too_large"]);
  });
});

describe("a message", () => {
  it("that is blank, missing or no text is refused, and nothing is stored", async () => {
    const c = await chat();
    for (const json of [{ text: "" }, { text: " \n\t" }, {}, { text: 5 }, { text: null }]) {
      const [status, code, message] = await refusal(await c.fetch("/messages", { json }));
      expect([status, code]).toEqual([400, "invalid_request"]);
      expect(message.startsWith("text")).toBe(true);
    }
    expect((await c.view()).last_seq).toBe(0);
  });

  it("of 256 KiB is taken, and one byte more is 413, counted in bytes", async () => {
    const c = await chat();
    const most = 256 * KIB;
    for (const over of ["x".repeat(most + 1), "é".repeat(most / 2 + 1)]) {
      const response = await c.fetch("/messages", { json: { text: over } });
      const [status, code, message] = await refusal(response);
      expect([status, code]).toEqual([413, "too_large"]);
      expect(message).toMatch(/262144/);
    }
    expect((await c.view()).last_seq).toBe(0);
    await c.say("x".repeat(most));
    await c.status("completed");
  });

  it("with an attachment that is not there is refused", async () => {
    const c = await chat();
    for (const path of ["/workspace/none.txt", "none.txt", "../secret", "/etc/passwd", ""]) {
      const response = await c.fetch("/messages", { json: { text: "hi", attachments: [path] } });
      const [status, code, message] = await refusal(response);
      expect([status, code]).toEqual([400, "invalid_request"]);
      expect(message.startsWith("attachments")).toBe(true);
    }
    expect((await c.view()).last_seq).toBe(0);
  });

  it("with a delivery that does not exist is refused by name", async () => {
    const c = await chat();
    const response = await c.fetch("/messages", { json: { text: "hi", delivery: "later" } });
    expect((await refusal(response))[2].startsWith("delivery")).toBe(true);
  });
});

describe("an answer", () => {
  it("without its wait, blank or too large is refused by name", async () => {
    const c = await chat();
    const send = async (json: unknown) => refusal(await c.fetch("/answers", { json }));
    expect((await send({ text: "x" }))[2].startsWith("wait_id")).toBe(true);
    expect((await send({ wait_id: "w1n1", text: " " }))[2].startsWith("text")).toBe(true);
    const large = await send({ wait_id: "w1n1", text: "x".repeat(256 * KIB + 1) });
    expect(large.slice(0, 2)).toEqual([413, "too_large"]);
  });
});

describe("the deployment's own variables", () => {
  it("A22: a message is cut to nothing nowhere: the whole text reaches the model", async () => {
    const c = await chat();
    const long = "ä🚀".repeat(30 * KIB);
    await c.say(long);
    await c.status("completed");
    expect(c.model.asked[0]?.body.messages.at(-1)?.content).toBe(long);
  });
});

describe("an upgrade", () => {
  it("without its header is told what to do", async () => {
    const c = await chat();
    expect((await refusal(await c.fetch("/ws"))).slice(0, 2)).toEqual([426, "upgrade_required"]);
  });
});
