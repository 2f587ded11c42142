/** From a zod schema to what a model is told and what its arguments are held against. */
import * as z from "zod";
import type { JsonObject, Parsed } from "./tool.ts";

/** Keys that providers refuse or that only cost tokens. */
const DROP = new Set(["$schema", "additionalProperties", "~standard"]);

function tidy(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(tidy);
  if (typeof node !== "object" || node === null) return node;
  return Object.fromEntries(
    Object.entries(node)
      .filter(([key, value]) => !DROP.has(key) && !isIntBound(key, value))
      .map(([key, value]) => [key, tidy(value)]),
  );
}
/** zod bounds every integer by the safe range; a model need not read that. */
const isIntBound = (key: string, value: unknown) =>
  (key === "maximum" && value === Number.MAX_SAFE_INTEGER) ||
  (key === "minimum" && value === Number.MIN_SAFE_INTEGER);

/** JSON Schema of an object schema, `type: "object"`, without keys that providers refuse. */
export const parametersOf = (schema: z.ZodObject): JsonObject =>
  tidy(z.toJSONSchema(schema, { io: "input" })) as JsonObject;

/** A parser that never throws; its error names each field and its rule, for a model to read. */
export function parserOf(schema: z.ZodObject): (args: JsonObject) => Parsed {
  return (args) => {
    const parsed = schema.safeParse(args);
    if (parsed.success) return { ok: true, value: parsed.data as JsonObject };
    return { ok: false, error: `${faults(parsed.error)}. Fields: ${fieldList(schema)}` };
  };
}

const faults = (error: z.ZodError) =>
  error.issues
    .slice(0, 8)
    .map((i) => `${i.path.map(String).join(".") || "arguments"}: ${i.message}`)
    .join("; ");

/** `path: string, start_line?: integer`, read off the JSON Schema. */
function fieldList(schema: z.ZodObject): string {
  const json = parametersOf(schema) as {
    properties?: Record<string, { type?: string }>;
    required?: string[];
  };
  return Object.entries(json.properties ?? {})
    .map(([name, p]) => `${name}${json.required?.includes(name) ? "" : "?"}: ${p.type ?? "any"}`)
    .join(", ");
}
