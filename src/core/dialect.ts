/**
 * Tools as an endpoint takes them: one bad schema must not make every request fail.
 *
 * Y1  Pure and deterministic: the same tools give the same bytes. The caller keeps the result.
 * Y2  A tool is either sent in a form that the endpoint takes, or left out with a reason; it never throws.
 * Y3  A sent schema may say less than the tool's own: arguments are always held against the tool's own.
 * Y4  Strict only where every property is required and nothing is open.
 */
import type { Dialect } from "./profile.ts";
import { flat, listOf, recordOf, TOO_DEEP, textsOf, type Work } from "./schema-merge.ts";
import type { JsonObject, ToolSpec } from "./tool.ts";

export type Offer = Pick<ToolSpec, "name" | "description" | "parameters">;

/** The `function` of a tool as it is sent. */
export interface SentTool extends Offer {
  strict?: true;
}
export interface LeftOut {
  name: string;
  why: string;
}

const NAME = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;
const MAX_DEPTH = 16;
const MAX_NODES = 2_000;

/** Constraints that a dialect knows, besides the parts that every one has. */
const KNOWN: Record<Dialect, readonly string[]> = {
  openai: [
    "format",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "default",
  ],
  gemini: ["format", "minimum", "maximum", "minItems", "maxItems"],
  plain: [],
};
const GEMINI_FORMATS: Record<string, readonly string[]> = {
  string: ["enum", "date-time"],
  number: ["float", "double"],
  integer: ["int32", "int64"],
};
/** Keys that change nothing of what fits. */
const IDLE = new Set([
  ...["$schema", "$id", "$comment", "$defs", "definitions", "title", "description", "examples"],
  ...["type", "properties", "required", "items", "enum", "anyOf", "additionalProperties"],
]);

export function toolsFor(
  tools: readonly Offer[],
  dialect: Dialect,
  strict: boolean,
): { tools: SentTool[]; leftOut: LeftOut[] } {
  const sent: SentTool[] = [];
  const leftOut: LeftOut[] = [];
  for (const tool of tools) {
    const twice = sent.some((other) => other.name === tool.name);
    const made = twice ? "another tool has its name" : sentTool(tool, dialect, strict);
    if (typeof made === "string") leftOut.push({ name: tool.name, why: made });
    else sent.push(made);
  }
  return { tools: sent, leftOut };
}

/** The tool, or why it cannot be sent. */
function sentTool(tool: Offer, dialect: Dialect, strict: boolean): SentTool | string {
  const { name, description } = tool;
  if (!NAME.test(name)) return "its name is not letters, digits, _ and -, at most 64";
  const root = recordOf(tool.parameters);
  if (!root) return "its schema is not an object";
  // Arguments are one object, so a union at the top is merged in every dialect.
  const whole: Work = { root, dialect: "plain", left: MAX_NODES, wrong: "", open: false };
  const top = flat(root, whole);
  const work: Work = { ...whole, dialect };
  const isObject = top.type === "object" || top.type === undefined;
  if (work.wrong === "" && !isObject)
    return `its schema is of type ${String(top.type)}, not object`;
  const { description: _, nullable: __, ...node } = written({ ...top, type: "object" }, work, 0);
  if (work.wrong !== "") return work.wrong;
  const parameters: JsonObject = { properties: {}, ...node };
  return strict && dialect === "openai" && !work.open
    ? { name, description, parameters: closed(parameters) as JsonObject, strict: true }
    : { name, description, parameters };
}

const convert = (raw: unknown, work: Work, depth: number): JsonObject => {
  if (depth > MAX_DEPTH) work.wrong ||= TOO_DEEP;
  return work.wrong === "" ? written(flat(raw, work), work, depth) : {};
};

