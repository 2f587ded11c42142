import { describe, expect, it } from "vitest";
import { LIMITS } from "../../src/core/limits.ts";
import type { Hint, ListedTool } from "../../src/core/servers.ts";
import { mergeSettings } from "../../src/core/settings-merge.ts";
import { argumentsFor, specOf, toolboxOf } from "../../src/core/toolbox.ts";
import { call, complete, Harness, type Options, plan, text } from "../fakes.ts";

const SERVERS = { mcp: { servers: { crm: { url: "https://crm.example/mcp" } } } };
const listed = (name: string, hints: Hint[] = [], schema: unknown = {}): ListedTool => ({
  ...{ name, hints },
  description: `does ${name}`,
  schema: { type: "object", properties: { id: { type: "string" } }, ...(schema as object) },
});
const box = (names: string[], server = "crm") =>
  toolboxOf(
    [{ name: server, url: "https://a.example", headers: {}, approval: "allow" }],
    [{ server, tools: names.map((name) => listed(name)) }],
  );
const harness = (options: Options = {}, tools = [listed("find", ["readOnly"]), listed("add")]) => {
  const h = new Harness({ mode: "chat", settings: SERVERS, ...options });
  h.servers.answers = { crm: tools };
  return h;
};

describe("Z1: servers are asked once a turn, and only when there are any", () => {
  it("asks nobody and commits nothing without an enabled server", async () => {
    const plain = await new Harness({ mode: "chat", script: [text("hi")] }).run("hello");
    const off = { mcp: { servers: { crm: { url: "https://a.example", enabled: false } } } };
    const disabled = new Harness({ mode: "chat", script: [text("hi")], settings: off });
    await disabled.run("hello");
    expect(disabled.servers.asked).toEqual([]);
    expect(disabled.disk.commits).toBe(plain.disk.commits);
  });

  it("asks before the first model call, and not again in the same turn", async () => {
    const h = harness({ script: [call(["mcp_crm_find", { id: "1" }]), text("done")] });
    await h.run("find 1");
    expect(h.servers.asked).toEqual([["crm"]]);
    expect(h.tools.dispatched.map((r) => r.name)).toEqual(["mcp_crm_find"]);
    expect(h.faults()).toEqual([]);
  });

  it("asks again in the next turn", async () => {
    const h = harness({ script: [text("one"), text("two")] });
    await h.run("a");
    await h.run("b");
    expect(h.servers.asked).toHaveLength(2);
  });

  it("does not ask for a session without tools, nor for a server whose calls are denied", async () => {
    const direct = harness({ mode: "direct", script: [text("hi")] });
    await direct.run("a");
    const url = "https://a.example";
    const denied = { mcp: { servers: { crm: { url, approval: "deny" as const } } } };
    const closed = harness({ script: [text("hi")], settings: denied });
    await closed.run("a");
    expect([...direct.servers.asked, ...closed.servers.asked]).toEqual([]);
  });

  it("a stop while they are asked ends the turn, and the next one works", async () => {
    const h = harness({ script: [text("now")] });
    h.servers.answers = { crm: "hang" };
    h.say("a");
    await h.settle();
    h.stop();
    expect(h.servers.cancelled).toBe(1);
    h.servers.answers = { crm: [listed("find")] };
    await h.run("b");
    expect(h.of("done").map((d) => d.outcome)).toEqual(["stopped", "completed"]);
  });

  it("what people say meanwhile waits for the answer", async () => {
    const h = harness({ script: [text("both")] });
    h.servers.answers = { crm: "hang" };
    h.say("a");
    await h.settle();
    h.say("and this");
    h.servers.answers = { crm: [listed("find")] };
    h.crash();
    await h.settle();
    expect(h.servers.asked).toHaveLength(2);
    expect(h.faults().filter((f) => !f.includes("were not used"))).toEqual([]);
  });
});

