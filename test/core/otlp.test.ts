/** Traces: facts as spans (ids I1, I2), and the way to a collector on 127.0.0.1 (X1 … X3). */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { bodyOf, createExporter, type Loss } from "../../src/adapters/otlp/exporter.ts";
import { contextOf, headerFor, spanId, traceHeader } from "../../src/adapters/otlp/ids.ts";
import { otlpSetup } from "../../src/adapters/otlp/setup.ts";
import { type Span, spanOf } from "../../src/adapters/otlp/spans.ts";
import { LIMITS } from "../../src/core/limits.ts";
import { askUser, call, complete, fail, Harness, plan, succeed, text, work } from "../fakes.ts";
import { type Collector, startCollector } from "../support/otlp.ts";
import { decode, type Heard } from "../support/otlp-decode.ts";

const PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const resource = { "service.name": "dormouse", "service.version": "1" };
const decoded = (h: Harness): Heard[] => {
  const spans = h.facts.map(spanOf).filter((span) => span !== null);
  return decode(bodyOf({ resource }, spans));
};
const named = (spans: Heard[], name: string) => spans.filter((s) => s.name.startsWith(name));

describe("a turn as a trace", () => {
  it("is one tree: the turn, and its model calls, tool calls and waits under it", async () => {
    const script = [plan("a"), askUser("Which?"), work(), complete(true)];
    const h = await new Harness({ script }).run("x");
    h.now += 60_000;
    h.answer("blue");
    await h.settle();
    const spans = decoded(h);
    const [root] = named(spans, "invoke_agent");
    expect(root).toMatchObject({ parent: null, name: "invoke_agent dormouse", kind: 1 });
    expect(spans.filter((s) => s !== root).map((s) => s.parent)).toEqual(
      spans.filter((s) => s !== root).map(() => root?.id),
    );
    expect(new Set(spans.map((s) => s.trace)).size).toBe(1);
    expect(new Set(spans.map((s) => s.id)).size).toBe(spans.length);
    expect(spans.map((s) => s.name)).toEqual([
      "chat fake-1",
      "chat fake-1",
      "wait question",
      "chat fake-1",
      "execute_tool file_write",
      "chat fake-1",
      "invoke_agent dormouse",
    ]);
    const [wait] = named(spans, "wait");
    expect((wait?.to ?? 0) - (wait?.from ?? 0)).toBe(60_000);
    for (const span of spans) {
      expect(span.from).toBeGreaterThanOrEqual(root?.from ?? Number.NaN);
      expect(span.to).toBeLessThanOrEqual(root?.to ?? Number.NaN);
    }
  });

  it("has the attributes of the conventions for generative AI", async () => {
    const h = await new Harness({ script: [plan("a"), work(), complete(true)] }).run("x");
    const spans = decoded(h);
    expect(named(spans, "chat")[0]).toMatchObject({
      kind: 3,
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "fake",
        "gen_ai.request.model": "fake-1",
        "gen_ai.response.model": "fake",
        "gen_ai.response.finish_reasons": ["tool_calls"],
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 1,
        "gen_ai.usage.cache_read.input_tokens": 0,
        "gen_ai.conversation.id": "s1",
        "dormouse.role": "planner",
      },
    });
    const [tool] = h.of("tool");
    expect(named(spans, "execute_tool")[0]).toMatchObject({
      kind: 1,
      attributes: {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "file_write",
        "gen_ai.tool.call.id": tool?.tool_call_id,
        "gen_ai.tool.type": "function",
      },
    });
    expect(named(spans, "invoke_agent")[0]?.attributes).toMatchObject({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "dormouse",
      "gen_ai.conversation.id": "s1",
      "gen_ai.usage.input_tokens": 30,
      "dormouse.tool_calls": 1,
    });
  });

  it("shows what failed with the type of the error", async () => {
    const script = [
      fail("provider_error", true),
      call(["shell_exec", { command: "x" }]),
      fail("provider_auth", false),
    ];
    const h = new Harness({ mode: "chat", script });
    h.tools.behaviour = () => ({ ok: false, text: "PRIVATE" });
    await h.run("x");
    const failed = decoded(h).filter((s) => s.error);
    expect(failed.map((s) => [s.name, s.attributes["error.type"]])).toEqual([
      ["chat fake-1", "provider_error"],
      ["execute_tool shell_exec", "tool_failed"],
      ["chat fake-1", "provider_auth"],
      ["invoke_agent dormouse", "provider_auth"],
    ]);
    expect(JSON.stringify(failed)).not.toContain("PRIVATE");
  });

  it("I1: is the same trace, span for span, when the object died in the middle", async () => {
    const script = [call(["attach", { command: "make" }]), text("ok")];
    const whole = await new Harness({ mode: "chat", script }).run("x");
    const h = new Harness({ mode: "chat", script });
    h.tools.behaviour = () => "hang";
    await h.run("x");
    h.crash();
    await h.settle();
    for (const id of [...h.tools.open.keys()]) h.tools.release(id, succeed());
    await h.settle();
    const ids = (of: Harness) => decoded(of).map((s) => [s.trace, s.id, s.parent, s.name]);
    expect(ids(h)).toEqual(ids(whole));
  });

  it("belongs to the trace of whoever asked, and is not sent where they want none", async () => {
    const h = await new Harness({ mode: "chat", script: [text("ok")] }).run("x");
    const ours = h.facts.map((f) => ({ ...f, trace: PARENT }));
    const spans = ours.map(spanOf).filter((s) => s !== null);
    expect(new Set(spans.map((s) => s.traceId))).toEqual(new Set([PARENT.slice(3, 35)]));
    expect(spans.at(-1)?.parentSpanId).toBe(PARENT.slice(36, 52));
    const unwanted = ours.map((f) => ({ ...f, trace: PARENT.replace(/01$/, "00") }));
    expect(unwanted.map(spanOf).filter((s) => s !== null)).toEqual([]);
  });
});

