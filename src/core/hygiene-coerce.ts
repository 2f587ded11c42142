/**
 * Arguments of the right meaning and the wrong type, put right by the tool's own JSON Schema.
 *
 * K1  A value that its schema allows is never changed; where the schema says nothing, nothing is done.
 * K2  What is done is what no reader could take for something else; the rest stays wrong, and the model is told.
 * K3  Coercing twice is coercing once. Nothing here throws, whatever the schema.
 */
import { isObject, readJson, scrub } from "./hygiene-json.ts";
import type { JsonObject } from "./tool.ts";

interface Place {
  /** Where `$ref` points into. */
  root: JsonObject;
  depth: number;
  /** The property that is looked at: an id may be told by its name. */
  key: string;
}

/** Values and schemas are followed this far; deeper they stay as they are. */
const DEPTH = 24;
const LEAVES = 32;
const NUMBER = /^-?(?:0|[1-9]\d{0,30})(?:\.\d{1,30})?(?:[eE][+-]?\d{1,3})?$/;
const INTEGER = /^-?(?:0|[1-9]\d{0,15})(?:\.0{1,9})?$/;
const ID_KEY = /^id$|_id$|[a-z]I[dD]$/;
/** Keywords with which the listed properties are not all there is. */
const OPEN_ENDED = ["$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties"] as const;

// ---------------------------------------------------------------- schemas

/** What a local reference points at. */
export function resolve(ref: string, root: JsonObject): unknown {
  if (!ref.startsWith("#/")) return undefined;
  const steps = ref.slice(2).split("/");
  return steps.reduce<unknown>((node, step) => {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    return isObject(node) && Object.hasOwn(node, key) ? node[key] : undefined;
  }, root);
}