describe("Z2: the answer is stored with the turn", () => {
  it("offers them after the work tools and before the messages", async () => {
    const h = await harness({ script: [text("hi")] }).run("a");
    const names = h.offered(1);
    expect(names.indexOf("mcp_crm_add")).toBe(names.indexOf("attach") + 1);
    expect(names.indexOf("mcp_crm_find")).toBe(names.indexOf("message_notify_user") - 1);
  });

  it("a request after a crash has the same bytes, and nobody is asked", async () => {
    const h = harness({ script: [{ hang: true }, text("done")] });
    await h.run("a");
    const [first] = h.model.bodies;
    h.servers.answers = {};
    h.crash();
    await h.settle();
    expect(h.model.bodies[1]).toBe(first);
    expect(h.servers.asked).toHaveLength(1);
  });

  it("a crash while they are asked asks them again", async () => {
    const h = harness({ script: [text("done")] });
    h.servers.answers = { crm: "hang" };
    h.say("a");
    await h.settle();
    h.servers.answers = { crm: [listed("find")] };
    h.crash();
    await h.settle();
    expect(h.offered(1)).toContain("mcp_crm_find");
    expect(h.of("done")).toEqual([{ outcome: "completed", run: 1 }]);
  });

  it("tells the planner their names, and nothing is left of them at rest", async () => {
    const script = [plan("look"), call(["mcp_crm_find", { id: "1" }]), complete(true)];
    const h = await harness({ mode: "agent", script }).run("a");
    const system = h.requests[0]?.messages[0]?.content ?? "";
    expect(system).toContain("- mcp: mcp_crm_add, mcp_crm_find");
    expect(h.of("tool").map((t) => [t.name, t.function, t.status])).toEqual([
      ["mcp", "mcp_crm_find", "calling"],
      ["mcp", "mcp_crm_find", "called"],
    ]);
    expect(h.head.toolbox).toBeNull();
    expect(h.faults()).toEqual([]);
  });
});

describe("crashes around the servers", () => {
  const script = () => [
    plan("look"),
    call(["mcp_crm_find", { id: "1" }]),
    call(["mcp_crm_add", { id: "1" }]),
    complete(true),
  ];
  const sane = (h: Harness) => {
    expect(h.of("done")).toEqual([{ outcome: "completed", run: 1 }]);
    expect(h.faults().filter((f) => !f.includes("were not used"))).toEqual([]);
    expect(h.head.toolbox).toBeNull();
  };

  it("at every commit, failed or durable, end in the same turn", async () => {
    const whole = await harness({ mode: "agent", script: script() }).run("a");
    sane(whole);
    for (let n = 1; n <= whole.disk.commits; n++) {
      for (const where of ["failAt", "dieAfter"] as const) {
        const h = harness({ mode: "agent", script: script() });
        h.disk[where].add(n);
        try {
          h.say("a");
        } catch {
          if (h.disk.commits > 1 || where === "failAt") h.crash();
        }
        await h.settle();
        if (h.head.run === 0) continue;
        sane(h);
        // An effect whose outcome is unknown is told; it is not run twice by itself.
        const added = h.tools.dispatched.filter((r) => r.name === "mcp_crm_add");
        expect(new Set(added.map((r) => r.idempotencyKey)).size).toBe(added.length > 0 ? 1 : 0);
      }
    }
  });
});

describe("Z3: who cannot be used is left out and told", () => {
  it("names the server and the reason, and goes on with the others", async () => {
    const url = "https://b.example/mcp";
    const settings = { mcp: { servers: { ...SERVERS.mcp.servers, b: { url } } } };
    const h = harness({ script: [text("hi")], settings });
    h.servers.answers = { crm: [listed("find")], b: { code: "refused", status: 401 } };
    await h.run("a");
    expect(h.offered(1)).toContain("mcp_crm_find");
    expect(h.of("notice")).toEqual([
      {
        code: "mcp_server_left_out",
        text: expect.stringMatching(/^MCP servers left out of this turn: b \(.*HTTP 401.*\)/),
      },
    ]);
  });

  it("says it in Chinese to who writes Chinese", async () => {
    const h = harness({ script: [text("好")] });
    h.servers.answers = {};
    await h.run("你好");
    expect(h.of("notice")[0]?.text).toContain("crm(无法连接)");
  });

  it("leaves out single tools that are too large, too many, or without a schema", () => {
    const many = Array.from({ length: LIMITS.mcpTools + 1 }, (_, i) => listed(`t${i + 100}`));
    const large = listed("large", [], { x: "y".repeat(LIMITS.mcpToolChars) });
    const bad = { ...listed("bad"), schema: "none" };
    const of = (tools: ListedTool[]) =>
      toolboxOf(
        [{ name: "crm", url: "", headers: {}, approval: "allow" }],
        [{ server: "crm", tools }],
      );
    expect(of(many).leftOut.map((l) => l.why)).toEqual(["too_many"]);
    expect(of([large, bad, listed("fine")])).toMatchObject({
      toolbox: [{ name: "mcp_crm_fine" }],
      leftOut: [
        { tool: "crm/bad", why: "no_schema" },
        { tool: "crm/large", why: "too_large" },
      ],
    });
  });

  it("bounds all tools of a turn together", () => {
    const half = LIMITS.mcpToolChars - 1_000;
    const tools = Array.from({ length: 40 }, (_, i) =>
      listed(`t${i}`, [], { description: "x".repeat(half) }),
    );
    const { toolbox, leftOut } = toolboxOf(
      [{ name: "crm", url: "", headers: {}, approval: "allow" }],
      [{ server: "crm", tools }],
    );
    expect(JSON.stringify(toolbox).length).toBeLessThanOrEqual(LIMITS.mcpChars + 100);
    expect(leftOut.length).toBeGreaterThan(0);
  });

  it("A08: a tool whose schema the endpoint cannot take is left out alone", async () => {
    const h = harness({ script: [text("hi")] }, [
      listed("fine"),
      listed("broken", [], { properties: { a: { $ref: "#/nowhere" } } }),
    ]);
    await h.run("a");
    expect(h.offered(1)).toContain("mcp_crm_fine");
    expect(h.offered(1)).not.toContain("mcp_crm_broken");
    expect(h.of("notice").map((n) => n.code)).toEqual(["tool_left_out"]);
  });
});

