/**
 * From a zod schema to what a model is told, and what its arguments are held against.
 *
 * J1  The JSON Schema is plain: no `$schema`, no `additionalProperties`, no bounds that only say "integer".
 * J2  Unknown fields are dropped; null counts as absent. Nothing here throws.
 * J3  An error is written for a model: which field, which rule, and all fields of the tool.
 * J4  A schema is made when it is first used: a Worker that starts shows no tools yet, and checks nothing.
 */
import * as z from "zod";
import type { JsonObject, Parsed } from "./tool.ts";

/** The label for people that every work tool has. */
export const BRIEF = {
  type: "string",
  description:
    "What this call does, in a few words in the user's language; people see it in the timeline.",
} as const;

function strip(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(strip);
  if (typeof node !== "object" || node === null) return node;
  const kept = Object.entries(node).filter(
    ([key, value]) =>
      key !== "$schema" &&
      key !== "additionalProperties" &&
      Math.abs(Number(value)) !== Number.MAX_SAFE_INTEGER,
  );
  return Object.fromEntries(kept.map(([key, value]) => [key, strip(value)]));
}

/** What is made at the first call, and the same at every other. */
function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

/** JSON Schema of an object schema, `type: "object"`: the same object at every call. */
export const parametersOf = (schema: () => z.ZodObject): (() => JsonObject) =>
  once(() => strip(z.toJSONSchema(schema(), { io: "input" })) as JsonObject);

const withoutNulls = (raw: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== null));

/** `parameters`: what the model was shown; the error names its fields. */
export function parserOf<S extends z.ZodObject>(
  schema: () => S,
  parameters: () => JsonObject,
): (args: JsonObject) => Parsed<z.output<S>> {
  const made = once(schema);
  return (args) => {
    const parsed = made().safeParse(withoutNulls(args));
    return parsed.success
      ? { ok: true, value: parsed.data }
      : { ok: false, error: explain(parameters(), parsed.error) };
  };
}

function explain(parameters: JsonObject, error: z.ZodError): string {
  const properties = (parameters.properties ?? {}) as Record<string, JsonObject>;
  const required = new Set((parameters.required ?? []) as string[]);
  const fields = Object.entries(properties).map(([field, schema]) => {
    const type = String(schema.type ?? "value");
    return `${field} (${type}, ${required.has(field) ? "required" : "optional"})`;
  });
  const issues = error.issues.slice(0, 5).map(problem);
  return `${issues.join("; ")}. Fields: ${fields.join(", ")}.`;
}

function problem(issue: z.core.$ZodIssue): string {
  const field = issue.path.length > 0 ? `\`${issue.path.join(".")}\`` : "the arguments";
  if (issue.code !== "invalid_type") return `${field}: ${issue.message}`;
  const missing = issue.message.endsWith("received undefined");
  return missing ? `${field} is missing` : `${field} must be of type ${issue.expected}`;
}
