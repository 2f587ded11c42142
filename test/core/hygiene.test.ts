/** What models really write for names and arguments, made canonical; and that nothing is guessed. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  canonicalJson,
  cleanCallName,
  dedupeCalls,
  readArguments,
} from "../../src/core/hygiene.ts";
import { coerceArguments } from "../../src/core/hygiene-coerce.ts";
import { readJson, readJsonAt } from "../../src/core/hygiene-json.ts";

const OFFERED = ["file_read", "shell_exec", "mcp_git-hub_search", "search", "complete_step"];
const SAFE = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

describe("names", () => {
  it.each([
    ["an exact name stays", "file_read", "file_read"],
    ["spaces around it go", " file_read\n", "file_read"],
    ["OpenAI's prefix goes", "functions.file_read", "file_read"],
    ["Gemini's prefix goes", "default_api:file_read", "file_read"],
    ["several prefixes go", "namespace.functions.file_read", "file_read"],
    ["a path before it goes", "tools/file_read", "file_read"],
    ["an unknown prefix goes before an exact name", "fs.file_read", "file_read"],
    ["Kimi's index goes", "functions.file_read:0", "file_read"],
    ["call parentheses go", "file_read()", "file_read"],
    ["arguments in parentheses go", 'file_read(path="a")', "file_read"],
    ["quotes go", '"file_read"', "file_read"],
    ["backticks and a comma go", "`file_read`,", "file_read"],
    ["a channel token after it goes", "file_read<|channel|>commentary", "file_read"],
    ["a token before it goes", "<|tool|>file_read", "file_read"],
    ["a full-width token goes", "file_read<｜tool▁sep｜>", "file_read"],
    ["Harmony's address is read", "<|channel|>commentary to=functions.file_read", "file_read"],
    ["a closing tag after it goes", "file_read</tool_call>", "file_read"],
    ["another case is the same name", "File_Read", "file_read"],
    ["camel case is the same name", "fileRead", "file_read"],
    ["a dash is an underscore", "file-read", "file_read"],
    ["an underscore is a dash", "mcp_git_hub_search", "mcp_git-hub_search"],
    ["a blank is an underscore", "Shell Exec", "shell_exec"],
  ])("%s", (_, raw, want) => {
    expect(cleanCallName(raw, OFFERED)).toBe(want);
  });

  it.each([
    ["empty", "", "_"],
    ["blank", "  ", "_"],
    ["unknown", "teleport", "teleport"],
    ["unknown with a prefix", "functions.teleport", "teleport"],
    ["a part of a name", "file", "file"],
    ["digits and signs", "9 bad name!", "_9_bad_name_"],
    ["not Latin", "读取", "__"],
    ["only a token", "<|channel|>", "__channel__"],
    ["a prefix of another kind before another case", "fs.FILE_READ", "fs_FILE_READ"],
  ])("a name that is %s stays one that no tool has", (_, raw, want) => {
    expect(cleanCallName(raw, OFFERED)).toBe(want);
  });

  it("is not guessed where two tools may be meant", () => {
    const two = ["read_file", "read-file"];
    expect(two).not.toContain(cleanCallName("read.file", two));
    expect(two).not.toContain(cleanCallName("READ FILE", two));
    expect(cleanCallName("READ-FILE", two)).toBe("read-file");
  });

  it("is one that providers take or an offered one, whatever came", () => {
    const any = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom(...OFFERED));
    fc.assert(
      fc.property(any, fc.array(any), (raw, offered) => {
        const name = cleanCallName(raw, offered);
        expect(offered.includes(name) || SAFE.test(name)).toBe(true);
        expect(cleanCallName(name, offered)).toBe(name);
      }),
    );
    expect(cleanCallName("<".repeat(200_000), OFFERED)).toMatch(SAFE);
    expect(cleanCallName("a".repeat(200_000), OFFERED)).toMatch(SAFE);
  });
});

describe("arguments", () => {
  it.each([
    ["empty", ""],
    ["blank", " \n "],
    ["an empty object", "{}"],
    ["an encoded empty text", '""'],
    ["an encoded empty object", '"{}"'],
    ["an empty fence", "```json\n```"],
  ])("that are %s are none", (_, raw) => {
    expect(readArguments(raw)).toEqual({});
  });

  it.each([
    ["an object", '{"a":1}'],
    ["fenced", '```json\n{"a":1}\n```'],
    ["fenced without a language", '```{"a":1}```'],
    ["encoded as a string", '"{\\"a\\":1}"'],
    ["encoded twice", JSON.stringify(JSON.stringify('{"a":1}'))],
    ["encoded, then fenced", '```\n"{\\"a\\":1}"\n```'],
    ["with a trailing comma", '{"a":1,}'],
    ["with a brace too many", '{"a":1}}\n'],
    ["with a key twice, the last counts", '{"a":0,"a":1}'],
    ["with a prototype", '{"a":1,"__proto__":{"x":1}}'],
    ["with a prototype hidden by a NUL", '{"a":1,"__pro\\u0000to__":{"x":1}}'],
  ])("that are %s are read", (_, raw) => {
    expect(readArguments(raw)).toEqual({ a: 1 });
  });

  it.each([
    ["null", "null"],
    ["Python's null", "None"],
    ["a number", "5"],
    ["a string", '"ls"'],
    ["a bare word", "ls"],
    ["a list", "[]"],
    ["a list of one object", '[{"a":1}]'],
    ["true", "true"],
    ["cut in an object", '{"a":1'],
    ["cut in a string", '{"a":"x'],
    ["cut after an escape", '{"a":"x\\'],
    ["cut and encoded", '"{\\"a\\":1"'],
    ["two objects", '{"a":1}{"a":2}'],
    ["an object and words", '{"a":1} done'],
    ["words and an object", 'args: {"a":1}'],
    ["a bracket too many", '{"a":1}]'],
    ["single quotes", "{'a':1}"],
    ["a missing comma", '{"a":1 "b":2}'],
    ["two commas", '{"a":1,,}'],
    ["only a comma", "{,}"],
    ["a wrong escape", '{"a":"\\d"}'],
    ["not a number", '{"a":NaN}'],
    ["a number too big", '{"a":1e999}'],
    ["encoded too often", JSON.stringify(JSON.stringify(JSON.stringify('{"a":1}')))],
    ["too deep", `{"a":${"[".repeat(100)}${"]".repeat(100)}}`],
  ])("that are %s are refused", (_, raw) => {
    expect(readArguments(raw)).toBeNull();
  });

  it("keep line breaks that stand raw in a string", () => {
    expect(readArguments('{"a":"x\n\ty\\n"}')).toEqual({ a: "x\n\ty\n" });
  });

  it("hold Python's words as JSON's", () => {
    expect(readArguments('{"a":True,"b":[False,None]}')).toEqual({ a: true, b: [false, null] });
  });

  it("lose unsafe keys, NULs and half pairs at every depth", () => {
    const args = readArguments('{"l":[{"__proto__":1,"k\\ud83d":"x\\u0000\\ud83dy"}]}');
    expect(args).toEqual({ l: [{ "k\ufffd": "x\ufffdy" }] });
    expect(JSON.stringify(args).isWellFormed()).toBe(true);
    const polluted = readArguments('{"__proto__":{"admin":true}}') as { admin?: boolean };
    expect(polluted.admin).toBeUndefined();
  });

  it("never throw, and cost what they are long", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (raw) => void readArguments(raw)));
    const bits = fc.array(
      fc.constantFrom('{"', '"', "{", "[", "}", "]", ",", ":", "\\", "1", "```"),
    );
    fc.assert(fc.property(bits, (list) => void readArguments(list.join(""))));
    for (const unit of ["{", "[", '"', '{"a":', "\\", "```", "}"]) {
      expect(readArguments(unit.repeat(200_000))).toBeNull();
    }
  });

  it("that JSON.stringify wrote are read as they were, unsafe keys aside", () => {
    const drop = (v: unknown): unknown => {
      if (Array.isArray(v)) return v.map(drop);
      if (typeof v !== "object" || v === null) return v;
      const kept = Object.entries(v).filter(([k]) => k !== "__proto__");
      return Object.fromEntries(kept.map(([k, x]) => [k, drop(x)]));
    };
    const key = fc.constantFrom("a", "b c", "__proto__", "constructor", "toString", "汉");
    fc.assert(
      fc.property(fc.dictionary(key, fc.jsonValue({ maxDepth: 4 })), (args) => {
        const raw = JSON.stringify(args);
        const want = drop(JSON.parse(raw));
        if (!raw.includes("\\u0000")) expect(readArguments(raw)).toEqual(want);
      }),
    );
  });
});

describe("the JSON reader", () => {
  it("reads what JSON.parse reads", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom(0, 2), (raw, indent) => {
        const text = JSON.stringify(JSON.parse(raw), null, indent);
        expect(readJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it("says where it stopped, which is the end for what was cut off", () => {
    const whole = '{"a":[1,"x\\"}",true],"b":{}}';
    for (let end = 1; end < whole.length; end++) {
      const read = readJsonAt(whole.slice(0, end), 0);
      expect(read.ok).toBe(false);
    }
    expect(readJsonAt(`x ${whole} y`, 2)).toMatchObject({ ok: true, end: 2 + whole.length });
    expect(readJsonAt('{"a" "b"}', 0)).toEqual({ ok: false, at: 5 });
  });
});

const SCHEMA = {
  type: "object",
  properties: {
    n: { type: "integer" },
    x: { type: "number" },
    b: { type: "boolean" },
    s: { type: "string" },
    id: { type: "string" },
    level: { type: "string", enum: ["1", "2"] },
    either: { type: ["integer", "string"] },
    maybe: { anyOf: [{ type: "integer" }, { type: "null" }] },
    list: { type: "array", items: { type: "string" } },
    numbers: { type: "array", items: { type: "integer" } },
    steps: {
      type: "array",
      items: { type: "object", properties: { n: { $ref: "#/$defs/Count" } } },
    },
    options: { type: "object", properties: { deep: { type: "boolean" } } },
    any: {},
  },
  $defs: { Count: { type: "integer" } },
};

describe("coercion", () => {
  it.each([
    ["an integer", { n: "5" }, { n: 5 }],
    ["a negative integer with spaces", { n: " -5 " }, { n: -5 }],
    ["an integer with an empty fraction", { n: "5.0" }, { n: 5 }],
    ["a number", { x: "0.5" }, { x: 0.5 }],
    ["a number with an exponent", { x: "1e3" }, { x: 1000 }],
    ["a boolean", { b: "true" }, { b: true }],
    ["Python's boolean", { b: "False" }, { b: false }],
    ["null where null is allowed", { maybe: "null" }, { maybe: null }],
    ["a number where null is allowed", { maybe: "7" }, { maybe: 7 }],
    ["an id that came as a number", { id: 12 }, { id: "12" }],
    ["a listed value that came as a number", { level: 2 }, { level: "2" }],
    ["a list that came as JSON text", { list: '["a","b"]' }, { list: ["a", "b"] }],
    [
      "an object that came as JSON text",
      { options: '{"deep":"true"}' },
      { options: { deep: true } },
    ],
    ["what is inside a list", { numbers: ["1", 2] }, { numbers: [1, 2] }],
    ["what is inside a list in a text", { numbers: '["1",2]' }, { numbers: [1, 2] }],
    ["what a reference types", { steps: [{ n: "3" }] }, { steps: [{ n: 3 }] }],
    ["one item for a list", { steps: { n: "3" } }, { steps: [{ n: 3 }] }],
    ["one item in a text for a list", { steps: '{"n":"3"}' }, { steps: [{ n: 3 }] }],
    ["one plain text for a list", { list: "a.txt" }, { list: ["a.txt"] }],
    ["an unknown field, which goes", { n: 1, extra: 1, toString: 1 }, { n: 1 }],
  ])("puts right %s", (_, args, want) => {
    expect(coerceArguments(args, SCHEMA)).toEqual(want);
  });

  it.each([
    ["text that looks like a number where text is wanted", { s: "5" }],
    ["text that looks like JSON where text is wanted", { s: '{"a":1}' }],
    ["what either type allows", { either: "5" }],
    ["a number for a text that is no id (A18)", { s: 1 }],
    ["a fraction for an id", { id: 1.5 }],
    ["a number that is not listed", { level: 3 }],
    ["words for a number", { n: "five" }],
    ["a fraction for an integer", { n: "5.5" }],
    ["a leading zero", { n: "007" }],
    ["a number too long to keep", { n: "12345678901234567890", x: "12345678901234567890" }],
    ["an empty text for a number", { n: "" }],
    ["yes for a boolean", { b: "yes" }],
    ["one for a boolean", { b: 1 }],
    ["null for a number", { n: "null" }],
    ["a text that may be a list", { list: "a.txt, b.txt" }],
    ["an empty text for a list", { list: "" }],
    ["a broken list", { list: '["a"' }],
    ["a list in a list's place", { numbers: [["1"]] }],
    ["an object that is a list in a text", { options: "[1]" }],
    ["anything where the schema says nothing", { any: "5" }],
  ])("leaves %s", (_, args) => {
    expect(coerceArguments(args, SCHEMA)).toEqual(args);
  });

  it.each([
    ["says that there may be others", { properties: {}, additionalProperties: true }],
    ["types the others", { properties: {}, additionalProperties: {} }],
    ["lists none", { type: "object" }],
    ["has alternatives", { properties: {}, anyOf: [] }],
  ])("keeps unknown fields when the schema %s", (_, schema) => {
    expect(coerceArguments({ a: "1" }, schema)).toEqual({ a: "1" });
  });

  it("drops every field for a tool that has none", () => {
    expect(coerceArguments({ a: 1 }, { type: "object", properties: {} })).toEqual({});
  });

  it("ends on schemas that refer to themselves, point nowhere or are nonsense", () => {
    const loop = { $ref: "#/$defs/A" };
    const hostile = {
      properties: {
        a: loop,
        b: { $ref: "#/nowhere" },
        c: { $ref: "http://x/y" },
        d: { anyOf: Array(32).fill({ $ref: "#/$defs/B" }) },
        e: { type: [1, null], items: 5 },
        f: { type: "array" },
      },
      $defs: { A: loop, B: { anyOf: Array(32).fill({ $ref: "#/$defs/B" }) } },
    };
    const args = { a: "1", b: "1", c: "1", d: "1", e: "1", f: ["1"] };
    expect(coerceArguments(args, hostile)).toEqual(args);
  });

  it("twice is once, and never throws", () => {
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.constantFrom("1", "true", "null", "[1]", '["1"]', '{"n":"1"}', '[{"n":"1"}]', '"[1]"', 7),
      fc.json(),
    );
    const keys = fc.constantFrom(...Object.keys(SCHEMA.properties), "other");
    fc.assert(
      fc.property(fc.dictionary(keys, value), (args) => {
        const once = coerceArguments(args, SCHEMA);
        expect(coerceArguments(once, SCHEMA)).toEqual(once);
      }),
    );
    fc.assert(
      fc.property(fc.dictionary(keys, value), fc.object(), (args, schema) => {
        coerceArguments(args, schema);
      }),
    );
  });
});

describe("twins", () => {
  it("canonical JSON is JSON, and the same for any order of keys", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(JSON.parse(text))).toBe(text);
      }),
    );
    expect(canonicalJson({ b: [{ d: 1, c: 2 }], a: undefined })).toBe('{"b":[{"c":2,"d":1}]}');
  });

  it("are calls with the same name and arguments, whatever the order of keys", () => {
    const calls = [
      { name: "a", args: { x: 1, y: { p: 1, q: [1, 2] } } },
      { name: "b", args: { x: 1 } },
      { name: "a", args: { y: { q: [1, 2], p: 1 }, x: 1 } },
      { name: "a", args: { x: 1, y: { p: 1, q: [2, 1] } } },
      { name: "b", args: { x: "1" } },
      { name: "b", args: { x: 1 } },
      { name: "b", args: { x: 1 } },
    ];
    expect(dedupeCalls(calls)).toEqual([2, 5, 6]);
    expect(dedupeCalls([])).toEqual([]);
  });
});