describe("X1: names", () => {
  it("take what endpoints do not take out of them", () => {
    expect(box(["get.issue", "列表"], "my server").toolbox.map((t) => t.name)).toEqual([
      "mcp_my_server_get_issue",
      "mcp_my_server___",
    ]);
  });

  it("are at most 64 long, and still tell two apart", () => {
    const long = "x".repeat(80);
    const names = box([`${long}a`, `${long}b`]).toolbox.map((t) => t.name);
    expect(names.every((name) => name.length === 64)).toBe(true);
    expect(new Set(names).size).toBe(2);
  });

  it("that would be one are told apart the same way, whatever the order of the list", () => {
    const one = box(["a.b", "a_b", "a b"]).toolbox.map((t) => [t.tool, t.name]);
    const two = box(["a b", "a_b", "a.b"]).toolbox.map((t) => [t.tool, t.name]);
    expect(one).toEqual(two);
    expect(one[0]).toEqual(["a_b", "mcp_crm_a_b"]);
    expect(new Set(one.map(([, name]) => name)).size).toBe(3);
  });
});

describe("X2: hints decide how a call is repeated", () => {
  const factsOf = (...hints: Hint[]) =>
    toolboxOf(
      [{ name: "s", url: "", headers: {}, approval: "allow" }],
      [{ server: "s", tools: [listed("t", hints)] }],
    ).toolbox[0];

  it("without any a tool is careful: alone, with an effect, never run twice", () => {
    expect(factsOf()).toMatchObject({
      ...{ effect: true, parallelSafe: false, volatile: false, recovery: "report" },
    });
    expect(factsOf()).not.toHaveProperty("repeatable");
  });
  it("a read runs beside others and again; it changes by itself unless its world is closed", () => {
    expect(factsOf("readOnly")).toMatchObject({
      ...{ effect: false, parallelSafe: true, volatile: true, recovery: "rerun" },
    });
    expect(factsOf("readOnly", "closedWorld")).toMatchObject({ volatile: false });
  });
  it("an idempotent effect, and one whose server knows keys, may be done again", () => {
    for (const hint of ["idempotent", "keyed"] as const) {
      expect(factsOf(hint)).toMatchObject({
        ...{ effect: true, recovery: "rerun", repeatable: true },
      });
    }
  });

  it("a call that was running when the object died is reported, or run again with its key", async () => {
    for (const [hints, runs] of [
      [[], 1],
      [["keyed"], 2],
    ] as [Hint[], number][]) {
      const script = [call(["mcp_crm_add", { id: "1" }]), text("done")];
      const h = harness({ script }, [listed("add", hints)]);
      h.tools.behaviour = (run) => (run.reopened ? { ok: true, text: "once" } : "hang");
      await h.run("a");
      h.crash();
      await h.settle();
      const keys = h.tools.dispatched.map((r) => r.idempotencyKey);
      expect(keys).toHaveLength(runs);
      expect(new Set(keys).size).toBe(1);
      expect(keys[0]).toBeTruthy();
      expect(h.last(2)).toContain(runs === 1 ? "Outcome unknown" : "once");
      expect(h.faults()).toEqual([]);
    }
  });
});

