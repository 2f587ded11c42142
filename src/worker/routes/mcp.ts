/** The MCP face (docs/mcp.md): streamable HTTP, one exchange at a time, for whoever may use the HTTP API. */
import { Hono } from "hono";
import { LIMITS } from "../../core/limits.ts";
import { admit } from "../admit.ts";
import type { App } from "../auth.ts";
import { VERSION } from "../config.ts";
import { log } from "../log.ts";
import type { Caller } from "../mcp-reply.ts";
import { hostOf } from "../served.ts";

export const mcpRoutes = new Hono<App>();

mcpRoutes.all("/", async (c) => {
  const owner = await admit(c);
  const { createMcpHandler, McpServer } = await import("@modelcontextprotocol/server");
  const { offerTools } = await import("../mcp.ts");
  const caller: Caller = {
    env: c.env,
    owner,
    origin: new URL(c.req.url).origin,
    host: hostOf(c),
  };
  const handler = createMcpHandler(
    () => {
      const server = new McpServer({ name: "dormouse", version: VERSION });
      offerTools(server, caller);
      return server;
    },
    {
      maxRequestBodySize: LIMITS.bodyBytes,
      onerror: (error) => log("error", "mcp_request_failed", {}, error),
    },
  );
  return handler.fetch(c.req.raw);
});
