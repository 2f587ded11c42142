/** Calls written as text, in every format that models use; and texts that only look like calls. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readArguments } from "../../src/core/hygiene.ts";
import { coerceArguments } from "../../src/core/hygiene-coerce.ts";
import type { Reply } from "../../src/core/ports.ts";
import { rescue } from "../../src/core/rescue.ts";
import { stripThinking } from "../../src/core/rescue-think.ts";
import type { ToolSpec } from "../../src/core/tool.ts";
import { runs } from "../support/properties.ts";

const tool = (name: string, properties: Record<string, unknown>): ToolSpec => ({
  name,
  description: name,
  toolkit: "file",
  parallelSafe: false,
  volatile: false,
  effect: true,
  recovery: "rerun",
  parameters: { type: "object", properties },
  parse: (args) => ({ ok: true, value: args }),
});
const OFFERED = [
  tool("file_read", { path: { type: "string" }, line: { type: "integer" } }),
  tool("file_write", { path: { type: "string" }, content: { type: "string" } }),
  tool("shell_list", {}),
];
const replyOf = (text: string, more: Partial<Reply> = {}): Reply => ({
  text,
  thinking: "",
  calls: [],
  finish: "stop",
  model: "m",
  usage: null,
  ...more,
});
const saved = (text: string) => rescue(replyOf(text), OFFERED);
/** Name and arguments of each call, and the text that is left. */
function seen(text: string) {
  const out = saved(text);
  return out && [...out.calls.map((c) => [c.name, readArguments(c.arguments)]), out.text];
}

const READ = ["file_read", { path: "a.txt" }];
const LIST = ["shell_list", {}];
const JSON_READ = '{"name":"file_read","arguments":{"path":"a.txt"}}';
const JSON_LIST = '{"name":"shell_list","arguments":{}}';

