/** The API as OpenAPI 3.1, and the frames of its WebSocket as JSON Schema. Made of the schemas, the same every time. */
import manifest from "../../package.json" with { type: "json" };
import type { Operation, Reply } from "./operation.ts";
import { OPERATIONS } from "./operations.ts";
import { componentSchemas, frameSchemas, type Json, queryParameters } from "./schemas.ts";

const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });
const json = (name: string): Json => ({ "application/json": { schema: ref(name) } });

/** Statuses that any operation may answer with. */
const ANY = [400, 401, 403, 413, 429, 500, 503, 507];
const WORDS: Record<number, string> = {
  400: "Something of the request is wrong; the message names the field.",
  401: "No sign-in, or one that does not count; or a token in the URL.",
  403: "This origin may not act here, or it is one of the product's own tools that asks.",
  404: "There is no such thing, or it is another owner's.",
  405: "Another method is needed.",
  406: "What is accepted cannot be given.",
  409: "It cannot be done now.",
  413: "The body is too large.",
  415: "The body is of another type.",
  416: "There is no such range.",
  426: "A WebSocket is needed.",
  429: "Too many requests, too much that waits, or a quota that is used up.",
  500: "Something went wrong here.",
  502: "The model's provider failed.",
  503: "It cannot be served just now, or access is not configured.",
  507: "There is no room left: of your quota, or in the storage.",
};

function replyOf({ what, schema, types }: Reply): Json {
  if (schema) return { description: what, content: json(schema) };
  const content = Object.fromEntries((types ?? []).map((type) => [type, {}]));
  return { description: what, ...(types ? { content } : {}) };
}

/** Errors stand once, by face and status. */
const failureOf = (tag: Operation["tag"]): string =>
  tag === "openai" ? "OpenAIFailure" : "Failure";

function errorReplies(): Json {
  const named = ["Failure", "OpenAIFailure"].flatMap((schema) =>
    Object.entries(WORDS).map(([status, description]) => [
      `${schema}${status}`,
      { description, content: json(schema) },
    ]),
  );
  return Object.fromEntries(named) as Json;
}

function repliesOf({ replies, errors = [], tag }: Operation): Json {
  const statuses = new Set([...errors, ...ANY]);
  const failed = [...statuses]
    .filter((status) => !(status in replies))
    .map((status) => [status, { $ref: `#/components/responses/${failureOf(tag)}${status}` }]);
  const given = Object.entries(replies).map(([status, reply]) => [status, replyOf(reply)]);
  return Object.fromEntries([...given, ...failed]) as Json;
}

/** What streams instead, where it does. */
const STREAMS: Record<string, string> = { events: "Event", complete: "CompletionChunk" };

function withStream(id: string, responses: Json): Json {
  const item = STREAMS[id];
  const ok = responses[200] as { content: Json } | undefined;
  if (!item || !ok) return responses;
  const stream = { "text/event-stream": { schema: { type: "string" }, "x-data": ref(item) } };
  return { ...responses, 200: { ...ok, content: { ...ok.content, ...stream } } };
}

function parametersOf({ path, query, headers = {} }: Operation): Json[] {
  const places = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    ...{ name, in: "path", required: true, schema: { type: "string" } },
    ...(name === "path" ? { description: "A path under /workspace; it may hold slashes." } : {}),
  }));
  const heads = Object.entries(headers).map(([name, description]) => ({
    ...{ name, in: "header", required: false, schema: { type: "string" }, description },
  }));
  return [...places, ...(query ? queryParameters(query) : []), ...heads];
}

function bodyOf({ body, bare }: Operation): Json | null {
  if (!body) return null;
  if (typeof body === "string") return { required: !bare, content: json(body) };
  return { required: true, description: body.what, content: { [body.type]: {} } };
}

function operationOf(o: Operation): Json {
  const parameters = parametersOf(o);
  const requestBody = bodyOf(o);
  return {
    operationId: o.id,
    tags: [o.tag],
    summary: o.summary,
    ...(o.more ? { description: o.more } : {}),
    ...(o.open ? { security: [] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(requestBody ? { requestBody } : {}),
    responses: withStream(o.id, repliesOf(o)),
  };
}

export function openapi(): Json {
  const paths: Record<string, Json> = {};
  for (const o of OPERATIONS) paths[o.path] = { ...paths[o.path], [o.method]: operationOf(o) };
  return {
    openapi: "3.1.0",
    info: {
      title: "Dormouse",
      version: manifest.version,
      description: "See docs/api.md for what the schemas cannot say.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    security: [{ token: [] }, { cookie: [] }],
    paths,
    components: {
      securitySchemes: {
        token: { type: "http", scheme: "bearer" },
        cookie: { type: "apiKey", in: "cookie", name: "dormouse" },
      },
      schemas: componentSchemas(),
      responses: errorReplies(),
    },
  };
}

export function framesSchema(): Json {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Frames of the WebSocket /api/sessions/{id}/ws",
    description: "A client sends ClientFrame and gets ServerFrame; stored events are Event.",
    anyOf: [{ $ref: "#/$defs/ServerFrame" }, { $ref: "#/$defs/ClientFrame" }],
    $defs: frameSchemas(),
  };
}

/** As it is stored. */
export const written = (document: Json): string => `${JSON.stringify(document, null, 2)}\n`;
