/** Contract 6: the OpenAI-compatible proxy, through the Worker, with a scripted upstream model. */
import { exports } from "cloudflare:workers";
import OpenAI, { APIError } from "openai";
import { describe, expect } from "vitest";
import type { ModelOutcome, Model as Port } from "../../src/core/ports.ts";
import { PRESETS } from "../../src/core/profile.ts";
import { DEFAULTS } from "../../src/core/settings.ts";
import { type Job, jsonReply, streamReply } from "../../src/worker/proxy.ts";
import type { MockReply } from "../support/mock-reply.ts";
import { api, it, until, useVars } from "./support/client.ts";
import { call, text } from "./support/replies.ts";
import { Held, type Model, type Scripted, scripted } from "./support/upstream.ts";

const WEATHER = {
  type: "function",
  function: {
    name: "get_weather",
    description: "The weather of a city.",
    parameters: {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer" } },
      required: ["city"],
    },
  },
} as const;
const USER = { role: "user", content: "Weather in Rome?" } as const;
const URL = "/v1/chat/completions";

interface Choice {
  message: {
    content: string | null;
    tool_calls?: { id: string; type: string; function: { name: string; arguments: string } }[];
  };
  finish_reason: string;
}
interface Completion {
  id: string;
  object: string;
  model: string;
  choices: [Choice];
  usage?: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
}
type Failed = { message: string; type: string; param: string | null; code: string };
interface Sent {
  model: string;
  messages: { role: string; content: unknown; tool_call_id?: string; tool_calls?: unknown[] }[];
  tools?: { function: { name: string } }[];
  [field: string]: unknown;
}

const sentTo = (model: Model, n = -1) => model.asked.at(n)?.body as unknown as Sent;
const toolNames = (sent: Sent) => sent.tools?.map((tool) => tool.function.name);

/** Asks with one tool, unless the fields say otherwise. */
async function ask(script: Scripted[], fields: Record<string, unknown> = {}) {
  const model = scripted(script);
  const json = { model: model.name, messages: [USER], tools: [WEATHER], ...fields };
  return { model, response: await api(URL, { json }) };
}
async function completion(script: Scripted[], fields: Record<string, unknown> = {}) {
  const { model, response } = await ask(script, fields);
  const body = await response.json<Completion>();
  expect({ status: response.status, body }).toMatchObject({ status: 200 });
  const [choice] = body.choices;
  return { model, body, choice, message: choice.message };
}
async function failure(script: Scripted[], fields: Record<string, unknown> = {}) {
  const { model, response } = await ask(script, fields);
  const { error } = await response.json<{ error: Failed }>();
  expect(Object.keys(error).sort()).toEqual(["code", "message", "param", "type"]);
  return { model, response, error, status: response.status };
}

/** The data of each event, comments left out. */
async function frames(response: Response): Promise<string[]> {
  const body = await response.text();
  return body.split("\n\n").flatMap((part) => (part.startsWith("data: ") ? [part.slice(6)] : []));
}
interface Chunk {
  object: string;
  choices: {
    delta: { content?: string; tool_calls?: { index: number; id?: string }[] };
    finish_reason: string | null;
  }[];
  usage?: unknown;
}
async function chunks(response: Response): Promise<Chunk[]> {
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const data = await frames(response);
  expect(data.at(-1)).toBe("[DONE]");
  return data.slice(0, -1).map((part) => JSON.parse(part) as Chunk);
}
const contentOf = (list: Chunk[]) =>
  list.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("");

const REFUSED: ModelOutcome = {
  type: "failed",
  failure: { code: "provider_auth", message: "no", retryable: false },
};
const FORM = { id: "chatcmpl-x", created: 1, model: "m", includeUsage: false };
const jobFor = (model: Port, signal: AbortSignal): Job => ({
  ask: {
    body: { messages: [USER] },
    harness: DEFAULTS.harness,
    mode: "workflow",
    target: { provider: "custom", model: "m", profile: PRESETS.custom },
    newId: () => "abcdefghi",
  },
  model,
  timeoutMs: 1000,
  signal,
  spent: () => {},
});

