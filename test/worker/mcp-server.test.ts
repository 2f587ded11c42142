/** Dormouse as an MCP server, asked by the real client library in both eras of the protocol. */
import { exports } from "cloudflare:workers";
import { Client as McpClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, vi } from "vitest";
// Loaded before the first test, not within it.
import "@modelcontextprotocol/server";
import { api, Client, failureOf, it, ORIGIN, useVars } from "./support/client.ts";
import { askUser, call, complete, plan, text, write } from "./support/replies.ts";
import { type Scripted, scripted } from "./support/upstream.ts";

type Headers = Record<string, string>;
const ADA = { authorization: "Bearer t0ken-of-ada" };
const BOB = { authorization: "Bearer t0ken-of-bob" };

async function connect(headers: Headers = {}, mode: "auto" | "legacy" = "auto") {
  const client = new McpClient({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  const transport = new StreamableHTTPClientTransport(new URL(`${ORIGIN}/mcp`), {
    fetch: (url, init) => exports.default.fetch(String(url), init),
    requestInit: { headers },
  });
  await client.connect(transport);
  return client;
}
interface Told {
  session_id: string;
  status: string;
  message: string | null;
  attachments: { name: string; url: string }[];
  wait: { kind: string; text: string; options: string[] } | null;
  error: { code: string } | null;
}
async function use(
  client: McpClient,
  name: string,
  args: Record<string, unknown>,
  more: { key?: string; onprogress?: (p: { message?: string | undefined }) => void } = {},
) {
  const { key, onprogress } = more;
  const _meta = key === undefined ? {} : { _meta: { "dormouse/idempotencyKey": key } };
  const options = onprogress ? { onprogress } : {};
  const result = await client.callTool({ name, arguments: args, ..._meta }, options);
  const [first] = result.content;
  return {
    told: result.structuredContent as unknown as Told,
    text: first?.type === "text" ? first.text : "",
    links: result.content.filter((p) => p.type === "resource_link").map((p) => p.uri),
    failed: result.isError === true,
  };
}
/** Settings of the deployment name the model: a client of MCP names none. */
function withModel(script: Scripted[]) {
  const model = scripted(script);
  useVars({ SETTINGS: JSON.stringify({ provider: "custom", model: model.name }) });
  return model;
}
const PRACTICE = [plan("a"), write("a.txt", "x"), complete(true, "All done.")];

describe.each(["auto", "legacy"] as const)("a client of the %s kind", (mode) => {
  it(`${mode}: has a task done, and is given the words and links of its files`, async () => {
    withModel([
      plan("a", "b"),
      write("a.txt", "x"),
      complete(),
      write("b.txt", "y"),
      complete(),
      call(["deliver_result", { message: "Here.", attachments: ["a.txt"] }]),
    ]);
    const client = await connect({}, mode);
    const { tools } = await client.listTools();
    expect(tools.map((t) => t.name)).toEqual(["run_task", "get_session", "answer", "stop"]);
    const progress: (string | undefined)[] = [];
    const { told, links, failed } = await use(
      client,
      "run_task",
      { task: "Do it" },
      { onprogress: (p) => progress.push(p.message) },
    );
    expect({ ...told, failed }).toMatchObject({
      ...{ status: "completed", message: "Here.", failed: false },
      attachments: [{ name: "a.txt" }],
    });
    expect(progress).toEqual(["a", "write", "b", "write"]);
    expect(links).toEqual([`${ORIGIN}/api/sessions/${told.session_id}/files/a.txt`]);
    const file = await api(links[0]?.slice(ORIGIN.length) ?? "");
    expect(await file.text()).toBe("x");
    await client.close();
  });
});

describe("a task", () => {
  it("that asks is answered, and goes on", async () => {
    withModel([
      plan("a"),
      askUser("Which?", ["red", "blue"]),
      write(),
      complete(true, "Blue it is."),
    ]);
    const client = await connect();
    const asked = await use(client, "run_task", { task: "Paint" });
    expect(asked.told).toMatchObject({
      status: "waiting",
      wait: { kind: "question", text: "Which?", options: ["red", "blue"] },
    });
    expect(asked.text).toContain(`"session_id": "${asked.told.session_id}"`);
    const { session_id } = asked.told;
    const wrong = await use(client, "answer", { session_id, approved: true });
    expect(wrong).toMatchObject({ failed: true, text: expect.stringContaining("still waiting") });
    const done = await use(client, "answer", { session_id, text: "blue" });
    expect(done.told).toMatchObject({ status: "completed", message: "Blue it is." });
  });

  it("that wants an approval shows the call, and takes a no", async () => {
    const model = scripted([call(["shell_exec", { command: "rm -r x" }]), text("Then not.")]);
    useVars({
      SETTINGS: JSON.stringify({
        ...{ provider: "custom", model: model.name },
        tools: { approval: { "shell_*": "ask" } },
      }),
    });
    const client = await connect();
    const asked = await use(client, "run_task", { task: "Tidy up", mode: "chat" });
    expect(asked.text).toContain('It wants to call shell_exec with {"command":"rm -r x"}');
    const { session_id } = asked.told;
    const done = await use(client, "answer", { session_id, approved: false });
    expect(done.told).toMatchObject({ status: "completed", message: "Then not." });
  });

  it("H1: sent again with the same key is the same task", async () => {
    const model = withModel(PRACTICE);
    const client = await connect();
    const one = await use(client, "run_task", { task: "Do it" }, { key: "k1" });
    const two = await use(client, "run_task", { task: "Do it" }, { key: "k1" });
    expect(two.told).toEqual(one.told);
    expect(model.asked).toHaveLength(3);
    const three = await use(client, "run_task", { task: "Do it", id: "mine", wait_seconds: 0 });
    const four = await use(client, "run_task", { task: "Do it", id: "mine", wait_seconds: 0 });
    expect(four.told.session_id).toBe(three.told.session_id);
    await use(client, "stop", { session_id: three.told.session_id });
  });

  it("goes on in a session, by its id or by a key of the client's own", async () => {
    withModel([text("One."), text("Two."), text("Three.")]);
    const client = await connect();
    const task = { task: "And?", mode: "chat" };
    const one = await use(client, "run_task", { ...task, key: "thread-1" });
    const two = await use(client, "run_task", { ...task, key: "thread-1" });
    const { session_id } = one.told;
    const three = await use(client, "run_task", { task: "And?", session_id });
    expect([one, two, three].map((r) => [r.told.session_id, r.told.message])).toEqual([
      [session_id, "One."],
      [session_id, "Two."],
      [session_id, "Three."],
    ]);
    const both = await use(client, "run_task", { task: "x", session_id, key: "thread-1" });
    expect(both).toMatchObject({ failed: true });
  });

  it("that takes longer goes on: it is looked at, and stopped", async () => {
    withModel([plan("a")]);
    const client = await connect();
    const begun = await use(client, "run_task", { task: "Do it", wait_seconds: 0 });
    expect(begun.told.status).toBe("running");
    const { session_id } = begun.told;
    const looked = await use(client, "get_session", { session_id });
    expect(looked.text).toContain("still working");
    expect((await use(client, "stop", { session_id })).told.status).toBe("stopped");
    expect((await use(client, "get_session", { session_id })).told.status).toBe("stopped");
  });

  it("that failed is an error with its reason", async () => {
    withModel([{ status: 401, text: "bad key" }]);
    const client = await connect();
    const { told, failed, text: said } = await use(client, "run_task", { task: "Do it" });
    expect({ failed, status: told.status, code: told.error?.code }).toEqual({
      ...{ failed: true, status: "failed", code: "provider_auth" },
    });
    expect(said).toContain("It failed:");
    const { session_id } = told;
    expect((await use(client, "get_session", { session_id })).told).toEqual(told);
  });

  it("H2: that cannot be taken is refused in words", async () => {
    const client = await connect();
    for (const args of [
      { task: "  " },
      { task: "x", session_id: "nope" },
      { task: "x".repeat(300_000) },
    ]) {
      expect(await use(client, "run_task", args)).toMatchObject({ failed: true });
    }
    expect((await use(client, "answer", { session_id: "a".repeat(26), text: "x" })).text).toContain(
      "session_not_found",
    );
  });
});

describe("who may ask", () => {
  it("is who may use the API: a token, and no foreign origin", async () => {
    useVars({ AUTH_TOKENS: JSON.stringify({ "t0ken-of-ada": "ada", "t0ken-of-bob": "bob" }) });
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    const accept = { accept: "application/json, text/event-stream" };
    const json = { "content-type": "application/json" };
    const none = await api("/mcp", { json: ping, headers: { ...json, ...accept } });
    expect(none.status).toBe(401);
    expect((await failureOf(none)).code).toBe("sign_in_required");
    const foreign = { ...ADA, ...json, ...accept, origin: "https://evil.example" };
    expect((await api("/mcp", { json: ping, headers: foreign })).status).toBe(403);
    expect((await api("/mcp?token=t0ken-of-ada", { json: ping, headers: json })).status).toBe(401);
    expect((await api("/mcp", { headers: { ...ADA, ...accept } })).status).toBe(405);
  });

  it("sees only their own sessions", async () => {
    useVars({ AUTH_TOKENS: JSON.stringify({ "t0ken-of-ada": "ada", "t0ken-of-bob": "bob" }) });
    withModel([text("Ada's.")]);
    const ada = await connect(ADA);
    const { told } = await use(ada, "run_task", { task: "Mine", mode: "chat" });
    const { session_id } = told;
    const bob = await connect(BOB);
    for (const [name, args] of [
      ["get_session", {}],
      ["stop", {}],
      ["answer", { text: "x" }],
      ["run_task", { task: "x" }],
    ] as const) {
      const { failed, text: said } = await use(bob, name, { session_id, ...args });
      expect([failed, said]).toEqual([true, expect.stringContaining("session_not_found")]);
    }
  });
});

it("Dormouse asks Dormouse", async () => {
  withModel([text("The inner one answers.")]);
  const inner = vi.mocked(globalThis.fetch);
  const upstream = inner.getMockImplementation();
  inner.mockImplementation((input, init) =>
    String(input).startsWith("http://dormouse.example.com/")
      ? exports.default.fetch(
          String(input).replace("http://dormouse.example.com", ORIGIN),
          init as RequestInit,
        )
      : (upstream as typeof fetch)(input, init),
  );
  const c = await Client.create(
    [
      plan("ask"),
      call(["mcp_inner_run_task", { task: "Say it", mode: "chat", brief: "asks" }]),
      complete(),
    ],
    { settings: { mcp: { servers: { inner: { url: "http://dormouse.example.com/mcp" } } } } },
  );
  await c.say("Ask the other one");
  await c.status("completed");
  inner.mockImplementation(upstream as typeof fetch);
  const called = (await c.of("tool")).find((t) => t.status === "called");
  expect(called).toMatchObject({ ok: true, function: "mcp_inner_run_task" });
  expect(JSON.stringify(called?.content)).toContain("The inner one answers.");
});