/** The typed alternatives of a schema; null when anything may be meant. */
function leavesOf(schema: unknown, root: JsonObject, depth: number): JsonObject[] | null {
  if (!isObject(schema) || depth === 0) return null;
  if (typesOf(schema).length > 0) return [schema];
  if (typeof schema.$ref === "string") {
    return leavesOf(resolve(schema.$ref, root), root, depth - 1);
  }
  const { allOf } = schema;
  const branches =
    Array.isArray(allOf) && allOf.length === 1 ? allOf : (schema.anyOf ?? schema.oneOf);
  if (!Array.isArray(branches) || branches.length > LEAVES) return null;
  const leaves: JsonObject[] = [];
  for (const branch of branches) {
    const below = leavesOf(branch, root, depth - 1);
    if (below === null || leaves.length + below.length > LEAVES) return null;
    leaves.push(...below);
  }
  return leaves.length > 0 ? leaves : null;
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function typesOf(leaf: JsonObject): string[] {
  if (typeof leaf.type === "string") return [leaf.type];
  if (Array.isArray(leaf.type)) return leaf.type.filter((t) => typeof t === "string");
  if (Object.hasOwn(leaf, "const")) return [kindOf(leaf.const)];
  return Array.isArray(leaf.enum) ? [...new Set(leaf.enum.map(kindOf))] : [];
}

const has = (leaves: JsonObject[], type: string) => leaves.some((l) => typesOf(l).includes(type));

function accepts(leaf: JsonObject, value: unknown): boolean {
  const types = typesOf(leaf);
  return types.includes(kindOf(value)) || (types.includes("integer") && Number.isInteger(value));
}

// ---------------------------------------------------------------- values

/** A number where text is wanted: only a listed value or an id. Elsewhere 1.10 and 1.1 would be one. */
function asText(value: unknown, leaves: JsonObject[], { key }: Place): string | undefined {
  if (!Number.isSafeInteger(value)) return undefined;
  const text = String(value);
  const listed = (l: JsonObject) =>
    l.const === text || (Array.isArray(l.enum) && l.enum.includes(text));
  return leaves.some(listed) || (has(leaves, "string") && ID_KEY.test(key)) ? text : undefined;
}

/** A single item where a list of such items is wanted. A text that may itself be a list stays. */
function asList(value: unknown, leaves: JsonObject[], place: Place): unknown[] | undefined {
  const lists = leaves.filter((l) => typesOf(l).includes("array"));
  const items = lists.length === 1 ? lists[0]?.items : undefined;
  const below = leavesOf(items, place.root, place.depth);
  if (!below?.some((l) => accepts(l, value)) || value === null || Array.isArray(value)) {
    return undefined;
  }
  if (typeof value === "string" && /^\s*$|^\s*\[|[,;\n]/.test(value)) return undefined;
  return [coerceValue(value, items, { ...place, depth: place.depth - 1 })];
}

/** A text where something else is wanted; undefined when it is not plainly that. */
function fromText(text: string, leaves: JsonObject[]): unknown {
  const t = text.trim();
  const number = Number(t);
  if (has(leaves, "integer") && INTEGER.test(t) && Number.isSafeInteger(number)) return number;
  if (has(leaves, "number") && NUMBER.test(t) && Number.isFinite(number)) {
    return Number.isInteger(number) && !Number.isSafeInteger(number) ? undefined : number;
  }
  if (has(leaves, "boolean") && /^(?:true|false)$/i.test(t)) return t.toLowerCase() === "true";
  if (has(leaves, "null") && /^(?:null|None)$/.test(t)) return null;
  if (!/^[[{]/.test(t)) return undefined;
  const value = readJson(t);
  return value !== undefined && (has(leaves, "array") || has(leaves, kindOf(value)))
    ? scrub(value)
    : undefined;
}

/** What lies inside a list or an object that its schema allows. */
function coerceInside(value: unknown, leaf: JsonObject, place: Place): unknown {
  const below = { ...place, depth: place.depth - 1 };
  if (Array.isArray(value)) return value.map((v) => coerceValue(v, leaf.items, below));
  const { properties } = leaf;
  if (!isObject(value) || !isObject(properties)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, v]) => [
      key,
      Object.hasOwn(properties, key) ? coerceValue(v, properties[key], { ...below, key }) : v,
    ]),
  );
}

function coerceValue(value: unknown, schema: unknown, place: Place): unknown {
  const leaves = place.depth > 0 ? leavesOf(schema, place.root, place.depth) : null;
  if (!leaves) return value;
  const fitting = leaves.filter((l) => accepts(l, value));
  const leaf = fitting[0];
  if (leaf) return fitting.length === 1 ? coerceInside(value, leaf, place) : value;
  const meant = typeof value === "string" ? fromText(value, leaves) : asText(value, leaves, place);
  if (meant === undefined) return asList(value, leaves, place) ?? value;
  // A list or an object came out of a text: its inside may need the same.
  return typeof meant === "object" && meant !== null
    ? coerceParsed(meant, value, leaves, place)
    : meant;
}

function coerceParsed(meant: object, value: unknown, leaves: JsonObject[], place: Place): unknown {
  const fitting = leaves.filter((l) => accepts(l, meant));
  const leaf = fitting[0];
  if (leaf) return fitting.length === 1 ? coerceInside(meant, leaf, place) : meant;
  return asList(meant, leaves, place) ?? value;
}

/** Fields that the schema does not know go, unless it says that there may be others. */
function knownFields(args: JsonObject, schema: JsonObject): JsonObject {
  const { properties, additionalProperties: others } = schema;
  const open = others === true || isObject(others);
  if (!isObject(properties) || open || OPEN_ENDED.some((word) => word in schema)) return args;
  return Object.fromEntries(Object.entries(args).filter(([key]) => Object.hasOwn(properties, key)));
}

export function coerceArguments(args: JsonObject, parameters: JsonObject): JsonObject {
  const place = { root: parameters, depth: DEPTH, key: "" };
  return coerceInside(knownFields(args, parameters), parameters, place) as JsonObject;
}