const client = () =>
  new OpenAI({
    apiKey: "any",
    baseURL: "http://localhost/v1",
    maxRetries: 0,
    fetch: (input, init) => exports.default.fetch(input as string, init as RequestInit) as never,
  });

const answer = (words: string) => call(["agent_response", { text: words }]);
const weather = (args: unknown = { city: "Rome" }) => call(["get_weather", args]);

describe("FG-S13", () => {
  it("FG-S13 hands a real tool call on and runs nothing", async () => {
    const { model, message, choice, body } = await completion([weather()]);
    expect(choice.finish_reason).toBe("tool_calls");
    expect(message.content).toBeNull();
    expect(message.tool_calls).toEqual([
      {
        id: expect.stringMatching(/^[A-Za-z0-9]{9}$/),
        type: "function",
        function: { name: "get_weather", arguments: '{"city":"Rome"}' },
      },
    ]);
    expect(body).toMatchObject({ object: "chat.completion", model: model.name });
    expect(body.id).toMatch(/^chatcmpl-/);
    expect(model.asked).toHaveLength(1);
  });

  it("FG-S13 gives the hidden tool's text as content and never shows the tool", async () => {
    const { model, message, choice, body } = await completion([answer("hi")]);
    expect(choice.finish_reason).toBe("stop");
    expect(message).toMatchObject({ content: "hi" });
    expect(message.tool_calls).toBeUndefined();
    expect(toolNames(sentTo(model))).toEqual(["get_weather", "agent_response"]);
    expect(JSON.stringify(body)).not.toContain("agent_response");
  });

  it("FG-S13 streams calls with their index, and ends with [DONE]", async () => {
    const { response } = await ask([weather()], { stream: true });
    const list = await chunks(response);
    expect(list.every((chunk) => chunk.object === "chat.completion.chunk")).toBe(true);
    const calls = list.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);
    expect(calls.length).toBeGreaterThan(0);
    expect(calls.every((part) => part.index === 0)).toBe(true);
    expect(list.at(-1)?.choices[0]?.finish_reason).toBe("tool_calls");
  });

  it("FG-S13 answers bad JSON with an OpenAI error object", async () => {
    const response = await api(URL, { method: "POST", body: "{nope" });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      error: {
        message: expect.stringContaining("JSON"),
        type: "invalid_request_error",
        param: null,
        code: "invalid_request",
      },
    });
  });

  it("FG-S13 stores no session", async () => {
    const list = async () => (await api("/api/sessions?limit=100")).json<{ sessions: unknown[] }>();
    const before = (await list()).sessions.length;
    await completion([answer("hi")]);
    await ask([weather()], { stream: true });
    expect((await list()).sessions.length).toBe(before);
  });
});

