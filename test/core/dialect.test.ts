/** A17: one bad tool schema must not make every request fail. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toolsFor } from "../../src/core/dialect.ts";
import type { Dialect } from "../../src/core/profile.ts";
import { TERMINALS } from "../../src/core/terminal.ts";
import type { JsonObject } from "../../src/core/tool.ts";
import { TOOLS } from "../../src/tools/index.ts";
import { runs } from "../support/properties.ts";

const DIALECTS: Dialect[] = ["openai", "gemini", "plain"];
const tool = (parameters: unknown, name = "t") => ({
  name,
  description: "A tool.",
  parameters: parameters as JsonObject,
});
const sent = (parameters: unknown, dialect: Dialect = "plain") => {
  const { tools, leftOut } = toolsFor([tool(parameters)], dialect, false);
  return tools[0]?.parameters ?? leftOut[0]?.why;
};
/** The schema of one property. */
const property = (schema: unknown, dialect: Dialect = "plain", more: JsonObject = {}) => {
  const made = sent({ type: "object", properties: { x: schema }, ...more }, dialect);
  return typeof made === "string" ? made : ((made?.properties ?? {}) as JsonObject).x;
};

it("our own tools pass every dialect unharmed", () => {
  const own = [...TOOLS, ...Object.values(TERMINALS)];
  for (const dialect of DIALECTS) {
    const { tools, leftOut } = toolsFor(own, dialect, true);
    expect(leftOut).toEqual([]);
    tools.forEach((made, i) => {
      const before = own[i]?.parameters as JsonObject;
      expect(made.name).toBe(own[i]?.name);
      expect(Object.keys(made.parameters.properties as JsonObject)).toEqual(
        Object.keys((before.properties ?? {}) as JsonObject),
      );
      expect(made.parameters.required).toEqual(before.required);
    });
  }
});

describe("a tool is left out, with a reason, when", () => {
  it.each<[string, unknown, RegExp]>([
    ["9 bad name!", {}, /name/],
    ["", {}, /name/],
    ["x".repeat(65), {}, /name/],
    ["t", { type: "string", properties: { a: {} } }, /type string/],
    ["t", { type: "array", items: {} }, /type array/],
    ["t", "nonsense", /not an object/],
    ["t", { $ref: "#/$defs/nothing" }, /refers to/],
    ["t", { properties: { a: { $ref: "https://example.com/x.json" } } }, /refers to/],
    ["t", { properties: { a: { $ref: "#" } } }, /itself/],
    ["t", { $ref: "#" }, /itself/],
    ["t", { properties: { a: { allOf: [{ type: "string" }, { type: "object" }] } } }, /two types/],
    [
      "t",
      {
        $defs: {
          n: { type: "object", properties: { l: { $ref: "#/$defs/n" }, r: { $ref: "#/$defs/n" } } },
        },
        $ref: "#/$defs/n",
      },
      /itself/,
    ],
  ])("%s %j", (name, parameters, why) => {
    for (const dialect of DIALECTS) {
      const good = tool({ type: "object", properties: {} }, "good");
      const made = toolsFor([tool(parameters, name), good], dialect, true);
      expect(made.tools.map((t) => t.name)).toEqual(["good"]);
      expect(made.leftOut).toEqual([{ name, why: expect.stringMatching(why) as string }]);
    }
  });

  it("another has its name", () => {
    const made = toolsFor([tool({}), tool({})], "plain", false);
    expect(made.tools).toHaveLength(1);
    expect(made.leftOut[0]?.why).toContain("name");
  });
});

describe("the root", () => {
  it("is an object with properties, whatever was left out", () => {
    const empty = { type: "object", properties: {} };
    for (const raw of [{}, { type: "object" }, { properties: {} }, { type: ["object", "null"] }]) {
      for (const dialect of DIALECTS) expect(sent(raw, dialect)).toEqual(empty);
    }
  });

  it("loses what only validators read", () => {
    const raw = {
      $schema: "http://json-schema.org/draft-07/schema#",
      $id: "x",
      $comment: "c",
      title: "T",
      type: "object",
      additionalProperties: false,
      patternProperties: { "^x": {} },
      properties: { a: { type: "string", $comment: "c" } },
      required: ["a", "ghost", "a"],
    };
    for (const dialect of DIALECTS) {
      expect(sent(raw, dialect)).toEqual({
        type: "object",
        properties: { a: { type: "string" } },
        required: ["a"],
      });
    }
  });

  it("of several objects is one, with what all of them require", () => {
    const raw = {
      oneOf: [
        {
          type: "object",
          properties: { kind: { const: "a" }, a: { type: "string" } },
          required: ["kind", "a"],
        },
        {
          type: "object",
          properties: { kind: { const: "b" }, b: { type: "number" } },
          required: ["kind", "b"],
        },
      ],
    };
    for (const dialect of DIALECTS) {
      expect(sent(raw, dialect)).toEqual({
        type: "object",
        properties: {
          kind: { type: "string", enum: ["a", "b"] },
          a: { type: "string" },
          b: { type: "number" },
        },
        required: ["kind"],
      });
    }
  });

  it("keeps its fields when a union only says which of them are needed", () => {
    const properties = { a: { type: "string" }, b: { type: "string" } };
    const raw = { type: "object", properties, anyOf: [{ required: ["a"] }, { required: ["b"] }] };
    for (const dialect of DIALECTS)
      expect(sent(raw, dialect)).toEqual({ type: "object", properties });
  });
});

