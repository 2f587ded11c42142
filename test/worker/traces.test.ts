/** Traces through the Worker: what a collector gets, over crashes and evictions, and that nothing waits for it. */
import { evictDurableObject } from "cloudflare:test";
import { describe, expect } from "vitest";
// Loaded before the first test, not within it.
import "@modelcontextprotocol/client";
import { text as answer, McpScript } from "../support/mcp-script.ts";
import { api, Client, it, until, useVars } from "./support/client.ts";
import { Collector } from "./support/collector.ts";
import { atRest, type Kind, plant, settle } from "./support/crash.ts";
import { listen } from "./support/log.ts";
import { askUser, call, complete, plan, text, write } from "./support/replies.ts";
import { scripted, serveMcp } from "./support/upstream.ts";

const PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const traced = async (test: (collector: Collector) => Promise<void>): Promise<void> => {
  const collector = new Collector();
  try {
    await test(collector);
  } finally {
    collector.close();
  }
};

describe("a turn", () => {
  it("is told to the collector with its key: one trace, and no content", () =>
    traced(async (collector) => {
      const c = await Client.create([plan("said-words"), write("private.txt"), complete()]);
      await c.say("said-words");
      const spans = await collector.of(c.id);
      expect(spans.map((s) => s.name.replace(c.model.name, "MODEL")).sort()).toEqual([
        "chat MODEL",
        "chat MODEL",
        "chat MODEL",
        "execute_tool file_write",
        "invoke_agent dormouse",
      ]);
      expect(new Set(spans.map((s) => s.trace)).size).toBe(1);
      const whole = JSON.stringify(spans);
      for (const secret of ["said-words", "private", "/workspace", "collector-secret"]) {
        expect(whole).not.toContain(secret);
      }
      expect(collector.headers[0]?.["x-key"]).toBe("collector-secret");
      expect(spans[0]?.resource["service.name"]).toBe("dormouse");
    }));

  it("stays one trace over a wait in which the object hibernates", () =>
    traced(async (collector) => {
      const c = await Client.create([plan("a"), askUser("Which?"), write(), complete()]);
      await c.say("Do it");
      await c.status("waiting");
      await atRest(c);
      await until(() => expect(collector.spans).toHaveLength(2));
      await evictDurableObject(c.stub);
      await c.answer("blue");
      const spans = await collector.of(c.id);
      expect(new Set(spans.map((s) => s.trace)).size).toBe(1);
      const [root] = spans;
      expect(root?.name).toBe("invoke_agent dormouse");
      expect(spans.slice(1).every((s) => s.parent === root?.id)).toBe(true);
      expect(spans.map((s) => s.name)).toContain("wait question");
    }));

  for (const kind of ["fail", "lose", "die"] as Kind[]) {
    it(`is one trace without a span twice when its object is lost in the middle (${kind})`, () =>
      traced(async (collector) => {
        useVars({ LOG_LEVEL: "off" });
        const c = await Client.create([plan("a"), write(), complete()]);
        const crash = await plant(c, 3, kind);
        await c.say("Do it");
        await settle(c, crash);
        expect(crash.fired).toBe(true);
        const spans = await collector.of(c.id);
        expect(new Set(spans.map((s) => s.trace)).size).toBe(1);
        expect(new Set(spans.map((s) => s.id)).size).toBe(spans.length);
        const [root] = spans.filter((s) => s.parent === null);
        expect(spans.filter((s) => s !== root).every((s) => s.parent === root?.id)).toBe(true);
        // What was not sent when the object died is lost; what came after is not.
        expect(spans.at(-1)?.name).toBe(`chat ${c.model.name}`);
      }));
  }

  it("keeps its beginning when a person goes on with it", () =>
    traced(async (collector) => {
      const c = await Client.create([text("one"), text("two")], { mode: "chat" });
      await c.say("first");
      await collector.of(c.id);
      await c.say("second");
      const roots = (await collector.of(c.id, 2)).filter((s) => s.parent === null);
      expect(new Set(roots.map((s) => s.trace)).size).toBe(2);
      expect(roots.map((s) => s.attributes["gen_ai.usage.input_tokens"])).toEqual([10, 10]);
    }));
});