describe("ids", () => {
  const turn = { session: "a".repeat(26), turn: 1, trace: "" };
  it("differ by session, turn and key in many bits, and are never the same", () => {
    const seen = new Set<string>();
    for (let n = 0; n < 3_000; n++) {
      seen.add(contextOf({ ...turn, turn: n }).traceId.slice(0, 16));
      seen.add(spanId(turn, `c1n${n}`));
    }
    expect(seen.size).toBe(6_000);
    const [a, b] = [spanId(turn, "c1n1"), spanId(turn, "c1n2")].map((id) => BigInt(`0x${id}`));
    const bits = ((a ?? 0n) ^ (b ?? 0n)).toString(2).replaceAll("0", "").length;
    expect(bits).toBeGreaterThan(12);
  });
  it("stand in a header that can be read back", () => {
    const header = headerFor(turn, "c1n1");
    expect(traceHeader(header)).toBe(header);
    expect(contextOf({ ...turn, trace: header })).toEqual({
      traceId: contextOf(turn).traceId,
      parentId: spanId(turn, "c1n1"),
      sampled: true,
    });
    const unwanted = { ...turn, trace: PARENT.replace(/01$/, "00") };
    expect(headerFor(unwanted, "c1n1")).toMatch(
      /^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-00$/,
    );
  });
  it.each([
    [PARENT, PARENT],
    [` ${PARENT} `, PARENT],
    [PARENT.replace(/^00/, "cc").concat("-what-else"), PARENT],
    [PARENT.replace(/^00/, "ff"), ""],
    [PARENT.toUpperCase(), ""],
    ["00-00000000000000000000000000000000-b7ad6b7169203331-01", ""],
    ["00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", ""],
    [`${PARENT}x`, ""],
    ["nonsense\n", ""],
    [undefined, ""],
  ])("the header %j is kept as %j", (given, kept) => {
    expect(traceHeader(given)).toBe(kept);
  });
});

describe("where traces go", () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "https://otel.example.com:4318/base/" };
  it("follows from OpenTelemetry's own variables", () => {
    const vars = {
      ...endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20k%2C1, x-team = a",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=staging,service.name=other",
      OTEL_SERVICE_NAME: "mine",
    };
    expect(otlpSetup(vars, "9")).toEqual({
      type: "on",
      to: {
        url: "https://otel.example.com:4318/base/v1/traces",
        headers: { authorization: "Bearer k,1", "x-team": "a" },
        resource: {
          "deployment.environment.name": "staging",
          "service.name": "mine",
          "service.version": "9",
        },
      },
    });
    expect(otlpSetup(endpoint, "9")).toMatchObject({
      to: { resource: { "service.name": "dormouse" }, headers: {} },
    });
    expect(otlpSetup({}, "9")).toEqual({ type: "off" });
  });
  it.each([
    { OTEL_EXPORTER_OTLP_ENDPOINT: "otel:4318" },
    { OTEL_EXPORTER_OTLP_ENDPOINT: "https://user:secret@otel.example.com" },
    { ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: "secret" },
    { ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: "a=%E0%A4secret" },
    { ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: "a=secret%0Ab" },
    { ...endpoint, OTEL_RESOURCE_ATTRIBUTES: "=secret" },
  ])("that cannot be used says so and shows no value: %j", (vars) => {
    const setup = otlpSetup(vars, "9");
    expect(setup).toMatchObject({ type: "wrong", why: expect.stringContaining("OTEL_") });
    expect(JSON.stringify(setup)).not.toContain("secret");
  });
});