/** A flat node in the dialect's words. */
function written(node: JsonObject, work: Work, depth: number): JsonObject {
  const { dialect } = work;
  if (Array.isArray(node.anyOf)) {
    const anyOf = node.anyOf.map((branch) => convert(branch, work, depth + 1));
    return { ...described(node, []), anyOf };
  }
  noteOpen(node, work);
  const type = node.type ?? (dialect === "openai" ? undefined : "string");
  const values = enumOf(node, String(type), dialect);
  return {
    ...(type === undefined ? {} : { type }),
    ...(node.nullable === true && dialect === "gemini" ? { nullable: true } : {}),
    ...described(node, values.told),
    ...(type === "object" ? propertiesOf(node, work, depth) : {}),
    ...(type === "array" ? { items: itemsOf(node, work, depth) } : {}),
    ...(values.kept.length > 0 ? { enum: values.kept } : {}),
    ...Object.fromEntries(
      KNOWN[dialect]
        .filter((key) => fits(key, node, String(type), dialect))
        .map((key) => [key, node[key]]),
    ),
  };
}

/** Strict mode knows neither free objects nor optional fields, and of constraints it is not sure. */
function noteOpen(node: JsonObject, work: Work): void {
  const { type, additionalProperties: more } = node;
  const properties = recordOf(node.properties);
  const required = new Set(textsOf(node.required));
  const free = more !== undefined && more !== false;
  const optional = properties && Object.keys(properties).some((key) => !required.has(key));
  const untyped = type === undefined || (type === "object" && !properties);
  const beyond = Object.keys(node).some((key) => !IDLE.has(key));
  const loose = type === "array" && !recordOf(node.items);
  work.open ||= Boolean(free || optional || untyped || beyond || loose);
}

function described(node: JsonObject, told: unknown[]): JsonObject {
  const said = typeof node.description === "string" ? node.description : "";
  const list = told.length > 0 ? `One of: ${told.map((v) => JSON.stringify(v)).join(", ")}.` : "";
  const description = [said, list].filter((part) => part !== "").join(" ");
  return description === "" ? {} : { description };
}

/** Values that the schema can name, and those that only the description can. */
function enumOf(
  node: JsonObject,
  type: string,
  dialect: Dialect,
): { kept: unknown[]; told: unknown[] } {
  const blank = dialect === "gemini" ? "" : null;
  const values = listOf(node.enum).filter((value) => value !== null && value !== blank);
  const right = (value: unknown) => typeof value === (type === "integer" ? "number" : type);
  const sound = dialect === "openai" || (dialect === "plain" && values.every(right));
  return sound || values.every((value) => typeof value === "string")
    ? { kept: values, told: [] }
    : { kept: [], told: values };
}

function propertiesOf(node: JsonObject, work: Work, depth: number): JsonObject {
  const raw = recordOf(node.properties);
  if (!raw) return {};
  const entries = Object.entries(raw).filter(
    ([key, schema]) => schema !== false && key !== "__proto__",
  );
  const names = new Set(entries.map(([key]) => key));
  const required = [...new Set(textsOf(node.required))].filter((key) => names.has(key));
  return {
    properties: Object.fromEntries(
      entries.map(([key, schema]) => [key, convert(schema, work, depth + 1)]),
    ),
    ...(required.length > 0 ? { required } : {}),
  };
}

/** One schema for all items; of a tuple only if they are alike. */
function itemsOf(node: JsonObject, work: Work, depth: number): JsonObject {
  const tuple = Array.isArray(node.items) ? node.items : listOf(node.prefixItems);
  const alike = new Set(tuple.map((item) => JSON.stringify(item))).size === 1;
  const items = recordOf(node.items) ?? (alike ? tuple[0] : {});
  return convert(items, work, depth + 1);
}

function fits(key: string, node: JsonObject, type: string, dialect: Dialect): boolean {
  if (!Object.hasOwn(node, key) || node[key] === null) return false;
  if (key === "format" && dialect === "gemini") {
    return GEMINI_FORMATS[type]?.includes(String(node.format)) ?? false;
  }
  // Converters write these where a schema only says "integer".
  return Math.abs(Number(node[key])) !== Number.MAX_SAFE_INTEGER;
}

function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed);
  const record = recordOf(node);
  if (!record) return node;
  const properties = recordOf(record.properties);
  return {
    ...record,
    ...(Array.isArray(record.anyOf) ? { anyOf: closed(record.anyOf) } : {}),
    ...(record.items ? { items: closed(record.items) } : {}),
    ...(properties
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([k, v]) => [k, closed(v)]),
          ),
          additionalProperties: false,
        }
      : {}),
  };
}
