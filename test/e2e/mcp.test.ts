/** MCP over real sockets: a server behind `wrangler dev` that dies under a call, and Dormouse as a tool of Dormouse. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { call, complete, plan, Remote, type Scripts, until } from "../support/client-node.ts";
import { McpScript, text } from "../support/mcp-script.ts";
import { McpServer } from "../support/mcp-server.ts";
import { ScriptedDev } from "../support/scripted-dev.ts";

let dev: ScriptedDev;
let scripts: Scripts;
let servers: McpServer;

before(async () => {
  servers = await McpServer.start();
  dev = await ScriptedDev.start({ vars: { CUSTOM_MODEL_NAME: "inner" } });
  scripts = dev.scripts;
});
after(async () => {
  await dev?.close();
  await servers?.close();
});

async function sessionWith(model: string, url: string): Promise<Remote> {
  const session = await Remote.create(dev.url, model);
  const body = JSON.stringify({ settings: { mcp: { servers: { far: { url } } } } });
  assert.equal((await fetch(session.at, { method: "PATCH", body })).status, 200);
  return session;
}

void test("a call whose server knows keys is made again after SIGKILL, and done once", async () => {
  const ledger: string[] = [];
  const done = new Set<string>();
  const script = new McpScript();
  script.stream = true;
  script.tools = [
    {
      name: "append",
      _meta: { "dormouse/idempotencyKey": true },
      inputSchema: { type: "object", properties: { record: { type: "string" } } },
      run: ({ record }, { key = "" }) => {
        if (!done.has(key)) ledger.push(String(record));
        done.add(key);
        return text("appended");
      },
    },
  ];
  script.fault = () => (perform) => {
    perform();
    return { type: "hang" };
  };
  scripts.set("ledger", plan("a"), call("mcp_far_append", { record: "x", brief: "append" }));
  const session = await sessionWith("ledger", servers.open(script));
  await session.say("Do it");
  await until("the call", () => script.calls.length === 1);
  await dev.stop("SIGKILL");
  script.fault = () => null;
  scripts.set("ledger", complete());
  await dev.again(session);
  await session.status("completed", 60_000);
  assert.deepEqual(ledger, ["x"]);
  assert.equal(new Set(script.calls.map((c) => c.headers["idempotency-key"])).size, 1);
  assert.equal(script.calls.length, 2);
  assert.equal(script.methods().filter((m) => m === "tools/list").length, 1);
  await session.check();
});

void test("a server that is gone is told, and the turn goes on", async () => {
  const gone = await McpServer.start();
  const url = gone.open(new McpScript());
  await gone.close();
  scripts.set("gone", plan("a"), call("shell_exec", { command: "echo hi" }), complete());
  const session = await sessionWith("gone", url);
  await session.say("Do it");
  await session.status("completed");
  const notices = await session.of("notice");
  assert.deepEqual(
    notices.map((n) => n.code),
    ["mcp_server_left_out"],
  );
});

void test("Dormouse has a task done by Dormouse", async () => {
  const inner = { task: "Say it", mode: "chat", brief: "asks" };
  scripts.set("outer", plan("a"), call("mcp_far_run_task", inner), complete());
  scripts.set("inner", { text: "The inner one answers." });
  const session = await sessionWith("outer", `${dev.url}/mcp`);
  await session.say("Ask the other one");
  await session.status("completed");
  const called = (await session.of("tool")).find((t) => t.status === "called");
  assert.match(JSON.stringify(called?.content), /The inner one answers\./);
});

void test("another agent has a task done over /mcp", async () => {
  scripts.set("inner", { text: "Here you are." });
  const client = new Client({ name: "agent", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${dev.url}/mcp`)));
  const args = { task: "Say it", mode: "chat" };
  const result = await client.callTool({ name: "run_task", arguments: args });
  assert.match(JSON.stringify(result.content), /Here you are\./);
  await client.close();
});