describe("JSON without a mark", () => {
  it.each([
    ["name and arguments", JSON_READ],
    ["name and parameters", '{"name":"file_read","parameters":{"path":"a.txt"}}'],
    ["tool and args (FG-72c)", '{"tool":"file_read","args":{"path":"a.txt"}}'],
    ["tool_name and input", '{"tool_name":"file_read","input":{"path":"a.txt"}}'],
    ["toolName", '{"toolName":"file_read","input":{"path":"a.txt"}}'],
    ["function and arguments", '{"function":"file_read","arguments":{"path":"a.txt"}}'],
    ["arguments as text", '{"name":"file_read","arguments":"{\\"path\\":\\"a.txt\\"}"}'],
    ["OpenAI's own form", `{"id":"c1","type":"function","function":${JSON_READ}}`],
    ["a tool_calls list", `{"tool_calls":[${JSON_READ}]}`],
    ["a toolCalls list", `{"toolCalls":[{"type":"function","function":${JSON_READ}}]}`],
    ["a list", `[${JSON_READ}]`],
    ["a thought beside it", `{"thought":"read","name":"file_read","args":{"path":"a.txt"}}`],
    ["spread over lines", JSON.stringify(JSON.parse(JSON_READ), null, 2)],
    ["a trailing comma", '{"name":"file_read","arguments":{"path":"a.txt",},}'],
    ["a prefix before the name", '{"name":"functions.file_read","arguments":{"path":"a.txt"}}'],
    ["fenced", `\`\`\`json\n${JSON_READ}\n\`\`\``],
    ["fenced without a language", `\`\`\`\n${JSON_READ}\n\`\`\``],
    ["fenced without an end", `\`\`\`json\n${JSON_READ}\n`],
    ["in backticks", `\`${JSON_READ}\``],
    ["a token after it", `${JSON_READ}<|im_end|>`],
  ])("%s is a call, and no text is left (FG-39)", (_, text) => {
    expect(seen(text)).toEqual([READ, ""]);
  });

  it("FG-S9: a fenced call runs, an answer that has a name stays an answer", () => {
    expect(seen(`\`\`\`json\n${JSON_READ}\n\`\`\``)).toEqual([READ, ""]);
    expect(saved('{"name":"Alice"}')).toBeNull();
  });

  it.each([
    ["one after the other", `${JSON_READ}\n${JSON_LIST}`],
    ["with semicolons", `${JSON_READ};${JSON_LIST};`],
    ["in one list", `[${JSON_READ},${JSON_LIST}]`],
    ["in one fence", `\`\`\`json\n${JSON_READ}\n${JSON_LIST}\n\`\`\``],
    ["in two fences", `\`\`\`json\n${JSON_READ}\n\`\`\`\n\`\`\`json\n${JSON_LIST}\n\`\`\``],
  ])("several calls %s keep their order", (_, text) => {
    expect(seen(text)).toEqual([READ, LIST, ""]);
  });

  it.each([
    ["before it", `I will look.\n\n${JSON_READ}`, "I will look."],
    ["around it", `First {this}: ${JSON_READ} and then more.`, "First {this}:\n\nand then more."],
    ["around a fence", `Look:\n\`\`\`json\n${JSON_READ}\n\`\`\`\nDone.`, "Look:\n\nDone."],
  ])("prose %s is kept", (_, text, rest) => {
    expect(seen(text)).toEqual([READ, rest]);
  });

  it("braces, quotes and fences inside strings end nothing", () => {
    const content = 'if (a) { s = "}"; } // \\ ``` <tool_call> {"name": "x", "arguments": {}}';
    const text = JSON.stringify({ name: "file_write", arguments: { path: "a", content } });
    for (const whole of [text, `\`\`\`json\n${text}\n\`\`\``, `[${text}]`]) {
      expect(seen(whole)).toEqual([["file_write", { path: "a", content }], ""]);
    }
  });

  it("a marked call inside a string is content, not a call", () => {
    const content = "<function=file_read><parameter=path>x</parameter></function>";
    const text = JSON.stringify({ name: "file_write", arguments: { path: "a", content } });
    const want = ["file_write", { path: "a", content }];
    expect(seen(text)).toEqual([want, ""]);
    expect(seen(`Writing. ${text}`)).toEqual([want, "Writing."]);
    expect(saved(JSON.stringify({ answer: content }))).toBeNull();
  });

  it.each([
    ["no arguments", '{"name":"shell_list"}'],
    ["null for arguments", '{"name":"shell_list","arguments":null}'],
    ["an empty text for arguments", '{"name":"shell_list","arguments":""}'],
    ["no arguments, fenced", '```json\n{"tool":"shell_list"}\n```'],
  ])("a whole text with %s is a call", (_, text) => {
    expect(seen(text)).toEqual([LIST, ""]);
  });

  it("arguments that are broken text are told to the model, not emptied", () => {
    const out = saved('{"name":"file_read","arguments":"{\\"path\\":"}');
    expect(out?.calls).toEqual([{ id: "", name: "file_read", arguments: '{"path":' }]);
  });

  it.each([
    ["an answer in JSON", '{"name":"Alice","age":3}'],
    ["a name and input of something else", '{"name":"Alice","input":"x"}'],
    ["a tool's name with other fields", '{"name":"file_read","description":"reads"}'],
    ["a tool's name alone in prose", 'The tool is {"name":"shell_list"} here.'],
    ["a tool's schema", '{"name":"file_read","parameters":{"type":"object","properties":{}}}'],
    ["a call inside other JSON", `{"example":${JSON_READ}}`],
    ["a call in inline code", `I could send \`${JSON_READ}\` but I will not.`],
    ["a call inside other code", `\`\`\`js\nsend(${JSON_READ})\n\`\`\``],
    ["a call inside other code without an end", `\`\`\`js\nsend(${JSON_READ})`],
    ["a list with something else in it", `[${JSON_READ},{"a":1}]`],
    ["an empty list", '{"tool_calls":[]}'],
    ["an unknown tool beside a known one", `${JSON_READ}\n{"name":"rm","arguments":{}}`],
    ["arguments that are a list", '{"name":"file_read","arguments":[1]}'],
    ["a name that is not text", '{"name":5,"arguments":{}}'],
    ["an empty name", '{"name":"","arguments":{}}'],
    ["a call that was cut off", '{"name":"file_read","arguments":{"path":"a.txt"'],
    ["a call beside one that was cut off", `${JSON_READ}\n{"name":"file_read","arguments":{"pa`],
    ["a list that was cut off", `[${JSON_READ},{"name":"file_re`],
    ["a fence that was cut off", `${JSON_LIST}\n\`\`\`json\n{"name":"file_read","arguments":{"pa`],
    ["a list with a broken call", `{"tool_calls":[${JSON_READ},{oops}]}`],
    ["plain prose", "I have read file_read and all is well."],
    ["nothing", ""],
  ])("%s is no call", (_, text) => {
    expect(saved(text)).toBeNull();
  });

  it("an example in the middle of a long explanation is none, before or after a fence", () => {
    const long =
      "One calls it like this, and it then reads the file and gives back its text. ".repeat(8);
    expect(saved(`${long}${JSON_READ}${long}`)).toBeNull();
    expect(saved(`${long}\n\`\`\`json\n${JSON_READ}\n\`\`\`\n${long}`)).toBeNull();
    expect(saved(`${long}${JSON_READ}`)?.text).toBe(long.trim());
  });
});

