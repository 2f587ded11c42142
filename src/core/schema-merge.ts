/**
 * One node of a foreign JSON Schema without references, unions with null, and compositions that can be merged.
 *
 * N1  Nothing here throws or loops: work is bounded, and what cannot be written down is noted in `wrong`.
 * N2  A union is only ever narrowed to one of its branches, or its objects are merged: what a model then writes is
 *     still held against the tool's own schema.
 */
import type { Dialect } from "./profile.ts";
import type { JsonObject } from "./tool.ts";

/** The work on one tool. */
export interface Work {
  readonly root: JsonObject;
  readonly dialect: Dialect;
  /** Nodes that may still be visited. */
  left: number;
  /** Why the tool cannot be sent; "" while it can. */
  wrong: string;
  /** Something is optional, free or beyond what strict mode knows. */
  open: boolean;
}

export const TOO_DEEP = "its schema is too large or refers to itself";

export const recordOf = (raw: unknown): JsonObject | null =>
  typeof raw === "object" && raw !== null && !Array.isArray(raw) ? (raw as JsonObject) : null;
export const listOf = (raw: unknown): unknown[] => (Array.isArray(raw) ? raw : []);
export const textsOf = (raw: unknown): string[] =>
  listOf(raw).filter((item) => typeof item === "string");

/** The node with everything resolved that concerns itself; its children are still raw. */
export function flat(raw: unknown, work: Work): JsonObject {
  work.left -= 1;
  if (work.left < 0) {
    work.wrong ||= TOO_DEEP;
    return {};
  }
  const node = mergeAll(follow(recordOf(raw) ?? {}, work), work);
  const { const: only, ...rest } = node;
  const plain = only === undefined ? rest : { ...rest, enum: [only] };
  return typed(united(plain, work), work);
}

function follow(raw: JsonObject, work: Work): JsonObject {
  let node = raw;
  while (typeof node.$ref === "string") {
    const { $ref, ...siblings } = node;
    const target = pointed(work.root, $ref);
    work.left -= 1;
    if (!target || work.left < 0) {
      work.wrong ||= target
        ? TOO_DEEP
        : `it refers to ${String($ref).slice(0, 80)}, which is not in it`;
      return {};
    }
    node = { ...target, ...siblings };
  }
  return node;
}

/** What `#/a/b` points to. */
function pointed(root: JsonObject, ref: string): JsonObject | null {
  if (ref === "#") return root;
  if (!ref.startsWith("#/")) return null;
  let at: unknown = root;
  for (const part of ref.slice(2).split("/")) {
    const key = part.replaceAll("%24", "$").replaceAll("~1", "/").replaceAll("~0", "~");
    const list: unknown = Array.isArray(at) ? at[Number(key)] : undefined;
    const record = recordOf(at);
    at = record && Object.hasOwn(record, key) ? record[key] : list;
  }
  return recordOf(at);
}

function mergeAll(node: JsonObject, work: Work): JsonObject {
  if (!Array.isArray(node.allOf)) return node;
  const { allOf, ...own } = node;
  return listOf(allOf).reduce<JsonObject>((sum, part) => both(sum, flat(part, work), work), own);
}

/** What holds for both: all properties, all that is required. */
function both(a: JsonObject, b: JsonObject, work: Work): JsonObject {
  if (a.type !== undefined && b.type !== undefined && String(a.type) !== String(b.type)) {
    work.wrong ||= `it asks for two types at once (${String(a.type)}, ${String(b.type)})`;
  }
  const required = [...new Set([...textsOf(a.required), ...textsOf(b.required)])];
  const properties = joined(a, b, "allOf");
  return {
    ...b,
    ...a,
    ...(properties ? { properties } : {}),
    ...(required.length > 0 ? { required } : {}),
  };
}