describe("the official client", () => {
  const params = (model: Model) => ({
    model: model.name,
    messages: [{ role: "user" as const, content: "Weather?" }],
    tools: [WEATHER as unknown as OpenAI.ChatCompletionTool],
  });

  it("reads an answer, and a call after a refused one", async () => {
    const model = scripted([answer("Sunny."), text("I would look it up."), weather()]);
    const first = await client().chat.completions.create(params(model));
    expect(first.choices[0]?.message.content).toBe("Sunny.");
    const second = await client().chat.completions.create({ ...params(model), temperature: 0 });
    expect(second.choices[0]?.message.tool_calls).toHaveLength(1);
    expect(sentTo(model).temperature).toBe(0);
  });

  it("reads streams with its helper", async () => {
    const words = "A long answer 🚀 of many words, with a line\n\nbreak and more to say.";
    const model = scripted([
      answer(words),
      call(["get_weather", { city: "Rome" }], ["get_weather", { city: "Oslo" }]),
    ]);
    const first = client().chat.completions.stream({
      ...params(model),
      stream_options: { include_usage: true },
    });
    expect(await first.finalContent()).toBe(words);
    expect(await first.totalUsage()).toMatchObject({ total_tokens: 15 });
    const second = client().chat.completions.stream({ ...params(model), temperature: 0.5 });
    const { tool_calls: calls } = await second.finalMessage();
    expect(calls?.map((c) => "function" in c && c.function.arguments)).toEqual([
      '{"city":"Rome"}',
      '{"city":"Oslo"}',
    ]);
  });

  it("runs a whole tool loop", async () => {
    const model = scripted([
      text('```json\n{"name":"get_weather","arguments":{"city":"Rome"}}\n```'),
      answer("Sunny in Rome."),
    ]);
    const run = client().chat.completions.runTools({
      model: model.name,
      messages: [{ role: "user", content: "Weather?" }],
      tools: [
        {
          type: "function",
          function: {
            name: "get_weather",
            description: "",
            parameters: WEATHER.function.parameters as never,
            parse: JSON.parse,
            function: ({ city }: { city: string }) => `sunny in ${city}`,
          },
        },
      ],
    });
    expect(await run.finalContent()).toBe("Sunny in Rome.");
    expect(sentTo(model).messages.at(-1)).toMatchObject({ role: "tool", content: "sunny in Rome" });
  });

  it("lists the models, and finds one", async () => {
    useVars({ CUSTOM_MODEL_NAME: "org/llama" });
    const list = await client().models.list();
    expect(list.data).toEqual([
      { id: "org/llama", object: "model", created: 0, owned_by: "custom" },
    ]);
    expect((await client().models.retrieve("org/llama")).id).toBe("org/llama");
    await expect(client().models.retrieve("none")).rejects.toMatchObject({ status: 404 });
  });

  it("does not list the practice model where another answers", async () => {
    expect((await client().models.list()).data).toEqual([]);
    useVars({ PROVIDER: "practice" });
    expect((await client().models.list()).data).toMatchObject([{ id: "practice" }]);
  });

  it("throws its own errors, and does not try again what was tried", async () => {
    const model = scripted([{ status: 401 }]);
    const wrong = new OpenAI({
      ...client(),
      apiKey: "x",
      baseURL: "http://localhost/v1",
      fetch: (i, o) => exports.default.fetch(i as string, o as RequestInit) as never,
    });
    const error = await wrong.chat.completions.create(params(model)).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ status: 502, code: "provider_auth" });
    expect(model.asked).toHaveLength(1);
  });
});