const MARKED: [string, string][] = [
  ["Hermes", `<tool_call>\n${JSON_READ}\n</tool_call>`],
  ["Hermes without an end", `<tool_call>\n${JSON_READ}\n`],
  ["Hermes with a brace too many", `<tool_call>\n${JSON_READ}}\n</tool_call>`],
  ["Hermes with a fence inside", `<tool_call>\n\`\`\`json\n${JSON_READ}\n\`\`\`\n</tool_call>`],
  ["Hermes inside a fence", `\`\`\`xml\n<tool_call>${JSON_READ}</tool_call>\n\`\`\``],
  ["Hermes and a token", `<tool_call>${JSON_READ}<|im_end|>`],
  [
    "Qwen's XML",
    "<tool_call>\n<function=file_read>\n<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>",
  ],
  [
    "Qwen's XML without a wrapper",
    "<function=file_read><parameter=path>a.txt</parameter></function>",
  ],
  [
    "XML with names as attributes",
    '<minimax:tool_call><invoke name="file_read"><parameter name="path">a.txt</parameter></invoke></minimax:tool_call>',
  ],
  ["Llama's function tag", '<function=file_read>{"path":"a.txt"}</function>'],
  ["Mistral's list", `[TOOL_CALLS][${JSON_READ}]`],
  ["Mistral's list with spaces and an end", `[TOOL_CALLS] [${JSON_READ}]</s>`],
  ["Mistral's object", `[TOOL_CALLS]${JSON_READ}`],
  ["Mistral's name and ARGS", '[TOOL_CALLS]file_read[ARGS]{"path":"a.txt"}'],
  ["Mistral's name and an id", '[TOOL_CALLS]file_read[CALL_ID]ab12cd34e[ARGS]{"path":"a.txt"}'],
  ["Mistral's name alone", '[TOOL_CALLS]file_read{"path":"a.txt"}'],
  ["ARGS without a mark", 'file_read[ARGS]{"path":"a.txt"}'],
  ["Llama", '<|python_tag|>{"name":"file_read","parameters":{"path":"a.txt"}}<|eom_id|>'],
  [
    "Llama with a type",
    '<|python_tag|>{"type":"function","name":"file_read","parameters":{"path":"a.txt"}}',
  ],
  [
    "DeepSeek V3",
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>file_read\n```json\n{"path":"a.txt"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
  ],
  [
    "DeepSeek V3.1",
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>file_read<｜tool▁sep｜>{"path":"a.txt"}<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>',
  ],
  [
    "DeepSeek with plain characters",
    '<|tool_calls_begin|><|tool_call_begin|>file_read<|tool_sep|>{"path":"a.txt"}<|tool_call_end|><|tool_calls_end|>',
  ],
  [
    "DeepSeek V3.2",
    '<｜DSML｜function_calls><｜DSML｜invoke name="file_read"><｜DSML｜parameter name="path" string="true">a.txt</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>',
  ],
  [
    "Kimi",
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.file_read:0<|tool_call_argument_begin|>{"path":"a.txt"}<|tool_call_end|><|tool_calls_section_end|>',
  ],
];

describe("marked calls", () => {
  it.each(MARKED)("%s is read", (_, text) => {
    expect(seen(text)).toEqual([READ, ""]);
    expect(seen(`I will look.\n${text}`)).toEqual([READ, "I will look."]);
    expect(seen(`<think>Which file?</think>\n${text}`)).toEqual([READ, ""]);
  });

  it.each(MARKED)("%s with a name that is not offered is text", (_, text) => {
    expect(saved(text.replaceAll("file_read", "teleport"))).toBeNull();
  });

  // Only the end marks may be missing.
  it.each(MARKED)("%s is never completed when it was cut off", (_, text) => {
    for (let end = 0; end < text.indexOf("a.txt") + 5; end++) {
      expect(saved(text.slice(0, end))).toBeNull();
    }
  });

  it.each([
    ["Hermes", `<tool_call>${JSON_READ}</tool_call>\n<tool_call>${JSON_LIST}</tool_call>`],
    ["Hermes, ends missing", `<tool_call>\n${JSON_READ}\n<tool_call>\n${JSON_LIST}`],
    ["Hermes in one block", `<tool_call>\n${JSON_READ}\n${JSON_LIST}\n</tool_call>`],
    [
      "Qwen's XML",
      "<tool_call><function=file_read><parameter=path>a.txt</parameter></function></tool_call>\n<tool_call><function=shell_list></function></tool_call>",
    ],
    ["Mistral's list", `[TOOL_CALLS][${JSON_READ},${JSON_LIST}]`],
    [
      "Mistral's names",
      '[TOOL_CALLS]file_read[ARGS]{"path":"a.txt"}[TOOL_CALLS]shell_list[ARGS]{}',
    ],
    [
      "Mistral's names with one mark",
      '[TOOL_CALLS]file_read[ARGS]{"path":"a.txt"}, shell_list[ARGS]{}',
    ],
    ["Llama, with a semicolon", `<|python_tag|>${JSON_READ}; ${JSON_LIST}`],
    ["Llama, with two tags", `<|python_tag|>${JSON_READ}<|python_tag|>${JSON_LIST}<|eot_id|>`],
    [
      "DeepSeek",
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>file_read<｜tool▁sep｜>{"path":"a.txt"}<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>shell_list<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    ],
  ])("several calls as %s keep their order", (_, text) => {
    expect(seen(text)).toEqual([READ, LIST, ""]);
  });

  it("Qwen's Python words are JSON's", () => {
    const out = seen(
      '<tool_call>{"name": "file_read", "arguments": {"a": True, "b": None}}</tool_call>',
    );
    expect(out).toEqual([["file_read", { a: true, b: null }], ""]);
  });

  it("XML values are raw text, with their inner lines and signs", () => {
    const content = '<b>&amp; a < b && c > d</b>\n\n  {"x": "}"}\nlast';
    const text = `<tool_call>\n<function=file_write>\n<parameter=path>\na.html\n</parameter>\n<parameter=content>\n${content}\n</parameter>\n</function>\n</tool_call>`;
    expect(seen(text)).toEqual([["file_write", { path: "a.html", content }], ""]);
  });

  it("XML values get their types from the schema", () => {
    const out = saved(
      "<function=file_read><parameter=path>5</parameter><parameter=line>7</parameter></function>",
    );
    const args = readArguments(out?.calls[0]?.arguments ?? "") ?? {};
    expect(coerceArguments(args, OFFERED[0]?.parameters ?? {})).toEqual({ path: "5", line: 7 });
  });

  it.each([
    ["a mention of a tag", "Qwen writes <tool_call> before its calls."],
    ["a manual page", "usage: file_read [ARGS] {file}"],
    ["Hermes with words inside", "<tool_call>read a.txt</tool_call>"],
    [
      "one good and one broken call",
      `<tool_call>${JSON_READ}</tool_call><tool_call>{"name":</tool_call>`,
    ],
    ["words after Hermes' JSON", `<tool_call>${JSON_READ} please</tool_call>`],
    ["XML without a function's end", "<function=file_read><parameter=path>a.txt</parameter>"],
    ["XML without a value's end", "<function=file_read><parameter=path>a.txt</function>"],
    [
      "a value's end that another value has",
      "<function=file_write><parameter=path>a<parameter=content>b</parameter></function>",
    ],
    [
      "a value with its own end inside",
      "<function=file_write><parameter=content>a</parameter>b</parameter></function>",
    ],
    ["a function tag with a list", "<function=file_read>[1]</function>"],
    ["Llama with Python", '<|python_tag|>file_read.call(path="a.txt")'],
    ["DeepSeek without an end", '<｜tool▁call▁begin｜>file_read<｜tool▁sep｜>{"path":"a.txt"}'],
    ["Mistral with nothing", "[TOOL_CALLS]"],
    ["Mistral with arguments as a list", "[TOOL_CALLS]file_read[ARGS][1]"],
  ])("%s is no call", (_, text) => {
    expect(saved(text)).toBeNull();
  });
});

describe("what is never rescued", () => {
  it.each([
    ["a reply with native calls", { calls: [{ id: "1", name: "shell_list", arguments: "{}" }] }],
    ["a reply that was cut", { finish: "length" }],
    ["a reply that did not end", { finish: null }],
    ["a reply that a filter cut", { finish: "content_filter" }],
    ["thinking that came apart from the text", { text: "", thinking: JSON_READ }],
  ])("%s", (_, more) => {
    expect(rescue(replyOf(JSON_READ, more), OFFERED)).toBeNull();
  });

  it.each([
    ["closed", `<think>${JSON_READ}</think>No.`],
    ["unclosed", `Hm. <think>Maybe ${JSON_READ}`],
    ["with the closing tag alone", `Maybe ${JSON_READ}</think>No.`],
    ["with the closing tag after a quote", `Maybe \`${JSON_READ}\`</think>No.`],
    ["in the middle", `Well, <thinking>\n${JSON_READ}\n</thinking> no.`],
    ["Kimi's", `◁think▷${JSON_READ}◁/think▷No.`],
    ["nested", `<think>a<think>b</think>${JSON_READ}</think>No.`],
    [
      "inside an XML value",
      "<function=file_read><parameter=path>a\n<think>b</think></parameter></function>",
    ],
  ])("a call out of thinking: %s", (_, text) => {
    expect(saved(text)).toBeNull();
  });

  it("… but a call after thinking is one, also inside its mark", () => {
    expect(seen(`<tool_call><think>b</think>${JSON_READ}</tool_call>`)).toEqual([READ, ""]);
    expect(seen(`b</think>${JSON_READ}`)).toEqual([READ, ""]);
  });

  it("more calls than a reply may have", () => {
    expect(saved(`[${Array(129).fill(JSON_LIST).join(",")}]`)).toBeNull();
    expect(saved(`[${Array(128).fill(JSON_LIST).join(",")}]`)?.calls).toHaveLength(128);
  });

  it("anything when no tool is offered", () => {
    expect(rescue(replyOf(JSON_READ), [])).toBeNull();
  });
});

