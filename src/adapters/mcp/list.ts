/** What one MCP server offers: its list of tools, page by page, each read loosely, so that one bad tool spoils no other. */
import * as z from "zod";
import { LIMITS } from "../../core/limits.ts";
import {
  type Hint,
  IDEMPOTENCY_KEY,
  type Listed,
  type ListedTool,
  type Server,
} from "../../core/servers.ts";
import { absenceOf, type Connection, type Connections, Unusable } from "./connections.ts";
import { redactDeep, redactor } from "./secret.ts";

/** Pages that a server may split its list into. */
const PAGES = 32;

const Page = z.lazy(() =>
  z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().nullish() }),
);
const Tool = z.lazy(() =>
  z.looseObject({
    name: z.string().min(1).max(500),
    title: z.string().nullish().catch(null),
    description: z.string().nullish().catch(null),
    inputSchema: z.unknown(),
    annotations: z.record(z.string(), z.unknown()).nullish().catch(null),
    _meta: z.record(z.string(), z.unknown()).nullish().catch(null),
  }),
);

function listedTool(raw: unknown): ListedTool[] {
  const parsed = Tool.safeParse(raw);
  if (!parsed.success) return [];
  const { name, title, description, inputSchema, annotations, _meta } = parsed.data;
  const claims: [Hint, boolean][] = [
    ["readOnly", annotations?.readOnlyHint === true],
    ["idempotent", annotations?.idempotentHint === true],
    ["closedWorld", annotations?.openWorldHint === false],
    ["keyed", _meta?.[IDEMPOTENCY_KEY] === true],
  ];
  const hints = claims.flatMap(([hint, claimed]) => (claimed ? [hint] : []));
  return [{ name, description: description || title || "", schema: inputSchema, hints }];
}

async function pages({ client }: Connection, signal: AbortSignal): Promise<ListedTool[]> {
  const tools: ListedTool[] = [];
  let cursor: string | null | undefined;
  for (let page = 0; page < PAGES && tools.length <= LIMITS.mcpTools; page++) {
    const params = cursor ? { cursor } : {};
    const result = await client.request({ method: "tools/list", params }, Page, {
      signal,
      timeout: LIMITS.mcpListMs,
    });
    tools.push(...result.tools.flatMap(listedTool));
    cursor = result.nextCursor;
    if (!cursor) break;
  }
  return tools;
}

/** Never rejects: a server that cannot be used is absent, with the reason. */
export async function listServer(
  connections: Connections,
  server: Server,
  signal: AbortSignal,
): Promise<Listed> {
  let connection: Connection | null = null;
  try {
    connection = await connections.open(server, signal);
    const tools = redactDeep(await pages(connection, signal), redactor(server.headers));
    return tools.length > 0
      ? { server: server.name, tools }
      : { server: server.name, absent: { code: "no_tools" } };
  } catch (error) {
    connections.drop(server);
    if (error instanceof Unusable) return { server: server.name, absent: error.why };
    const absent = connection
      ? absenceOf(error, connection.wire, signal)
      : ({ code: "protocol" } as const);
    return { server: server.name, absent };
  }
}
