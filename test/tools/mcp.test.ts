/** The adapter to MCP servers over real HTTP: listing, calling, and what is known of a call that failed. */
// Loaded before the first test, not within it.
import "@modelcontextprotocol/client";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type McpServers, mcpServers } from "../../src/adapters/mcp/port.ts";
import type { Listed, Server } from "../../src/core/servers.ts";
import type { JsonObject, ToolResult } from "../../src/core/tool.ts";
import { toolboxOf } from "../../src/core/toolbox.ts";
import { FakeBox } from "../support/fake-box.ts";
import { failed, http, McpScript, type McpTool, text } from "../support/mcp-script.ts";
import { McpServer } from "../support/mcp-server.ts";
import { call, type Options } from "../support/run-tool.ts";

const LOCAL = { loopback: true, allow: [], version: "0" };
const CANARY = "canary-0123456789";
let server: McpServer;
let script: McpScript;
let mcp: McpServers;
let ledger: string[];
let box: FakeBox;

beforeAll(async () => {
  server = await McpServer.start();
});
afterAll(() => server.close());
beforeEach(() => {
  script = new McpScript();
  mcp = mcpServers(LOCAL);
  ledger = [];
  box = new FakeBox();
});

const reading = (over: Partial<McpTool> = {}): McpTool => ({
  name: "read",
  annotations: { readOnlyHint: true },
  run: () => text(`[${ledger.join()}]`),
  ...over,
});
const writing = (over: Partial<McpTool> = {}): McpTool => ({
  name: "write",
  description: "Writes.",
  inputSchema: { type: "object", properties: { record: { type: "string" } } },
  run: ({ record }) => {
    ledger.push(String(record));
    return text("written");
  },
  ...over,
});
const at = (url: string, headers: Record<string, string> = {}, name = "crm"): Server => ({
  ...{ name, url, headers },
  approval: "allow",
});
const listing = (...servers: Server[]): Promise<Listed[]> => mcp.list(servers).outcome;

/** Lists the server's tools and calls one, as a session does. */
async function use(
  name: string,
  args: JsonObject = {},
  options: Options = {},
  headers: Record<string, string> = {},
): Promise<ToolResult> {
  const one = at(server.open(script), headers);
  const { toolbox } = toolboxOf([one], await listing(one));
  const stored = toolbox.find((t) => t.tool === name);
  if (!stored) throw new Error(`${name} is not listed`);
  return call(mcp.tool(one, stored), box, args, { idempotencyKey: "k1", ...options });
}