describe("thinking", () => {
  it.each([
    ["none", "An answer.", "An answer.", ""],
    ["a space that belongs to the answer", " x ", " x ", ""],
    ["closed", "<think>\nhm\n</think>\n\nYes.", "Yes.", "hm"],
    ["empty", "<think>\n\n</think>\n\nYes.", "Yes.", ""],
    ["the other tag, in capitals", "<THINKING>hm</THINKING>Yes.", "Yes.", "hm"],
    ["Kimi's", "◁think▷hm◁/think▷Yes.", "Yes.", "hm"],
    ["unclosed", "<think>hm and", "", "hm and"],
    ["unclosed after an answer", "Yes.\n<think>hm", "Yes.", "hm"],
    ["closed only", "hm\n</think>\nYes.", "Yes.", "hm"],
    ["several times", "<think>a</think>One.\n<think>b</think>Two.", "One.\nTwo.", "a\n\nb"],
    ["nested", "<think>a<think>b</think>c</think>Yes.", "Yes.", "a<think>b\n\nc"],
    ["a tag in JSON", 'So: {"a":"x</think>y<think>z"}', 'So: {"a":"x</think>y<think>z"}', ""],
    ["JSON in a lone thought", '{"a":1} hm</think>So.', "So.", '{"a":1} hm'],
    ["quoted tags", "Use `<think>` and `</think>`.", "Use `<think>` and `</think>`.", ""],
    ["tags in a JSON string", '{"c":"<think>x</think>"}', '{"c":"<think>x</think>"}', ""],
    ["a quote before its end", 'say "hi"</think>Yes.', "Yes.", 'say "hi"'],
    ["other tags", "<thinker>x</thinker>", "<thinker>x</thinker>", ""],
  ])("%s", (_, raw, text, thinking) => {
    expect(stripThinking(raw)).toEqual({ text, thinking });
  });

  it("a call whose content quotes the tags is whole", () => {
    for (const content of ["<think>a</think>", "a <think>b</think> c", "a</think><function=x>"]) {
      const want = [["file_write", { path: "a", content }], ""];
      const text = JSON.stringify({ name: "file_write", arguments: { path: "a", content } });
      expect(seen(text)).toEqual(want);
      expect(seen(`<think>hm</think>${text}`)).toEqual(want);
    }
  });
});

