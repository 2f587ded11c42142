/**
 * Whether a value fits a JSON Schema that somebody else wrote: a proxy's client, say.
 *
 * F1  A value that the schema allows is never refused. What is not decided here (formats, patterns, conditions,
 *     `not`, unknown types, references into other documents) allows everything.
 * F2  The work is bounded: beyond it everything is allowed. Nothing here throws.
 * F3  The error names the first field that is wrong and its rule, for a model.
 */
import { canonicalJson } from "./hygiene.ts";
import { resolve } from "./hygiene-coerce.ts";
import { isObject } from "./hygiene-json.ts";
import type { JsonObject } from "./tool.ts";

interface Work {
  root: unknown;
  /** Schemas that may still be looked at. */
  left: number;
}
type Rule = (schema: JsonObject, value: unknown, at: string, work: Work) => string | null;

const STEPS = 20_000;
const TYPES: Record<string, (value: unknown) => boolean> = {
  string: (v) => typeof v === "string",
  number: (v) => typeof v === "number",
  integer: (v) => Number.isInteger(v),
  boolean: (v) => typeof v === "boolean",
  null: (v) => v === null,
  array: (v) => Array.isArray(v),
  object: isObject,
};

/** What is wrong with the value; null: it fits. `root`: where references point into. */
export function misfit(schema: unknown, value: unknown, root = schema): string | null {
  try {
    return check(schema, value, "", { root, left: STEPS });
  } catch {
    // Nested beyond the stack: whoever wrote such a schema must judge the value himself.
    return null;
  }
}

function check(schema: unknown, value: unknown, at: string, work: Work): string | null {
  work.left -= 1;
  if (work.left < 0) return null;
  if (schema === false) return `${named(at)} is not allowed`;
  if (!isObject(schema)) return null;
  if (typeof schema.$ref === "string") {
    const target = schema.$ref === "#" ? work.root : resolve(schema.$ref, work.root as JsonObject);
    return check(target, value, at, work);
  }
  for (const rule of RULES) {
    const wrong = rule(schema, value, at, work);
    if (wrong !== null) return wrong;
  }
  return null;
}

const named = (at: string): string => (at === "" ? "the arguments" : `\`${at}\``);
const below = (at: string, key: string | number): string => (at === "" ? `${key}` : `${at}.${key}`);
const listOf = (raw: unknown): unknown[] => (Array.isArray(raw) ? raw : []);
const same = (a: unknown, b: unknown): boolean => canonicalJson(a) === canonicalJson(b);

const type: Rule = (schema, value, at) => {
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  const tests = types.map((name) =>
    typeof name === "string" && Object.hasOwn(TYPES, name) ? TYPES[name] : undefined,
  );
  const open = types.length === 0 || tests.some((test) => test === undefined);
  if (open || (value === null && schema.nullable === true)) return null;
  return tests.some((test) => test?.(value))
    ? null
    : `${named(at)} must be of type ${types.join(" or ")}`;
};

const values: Rule = (schema, value, at) => {
  if (value === null && schema.nullable === true) return null;
  const listed = Array.isArray(schema.enum) ? schema.enum : null;
  const allowed = Object.hasOwn(schema, "const") ? [schema.const] : listed;
  if (!allowed || allowed.some((one) => same(one, value))) return null;
  const list = allowed.slice(0, 20).map((one) => JSON.stringify(one));
  return `${named(at)} must be one of ${list.join(", ")}`;
};

const branches: Rule = (schema, value, at, work) => {
  for (const part of listOf(schema.allOf)) {
    const wrong = check(part, value, at, work);
    if (wrong !== null) return wrong;
  }
  for (const key of ["anyOf", "oneOf"]) {
    const parts = listOf(schema[key]);
    const wrongs = parts.map((part) => check(part, value, at, work));
    if (wrongs.length > 0 && !wrongs.includes(null)) return wrongs.join(", or ");
  }
  return null;
};

const limit = (schema: JsonObject, key: string, fallback: number): number => {
  const value = schema[key];
  return typeof value === "number" ? value : fallback;
};

function sized(size: number, schema: JsonObject, what: string, at: string): string | null {
  const [least, most] = [limit(schema, `min${what}`, 0), limit(schema, `max${what}`, Infinity)];
  if (size < least) return `${named(at)} is too short: min${what} is ${least}`;
  return size > most ? `${named(at)} is too long: max${what} is ${most}` : null;
}

const strings: Rule = (schema, value, at) =>
  typeof value === "string" && ("minLength" in schema || "maxLength" in schema)
    ? sized([...value].length, schema, "Length", at)
    : null;

const numbers: Rule = (schema, value, at) => {
  if (typeof value !== "number") return null;
  const broken =
    value < limit(schema, "minimum", -Infinity) ||
    value > limit(schema, "maximum", Infinity) ||
    value <= limit(schema, "exclusiveMinimum", -Infinity) ||
    value >= limit(schema, "exclusiveMaximum", Infinity);
  return broken ? `${named(at)} is out of its range` : null;
};

const lists: Rule = (schema, value, at, work) => {
  if (!Array.isArray(value)) return null;
  const tuple = Array.isArray(schema.items) ? schema.items : listOf(schema.prefixItems);
  const rest = Array.isArray(schema.items) ? schema.additionalItems : schema.items;
  for (const [i, item] of value.entries()) {
    const wrong = check(i < tuple.length ? tuple[i] : rest, item, below(at, i), work);
    if (wrong !== null) return wrong;
  }
  return sized(value.length, schema, "Items", at);
};

const objects: Rule = (schema, value, at, work) => {
  if (!isObject(value)) return null;
  const missing = listOf(schema.required).find((key) => !Object.hasOwn(value, String(key)));
  if (missing !== undefined) return `${named(below(at, String(missing)))} is missing`;
  const properties = isObject(schema.properties) ? schema.properties : {};
  const others = "patternProperties" in schema ? true : schema.additionalProperties;
  for (const [key, item] of Object.entries(value)) {
    const known = Object.hasOwn(properties, key);
    const wrong = check(known ? properties[key] : others, item, below(at, key), work);
    if (wrong !== null) return wrong;
  }
  return null;
};

const RULES: readonly Rule[] = [type, values, branches, strings, numbers, lists, objects];
