/** Signing in, and the faces for other programs: OpenAI's and MCP's. */
import type { Operation } from "./operation.ts";

const MESSAGES = { type: "application/json", what: "A JSON-RPC message of MCP (streamable HTTP)." };

export const OTHERS: Operation[] = [
  {
    ...{ method: "post", path: "/api/login", id: "login", tag: "access", open: true },
    summary: "Sign a browser in",
    body: "LoginBody",
    replies: { 200: { what: "The cookie is set.", schema: "Owner" } },
  },
  {
    ...{ method: "post", path: "/api/logout", id: "logout", tag: "access", open: true },
    summary: "Sign it out",
    replies: { 204: { what: "The cookie is gone." } },
  },
  {
    ...{ method: "post", path: "/v1/chat/completions", id: "complete", tag: "openai" },
    summary: "One guarded completion around your own tools",
    more: "OpenAI's request, passed on to the configured model; with `stream`, `chat.completion.chunk`s. Errors are OpenAI's.",
    headers: { traceparent: "W3C Trace Context: the model calls belong to this trace." },
    body: "CompletionBody",
    replies: { 200: { what: "The completion; or the stream.", schema: "Completion" } },
    errors: [404, 502],
  },
  {
    ...{ method: "get", path: "/v1/models", id: "models", tag: "openai" },
    summary: "The models that are configured",
    replies: { 200: { what: "The list.", schema: "ModelList" } },
  },
  {
    ...{ method: "get", path: "/v1/models/{id}", id: "model", tag: "openai" },
    summary: "One of them",
    replies: { 200: { what: "The model.", schema: "Model" } },
    errors: [404],
  },
  {
    ...{ method: "post", path: "/mcp", id: "mcp", tag: "mcp" },
    summary: "Have tasks done through the Model Context Protocol",
    more: "See docs/mcp.md for the tools.",
    body: MESSAGES,
    replies: {
      200: { what: "The answer.", types: ["application/json", "text/event-stream"] },
      202: { what: "A notification was taken." },
    },
    errors: [405, 406, 415],
  },
];