describe("a reply that is not right", () => {
  const bad: [string, MockReply, RegExp][] = [
    ["bare text", text("It is sunny."), /agent_response/],
    ["an empty reply", text(""), /empty/],
    ["thinking alone", text("<think>hm</think>"), /empty/],
    ["an unknown tool", call(["get_time", {}]), /Unknown tool: get_time/],
    ["a required field that is missing", weather({}), /`city` is missing.*"required"/],
    ["a wrong type", weather({ city: "Rome", days: "many" }), /`days` must be of type integer/],
    ["arguments that are cut", weather('{"city":"Ro'), /one JSON object/],
    ["arguments that are a list", weather("[1]"), /one JSON object/],
    ["a reply cut at the limit", { ...weather(), finish: "length" }, /cut off/],
    ["an empty answer", answer(""), /text/],
  ];
  for (const [name, reply, correction] of bad) {
    it(`is corrected: ${name}`, async () => {
      const { model, message } = await completion([reply, answer("fine")]);
      expect(message.content).toBe("fine");
      expect(model.asked).toHaveLength(2);
      const last = sentTo(model).messages.at(-1);
      expect(String(last?.content)).toMatch(correction);
      expect(last?.role).toBe((reply.tool_calls ?? []).length > 0 ? "tool" : "user");
      // Whatever was refused, what comes before it is what the client sent.
      expect(sentTo(model).messages[1]).toEqual(USER);
    });
  }

  const good: [string, MockReply, string][] = [
    [
      "a call in prose",
      text('I call:\n```json\n{"name":"get_weather","arguments":{"city":"Rome"}}\n```'),
      '{"city":"Rome"}',
    ],
    [
      "a Hermes call",
      text('<tool_call>{"name":"get_weather","arguments":{"city":"Rome"}}</tool_call>'),
      '{"city":"Rome"}',
    ],
    ["a prefixed name", call(["functions.get_weather", { city: "Rome" }]), '{"city":"Rome"}'],
    ["a number as text", weather({ city: "Rome", days: "3" }), '{"city":"Rome","days":3}'],
    ["double-encoded arguments", weather(JSON.stringify('{"city":"Rome"}')), '{"city":"Rome"}'],
    ["a field that nobody knows", weather({ city: "Rome", junk: 1 }), '{"city":"Rome"}'],
    ["null for an optional field", weather({ city: "Rome", days: null }), '{"city":"Rome"}'],
    ["finish stop beside a call", { ...weather(), finish: "stop" }, '{"city":"Rome"}'],
  ];
  for (const [name, reply, args] of good) {
    it(`is put right without asking again: ${name}`, async () => {
      const { model, message, choice } = await completion([reply]);
      expect(choice.finish_reason).toBe("tool_calls");
      expect(message.tool_calls?.map((c) => c.function.arguments)).toEqual([args]);
      expect(model.asked).toHaveLength(1);
    });
  }

  it("ends with 502 when the retries are spent", async () => {
    const { model, status, error } = await failure(
      Array(9)
        .fill(0)
        .map((_, i) => text(`no ${i}`)),
    );
    expect([status, error.code, error.type]).toEqual([502, "retry_exhausted", "server_error"]);
    expect(model.asked).toHaveLength(4);
  });

  it("takes the client's own number of retries, and sends none of it on", async () => {
    const dormouse = { harness: { maxRetriesPerStep: 1 } };
    const { model, status } = await failure([text("a"), text("b"), text("c")], { dormouse });
    expect(status).toBe(502);
    expect(model.asked).toHaveLength(2);
    expect(sentTo(model)).not.toHaveProperty("dormouse");
  });

  it("takes the deployment's settings, the client's over them", async () => {
    useVars({
      SETTINGS: JSON.stringify({ harness: { maxRetriesPerStep: 0, rescueEnabled: false } }),
    });
    const { model } = await failure([text("a"), text("b")]);
    expect(model.asked).toHaveLength(1);
    const dormouse = { harness: { maxRetriesPerStep: 2 } };
    expect(
      (await failure([text("a"), text("b"), text("c")], { dormouse })).model.asked,
    ).toHaveLength(3);
  });
});

describe("several calls in one reply", () => {
  it("drops the hidden one beside real ones, and keeps what was said", async () => {
    const reply = {
      ...call(["agent_response", { text: "done" }], ["get_weather", { city: "Rome" }]),
      text: "Looking.",
    };
    const { message, choice } = await completion([reply]);
    expect(choice.finish_reason).toBe("tool_calls");
    expect(message.content).toBe("Looking.");
    expect(message.tool_calls?.map((c) => c.function.name)).toEqual(["get_weather"]);
  });

  it("drops twins, and gives each call an id of its own", async () => {
    const rome = { name: "get_weather", arguments: { city: "Rome" }, id: "x" };
    const reply = { tool_calls: [rome, { ...rome }, { ...rome, arguments: { city: "Oslo" } }] };
    const { message } = await completion([reply]);
    expect(message.tool_calls).toHaveLength(2);
    expect(new Set(message.tool_calls?.map((c) => c.id)).size).toBe(2);
  });

  it("refuses the whole batch for one bad call, every call answered", async () => {
    const { model, message } = await completion([
      call(["get_weather", { city: "Rome" }], ["nope", {}]),
      weather(),
    ]);
    expect(message.tool_calls).toHaveLength(1);
    expect(
      sentTo(model)
        .messages.slice(-2)
        .map((m) => m.role),
    ).toEqual(["tool", "tool"]);
  });

  it("lets a client's own tool bear the name of one of ours", async () => {
    const own = {
      type: "function",
      function: {
        name: "update_plan",
        parameters: { type: "object", properties: { plan: { type: "array" } } },
      },
    };
    const reply = call(
      ["update_plan", { plan: [1] }],
      ["update_plan", { plan: [1] }],
      ["agent_response", { text: "x" }],
    );
    const { message } = await completion([reply], { tools: [own, WEATHER] });
    expect(message.tool_calls?.map((c) => c.function)).toEqual([
      { name: "update_plan", arguments: '{"plan":[1]}' },
    ]);
  });

  it("drops a client's tool that is named like the hidden one", async () => {
    const own = {
      type: "function",
      function: {
        name: "agent_response",
        parameters: { type: "object", properties: { x: { type: "number" } } },
      },
    };
    const { model, message } = await completion([answer("hi")], { tools: [own, WEATHER] });
    expect(message.content).toBe("hi");
    expect(toolNames(sentTo(model))).toEqual(["get_weather", "agent_response"]);
  });
});