describe("a field", () => {
  it("that may be null is what it else is; Gemini is told", () => {
    for (const schema of [
      { anyOf: [{ type: "string" }, { type: "null" }], description: "d" },
      { oneOf: [{ type: "null" }, { type: "string" }], description: "d" },
      { type: ["string", "null"], description: "d" },
      { type: "string", nullable: true, description: "d" },
    ]) {
      expect(property(schema)).toEqual({ type: "string", description: "d" });
      expect(property(schema, "openai")).toEqual({ type: "string", description: "d" });
      expect(property(schema, "gemini")).toEqual({
        type: "string",
        nullable: true,
        description: "d",
      });
    }
  });

  it("that is a list always says of what", () => {
    const list = { type: "array" };
    expect(property(list, "openai")).toEqual({ type: "array", items: {} });
    expect(property(list, "gemini")).toEqual({ type: "array", items: { type: "string" } });
    expect(property(list)).toEqual({ type: "array", items: { type: "string" } });
    expect(property({ items: { type: "integer" } })).toEqual({
      type: "array",
      items: { type: "integer" },
    });
    const pair = { type: "array", prefixItems: [{ type: "number" }, { type: "number" }] };
    expect(property(pair)).toEqual({ type: "array", items: { type: "number" } });
    expect(property({ type: "array", items: [{ type: "number" }, { type: "string" }] })).toEqual({
      type: "array",
      items: { type: "string" },
    });
  });

  it("that refers to a definition is that definition, siblings included", () => {
    const $defs = {
      "a/b": { type: "object", properties: { n: { $ref: "#/$defs/num" } } },
      num: { type: "number" },
    };
    expect(property({ $ref: "#/$defs/a~1b", description: "d" }, "plain", { $defs })).toEqual({
      type: "object",
      description: "d",
      properties: { n: { type: "number" } },
    });
  });

  it("of several types stays a union only where that is known", () => {
    const schema = { anyOf: [{ type: "number" }, { type: "string" }] };
    expect(property(schema, "openai")).toEqual(schema);
    expect(property(schema, "gemini")).toEqual({ type: "string" });
    expect(property(schema)).toEqual({ type: "string" });
    expect(property({ type: ["integer", "string"] })).toEqual({ type: "string" });
    expect(property({ anyOf: [{ type: "number" }, { type: "boolean" }] })).toEqual({
      type: "number",
    });
  });

  it("with a few values names them, in its description where a list of them is refused", () => {
    expect(property({ enum: ["a", "b", null] })).toEqual({ type: "string", enum: ["a", "b"] });
    expect(property({ const: "a" })).toEqual({ type: "string", enum: ["a"] });
    expect(property({ type: "integer", enum: [1, 2] }, "openai")).toEqual({
      type: "integer",
      enum: [1, 2],
    });
    expect(property({ type: "integer", enum: [1, 2], description: "Level." }, "gemini")).toEqual({
      type: "integer",
      description: "Level. One of: 1, 2.",
    });
    expect(property({ enum: ["a", ""] }, "gemini")).toEqual({ type: "string", enum: ["a"] });
  });

  it("keeps the constraints that the endpoint knows", () => {
    const text = { type: "string", format: "uri", minLength: 1, default: "x" };
    expect(property(text, "openai")).toEqual(text);
    expect(property(text, "gemini")).toEqual({ type: "string" });
    expect(property(text)).toEqual({ type: "string" });
    const time = { type: "string", format: "date-time" };
    expect(property(time, "gemini")).toEqual(time);
    const count = { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
    expect(property(count, "gemini")).toEqual({ type: "integer", minimum: 0 });
  });

  it("of any or no kind", () => {
    expect(property(true)).toEqual({ type: "string" });
    expect(property({}, "openai")).toEqual({});
    expect(property(false)).toBeUndefined();
    expect(property({ type: "float" })).toEqual({ type: "number" });
    expect(
      property({ allOf: [{ type: "string" }, { description: "d", minLength: 2 }] }, "openai"),
    ).toEqual({
      type: "string",
      description: "d",
      minLength: 2,
    });
  });
});

describe("Y4: strict", () => {
  const strict = (parameters: unknown) => toolsFor([tool(parameters)], "openai", true).tools[0];

  it("closes every object of a tool that leaves nothing open", () => {
    const inner = { type: "object", properties: { b: { type: "string" } }, required: ["b"] };
    const raw = {
      type: "object",
      properties: { a: { type: "array", items: inner } },
      required: ["a"],
    };
    expect(strict(raw)).toEqual({
      name: "t",
      description: "A tool.",
      strict: true,
      parameters: {
        ...raw,
        properties: { a: { type: "array", items: { ...inner, additionalProperties: false } } },
        additionalProperties: false,
      },
    });
  });

  it.each<unknown>([
    { properties: { a: { type: "string" } } },
    { properties: { a: {} }, required: ["a"] },
    { properties: { a: { type: "object" } }, required: ["a"] },
    { properties: { a: { type: "string", minLength: 2 } }, required: ["a"] },
    { properties: { a: { type: "string" } }, required: ["a"], additionalProperties: true },
    { properties: { a: { type: "array" } }, required: ["a"] },
  ])("is not asked of %j", (raw) => {
    expect(strict(raw)).not.toHaveProperty("strict");
    expect(JSON.stringify(strict(raw))).not.toContain("additionalProperties");
  });
});

/** Any value where a schema's word may stand. */
const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<unknown>({}, true, false, null, 5, "x", []),
    fc.record(
      {
        type: fc.oneof(
          fc.constantFrom("string", "object", "array", "null", "integer", "nonsense"),
          fc.constant(["string", "null"]),
          fc.constant(["number", "object"]),
        ),
        properties: fc.dictionary(fc.constantFrom("a", "b", "__proto__"), tie("schema")),
        required: fc.constantFrom(["a"], ["a", "b"], "a", [1]),
        items: tie("schema"),
        anyOf: fc.array(tie("schema"), { maxLength: 3 }),
        oneOf: fc.array(tie("schema"), { maxLength: 3 }),
        allOf: fc.array(tie("schema"), { maxLength: 3 }),
        enum: fc.constantFrom(["a"], [1, 2], [null], "x"),
        $ref: fc.constantFrom("#", "#/properties/a", "#/$defs/a", "http://x/y"),
        format: fc.constantFrom("date-time", "uri", 5),
        additionalProperties: tie("schema"),
      },
      { requiredKeys: [] },
    ),
  ),
}));

