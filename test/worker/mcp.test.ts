/** Tools of MCP servers through the Worker: stored over evictions and crashes, and their headers are never told. */
import { abortAllDurableObjects, evictDurableObject } from "cloudflare:test";
import { describe, expect, vi } from "vitest";
// Loaded before the first test, not within it.
import "@modelcontextprotocol/client";
import { fileWrite } from "../../src/tools/file.ts";
import { shellExec } from "../../src/tools/shell.ts";
import { text as answer, McpScript } from "../support/mcp-script.ts";
import { Client, it, until, useVars } from "./support/client.ts";
import { atRest, ring } from "./support/crash.ts";
import { call, complete, plan, shell, text, write } from "./support/replies.ts";
import { serveMcp } from "./support/upstream.ts";

const CANARY = "canary-0123456789";
const crm = (ledger: string[] = []): McpScript => {
  const script = new McpScript();
  script.tools = [
    {
      name: "find",
      annotations: { readOnlyHint: true },
      run: (_, { headers }) => answer(`found by ${headers.authorization}`),
    },
    {
      name: "add",
      inputSchema: { type: "object", properties: { record: { type: "string" } } },
      run: ({ record }) => {
        ledger.push(String(record));
        return answer("added");
      },
    },
  ];
  return script;
};
const settings = (script: McpScript, more = {}) => ({
  mcp: {
    servers: {
      crm: { url: serveMcp(script), headers: { authorization: `Bearer ${CANARY}` }, ...more },
    },
  },
});

describe("a turn with an MCP server", () => {
  it("lists its tools, calls them, and rests with nothing left open", async () => {
    const ledger: string[] = [];
    const script = crm(ledger);
    const replies = [plan("a"), call(["mcp_crm_add", { record: "x" }]), complete()];
    const c = await Client.create(replies, { settings: settings(script) });
    await c.say("Do it");
    await c.status("completed");
    expect(ledger).toEqual(["x"]);
    expect((await c.of("tool")).map((t) => [t.name, t.function, t.status, t.content])).toEqual([
      ["mcp", "mcp_crm_add", "calling", undefined],
      ["mcp", "mcp_crm_add", "called", { result: "added" }],
    ]);
    expect(script.calls[0]?.headers["idempotency-key"]).toBeTruthy();
    await atRest(c);
    await until(() => expect(script.sessions.size).toBe(0));
  });

  it("asks with the same bytes after an eviction under a wait, and lists nothing anew", async () => {
    const script = crm();
    const ask = call(["message_ask_user", { text: "Which?" }]);
    const c = await Client.create([plan("a"), ask], { settings: settings(script) });
    await c.say("Do it");
    await c.status("waiting");
    await evictDurableObject(c.stub);
    const before = script.methods().filter((m) => m === "tools/list");
    c.model.add(call(["mcp_crm_add", { record: "x" }]), complete());
    await c.answer("this");
    await c.status("completed");
    const [, second = "", third = ""] = c.model.asked.map((a) => a.raw);
    const tools = (raw: string) => raw.slice(0, raw.indexOf('"messages"'));
    expect(tools(third)).toBe(tools(second));
    expect(script.methods().filter((m) => m === "tools/list")).toEqual(before);
  });

  it("a crash while the servers are asked asks them again, and the turn goes on", async () => {
    const script = crm();
    let asked = 0;
    script.gate = () => (asked++ === 0 ? { type: "hang" } : null);
    const c = await Client.create([text("hi")], { mode: "chat", settings: settings(script) });
    await c.say("Do it");
    await until(() => expect(asked).toBe(1));
    await abortAllDurableObjects();
    expect(await ring(c)).toBe(true);
    await c.status("completed");
    expect(c.model.asked[0]?.raw).toContain("mcp_crm_find");
  });

  it("a crash under a call leaves its outcome unknown, and the model is told", async () => {
    const script = crm();
    script.fault = () => () => ({ type: "hang" });
    const add = call(["mcp_crm_add", { record: "x" }]);
    const c = await Client.create([add, text("done")], {
      mode: "chat",
      settings: settings(script),
    });
    await c.say("Do it");
    await until(() => expect(script.calls).toHaveLength(1));
    await abortAllDurableObjects();
    expect(await ring(c)).toBe(true);
    await c.status("completed");
    expect(c.model.asked[1]?.body.messages.at(-1)?.content).toContain("Outcome unknown");
    expect(script.calls).toHaveLength(1);
  });

  it("without a server makes no commit more than before", async () => {
    const settingsOff = { mcp: { servers: { crm: { url: "https://a.example", enabled: false } } } };
    const seqs: number[] = [];
    for (const given of [{}, settingsOff]) {
      const c = await Client.create([plan("a"), write(), complete()], { settings: given });
      await c.say("Do it");
      seqs.push((await c.status("completed")).last_seq);
    }
    expect(seqs[0]).toBe(seqs[1]);
  });

  it("goes on without a server that is not there, and says so", async () => {
    const script = crm();
    script.gate = () => ({ type: "reset" });
    const c = await Client.create([text("hi")], { mode: "chat", settings: settings(script) });
    await c.say("Do it");
    await c.status("completed");
    expect((await c.of("notice")).map((n) => n.code)).toEqual(["mcp_server_left_out"]);
  });
});