describe("where the hidden tool is not offered", () => {
  const cases: [string, Record<string, unknown>][] = [
    ["tool_choice none", { tool_choice: "none" }],
    ["tool_choice required", { tool_choice: "required" }],
    ["a named tool", { tool_choice: { type: "function", function: { name: "get_weather" } } }],
    ["response_format", { response_format: { type: "json_object" } }],
    ["guarded_chat", { dormouse: { harness: { mode: "guarded_chat" } } }],
  ];
  for (const [name, fields] of cases) {
    it(`bare text is an answer: ${name}`, async () => {
      const { model, message, choice } = await completion([text('{"a":1}')], fields);
      expect([message.content, choice.finish_reason]).toEqual(['{"a":1}', "stop"]);
      const sent = sentTo(model);
      expect(toolNames(sent)).toEqual(["get_weather"]);
      expect(sent.messages).toEqual([USER]);
      if (fields.tool_choice) expect(sent.tool_choice).toEqual(fields.tool_choice);
    });
  }

  it("calls are still checked", async () => {
    const { model, message } = await completion([weather({}), weather()], {
      tool_choice: "required",
    });
    expect(message.tool_calls).toHaveLength(1);
    expect(model.asked).toHaveLength(2);
  });

  it("a call is refused where the client forbade them", async () => {
    const { model, message } = await completion([weather(), text("Sorry.")], {
      tool_choice: "none",
    });
    expect(message.content).toBe("Sorry.");
    expect(sentTo(model).messages.at(-1)?.content).toMatch(/no tools to call/);
  });

  it("an answer that was cut says so", async () => {
    const { choice } = await completion([{ text: "It is su", finish: "length" }], {
      response_format: { type: "json_object" },
    });
    expect(choice.finish_reason).toBe("length");
  });

  it("legacy hands everything on as it came", async () => {
    const dormouse = { harness: { mode: "legacy" } };
    const { model, message } = await completion([weather({})], { dormouse });
    expect(message.tool_calls?.[0]?.function.arguments).toBe("{}");
    expect(toolNames(sentTo(model))).toEqual(["get_weather"]);
  });
});

describe("a request without tools", () => {
  const plain = { tools: undefined };

  it("goes straight through, thinking tags and all", async () => {
    const { model, message } = await completion([text("<think>x</think>Hello")], plain);
    expect(message.content).toBe("<think>x</think>Hello");
    expect(sentTo(model).messages).toEqual([USER]);
    expect(sentTo(model)).not.toHaveProperty("tools");
  });

  it("is tried again on a passing failure", async () => {
    const { model, message } = await completion([{ status: 503 }, text("Hello")], plain);
    expect(message.content).toBe("Hello");
    expect(model.asked).toHaveLength(2);
  });

  it("an empty list of tools is none", async () => {
    const { model, message } = await completion([text("Hello")], {
      tools: [],
      tool_choice: "auto",
    });
    expect(message.content).toBe("Hello");
    expect(sentTo(model)).not.toHaveProperty("tools");
    expect(sentTo(model)).not.toHaveProperty("tool_choice");
  });

  it("streams live", async () => {
    const held = new Held();
    const model = scripted([held]);
    held.say("One ");
    const json = { model: model.name, messages: [USER], stream: true };
    const response = await api(URL, { json });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let seen = "";
    while (!seen.includes("One ")) seen += (await reader?.read())?.value ?? "";
    expect(seen).not.toContain("two");
    held.say("two");
    held.end();
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read())
      seen += part.value;
    expect(seen).toContain("two");
    expect(seen.endsWith("data: [DONE]\n\n")).toBe(true);
    expect(seen.match(/"role":"assistant"/g)).toHaveLength(1);
  });

  it("a stream that breaks after its first words ends with an error frame", async () => {
    const { model, response } = await ask([{ text: "Hello, you", finish: null }, text("again")], {
      ...plain,
      stream: true,
    });
    expect(response.status).toBe(200);
    const data = await frames(response);
    expect(JSON.parse(data.at(-1) as string)).toMatchObject({ error: { code: "provider_error" } });
    expect(model.asked).toHaveLength(1);
  });
});