describe("sending", () => {
  let collector: Collector;
  let sent: Promise<void>[];
  let lost: [number, Loss, number | null][];
  let span: Span;
  beforeEach(async () => {
    collector = await startCollector();
    [sent, lost] = [[], []];
    const h = await new Harness({ mode: "chat", script: [text("ok")] }).run("x");
    span = h.facts.map(spanOf).find((s) => s !== null) as Span;
  });
  afterEach(async () => {
    vi.useRealTimers();
    vi.restoreAllMocks();
    await collector.close();
  });
  const exporter = (headers: Record<string, string> = {}, path = "/v1/traces") =>
    createExporter({
      to: { url: `${collector.url}${path}`, headers, resource },
      waitUntil: (work) => void sent.push(work),
      dropped: (...loss) => void lost.push(loss),
    });
  const ended = async () => {
    for (let n = 0; n < sent.length; n++) await sent[n];
  };

  it("is one request for what waits, with the collector's headers, and clean JSON", async () => {
    const out = exporter({ authorization: "Bearer k" });
    for (const spanId of ["a1", "b2"])
      out.add({ ...span, spanId: spanId.repeat(4).padEnd(16, "0") });
    out.flush();
    out.flush();
    await ended();
    expect(collector.requests).toHaveLength(1);
    expect(collector.requests[0]).toMatchObject({
      path: "/v1/traces",
      headers: { authorization: "Bearer k", "content-type": "application/json" },
    });
    expect(collector.spans).toHaveLength(2);
    expect(collector.spans[0]?.resource).toEqual(resource);
    expect([collector.faults, lost]).toEqual([[], []]);
  });

  it("happens by itself soon after a span, and leaves no timer", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    exporter().add(span);
    expect(sent).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(LIMITS.traceLingerMs);
    vi.useRealTimers();
    await ended();
    expect(collector.spans).toHaveLength(1);
    expect(vi.isFakeTimers()).toBe(false);
  });

  it("goes in batches of a bounded size", async () => {
    const out = exporter();
    for (let n = 0; n < LIMITS.traceBatch + 1; n++) out.add(span);
    out.flush();
    await ended();
    expect(collector.requests).toHaveLength(2);
    expect(collector.spans).toHaveLength(LIMITS.traceBatch + 1);
  });

  it("is tried again when the collector is busy, with the same spans", async () => {
    collector.answers.push({ status: 503, headers: { "retry-after": "0.01" } });
    const out = exporter();
    out.add(span);
    out.flush();
    await ended();
    expect(collector.requests).toHaveLength(2);
    expect(collector.spans.map((s) => s.id)).toEqual([span.spanId]);
    expect(lost).toEqual([]);
  });

  it("X1: is given up after a few tries, aloud, and the next batch is tried once", async () => {
    const busy = { status: 503, headers: { "retry-after": "0.01" } };
    for (let n = 0; n < LIMITS.traceTries + 1; n++) collector.answers.push(busy);
    const out = exporter();
    out.add(span);
    out.flush();
    await ended();
    expect(collector.requests).toHaveLength(LIMITS.traceTries);
    expect(lost).toEqual([[1, "unreachable", 503]]);
    out.add(span);
    out.flush();
    await ended();
    expect(collector.requests).toHaveLength(LIMITS.traceTries + 1);
    expect(lost).toHaveLength(2);
    out.add(span);
    out.flush();
    await ended();
    expect(collector.spans).toHaveLength(1);
  });

  it("that is refused is not tried again, and a redirect is not followed", async () => {
    const away = { status: 307, headers: { location: `${collector.url}/elsewhere` } };
    collector.answers.push({ status: 401 }, away);
    const out = exporter({ authorization: "Bearer k" });
    for (let n = 0; n < 2; n++) {
      out.add(span);
      out.flush();
      await ended();
    }
    expect(collector.requests.map((r) => r.path)).toEqual(["/v1/traces", "/v1/traces"]);
    expect(lost.map(([count, why]) => [count, why])).toEqual([
      [1, "refused"],
      [1, "refused"],
    ]);
  });

  it("hears of spans that were taken in part", async () => {
    const body = JSON.stringify({ partialSuccess: { rejectedSpans: "2", errorMessage: "old" } });
    collector.answers.push({ body }, { body: "not json" });
    const out = exporter();
    for (let n = 0; n < 2; n++) {
      out.add(span);
      out.flush();
      await ended();
    }
    expect(lost).toEqual([[2, "rejected", 200]]);
  });

  it("X2: keeps so many spans and no more while the collector does not answer", async () => {
    let answer: (response: Response) => void = () => {};
    vi.spyOn(globalThis, "fetch").mockImplementation(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    const out = exporter();
    const all = LIMITS.traceBatch + LIMITS.traceWaiting + 7;
    for (let n = 0; n < all; n++) out.add(span);
    expect(sent).toHaveLength(1);
    vi.restoreAllMocks();
    answer(new Response("{}"));
    await ended();
    expect(lost).toEqual([[7, "full", null]]);
    expect(collector.spans).toHaveLength(LIMITS.traceWaiting);
  });

  it("X2: waits a bounded time for an answer", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const aborted: boolean[] = [];
    vi.spyOn(globalThis, "fetch").mockImplementation(
      (_, init) =>
        new Promise((_resolve, reject) => {
          init?.signal?.addEventListener("abort", () => {
            aborted.push(true);
            reject(new Error("aborted"));
          });
        }),
    );
    const out = exporter();
    out.add(span);
    out.flush();
    await vi.runAllTimersAsync();
    await ended();
    expect(aborted).toHaveLength(LIMITS.traceTries);
    expect(lost).toEqual([[1, "unreachable", null]]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