describe("the header traceparent", () => {
  it("ties model and MCP server to their spans, and the turn to whoever asked", () =>
    traced(async (collector) => {
      const script = new McpScript();
      script.tools = [
        { name: "find", annotations: { readOnlyHint: true }, run: () => answer("x") },
      ];
      const settings = { mcp: { servers: { crm: { url: serveMcp(script) } } } };
      const c = await Client.create([call(["mcp_crm_find", {}]), text("ok")], {
        mode: "chat",
        settings,
      });
      const headers = { traceparent: PARENT };
      await c.fetch("/messages", { json: { text: "q" }, headers });
      const spans = await collector.of(c.id);
      const trace = PARENT.slice(3, 35);
      expect(new Set(spans.map((s) => s.trace))).toEqual(new Set([trace]));
      const root = spans.find((s) => s.name.startsWith("invoke_agent"));
      expect(root?.parent).toBe(PARENT.slice(36, 52));
      const ids = (name: string) =>
        spans.filter((s) => s.name.startsWith(name)).map((s) => `00-${trace}-${s.id}-01`);
      expect(c.model.asked.map((a) => a.headers.traceparent)).toEqual(ids("chat"));
      expect(script.calls.map((t) => t.headers.traceparent)).toEqual(ids("execute_tool"));
    }));

  it("is not sent where nothing is traced, and nonsense begins a trace of our own", async () => {
    const c = await Client.create([text("ok"), text("ok")], { mode: "chat" });
    await c.fetch("/messages", { json: { text: "q" }, headers: { traceparent: PARENT } });
    await c.status("completed");
    expect(c.model.asked[0]?.headers).not.toHaveProperty("traceparent");
    await traced(async (collector) => {
      await evictDurableObject(c.stub);
      await c.fetch("/messages", { json: { text: "q" }, headers: { traceparent: "x" } });
      const spans = await collector.of(c.id);
      expect(spans.every((s) => s.trace !== PARENT.slice(3, 35))).toBe(true);
    });
  });

  it("makes a specialist's turn a part of the call that asked for it", () =>
    traced(async (collector) => {
      const model = scripted([call(["agent_response", { text: "well" }])]);
      useVars({ PROFILES: JSON.stringify({ t: { provider: "custom", model: model.name } }) });
      const task = { profile: "t", task: "Test", brief: "tests" };
      const c = await Client.create([plan("a"), call(["delegate_task", task]), complete()]);
      await c.say("Do it");
      const mine = await collector.of(c.id);
      const asked = mine.find((s) => s.name === "execute_tool delegate_task");
      await until(() => expect(collector.spans.some((s) => s.parent === asked?.id)).toBe(true));
      const child = collector.spans.find((s) => s.parent === asked?.id);
      expect(child).toMatchObject({ name: "invoke_agent dormouse", trace: asked?.trace });
    }));
});

describe("a collector", () => {
  it("that never answers delays nothing", () =>
    traced(async (collector) => {
      collector.answer = () => new Promise<Response>(() => {});
      const c = await Client.create([text("ok")], { mode: "chat" });
      const reply = await c.fetch("/messages", {
        json: { text: "q" },
        headers: { prefer: "wait=30" },
      });
      expect(await reply.json()).toMatchObject({ outcome: "completed", message: "ok" });
    }));

  it("that refuses costs its spans, aloud, and nothing else", () =>
    traced(async (collector) => {
      collector.answer = () => new Response("no", { status: 401 });
      const heard = listen("warn");
      const c = await Client.create([text("ok")], { mode: "chat" });
      await c.say("q");
      await c.status("completed");
      await until(() => expect(heard.of("spans_dropped")).toHaveLength(1));
      heard.stop();
      expect(heard.of("spans_dropped")[0]).toMatchObject({
        level: "warn",
        spans: 2,
        why: "refused",
        status: 401,
      });
    }));

  it("whose address is wrong turns traces off, and nothing else", async () => {
    useVars({ OTEL_EXPORTER_OTLP_ENDPOINT: "nonsense", LOG_LEVEL: "off" });
    const c = await Client.create([text("ok")], { mode: "chat" });
    await c.say("q");
    await c.status("completed");
  });
});

describe("a call of the proxy", () => {
  it("is a span of its own, in the trace of its client, and a line of the log", () =>
    traced(async (collector) => {
      const heard = listen("info");
      const model = scripted([text("hi")]);
      const json = { model: model.name, messages: [{ role: "user", content: "said-words" }] };
      const reply = await api("/v1/chat/completions", { json, headers: { traceparent: PARENT } });
      const { id } = await reply.json<{ id: string }>();
      await until(() => expect(collector.spans).toHaveLength(1));
      heard.stop();
      const trace = PARENT.slice(3, 35);
      const [span] = collector.spans;
      expect(span).toMatchObject({
        name: `chat ${model.name}`,
        trace,
        parent: PARENT.slice(36, 52),
      });
      expect(model.asked[0]?.headers.traceparent).toBe(`00-${trace}-${span?.id}-01`);
      expect(heard.of("model_call_ended")).toMatchObject([
        { session: id, mode: "proxy", input_tokens: 10, finish: "stop" },
      ]);
      expect(JSON.stringify(heard.lines)).not.toContain("said-words");
    }));
});