describe("streams", () => {
  it("send text in pieces, and usage when asked", async () => {
    const words = "word ".repeat(40).trim();
    const { response } = await ask([text("nope"), answer(words)], {
      stream: true,
      stream_options: { include_usage: true },
    });
    const list = await chunks(response);
    expect(contentOf(list)).toBe(words);
    expect(list.filter((c) => c.choices[0]?.delta.content).length).toBeGreaterThan(5);
    expect(list.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 15 } });
    expect(list.at(-2)?.choices[0]?.finish_reason).toBe("stop");
    expect(list[0]?.usage).toBeNull();
  });

  it("without include_usage have none", async () => {
    const { response } = await ask([answer("x")], { stream: true });
    expect((await chunks(response)).some((chunk) => "usage" in chunk)).toBe(false);
  });

  it("that fail before they begin have a status", async () => {
    const { status, error } = await failure(
      Array(4)
        .fill(0)
        .map((_, i) => text(`n${i}`)),
      { stream: true },
    );
    expect([status, error.code]).toEqual([502, "retry_exhausted"]);
  });

  it("are kept open by comments, and a late failure is a frame", async () => {
    const settled = Promise.withResolvers<void>();
    const model: Port = {
      call: () => ({ outcome: settled.promise.then(() => REFUSED), cancel: () => {} }),
    };
    const response = await streamReply(jobFor(model, new AbortController().signal), FORM, 5);
    expect(response.status).toBe(200);
    settled.resolve();
    const all = await response.text();
    expect(all.startsWith(": keep-alive\n\n")).toBe(true);
    expect(all).toContain(
      'data: {"error":{"message":"no","type":"server_error","param":null,"code":"provider_auth"}}',
    );
  });

  it("and JSON requests that the client leaves cancel the model call, and ask no more", async () => {
    const left = new AbortController();
    let asked = 0;
    const model: Port = {
      call() {
        const outcome = Promise.withResolvers<ModelOutcome>();
        asked += 1;
        return { outcome: outcome.promise, cancel: () => outcome.resolve(REFUSED) };
      },
    };
    const reply = jsonReply(jobFor(model, left.signal), FORM);
    left.abort();
    expect((await reply).ok).toBe(false);
    expect(asked).toBe(1);
  });

  it("that the client leaves cancel the model call", async () => {
    const held = new Held();
    const model = scripted([held]);
    held.say("One ");
    const response = await api(URL, {
      json: { model: model.name, messages: [USER], stream: true },
    });
    await response.body?.cancel();
    await until(() => expect(model.asked[0]?.aborted).toBe(true));
  });
});

