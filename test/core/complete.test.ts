/** The pure part of the proxy: a guarded completion, its request, and the client's schemas. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clientTool, doneIn } from "../../src/core/client-tools.ts";
import {
  type Ask,
  begin,
  isOpen,
  type Next,
  nextRequest,
  type Run,
  take,
} from "../../src/core/complete.ts";
import type { ModelFailure, RawCall, Reply } from "../../src/core/ports.ts";
import { type Hint, PRESETS, type Profile } from "../../src/core/profile.ts";
import { misfit } from "../../src/core/schema-fits.ts";
import { DEFAULTS } from "../../src/core/settings.ts";
import type { JsonObject } from "../../src/core/tool.ts";
import { checkHistory } from "../support/history-oracle.ts";
import { runs } from "../support/properties.ts";

const READ = {
  type: "function",
  function: {
    name: "read",
    parameters: {
      type: "object",
      properties: { path: { type: "string" }, lines: { type: ["integer", "null"] } },
      required: ["path"],
    },
  },
};
const USER = { role: "user", content: "go" };

interface Options extends Partial<Omit<Ask, "body" | "target">> {
  body?: JsonObject;
  provider?: string;
  profile?: Profile;
}
function asking({
  body = {},
  provider = "openai",
  profile = PRESETS.openai,
  ...rest
}: Options = {}): Run {
  let n = 0;
  return begin({
    body: { messages: [USER], tools: [READ], ...body },
    harness: DEFAULTS.harness,
    mode: "workflow",
    target: { provider, model: "m", profile },
    newId: () => `id${String(++n).padStart(7, "0")}`,
    ...rest,
  });
}
const sent = (run: Run) => JSON.parse(nextRequest(run)) as JsonObject & { messages: JsonObject[] };
const reply = (text: string, calls: [string, string][] = [], finish?: string): Reply => ({
  text,
  thinking: "",
  calls: calls.map(([name, args], i): RawCall => ({ id: `x${i}`, name, arguments: args })),
  finish: finish ?? (calls.length > 0 ? "tool_calls" : "stop"),
  model: "m-1",
  usage: null,
});
const hear = (run: Run, heard: Reply): Next => take(run, { type: "reply", reply: heard });
const fail = (run: Run, failure: Partial<ModelFailure>, begun = false): Next =>
  take(
    run,
    {
      type: "failed",
      failure: { code: "provider_error", message: "no", retryable: true, ...failure },
    },
    begun,
  );
function again(next: Next): Run {
  if (next.type !== "again") throw new Error(`ended: ${JSON.stringify(next)}`);
  return next.run;
}
const done = (next: Next) => {
  if (next.type !== "done") throw new Error(`not done: ${JSON.stringify(next)}`);
  return next.answer;
};

describe("whatever the upstream says", () => {
  const offered = ["read", "agent_response"];
  const name = fc.oneof(
    fc.constantFrom(
      "read",
      "agent_response",
      "READ",
      "functions.read",
      "create_plan",
      "complete_step",
      "",
      "no such",
    ),
    fc.string({ maxLength: 12 }),
  );
  const args = fc.oneof(
    fc.constantFrom(
      '{"path":"a"}',
      '{"path":1}',
      "{}",
      "",
      "null",
      "[]",
      '{"path":"a"',
      '{"text":"hi"}',
      '{"text":""}',
      '{"path":"a","lines":null,"junk":1}',
    ),
    fc.string({ maxLength: 20 }),
  );
  const text = fc.oneof(
    fc.constantFrom(
      "",
      "hello",
      "<think>a</think>",
      '{"name":"read","arguments":{"path":"a"}}',
      '<tool_call>{"name":"read"',
      "\ud83d",
    ),
    fc.string({ maxLength: 20 }),
  );
  const finish = fc.constantFrom(
    "stop",
    "tool_calls",
    "length",
    "content_filter",
    "refusal",
    "odd",
  );
  const anyReply = fc.tuple(text, fc.array(fc.tuple(name, args), { maxLength: 4 }), finish);

  it("ends within its retries, with an answer that a client can take, and sound requests until then", () => {
    fc.assert(
      fc.property(fc.array(anyReply, { minLength: 4, maxLength: 4 }), (script) => {
        let run = asking();
        for (const [i, [t, calls, f]] of script.entries()) {
          expect(checkHistory(sent(run))).toEqual([]);
          const next = hear(run, reply(t, calls, f));
          if (next.type === "again") {
            run = next.run;
            continue;
          }
          if (next.type === "failed") {
            expect(next.failure.code).toBe("retry_exhausted");
            expect(i).toBe(3);
          } else checkAnswer(next.answer);
          return;
        }
        throw new Error("more than four requests");
      }),
      runs(400),
    );
  });

  function checkAnswer({ text: said, calls, finish: end }: ReturnType<typeof done>): void {
    if (calls.length === 0) {
      expect(said?.trim()).toBeTruthy();
      return;
    }
    expect(end).toBe("tool_calls");
    expect(new Set(calls.map((c) => c.id)).size).toBe(calls.length);
    expect(new Set(calls.map((c) => c.name + c.arguments)).size).toBe(calls.length);
    for (const call of calls) {
      expect(offered.slice(0, 1)).toContain(call.name);
      expect(misfit(READ.function.parameters, JSON.parse(call.arguments))).toBeNull();
    }
  }

  it("the same replies give the same requests", () => {
    const play = () => {
      const first = asking();
      const second = again(hear(first, reply("words")));
      const third = again(hear(second, reply("", [["nope", "{}"]])));
      return [first, second, third].map(nextRequest);
    };
    const [a, b, c] = play();
    expect(play()).toEqual([a, b, c]);
    // A corrected request begins like the one before: the provider's cache holds.
    expect(b?.startsWith(a?.slice(0, a.indexOf("]", a.indexOf('"go"'))) as string)).toBe(true);
  });
});

describe("corrections", () => {
  it("stand on the tool channel, a user's nudge only for text", () => {
    const first = again(hear(asking(), reply("words")));
    expect(sent(first).messages.slice(-2)).toMatchObject([
      { role: "assistant", content: "words" },
      { role: "user", content: expect.stringContaining("agent_response") },
    ]);
    const second = again(hear(first, reply("", [["read", "{}"]])));
    expect(sent(second).messages.slice(-2)).toMatchObject([
      { role: "assistant", tool_calls: [{ function: { name: "read", arguments: "{}" } }] },
      { role: "tool", content: expect.stringContaining("`path` is missing") },
    ]);
  });

  it("have no refused hidden call beside real ones", () => {
    const next = hear(
      asking(),
      reply("", [
        ["agent_response", '{"text":""}'],
        ["read", '{"path":"a"}'],
      ]),
    );
    expect(done(next).calls.map((c) => c.name)).toEqual(["read"]);
  });

  it("tell apart calls that differ in a label", () => {
    const tool = {
      type: "function",
      function: {
        name: "note",
        parameters: { type: "object", properties: { brief: { type: "string" } } },
      },
    };
    const next = hear(
      asking({ body: { tools: [tool] } }),
      reply("", [
        ["note", '{"brief":"a"}'],
        ["note", '{"brief":"b"}'],
        ["note", '{"brief":"a"}'],
      ]),
    );
    expect(done(next).calls.map((c) => c.arguments)).toEqual(['{"brief":"a"}', '{"brief":"b"}']);
  });

  it("hand native thinking on and keep tagged thinking back", () => {
    const heard = {
      ...reply("<think>x</think>", [["agent_response", '{"text":"hi"}']]),
      thinking: "hm",
    };
    expect(done(hear(asking(), heard))).toMatchObject({
      text: "hi",
      thinking: "hm",
      finish: "stop",
    });
  });
});

describe("failures", () => {
  it("are tried five times with growing pauses", () => {
    let run = asking();
    const waits: number[] = [];
    for (let next = fail(run, {}); next.type === "again"; next = fail(run, {})) {
      waits.push(next.waitMs);
      run = next.run;
    }
    expect(waits).toEqual([500, 1000, 2000, 4000]);
  });

  it("and refused replies together stay below ten requests", () => {
    let run = asking();
    let asked = 0;
    for (let next: Next = { type: "again", run, waitMs: 0 }; next.type === "again"; ) {
      run = next.run;
      asked += 1;
      next = asked % 3 === 0 ? hear(run, reply("words")) : fail(run, {});
    }
    expect(asked).toBeLessThan(10);
  });

  it("wait as long as the provider asks, up to twenty seconds", () => {
    const limited = { code: "rate_limited", retryAfterMs: 20_000 } as const;
    expect(fail(asking(), limited)).toMatchObject({ type: "again", waitMs: 20_000 });
    expect(fail(asking(), { ...limited, retryAfterMs: 20_001 })).toMatchObject({
      type: "failed",
      failure: { code: "rate_limited", retryAfterMs: 20_001 },
    });
  });

  it("after the first words are final", () => {
    expect(fail(asking({ body: { tools: [] } }), {}, true).type).toBe("failed");
  });

  const history = [
    USER,
    {
      role: "assistant",
      content: null,
      reasoning_content: "r",
      tool_calls: [{ id: "a", type: "function", function: { name: "read", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "a", content: "x" },
  ];
  const hints: [Hint, JsonObject, (body: ReturnType<typeof sent>) => unknown, unknown][] = [
    ["stream_options", {}, (b) => b.stream_options, undefined],
    [
      "max_tokens_field",
      { max_tokens: 9 },
      (b) => [b.max_tokens, b.max_completion_tokens],
      [undefined, 9],
    ],
    [
      "parallel_tool_calls",
      { parallel_tool_calls: false },
      (b) => b.parallel_tool_calls,
      undefined,
    ],
    [
      "tool_choice_named",
      { tool_choice: { type: "function", function: { name: "read" } } },
      (b) => b.tool_choice,
      "required",
    ],
    ["tool_choice", { tool_choice: "required" }, (b) => b.tool_choice, "auto"],
    ["null_content", { messages: history }, (b) => b.messages[2]?.content, ""],
    [
      "reasoning_unknown",
      { messages: history },
      (b) => b.messages[2]?.reasoning_content,
      undefined,
    ],
    [
      "reasoning_missing",
      { messages: [USER, { role: "assistant", content: "x" }, USER] },
      (b) => b.messages[2]?.reasoning_content,
      "",
    ],
    ["schema", {}, (b) => JSON.stringify(b.tools).includes('"null"'), false],
  ];
  for (const [hint, body, look, wanted] of hints) {
    it(`about ${hint} give that up, once`, () => {
      const run = asking({ body, provider: "custom", profile: PRESETS.custom });
      const less = again(fail(run, { retryable: false, hint }));
      expect(look(sent(less))).toEqual(wanted);
      expect(fail(less, { retryable: false, hint }).type).toBe("failed");
    });
  }
});

describe("the plan", () => {
  it("guards nothing without tools, or when the client wants none of it", () => {
    expect(isOpen(asking({ body: { tools: [] } }))).toBe(true);
    expect(isOpen(asking({ body: { tools: [{ type: "custom", custom: { name: "x" } }] } }))).toBe(
      true,
    );
    expect(isOpen(asking({ mode: "legacy" }))).toBe(true);
    expect(isOpen(asking())).toBe(false);
  });

  it("forgets required steps and prerequisites of tools that are not there", () => {
    const harness = {
      ...DEFAULTS.harness,
      requiredSteps: ["shell_exec"],
      toolPrerequisites: { read: [{ tool: "nope" }] },
    };
    const next = hear(asking({ harness }), reply("", [["read", '{"path":"a"}']]));
    expect(next.type).toBe("done");
    expect(hear(asking({ harness }), reply("", [["agent_response", '{"text":"x"}']])).type).toBe(
      "done",
    );
  });

  it("appends its line to a system message of any form", () => {
    const parts = [{ type: "text", text: "Be brief." }];
    const run = asking({ body: { messages: [{ role: "developer", content: parts }, USER] } });
    expect(sent(run).messages[0]).toMatchObject({
      role: "developer",
      content: [parts[0], { type: "text" }],
    });
    expect(sent(asking()).messages).toMatchObject([{ role: "system" }, USER]);
  });

  it("writes tools in the dialect of an endpoint that has its own", () => {
    const run = asking({ provider: "gemini", profile: PRESETS.gemini });
    expect(JSON.stringify(sent(run).tools)).toContain('"nullable":true');
  });
});

describe("the client's history", () => {
  const harness = {
    ...DEFAULTS.harness,
    toolPrerequisites: { write: [{ tool: "read", matchArg: "path" }] },
  };
  const talk = (content: unknown, id: unknown = "a") => [
    {
      role: "assistant",
      tool_calls: [{ id: "a", function: { name: "read", arguments: '{"path":"p"}' } }],
    },
    { role: "tool", tool_call_id: id, content },
  ];
  it("counts results that are no failure", () => {
    const entry = [{ tool: "read", args: { path: '"p"' } }];
    for (const ok of [
      "text",
      "",
      '{"ok":true}',
      '{"error":null}',
      '["error"]',
      [{ type: "text", text: "x" }],
    ]) {
      expect(doneIn(talk(ok), harness)).toEqual(entry);
    }
    for (const bad of [
      '{"ok":false}',
      ' {"error":"no"}',
      [{ type: "text", text: '{"error":"x"}' }],
    ]) {
      expect(doneIn(talk(bad), harness)).toEqual([]);
    }
    expect(doneIn(talk("x", "b"), harness)).toEqual([]);
    expect(doneIn([null, 5, { role: "tool" }, { tool_calls: "x" }], harness)).toEqual([]);
  });
});

describe("a client's schema", () => {
  const object = (properties: JsonObject, more: JsonObject = {}) => ({
    type: "object",
    properties,
    ...more,
  });
  const tree = { type: "object", properties: { kids: { type: "array", items: { $ref: "#" } } } };
  const allowed: [unknown, unknown][] = [
    [{}, { a: 1 }],
    [true, 5],
    [object({ a: { type: "string", format: "email" } }), { a: "no mail" }],
    [object({ a: { type: "string", pattern: "^\\p{L}+$" } }), { a: "abc" }],
    [object({ a: { type: "text" } }), { a: 4 }],
    [object({ a: { type: "string", nullable: true } }), { a: null }],
    [object({ a: { enum: [{ k: [1] }] } }), { a: { k: [1] } }],
    [object({ a: { type: "string", maxLength: 2 } }), { a: "🚀🚀" }],
    [object({ a: { oneOf: [{ type: "string" }, { minLength: 1 }] } }), { a: "both" }],
    [object({ a: { $ref: "http://else/where" } }), { a: 1 }],
    [object({ a: { $ref: "#/$defs/x" } }, { $defs: { x: { type: "number" } } }), { a: 1 }],
    [object({ a: { type: "array", items: [{ type: "string" }] } }), { a: ["x", 1] }],
    [object({ a: { type: "integer" } }), { a: 2 ** 60 }],
    [object({}, { additionalProperties: false, patternProperties: { "^x": {} } }), { x1: 1 }],
    [object({ a: { not: {}, if: {}, else: false } }), { a: 1 }],
    [object({ a: { minimum: 5 } }), { a: "text" }],
    [{ $ref: "#" }, { a: 1 }],
    [tree, { kids: [{ kids: [] }] }],
  ];
  for (const [schema, value] of allowed) {
    it(`allows ${JSON.stringify(value)} by ${JSON.stringify(schema)}`, () => {
      expect(misfit(schema, value)).toBeNull();
    });
  }
  const refused: [unknown, unknown, RegExp][] = [
    [object({ a: { type: "string" } }, { required: ["a"] }), {}, /`a` is missing/],
    [object({ a: { type: ["string", "null"] } }), { a: 1 }, /`a` must be of type string or null/],
    [object({ a: { enum: ["x", "y"] } }), { a: "z" }, /one of "x", "y"/],
    [object({ a: { const: 1 } }), { a: 2 }, /one of 1/],
    [
      object({ a: { anyOf: [{ type: "string" }, { type: "number" }] } }),
      { a: true },
      /string, or .*number/,
    ],
    [
      object({ a: { allOf: [{ type: "string" }, { minLength: 3 }] } }),
      { a: "ab" },
      /minLength is 3/,
    ],
    [
      object({ a: { type: "array", items: { type: "number" }, maxItems: 1 } }),
      { a: [1, 2] },
      /maxItems is 1/,
    ],
    [object({ a: { type: "number", exclusiveMinimum: 0 } }), { a: 0 }, /range/],
    [
      object({ a: { type: "object", additionalProperties: false } }),
      { a: { b: 1 } },
      /`a.b` is not allowed/,
    ],
    [
      object({ a: { $ref: "#/$defs/x" } }, { $defs: { x: { type: "number" } } }),
      { a: "1" },
      /`a` must be of type number/,
    ],
    [tree, { kids: [{ kids: [3] }] }, /`kids.0.kids.0`/],
  ];
  for (const [schema, value, error] of refused) {
    it(`refuses ${JSON.stringify(value)} by ${JSON.stringify(schema)}`, () => {
      expect(misfit(schema, value)).toMatch(error);
    });
  }

  it("never throws, whatever it is", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (schema, value) => {
        expect(typeof (misfit(schema, value) ?? "")).toBe("string");
      }),
    );
  });

  it("null for an optional field is absence, where null cannot be meant", () => {
    const tool = clientTool(READ);
    expect(tool.parse({ path: "a", lines: null })).toEqual({
      ok: true,
      value: { path: "a", lines: null },
    });
    expect(tool.parse({ path: null })).toMatchObject({ ok: false });
    const optional = clientTool({
      function: { name: "x", parameters: object({ a: { type: "string" } }) },
    });
    expect(optional.parse({ a: null })).toEqual({ ok: true, value: {} });
  });
});