/** What a picky server demands of each node. */
function check(node: JsonObject, dialect: Dialect, path: string): string[] {
  const found: string[] = [];
  const children = Object.entries((node.properties ?? {}) as JsonObject);
  for (const key of ["$ref", "oneOf", "allOf", "const", "$defs", "additionalProperties"]) {
    if (key in node) found.push(`${path}: ${key}`);
  }
  if (dialect !== "openai" && typeof node.type !== "string") found.push(`${path}: no type`);
  if (dialect !== "openai" && "anyOf" in node) found.push(`${path}: anyOf`);
  if (node.type === "array" && !node.items) found.push(`${path}: no items`);
  if (
    dialect === "gemini" &&
    ((node.enum ?? []) as unknown[]).some((v) => typeof v !== "string" || !v)
  ) {
    found.push(`${path}: enum`);
  }
  for (const key of (node.required ?? []) as string[]) {
    if (!children.some(([name]) => name === key)) found.push(`${path}: requires ${key}`);
  }
  return [
    ...found,
    ...children.flatMap(([key, child]) => check(child as JsonObject, dialect, `${path}.${key}`)),
    ...(node.items ? check(node.items as JsonObject, dialect, `${path}[]`) : []),
    ...((node.anyOf ?? []) as JsonObject[]).flatMap((b) => check(b, dialect, `${path}|`)),
  ];
}

it("Y1, Y2: any schema at all is sent soundly or left out, the same every time", () => {
  fc.assert(
    fc.property(schema, fc.constantFrom(...DIALECTS), (raw, dialect) => {
      const before = JSON.stringify(raw);
      const made = toolsFor([tool(raw)], dialect, false);
      expect(made.tools.length + made.leftOut.length).toBe(1);
      expect(JSON.stringify(toolsFor([tool(raw)], dialect, false))).toBe(JSON.stringify(made));
      expect(JSON.stringify(raw)).toBe(before);
      for (const t of made.tools) {
        expect(t.parameters.type).toBe("object");
        expect(t.parameters.properties).toBeTypeOf("object");
        expect(check(t.parameters, dialect, "$")).toEqual([]);
      }
    }),
    runs(400),
  );
});
