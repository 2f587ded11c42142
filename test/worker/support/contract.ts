/**
 * The API's description as a judge: whatever a test asks, the reply must be one that docs/openapi.json describes, field by field,
 * and each frame of a socket one of docs/frames.schema.json. Here schemas are closed: a field that is not described
 * is a fault, though clients must take it.
 */
import { type Schema, Validator } from "@cfworker/json-schema";
import frames from "../../../docs/frames.schema.json";
import openapi from "../../../docs/openapi.json";

type Json = { [key: string]: unknown };
interface Described {
  responses: Record<string, { $ref?: string; content?: Record<string, { schema?: Json }> }>;
}
export interface Operation extends Described {
  id: string;
  method: string;
  path: string;
  pattern: RegExp;
}

/** The same schema, in which an object has no other fields than those it names. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const inner = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, closed(value)]),
  );
  const open = "properties" in inner && !("additionalProperties" in inner);
  return open && typeof inner.type === "string" ? { ...inner, additionalProperties: false } : inner;
}

/** `{path}` takes the rest, slashes included. */
const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replace(/\{path\}/g, ".+").replace(/\{\w+\}/g, "[^/]+")}$`);

export const OPERATIONS: Operation[] = Object.entries(openapi.paths)
  .flatMap(([path, item]) =>
    Object.entries(item as unknown as Record<string, Described & { operationId: string }>).map(
      ([method, { operationId, responses }]) => ({
        ...{
          id: operationId,
          method: method.toUpperCase(),
          path,
          pattern: patternOf(path),
          responses,
        },
      }),
    ),
  )
  // A fixed name before a parameter.
  .sort((a, b) => a.path.split("{").length - b.path.split("{").length);

const components = closed(openapi.components) as { schemas: Json; responses: Json };
const held = new Map<string, Validator>();
function validator(name: string, root: Json): Validator {
  const known = held.get(name) ?? new Validator({ $ref: name, ...root } as Schema, "2020-12");
  held.set(name, known);
  return known;
}

function faultsOf(value: unknown, name: string, root: Json): string[] {
  const { valid, errors } = validator(name, root).validate(value);
  return valid ? [] : errors.slice(-4).map((e) => `${e.instanceLocation}: ${e.error}`);
}

export const operationFor = (method: string, path: string): Operation | undefined =>
  OPERATIONS.find((o) => o.method === method && o.pattern.test(path));

/** What of a reply is not as it is described. The reply itself is not touched. */
export async function replyFaults(
  method: string,
  url: string,
  response: Response,
): Promise<string[]> {
  const operation = operationFor(method, new URL(url).pathname);
  if (!operation) return [];
  const { status } = response;
  const place = `${method} ${operation.path} ${status}`;
  const stated = operation.responses[status];
  if (!stated) return [`${place} is not described`];
  const [, name] = stated.$ref?.match(/^#\/components\/responses\/(.+)$/) ?? [];
  const described = (name ? components.responses[name] : stated) as Described["responses"][string];
  const type = response.headers.get("content-type")?.split(";")[0] ?? "";
  if (!described.content)
    return status !== 101 && type ? [`${place}: a body is not described`] : [];
  const media = described.content[type];
  if (!media) return "application/octet-stream" in described.content ? [] : [`${place}: ${type}`];
  const schema = media.schema?.$ref;
  if (type !== "application/json" || typeof schema !== "string") return [];
  const body: unknown = await response.clone().json();
  return faultsOf(body, schema, { components }).map((fault) => `${place} ${fault}`);
}

const $defs = closed(frames.$defs) as Json;
export const frameFaults = (frame: unknown): string[] =>
  faultsOf(frame, "#/$defs/ServerFrame", { $defs }).map((fault) => `frame ${fault}`);