describe("any text", () => {
  const BITS = [
    ..."{}[]\"'`,:;\\ \n",
    "```json\n",
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    "<function=file_read>",
    "</function>",
    "<parameter=path>",
    "</parameter>",
    "[TOOL_CALLS]",
    "file_read[ARGS]",
    "<|python_tag|>",
    "<｜tool▁call▁begin｜>",
    "<｜tool▁sep｜>",
    "<｜tool▁call▁end｜>",
    '"arguments":',
    '"name":"file_read"',
    JSON_READ,
    JSON_LIST,
    "\0",
    "\ud83d",
  ];
  const soup = fc.array(fc.constantFrom(...BITS), { maxLength: 40 }).map((l) => l.join(""));

  it("never throws, and gives only offered names and mended text", () => {
    const names = OFFERED.map((t) => t.name);
    fc.assert(
      fc.property(fc.oneof(soup, fc.string({ unit: "binary" })), (text) => {
        stripThinking(text);
        const out = saved(text);
        if (!out) return;
        expect(out.calls.length).toBeGreaterThan(0);
        expect(out.calls.every((c) => names.includes(c.name) && c.id === "")).toBe(true);
        expect(out.text.includes("\0") || !out.text.isWellFormed()).toBe(false);
      }),
      runs(1000),
    );
  });

  it("a call is found as it was meant, whatever its arguments hold", () => {
    const args = fc.dictionary(fc.constantFrom("path", "content"), fc.oneof(soup, fc.string()));
    fc.assert(
      fc.property(args, (raw) => {
        const text = JSON.stringify({ name: "file_write", arguments: raw });
        const want = [["file_write", readArguments(JSON.stringify(raw))], ""];
        expect(seen(text)).toEqual(want);
      }),
    );
  });

  it.each([
    ...BITS,
    "<",
    "<function",
    "<function=a ",
    "<parameter=",
    "{{",
    '{"a":',
    '{"a {',
    "[{",
    "``` ",
    "a[ARGS]{}",
    "[TOOL_CALLS]a ",
  ])("200 kB of %j end soon", (bit) => {
    const count = Math.ceil(200_000 / bit.length);
    saved(bit.repeat(count));
    saved(`${JSON_READ}${bit.repeat(count)}`);
    saved(`<tool_call>${bit.repeat(count)}`);
    saved(`<function=file_read><parameter=path>${bit.repeat(count)}</parameter></function>`);
    stripThinking(bit.repeat(count));
    const spaces = " ".repeat(200_000);
    saved(`${bit}${spaces}${bit}`);
  });
});