describe("listing", () => {
  it("takes all pages, with what the server claims of each tool", async () => {
    script.pageSize = 1;
    script.tools = [
      reading({ annotations: { readOnlyHint: true, openWorldHint: false } }),
      writing({ _meta: { "dormouse/idempotencyKey": true } }),
    ];
    const [listed] = await listing(at(server.open(script)));
    expect(listed).toMatchObject({
      server: "crm",
      tools: [
        { name: "read", hints: ["readOnly", "closedWorld"] },
        { name: "write", description: "Writes.", hints: ["keyed"] },
      ],
    });
    expect(script.methods().filter((m) => m === "tools/list")).toHaveLength(2);
  });

  it("reads an answer that comes as a stream, and a server without sessions", async () => {
    Object.assign(script, { stream: true, sessionful: false, tools: [writing()] });
    expect(await listing(at(server.open(script)))).toMatchObject([{ tools: [{ name: "write" }] }]);
  });

  it("one bad tool spoils no other", async () => {
    script.tools = [
      writing({ inputSchema: "none" }),
      { name: "", run: () => text("") },
      reading({ annotations: { readOnlyHint: "yes", title: 7 } }),
    ];
    const [listed] = await listing(at(server.open(script)));
    expect(listed).toMatchObject({ tools: [{ name: "write" }, { name: "read", hints: [] }] });
  });

  it("says why a server cannot be used, and takes the others", async () => {
    script.tools = [reading()];
    const other = (gate: McpScript["gate"]): string => {
      const made = Object.assign(new McpScript(), { gate });
      return server.open(made);
    };
    const empty = new McpScript();
    const closed = await McpServer.start();
    const gone = closed.open(new McpScript());
    await closed.close();
    const listed = await listing(
      at(server.open(script), {}, "good"),
      at(
        other(() => http(401, "who are you")),
        {},
        "closed",
      ),
      at(
        other(() => http(200, "<html>", "text/html")),
        {},
        "page",
      ),
      at(gone, {}, "gone"),
      at(server.open(empty), {}, "empty"),
      at("ftp://127.0.0.1/x", {}, "ftp"),
      at(server.open(script), { "bad name": "x" }, "headers"),
    );
    expect(listed.map((l) => [l.server, "absent" in l ? l.absent : "there"])).toEqual([
      ["good", "there"],
      ["closed", { code: "refused", status: 401 }],
      ["page", { code: "protocol" }],
      ["gone", { code: "unreachable" }],
      ["empty", { code: "no_tools" }],
      ["ftp", { code: "address" }],
      ["headers", { code: "headers" }],
    ]);
  });

  it("waits for none longer than it may", async () => {
    script.gate = () => ({ type: "hang" });
    mcp = mcpServers(LOCAL, 50);
    expect(await listing(at(server.open(script)))).toMatchObject([{ absent: { code: "timeout" } }]);
  });

  it("reaches no private address, unless it is listed", async () => {
    script.tools = [reading()];
    const url = server.open(script);
    mcp = mcpServers({ ...LOCAL, loopback: false });
    expect(await listing(at(url))).toMatchObject([{ absent: { code: "address" } }]);
    mcp = mcpServers({ loopback: false, allow: [new URL(url).host], version: "0" });
    expect(await listing(at(url))).toMatchObject([{ tools: [{ name: "read" }] }]);
    expect(script.asked.length).toBeGreaterThan(0);
  });

  it("follows no redirect to another origin", async () => {
    const thief = new McpScript();
    const far = await McpServer.start();
    const url = far.open(thief);
    script.gate = () => ({
      ...{ type: "http", status: 307, body: "" },
      headers: { location: url },
    });
    const [listed] = await listing(at(server.open(script), { authorization: `Bearer ${CANARY}` }));
    expect(listed).toMatchObject({ absent: { code: "refused", status: 307 } });
    expect(thief.asked).toEqual([]);
    await far.close();
  });

  it("stops asking when it is told to", async () => {
    script.gate = () => ({ type: "hang" });
    const flight = mcp.list([at(server.open(script))]);
    flight.cancel();
    expect(await flight.outcome).toMatchObject([{ absent: { code: "timeout" } }]);
  });
});

describe("a call", () => {
  it("gives the server its arguments, the key and the headers", async () => {
    script.tools = [writing()];
    const headers = { authorization: `Bearer ${CANARY}` };
    const result = await use("write", { record: "a", brief: "writes" }, {}, headers);
    expect(result).toEqual({ ok: true, text: "written", content: { result: "written" } });
    expect(script.calls).toMatchObject([
      {
        args: { record: "a" },
        headers: { "idempotency-key": "k1", authorization: `Bearer ${CANARY}` },
      },
    ]);
    const params = script.asked.at(-1)?.rpc.params;
    expect(params).toMatchObject({ _meta: { "dormouse/idempotencyKey": "k1" } });
    expect(Object.keys(script.calls[0]?.headers ?? {})).not.toContain("x-dormouse-call");
  });

  it("connects once for many, in one life", async () => {
    script.tools = [writing()];
    const one = at(server.open(script));
    const [stored] = toolboxOf([one], await listing(one)).toolbox;
    if (!stored) throw new Error("not listed");
    for (const record of ["a", "b"]) await call(mcp.tool(one, stored), box, { record });
    expect(script.methods().filter((m) => m === "initialize")).toHaveLength(1);
    expect(ledger).toEqual(["a", "b"]);
    await mcp.rest();
    expect(script.sessions.size).toBe(0);
  });

  it("never reaches the server with arguments that its schema does not allow", async () => {
    script.tools = [writing({ inputSchema: { type: "object", required: ["record"] } })];
    expect(await use("write", {})).toMatchObject({
      ok: false,
      text: expect.stringContaining("record"),
    });
    expect(script.calls).toEqual([]);
  });

  it("holds no stream open beside the calls", async () => {
    const methods: string[] = [];
    script.gate = ({ method }) => {
      methods.push(method);
      return null;
    };
    script.tools = [writing()];
    await use("write", { record: "a" });
    expect(methods).not.toContain("GET");
  });

  it("is told to the server when it is stopped", async () => {
    const stop = new AbortController();
    script.tools = [writing()];
    script.fault = () => () => {
      stop.abort();
      return { type: "hang" };
    };
    const result = await use("write", { record: "a" }, { signal: stop.signal });
    expect(result).toMatchObject({ ok: false, unknown: true });
    await expect.poll(() => script.methods()).toContain("notifications/cancelled");
  });
});

