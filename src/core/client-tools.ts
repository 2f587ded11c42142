/**
 * Tools that a client of the proxy brought: the harness checks their calls and never runs one.
 *
 * C1  Arguments are held against the client's own schema, whatever form of it was sent to the model.
 * C2  Null for an optional field that cannot be null counts as absent: models write it so.
 */

import type { Done } from "./call.ts";
import { head } from "./chars.ts";
import { readArguments } from "./hygiene.ts";
import { isObject, readJson } from "./hygiene-json.ts";
import { misfit } from "./schema-fits.ts";
import type { Harness } from "./settings.ts";
import type { JsonObject, Parsed, ToolFacts, ToolSpec } from "./tool.ts";
import { entryOf, record } from "./tracker.ts";

const CLIENT_FACTS: ToolFacts = {
  toolkit: "client",
  parallelSafe: true,
  volatile: true,
  effect: true,
  recovery: "report",
};
/** Characters of a schema that is repeated to a model. */
const SHOWN = 2_000;

const listOf = (raw: unknown): unknown[] => (Array.isArray(raw) ? raw : []);

function withoutNulls(args: JsonObject, parameters: JsonObject): JsonObject {
  const properties = isObject(parameters.properties) ? parameters.properties : {};
  const required = new Set(listOf(parameters.required));
  const idle = ([key, value]: [string, unknown]): boolean =>
    value === null &&
    !required.has(key) &&
    Object.hasOwn(properties, key) &&
    misfit(properties[key], null, parameters) !== null;
  return Object.fromEntries(Object.entries(args).filter((entry) => !idle(entry)));
}

/** Arguments held against a schema that somebody else wrote. */
export function fitting(args: JsonObject, parameters: JsonObject): Parsed {
  const value = withoutNulls(args, parameters);
  const wrong = misfit(parameters, value);
  if (wrong === null) return { ok: true, value };
  const schema = head(JSON.stringify(parameters), SHOWN);
  return { ok: false, error: `${head(wrong, SHOWN)}. The schema is ${schema}` };
}

/** A tool of a request (`{type: "function", function}`) as the guard knows tools. */
export function clientTool(tool: JsonObject): ToolSpec {
  const fn = isObject(tool.function) ? tool.function : {};
  const parameters = isObject(fn.parameters) ? fn.parameters : { type: "object" };
  return {
    ...CLIENT_FACTS,
    name: String(fn.name),
    description: typeof fn.description === "string" ? fn.description : "",
    parameters,
    parse: (args) => fitting(args, parameters),
  };
}

/** A result as clients write failures: `{"ok": false}` or `{"error": …}`. */
function isFailure(content: unknown): boolean {
  const texts = listOf(content).map((part) => (isObject(part) ? part.text : part));
  const value = readJson((typeof content === "string" ? content : texts.join("")).trim());
  return isObject(value) && (value.ok === false || Boolean(value.error));
}

/** What has succeeded, told from the client's own history: calls with a result that is no failure. */
export function doneIn(messages: readonly unknown[], harness: Harness): Done[] {
  const calls = new Map<unknown, Done>();
  let done: Done[] = [];
  for (const message of messages.filter(isObject)) {
    for (const call of listOf(message.tool_calls).filter(isObject)) {
      const fn = isObject(call.function) ? call.function : {};
      const args = typeof fn.arguments === "string" ? readArguments(fn.arguments) : null;
      calls.set(call.id, entryOf(harness, String(fn.name), args ?? {}));
    }
    const entry = message.role === "tool" ? calls.get(message.tool_call_id) : undefined;
    if (entry && !isFailure(message.content)) done = record(done, entry);
  }
  return done;
}