describe("the request that is sent", () => {
  it("keeps what the client wrote, in its order", async () => {
    const history = [
      { role: "system", content: "Be brief." },
      { role: "user", content: [{ type: "text", text: "Hi" }] },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          {
            id: "c1",
            type: "function",
            function: { name: "get_weather", arguments: '{"city": "Rome"}' },
          },
        ],
      },
      { role: "tool", tool_call_id: "c1", content: "sunny" },
    ];
    const fields = { temperature: 0.3, seed: 7, my_own: { x: [1] }, messages: history };
    const { model } = await completion([answer("x")], fields);
    const sent = sentTo(model);
    expect(sent).toMatchObject({ temperature: 0.3, seed: 7, my_own: { x: [1] }, stream: true });
    expect(Object.keys(sent).slice(0, 3)).toEqual(["model", "messages", "tools"]);
    expect(sent.stream_options).toEqual({ include_usage: true });
    expect(sent.messages.slice(1)).toEqual(history.slice(1));
    expect(sent.messages[0]?.content).toMatch(/^Be brief\.\n\n.*agent_response/s);
    expect(sent.tools?.[0]).toEqual(WEATHER);
  });

  it("has the configured model when none is named", async () => {
    const model = scripted([text("Hello")]);
    useVars({ CUSTOM_MODEL_NAME: model.name });
    const response = await api(URL, { json: { messages: [USER] } });
    expect(await response.json()).toMatchObject({ model: model.name });
  });

  it("mends half characters", async () => {
    const model = scripted([text("Hello")]);
    const body = `{"model":"${model.name}","messages":[{"role":"user","content":"a\\ud83d"}]}`;
    expect((await api(URL, { method: "POST", body })).status).toBe(200);
    expect(sentTo(model).messages[0]?.content).toBe("a\ufffd");
  });

  it("gives up what the endpoint refuses, once", async () => {
    const refused = (message: string) => ({ status: 400, body: { error: { message } } });
    const { model, message } = await completion(
      [
        refused("stream_options is not supported"),
        refused("max_tokens is not supported: use max_completion_tokens instead"),
        answer("x"),
      ],
      { max_tokens: 50 },
    );
    expect(message.content).toBe("x");
    expect(sentTo(model)).toMatchObject({ max_completion_tokens: 50 });
    expect(sentTo(model)).not.toHaveProperty("stream_options");
    expect(sentTo(model)).not.toHaveProperty("max_tokens");
  });

  it("keeps required steps and prerequisites, told from the client's history", async () => {
    const other = {
      type: "function",
      function: { name: "book", parameters: { type: "object", properties: {} } },
    };
    const dormouse = {
      harness: {
        requiredSteps: ["get_weather"],
        toolPrerequisites: { book: [{ tool: "get_weather" }] },
      },
    };
    const said = (content: string) => [
      USER,
      {
        role: "assistant",
        content: null,
        tool_calls: [
          {
            id: "c1",
            type: "function",
            function: { name: "get_weather", arguments: '{"city":"Rome"}' },
          },
        ],
      },
      { role: "tool", tool_call_id: "c1", content },
    ];
    const fields = { tools: [WEATHER, other], dormouse };
    const early = await completion([answer("x"), call(["book", {}]), weather()], fields);
    expect(early.message.tool_calls?.[0]?.function.name).toBe("get_weather");
    expect(
      sentTo(early.model)
        .messages.map((m) => String(m.content))
        .join("\n"),
    ).toMatch(/required step.*cannot be called yet/s);
    const failed = await completion([answer("x"), weather()], {
      ...fields,
      messages: said('{"ok":false}'),
    });
    expect(failed.message.tool_calls).toHaveLength(1);
    const done = await completion([call(["book", {}])], { ...fields, messages: said("sunny") });
    expect(done.message.tool_calls?.[0]?.function.name).toBe("book");
  });
});