/** The properties of two objects; one that both have is `how` of the two. */
function joined(a: JsonObject, b: JsonObject, how: "allOf" | "anyOf"): JsonObject | null {
  const [one, two] = [recordOf(a.properties), recordOf(b.properties)];
  if (!one || !two) return one ?? two;
  const twice = Object.keys(one).filter((key) => Object.hasOwn(two, key));
  const merged = twice.map((key) => [key, { [how]: [one[key], two[key]] }] as const);
  return { ...one, ...two, ...Object.fromEntries(merged) };
}

const isNull = (node: JsonObject): boolean =>
  node.type === "null" || (Array.isArray(node.enum) && node.enum.every((value) => value === null));

/** `anyOf` and `oneOf` become one node, or an `anyOf` where the dialect knows it. */
function united(node: JsonObject, work: Work): JsonObject {
  const key = Array.isArray(node.anyOf) ? "anyOf" : "oneOf";
  if (!Array.isArray(node[key])) return node;
  const { anyOf: _, oneOf: __, ...own } = node;
  const all = listOf(node[key]).map((part) => flat(part, work));
  const branches = all.filter((branch) => !isNull(branch));
  const nullable = own.nullable === true || branches.length < all.length;
  const base = nullable ? { ...own, nullable: true } : own;
  const first = branches[0];
  if (!first) return base;
  if (branches.length === 1) return both(base, first, work);
  // "Either this or that field": the objects themselves are the same.
  if (branches.every((b) => !("type" in b) && !("properties" in b) && !("enum" in b))) return base;
  const values = branches.flatMap((branch) => listOf(branch.enum));
  if (branches.every((b) => Array.isArray(b.enum) && b.type === first.type)) {
    return { ...first, ...base, enum: [...new Set(values)] };
  }
  const sameType = branches.every((b) => b.type === first.type);
  if (work.dialect === "openai" && !(base.properties || (sameType && base.type === "object"))) {
    return { ...base, anyOf: branches };
  }
  return both(base, collapsed(branches), work);
}

/** One node for several: objects merged, else the most general branch. */
function collapsed(branches: JsonObject[]): JsonObject {
  const [first = {}, ...others] = branches;
  if (!branches.every((b) => b.type === "object")) {
    return branches.find((b) => b.type === "string" && !b.enum) ?? first;
  }
  let sum = first;
  for (const branch of others) {
    const needed = new Set(textsOf(branch.required));
    const required = textsOf(sum.required).filter((key) => needed.has(key));
    sum = { ...sum, properties: joined(sum, branch, "anyOf") ?? {}, required };
  }
  return sum;
}

const TYPES = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);
const ALIASES: Record<string, string> = {
  int: "integer",
  long: "integer",
  float: "number",
  double: "number",
  bool: "boolean",
  dict: "object",
  list: "array",
  str: "string",
};

const jsonType = (value: unknown): string => {
  if (Array.isArray(value)) return "array";
  if (value === null) return "null";
  return Number.isInteger(value) ? "integer" : typeof value;
};

/** With one type, or none when nothing says which. */
function typed(node: JsonObject, work: Work): JsonObject {
  const { type, ...rest } = node;
  const named = (Array.isArray(type) ? type : [type])
    .filter((name) => typeof name === "string")
    .map((name) => ALIASES[name.toLowerCase()] ?? name.toLowerCase())
    .filter((name) => TYPES.has(name));
  const types = named.filter((name) => name !== "null");
  const values = listOf(rest.enum).filter((value) => value !== null);
  const nullable = rest.nullable === true || (types.length > 0 && types.length < named.length);
  const base = nullable ? { ...rest, nullable: true } : rest;
  const found = types.includes("string") ? "string" : types[0];
  if (types.length > 1) work.open = true;
  if (found) return { type: found, ...base };
  if (named.length > 0) return { type: "null", ...rest };
  if ("properties" in rest) return { type: "object", ...base };
  if ("items" in rest || "prefixItems" in rest) return { type: "array", ...base };
  const kinds = new Set(values.map(jsonType));
  return kinds.size === 1 ? { type: [...kinds][0], ...base } : base;
}