describe("X3: arguments", () => {
  const stored = (schema: object) => {
    const tool = toolboxOf(
      [{ name: "s", url: "", headers: {}, approval: "allow" }],
      [{ server: "s", tools: [listed("t", [], schema)] }],
    ).toolbox[0];
    if (!tool) throw new Error("no tool");
    return tool;
  };
  const strict = {
    properties: { n: { type: "integer", minimum: 1 }, brief: { type: "string" } },
    required: ["n", "brief"],
    additionalProperties: false,
  };

  it("offer the label of every work tool, and a brief of the server's own under another name", () => {
    const { parameters } = specOf(stored(strict));
    expect(Object.keys(parameters.properties as object)).toEqual(["n", "brief_argument", "brief"]);
    expect(parameters.required).toEqual(["n", "brief_argument", "brief"]);
  });

  it("reach the server without the label, and with its own brief", () => {
    const tool = stored(strict);
    const args = { n: 3, brief_argument: "theirs", brief: "ours" };
    expect(argumentsFor(tool, args)).toEqual({ ok: true, value: { n: 3, brief: "theirs" } });
    expect(argumentsFor(stored({}), { id: "1", brief: "x" })).toEqual({
      ok: true,
      value: { id: "1" },
    });
  });

  it("are held against the server's own schema, and the error names the field", () => {
    const wrong = argumentsFor(stored(strict), { n: 0, brief_argument: "x" });
    expect(wrong).toMatchObject({ ok: false, error: expect.stringContaining("`n`") });
    expect(argumentsFor(stored(strict), { n: 1 })).toMatchObject({ ok: false });
  });

  it("of the wrong type and the right meaning are put right before they run", async () => {
    const schema = { properties: { n: { type: "integer" } }, required: ["n"] };
    const script = [call(["mcp_crm_add", { n: "3", brief: "adds" }]), text("done")];
    const h = await harness({ script }, [listed("add", [], schema)]).run("a");
    expect(h.tools.dispatched[0]?.args).toEqual({ n: 3 });
    expect(h.of("tool")[0]).toMatchObject({ args: { n: 3 }, brief: "adds" });
  });
});

describe("approval of a server", () => {
  const asking = (approval: Record<string, "allow" | "ask" | "deny">) => ({
    mcp: { servers: { crm: { url: "https://a.example", approval: "ask" as const } } },
    tools: { approval },
  });

  it("asks before each call of its tools, whatever a glob allows", async () => {
    const script = [call(["mcp_crm_add", { id: "1" }]), text("done")];
    const h = harness({ script, settings: asking({ "mcp_*": "allow" }) });
    await h.run("a");
    expect(h.head.wait).toMatchObject({ kind: "approval", tool: { function: "mcp_crm_add" } });
    expect(h.tools.dispatched).toEqual([]);
    h.decide(true);
    await h.settle();
    expect(h.tools.dispatched).toHaveLength(1);
    expect(h.faults()).toEqual([]);
  });

  it("gives way to a glob that denies: the tool is not even offered", async () => {
    const settings = asking({ "mcp_crm_a*": "deny" });
    const h = await harness({ script: [text("hi")], settings }).run("a");
    expect(h.offered(1)).toContain("mcp_crm_find");
    expect(h.offered(1)).not.toContain("mcp_crm_add");
  });

  it("is not needed by default", async () => {
    const h = harness({ script: [call(["mcp_crm_add", { id: "1" }]), text("done")] });
    await h.run("a");
    expect(h.tools.dispatched).toHaveLength(1);
  });
});

describe("S4: headers of a server", () => {
  const deployed = {
    mcp: { servers: { crm: { url: "https://crm.example", headers: { authorization: "k" } } } },
  };
  const merged = (url: string) =>
    mergeSettings([deployed, { mcp: { servers: { crm: { url, enabled: true } } } }]).mcp.servers
      .crm;

  it("stay with the address that they were stated with", () => {
    expect(merged("https://crm.example")?.headers).toEqual({ authorization: "k" });
    expect(merged("https://evil.example")).toEqual({ url: "https://evil.example", enabled: true });
  });
});
