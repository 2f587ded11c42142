import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { type MockModel, type MockOptions, startMockModel } from "../support/mock-model.ts";

const dir = fileURLToPath(new URL("../scenarios", import.meta.url));
const user = { role: "user", content: "hi" };

let mock: MockModel;
afterEach(() => mock.close());

async function start(options: MockOptions): Promise<MockModel> {
  mock = await startMockModel(options);
  return mock;
}
const post = (path: string, body: unknown) =>
  fetch(new URL(path, mock.url), { method: "POST", body: JSON.stringify(body) });
const ask = (more: Record<string, unknown> = {}) =>
  post("/v1/chat/completions", { model: "m", messages: [user], ...more });
const text = async (response: Promise<Response>): Promise<string> =>
  (await (await response).json()).choices[0].message.content;

describe("a script", () => {
  it("is replayed in order, as JSON and as a stream", async () => {
    await start({
      script: [
        { text: "one" },
        { tool_calls: [{ name: "shell", arguments: { a: 1 } }] },
        { text: "three" },
      ],
    });
    expect(await text(ask())).toBe("one");
    const stream = await (
      await ask({ stream: true, stream_options: { include_usage: true } })
    ).text();
    expect(stream).toContain('"name":"shell"');
    expect(stream).toContain('"finish_reason":"tool_calls"');
    expect(stream).toContain('"usage"');
    expect(stream.endsWith("data: [DONE]\n\n")).toBe(true);
    expect(await text(ask())).toBe("three");
  });

  it("B16: keeps its place whatever the messages look like", async () => {
    await start({ script: [{ text: "one" }, { text: "two" }] });
    const two = [{ role: "system", content: "s" }, user];
    expect(await text(ask({ messages: two }))).toBe("one");
    expect(await text(ask({ messages: two }))).toBe("two");
  });

  it("answers 500 and says so when it is spent, or begins again with wrap", async () => {
    await start({ script: [{ text: "one" }] });
    await ask();
    const spent = await ask();
    expect(spent.status).toBe(500);
    expect((await spent.json()).error.message).toBe(
      "mock model: the script is spent after 1 replies",
    );
    await mock.close();
    await start({ script: [{ text: "one" }], wrap: true });
    await ask();
    expect(await text(ask())).toBe("one");
  });

  it("may be a function of the request", async () => {
    await start({ script: (request, n) => ({ text: `${n}: ${request.body.messages.length}` }) });
    expect(await text(ask())).toBe("0: 1");
    expect(await text(ask({ messages: [user, user] }))).toBe("1: 2");
  });

  it("sends a status with headers, and raw lines as they are", async () => {
    await start({
      script: [
        { status: 429, headers: { "retry-after": "2" }, text: "slow" },
        { raw: [": comment\n\n", { a: 1 }] },
      ],
    });
    const refused = await ask({ stream: true });
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("2");
    expect((await refused.json()).error.message).toBe("slow");
    expect(await (await ask({ stream: true })).text()).toBe(': comment\n\ndata: {"a":1}\n\n');
  });
});

describe("the oracle at the door", () => {
  it("refuses a broken history with the rule's name, and uses up no reply", async () => {
    await start({ script: [{ text: "one" }] });
    const orphan = { role: "tool", tool_call_id: "ghost", content: "x" };
    const refused = await ask({ messages: [user, orphan] });
    expect(refused.status).toBe(400);
    expect((await refused.json()).error.message).toContain(
      "H2: tool message 1 answers no open call",
    );
    expect(mock.violations.join()).toContain("request 1: H2");
    expect(mock.requests[0]?.violations.length).toBeGreaterThan(0);
    expect(await text(ask())).toBe("one");
  });

  it("refuses a body that is not JSON", async () => {
    await start({ script: [{ text: "one" }] });
    const refused = await fetch(`${mock.url}/chat/completions`, { method: "POST", body: "{" });
    expect(refused.status).toBe(400);
  });

  it("records the body exactly as it came", async () => {
    await start({ script: [{ text: "one" }] });
    const raw = `{ "messages":[{"role":"user","content":"\\u00fc ü"}]}`;
    await fetch(`${mock.url}/chat/completions`, { method: "POST", body: raw });
    expect(mock.requests[0]?.raw).toBe(raw);
    const seen = await (await fetch(new URL("/mock/requests", mock.url))).json();
    expect(seen.requests[0].raw).toBe(raw);
  });
});

describe("AM-97: scenarios", () => {
  it("are chosen by name, shown, and reset to the default", async () => {
    await start({ dir, file: "one-step.yaml" });
    const shown = async () => (await fetch(new URL("/mock/scenario", mock.url))).json();
    expect(await shown()).toEqual({ file: "one-step.yaml", index: 0, responses: 3 });
    await ask();
    expect(await shown()).toEqual({ file: "one-step.yaml", index: 1, responses: 3 });
    const chosen = await post("/mock/scenario", { file: "two-steps.yaml" });
    expect(chosen.status).toBe(200);
    expect(await chosen.json()).toEqual({ file: "two-steps.yaml", index: 0, responses: 6 });
    await post("/mock/reset", {});
    expect(await shown()).toEqual({ file: "one-step.yaml", index: 0, responses: 3 });
  });

  it("answer 400 to a name with a slash and 404 to a missing one", async () => {
    await start({ dir, file: "one-step.yaml" });
    for (const file of ["../x.yaml", "a/b.yaml", "a\\b.yaml", "", 5]) {
      expect((await post("/mock/scenario", { file })).status).toBe(400);
    }
    expect((await post("/mock/scenario", { file: "nothing.yaml" })).status).toBe(404);
  });

  it("can all be read and replayed to their end", async () => {
    await start({ dir });
    for (const file of readdirSync(dir)) {
      const { responses } = await (await post("/mock/scenario", { file })).json();
      expect(responses).toBeGreaterThan(0);
      for (let i = 0; i < responses; i++) expect((await ask()).status).toBe(200);
      expect((await ask()).status).toBe(500);
    }
  });
});