describe("headers of a server", () => {
  it("are in no event, reply, live frame or error", async () => {
    const script = crm();
    const replies = [
      call(["mcp_crm_find", {}]),
      call(["mcp_crm_add", { record: "x" }]),
      text("done"),
    ];
    const c = await Client.create(replies, { mode: "chat", settings: settings(script) });
    const socket = await c.socket();
    script.fault = (name) =>
      name === "add"
        ? () => ({
            type: "http",
            status: 400,
            headers: {},
            body: `not with ${CANARY}`,
          })
        : null;
    await c.say("Do it");
    const view = await c.status("completed");
    await socket.status("completed");
    const listing = await (await c.fetch("/../../sessions")).text();
    const all = JSON.stringify([view, await c.events(), socket.frames, listing, c.model.asked]);
    expect(all).not.toContain(CANARY);
    expect(all).toContain("found by ***");
    expect(view.settings.mcp.servers.crm?.headers).toEqual({ authorization: "***" });
    expect(script.calls[0]?.headers.authorization).toBe(`Bearer ${CANARY}`);
  });

  it("sent back as they are shown, they stay", async () => {
    const script = crm();
    const c = await Client.create([text("hi")], { mode: "chat", settings: settings(script) });
    const { settings: shown } = await c.view();
    const json = { settings: { mcp: shown.mcp } };
    expect((await c.fetch("", { method: "PATCH", json })).status).toBe(200);
    await c.say("Do it");
    await c.status("completed");
    expect(script.asked[0]?.headers.authorization).toBe(`Bearer ${CANARY}`);
  });
});

describe("private addresses", () => {
  it("are refused where the product is not served on loopback", async () => {
    const servers = { inside: { url: "http://10.0.0.1/mcp" } };
    const auth = { authorization: "Bearer t0ken-of-ada" };
    useVars({ AUTH_TOKENS: JSON.stringify({ "t0ken-of-ada": "ada" }) });
    const c = await Client.create([text("hi")], {
      mode: "chat",
      settings: { mcp: { servers } },
      headers: { ...auth, host: "dormouse.example.com" },
    });
    await c.say("Do it");
    await c.status("completed");
    expect((await c.of("notice"))[0]?.text).toContain("MCP_ALLOW_PRIVATE");
  });
});

describe("the platform fails under a tool", () => {
  it("the object dies, no failure is recorded, and the call follows its recovery", async () => {
    const error = new Error("Durable Object reset because its code was updated.");
    const broken = vi.spyOn(fileWrite, "run").mockImplementationOnce(async () => {
      // The intent to run the call is durable by then, as it is before anything real answers.
      await scheduler.wait(20);
      throw error;
    });
    const c = await Client.create([write("a.txt"), text("done")], { mode: "chat" });
    await c.say("Do it");
    await until(() => expect(broken).toHaveBeenCalledTimes(1));
    await until(async () => expect(await ring(c).catch(() => false)).toBe(true));
    await c.status("completed");
    broken.mockRestore();
    const tools = await c.of("tool");
    expect(tools.map((t) => [t.status, t.ok])).toEqual([
      ["calling", undefined],
      ["called", true],
    ]);
    expect(await (await c.fetch("/files/a.txt")).text()).toBe("x");
  });

  it("a command that cannot be run twice is reported as unknown", async () => {
    const broken = vi.spyOn(shellExec, "run").mockImplementationOnce(async () => {
      await scheduler.wait(20);
      throw new Error("Network connection lost.");
    });
    const c = await Client.create([shell("echo hi"), text("done")], { mode: "chat" });
    await c.say("Do it");
    await until(() => expect(broken).toHaveBeenCalledTimes(1));
    await until(async () => expect(await ring(c).catch(() => false)).toBe(true));
    await c.status("completed");
    broken.mockRestore();
    expect(c.model.asked[1]?.body.messages.at(-1)?.content).not.toContain("Network connection");
  });
});