describe("failures upstream", () => {
  it("waits a short Retry-After out", async () => {
    const { model } = await completion([
      { status: 429, headers: { "retry-after-ms": "30" } },
      answer("x"),
    ]);
    expect(model.asked).toHaveLength(2);
  });

  it("passes a long one on", async () => {
    const { model, status, response, error } = await failure([
      { status: 429, headers: { "retry-after": "120" } },
    ]);
    expect([status, error.code, response.headers.get("retry-after")]).toEqual([
      429,
      "rate_limit_exceeded",
      "120",
    ]);
    expect(response.headers.get("x-should-retry")).toBe("false");
    expect(model.asked).toHaveLength(1);
  });

  const rows: [string, MockReply, number, string][] = [
    [
      "a bad request",
      { status: 400, body: { error: { message: "temperature is too high" } } },
      400,
      "invalid_request",
    ],
    [
      "a long history",
      { status: 400, body: { error: { message: "maximum context length is 8192 tokens" } } },
      400,
      "context_length_exceeded",
    ],
    ["a bad key", { status: 401 }, 502, "provider_auth"],
    ["a model that is not there", { status: 404 }, 404, "model_not_found"],
    [
      "a spent quota",
      { status: 429, body: { error: { message: "insufficient_quota" } } },
      429,
      "insufficient_quota",
    ],
  ];
  for (const [name, reply, wanted, code] of rows) {
    it(`${name} fails at once`, async () => {
      const { model, status, error } = await failure([reply, answer("x")]);
      expect([status, error.code]).toEqual([wanted, code]);
      expect(model.asked).toHaveLength(1);
    });
  }

  it("no provider is 503", async () => {
    useVars({ PROVIDER: "openai" });
    const { status, error } = await failure([]);
    expect([status, error.code]).toEqual([503, "no_provider"]);
  });

  it("the practice model answers where nothing else is configured", async () => {
    useVars({ PROVIDER: "practice" });
    const { body, message } = await completion([]);
    expect(body.model).toBe("practice");
    expect(message.content).toBeTruthy();
  });
});

describe("failures at the door", () => {
  const wrong: [string, Record<string, unknown>, string][] = [
    ["no messages", { messages: undefined }, "messages"],
    ["empty messages", { messages: [] }, "messages"],
    ["a message that is none", { messages: [USER, 5] }, "messages[1]"],
    ["a role that is no text", { messages: [{ role: 1, content: "" }] }, "messages[0].role"],
    ["a model that is no text", { model: 4 }, "model"],
    ["n = 2", { n: 2 }, "n"],
    ["stream as text", { stream: "yes" }, "stream"],
    [
      "a tool without a name",
      { tools: [{ type: "function", function: {} }] },
      "tools[0].function.name",
    ],
    ["the old functions", { functions: [{ name: "x" }] }, "functions"],
    [
      "a wrong override",
      { dormouse: { harness: { maxRetriesPerStep: "x" } } },
      "dormouse.harness.maxRetriesPerStep",
    ],
  ];
  for (const [name, fields, param] of wrong) {
    it(`${name} is a 400 that names the field`, async () => {
      const { model, status, error } = await failure([], fields);
      expect([status, error.param, error.type]).toEqual([400, param, "invalid_request_error"]);
      expect(model.asked).toHaveLength(0);
    });
  }

  it("an unknown path is 404, a wrong method 405", async () => {
    for (const [path, status] of [
      ["/v1/nope", 404],
      ["/v1", 404],
      [URL, 405],
    ] as const) {
      const response = await api(path);
      expect([path, response.status]).toEqual([path, status]);
      expect(await response.json()).toMatchObject({
        error: { type: "invalid_request_error", param: null },
      });
    }
  });

  it("a body that is too large is 413, one beyond a session's limit is not", async () => {
    const big = await api(URL, { method: "POST", body: "x".repeat(26 * 1024 * 1024) });
    expect(big.status).toBe(413);
    expect(await big.json()).toMatchObject({ error: { code: "too_large", param: null } });
    const long = { ...USER, content: "x".repeat(2 * 1024 * 1024) };
    await completion([answer("x")], { messages: [long] });
  });

  it("wants the same token as everything else", async () => {
    useVars({ AUTH_TOKEN: "secret" });
    const none = await api(URL, { json: {} });
    expect(none.status).toBe(401);
    expect(await none.json()).toMatchObject({ error: { code: "invalid_api_key", param: null } });
    const bad = await api("/v1/models", { headers: { authorization: "Bearer nope" } });
    expect(bad.status).toBe(401);
    const good = await api("/v1/models", { headers: { authorization: "Bearer secret" } });
    expect(good.status).toBe(200);
  });
});
