import { describe, expect, it } from "vitest";
import { checkHistory } from "../support/history-oracle.ts";

type Message = Record<string, unknown>;

const tool = (name: string, parameters: unknown = { type: "object", properties: {} }) => ({
  type: "function",
  function: { name, parameters },
});
const assistant = (...ids: string[]): Message => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({
    id,
    type: "function",
    function: { name: "shell", arguments: "{}" },
  })),
});
const result = (id: string): Message => ({ role: "tool", tool_call_id: id, content: "ok" });
const user: Message = { role: "user", content: "do it" };
const check = (messages: unknown[], tools: unknown[] | undefined = [tool("shell")]) =>
  checkHistory({ model: "m", messages, ...(tools ? { tools } : {}) });
const rules = (found: string[]) => [...new Set(found.map((v) => v.slice(0, 2)))];
const withArguments = (args: unknown): Message => ({
  role: "assistant",
  tool_calls: [{ id: "c1", type: "function", function: { name: "shell", arguments: args } }],
});

describe("a sound history", () => {
  it("passes with one user message", () => {
    expect(check([{ role: "system", content: "be good" }, user], undefined)).toEqual([]);
  });
  it("passes with parallel calls whose results come in any order", () => {
    expect(
      check([
        user,
        assistant("a", "b"),
        result("b"),
        result("a"),
        { role: "assistant", content: "x" },
        user,
      ]),
    ).toEqual([]);
  });
  it("passes with an emoji and with text beside calls", () => {
    expect(
      check([
        { role: "user", content: "🚀" },
        { ...assistant("a"), content: "I look" },
        result("a"),
      ]),
    ).toEqual([]);
  });
});

describe("every planted fault is found", () => {
  it.each<[string, string, unknown[]]>([
    ["H1", "a call without a result at the end", [user, assistant("a", "b"), result("a")]],
    ["H1", "a user message between a call and its result", [user, assistant("a"), user]],
    ["H1", "two results for one call", [user, assistant("a"), result("a"), result("a")]],
    ["H2", "a result without a call", [user, result("ghost")]],
    [
      "H2",
      "a result after another message",
      [user, assistant("a"), result("a"), user, result("a")],
    ],
    ["H3", "an assistant message with nothing", [user, { role: "assistant", content: null }, user]],
    [
      "H3",
      "an assistant message with white space",
      [user, { role: "assistant", content: " \n" }, user],
    ],
    ["H4", "arguments that are cut", [user, withArguments('{"a":'), result("c1")]],
    ["H4", "arguments that are a list", [user, withArguments("[]"), result("c1")]],
    ["H4", "arguments that are null", [user, withArguments("null"), result("c1")]],
    [
      "H4",
      "arguments that are an object and no text",
      [user, withArguments({ a: 1 }), result("c1")],
    ],
    ["H4", "empty arguments", [user, withArguments(""), result("c1")]],
    [
      "H5",
      "an id used in two messages",
      [user, assistant("a"), result("a"), assistant("a"), result("a")],
    ],
    ["H5", "a call without an id", [user, assistant(""), result("")]],
    ["H6", "half a character", [{ role: "user", content: "\ud83d" }]],
    [
      "H6",
      "half a character behind an escape in arguments",
      [user, withArguments('{"a":"\\ud83d"}'), result("c1")],
    ],
    ["H6", "a NUL", [{ role: "user", content: "a\0b" }]],
    [
      "H6",
      "half a character in a content part",
      [{ role: "user", content: [{ type: "text", text: "\ude80" }] }],
    ],
    ["H7", "an assistant message at the end", [user, { role: "assistant", content: "x" }]],
    ["H7", "no user message", [{ role: "system", content: "x" }]],
    ["H0", "an unknown role", [user, { role: "robot", content: "x" }, user]],
    [
      "H0",
      "a tool message without content",
      [user, assistant("a"), { role: "tool", tool_call_id: "a" }],
    ],
    [
      "H0",
      "an empty list of calls",
      [user, { role: "assistant", content: "x", tool_calls: [] }, user],
    ],
  ])("%s: %s", (rule, _what, messages) => {
    expect(rules(check(messages))).toContain(rule);
  });

  it.each<[string, unknown[]]>([
    ["a bad name", [tool("9 bad name!")]],
    ["parameters without a type", [tool("f", {})]],
    ["parameters that are an array schema", [tool("f", { type: "array" })]],
    ["one name twice", [tool("f"), tool("f")]],
    ["an empty list", []],
  ])("H8: %s among the tools", (_what, tools) => {
    expect(rules(check([user], tools))).toEqual(["H8"]);
  });

  it("H9: calls in the history, but no tools in the request", () => {
    expect(rules(check([user, assistant("a"), result("a")], []))).toContain("H9");
    expect(rules(checkHistory({ messages: [user, assistant("a"), result("a")] }))).toEqual(["H9"]);
  });

  it("H0: things that are no request", () => {
    for (const body of [null, 5, "text", [], {}, { messages: "x" }, { messages: [null] }]) {
      expect(rules(checkHistory(body))).toContain("H0");
    }
  });
});

it("names the rule and the place", () => {
  expect(check([user, assistant("call_7"), user])).toEqual([
    "H1: call call_7 has no result before message 2",
  ]);
});