describe("content", () => {
  const answering = async (answer: unknown): Promise<ToolResult> => {
    script.tools = [reading({ run: () => answer })];
    return use("read");
  };

  it("an error of the server's is a failure with a known outcome", async () => {
    expect(await answering(failed("no such customer"))).toEqual({
      ok: false,
      text: "no such customer",
      content: { result: "no such customer" },
    });
  });

  it("structured content is added where the text does not say it", async () => {
    const structuredContent = { n: 1 };
    expect((await answering({ ...text("one"), structuredContent })).text).toBe('one\n{"n":1}');
    expect((await answering({ ...text('{"n": 1}'), structuredContent })).text).toBe('{"n": 1}');
    expect((await answering({ content: [], structuredContent })).text).toBe('{"n":1}');
  });

  it("bytes become files of the workspace, other resources are told", async () => {
    const { text: told } = await answering({
      content: [
        { type: "image", data: btoa("png!"), mimeType: "image/png" },
        { type: "resource", resource: { uri: "crm://1", text: "Ada" } },
        { type: "resource_link", uri: "https://a.example", name: "more" },
      ],
    });
    expect(told.split("\n")).toEqual([
      "[image/png, 4 bytes, saved as /workspace/mcp/call1-1.png]",
      "crm://1",
      "Ada",
      "[more: https://a.example]",
    ]);
    expect(await box.read("/workspace/mcp/call1-1.png")).toEqual(new TextEncoder().encode("png!"));
  });

  it("a file that cannot be saved does not fail the call", async () => {
    box.unavailable = "no sandbox";
    const image = { type: "image", data: btoa("png!"), mimeType: "image/png" };
    expect(await answering({ content: [image] })).toMatchObject({
      ok: true,
      text: expect.stringContaining("could not be saved"),
    });
  });

  it("nothing at all is told as such", async () => {
    expect((await answering({ content: [] })).text).toBe("(no content)");
  });
});

describe("M4: a header's value is never said", () => {
  const headers = { authorization: `Bearer ${CANARY}`, "x-key": `${CANARY}-2` };

  it("not in what the server answers, lists or complains of", async () => {
    const echo = (seen: Record<string, string>) => text(`I got ${JSON.stringify(seen)}`);
    script.tools = [
      reading({ run: (_, seen) => echo(seen.headers), description: `use ${CANARY}` }),
      writing({ run: (_, seen) => failed(`refused ${seen.headers.authorization}`) }),
    ];
    const listed = await listing(at(server.open(script), headers));
    const said = [listed, await use("read", {}, {}, headers), await use("write", {}, {}, headers)];
    script.fault = () => () => http(400, `bad token ${CANARY}`);
    said.push(await use("read", {}, {}, headers));
    script.gate = () => http(403, CANARY);
    said.push(await listing(at(server.open(script), headers)));
    expect(JSON.stringify(said)).not.toContain(CANARY);
    expect(JSON.stringify(said)).toContain("***");
  });
});

describe("M2: what is known of a call that failed", () => {
  beforeEach(() => {
    script.tools = [writing(), reading()];
  });
  const strike = (fault: ReturnType<McpScript["fault"]>): void => {
    script.fault = () => fault;
  };
  const UNKNOWN = { ok: false, unknown: true };

  it("a connection that broke after sending: not known", async () => {
    strike((perform) => {
      perform();
      return { type: "reset" };
    });
    const result = await use("write", { record: "a" }, { retries: 3 });
    expect(result).toMatchObject(UNKNOWN);
    // Whether it was done is not known, and the server does not claim to know its keys.
    expect(script.calls).toHaveLength(1);
  });

  it("an answer that broke off, as JSON and as a stream: not known", async () => {
    for (const headers of [
      { "content-type": "application/json" },
      { "content-type": "text/event-stream" },
    ]) {
      strike(() => ({ type: "broken", headers, body: 'data: {"jsonrpc"' }));
      expect(await use("write", { record: "a" })).toMatchObject(UNKNOWN);
    }
  });

  it("a stream that ends without the answer: not known, and not waited for", async () => {
    strike(() => http(200, ": nothing\n\n", "text/event-stream"));
    expect(await use("write", { record: "a" })).toMatchObject(UNKNOWN);
  });

  it("no answer in time: not known, and the server is told", async () => {
    strike(() => ({ type: "hang" }));
    const result = await use("write", { record: "a" }, { timeoutMs: 1_500, retries: 3 });
    expect(result).toMatchObject(UNKNOWN);
    expect(result.text).toContain("did not answer within");
    expect(script.calls).toHaveLength(1);
    await expect.poll(() => script.methods()).toContain("notifications/cancelled");
  });

  it("500 and 502: not known; an internal error in its own words: not known", async () => {
    for (const status of [500, 502]) {
      strike(() => http(status, "oops"));
      expect(await use("write", { record: "a" })).toMatchObject(UNKNOWN);
    }
    strike(() => http(200, '{"jsonrpc":"2.0","id":1e9}', "application/json"));
    expect(await use("write", {}, { timeoutMs: 1_500 })).toMatchObject(UNKNOWN);
  });

  it("400, 403, an unknown tool: not done, and not tried again", async () => {
    for (const status of [400, 403]) {
      strike(() => http(status, "no"));
      const result = await use("write", { record: "a" }, { retries: 3 });
      expect(result).toMatchObject({ ok: false, text: expect.stringContaining("was not done") });
      expect(result).not.toHaveProperty("unknown");
    }
    expect(script.calls).toHaveLength(2);
  });

  it("503 and 429: not done, so the call is made again", async () => {
    for (const status of [503, 429]) {
      ledger = [];
      let struck = 0;
      strike((perform) => (struck++ === 0 ? http(status, "busy") : perform()));
      const result = await use("write", { record: "a" }, { retries: 3 });
      expect(result).toMatchObject({ ok: true });
      expect(ledger).toEqual(["a"]);
    }
  });

  it("a server that is gone: not done, tried again, and how often is told", async () => {
    const far = await McpServer.start("127.0.0.77");
    const one = at(far.open(script));
    const stored = toolboxOf([one], await listing(one)).toolbox.find((t) => t.tool === "write");
    if (!stored) throw new Error("not listed");
    await far.close();
    const result = await call(mcp.tool(one, stored), box, { record: "a" }, { retries: 2 });
    expect(result).toMatchObject({ ok: false });
    expect(result).not.toHaveProperty("unknown");
    expect(result.text).toMatch(/could not be reached.*not done\. \(tried 3 times\)$/);
  });

  it("A read is made again whatever broke", async () => {
    let struck = 0;
    strike((perform) => (struck++ === 0 ? { type: "reset" } : perform()));
    expect(await use("read", {}, { retries: 3 })).toMatchObject({ ok: true });
  });

  it("an effect is made again with its key where the server claims to know keys", async () => {
    const done = new Map<string, unknown>();
    const keyed = writing({
      _meta: { "dormouse/idempotencyKey": true },
      run: ({ record }, { key = "" }) => {
        if (!done.has(key)) ledger.push(String(record));
        done.set(key, text("written"));
        return done.get(key);
      },
    });
    script.tools = [keyed];
    let struck = 0;
    strike((perform) => {
      const right = perform();
      return struck++ === 0 ? { type: "reset" } : right;
    });
    expect(await use("write", { record: "a" }, { retries: 3 })).toMatchObject({ ok: true });
    expect(ledger).toEqual(["a"]);
    expect(script.calls.map((c) => c.headers["idempotency-key"])).toEqual(["k1", "k1"]);
  });
});

describe("M3: a session that the server has forgotten", () => {
  it("is begun anew, once, and the call is made", async () => {
    script.tools = [writing()];
    const one = at(server.open(script));
    const [stored] = toolboxOf([one], await listing(one)).toolbox;
    if (!stored) throw new Error("not listed");
    script.forget();
    expect(await call(mcp.tool(one, stored), box, { record: "a" })).toMatchObject({ ok: true });
    expect(ledger).toEqual(["a"]);
    script.fault = () => () => http(404, "no such session");
    const result = await call(mcp.tool(one, stored), box, { record: "b" });
    expect(result).toMatchObject({ ok: false, text: expect.stringContaining("not done") });
    expect(ledger).toEqual(["a"]);
  });
});
