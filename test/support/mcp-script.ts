/**
 * An MCP server by hand, for tests: it knows the protocol from the outside and shares no code with the client under
 * test. It keeps sessions, tools, what it was asked, and it can be told to fail at any request.
 */

export interface McpRequest {
  method: string;
  headers: Record<string, string>;
  body: string;
}
export type McpReply =
  | { type: "http"; status: number; headers: Record<string, string>; body: string }
  /** The head and a part of the body, then the connection breaks. */
  | { type: "broken"; headers: Record<string, string>; body: string }
  | { type: "reset" }
  | { type: "hang" };

export interface McpTool {
  name: string;
  description?: string;
  inputSchema?: unknown;
  annotations?: Record<string, unknown>;
  _meta?: Record<string, unknown>;
  run(args: Record<string, unknown>, call: McpCall): unknown;
}
export interface McpCall {
  key: string | undefined;
  headerKey: string | undefined;
  headers: Record<string, string>;
}
export interface Rpc {
  id?: number | string;
  method: string;
  params?: Record<string, unknown>;
}

/** What is done in place of the right answer; `perform` gives the right one, and does what is asked. */
export type McpFault = (perform: () => McpReply, rpc: Rpc) => McpReply | Promise<McpReply>;

export const text = (t: string) => ({ content: [{ type: "text", text: t }] });
export const failed = (t: string) => ({ ...text(t), isError: true });

export class McpScript {
  tools: McpTool[] = [];
  readonly asked: { rpc: Rpc; headers: Record<string, string> }[] = [];
  /** Sessions are kept: a request without a known one gets 404. */
  sessionful = true;
  /** Answers come as an event stream. */
  stream = false;
  /** Tools in one page of the list. */
  pageSize = 1_000;
  /** Whatever the request; null: it is answered. */
  gate: (request: McpRequest) => McpReply | null = () => null;
  /** For each call of a tool. */
  fault: (name: string) => McpFault | null = () => null;
  readonly sessions = new Set<string>();
  private made = 0;

  /** Calls of tools, in the order in which they came. */
  get calls(): { name: string; args: Record<string, unknown>; headers: Record<string, string> }[] {
    return this.asked
      .filter((a) => a.rpc.method === "tools/call")
      .map(({ rpc, headers }) => ({
        name: String(rpc.params?.name),
        args: (rpc.params?.arguments ?? {}) as Record<string, unknown>,
        headers,
      }));
  }
  methods(): string[] {
    return this.asked.map((a) => a.rpc.method);
  }
  /** Forgets every session, as a restart does. */
  forget(): void {
    this.sessions.clear();
  }

  async answer(request: McpRequest): Promise<McpReply> {
    const stopped = this.gate(request);
    if (stopped) return stopped;
    if (request.method === "DELETE") {
      this.sessions.delete(request.headers["mcp-session-id"] ?? "");
      return http(200, "");
    }
    if (request.method !== "POST") return http(405, "");
    const rpc = JSON.parse(request.body) as Rpc;
    this.asked.push({ rpc, headers: request.headers });
    if (rpc.method === "initialize") return this.initialize(rpc);
    const session = request.headers["mcp-session-id"];
    if (this.sessionful && !(session && this.sessions.has(session))) {
      return http(session ? 404 : 400, "no such session");
    }
    if (rpc.id === undefined) return http(202, "");
    if (rpc.method === "tools/list") return this.reply(rpc, this.page(rpc));
    if (rpc.method !== "tools/call") return this.error(rpc, -32601, "no such method");
    const perform = (): McpReply => this.call(rpc, request.headers);
    const fault = this.fault(String(rpc.params?.name));
    return fault ? fault(perform, rpc) : perform();
  }

  private initialize(rpc: Rpc): McpReply {
    this.made += 1;
    const session = `s${this.made}-${this.asked.length}`;
    this.sessions.add(session);
    const result = {
      protocolVersion: "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: "scripted", version: "1" },
    };
    const reply = this.reply(rpc, result);
    if (this.sessionful && reply.type === "http") reply.headers["mcp-session-id"] = session;
    return reply;
  }
  private page(rpc: Rpc): unknown {
    const from = Number(rpc.params?.cursor ?? 0);
    const to = from + this.pageSize;
    const tools = this.tools.slice(from, to).map(({ run: _, ...tool }) => ({
      inputSchema: { type: "object", properties: {} },
      ...tool,
    }));
    return { tools, ...(to < this.tools.length ? { nextCursor: String(to) } : {}) };
  }
  private call(rpc: Rpc, headers: Record<string, string>): McpReply {
    const {
      name,
      arguments: args = {},
      _meta,
    } = (rpc.params ?? {}) as {
      name: string;
      arguments?: Record<string, unknown>;
      _meta?: Record<string, unknown>;
    };
    const tool = this.tools.find((t) => t.name === name);
    if (!tool) return this.error(rpc, -32602, `no tool ${name}`);
    const key = _meta?.["dormouse/idempotencyKey"] as string | undefined;
    return this.reply(rpc, tool.run(args, { key, headerKey: headers["idempotency-key"], headers }));
  }
  private reply({ id }: Rpc, result: unknown): McpReply {
    return this.send({ jsonrpc: "2.0", id, result });
  }
  private error({ id }: Rpc, code: number, message: string): McpReply {
    return this.send({ jsonrpc: "2.0", id, error: { code, message } });
  }
  private send(message: unknown): McpReply {
    return this.stream
      ? http(200, `event: message\ndata: ${JSON.stringify(message)}\n\n`, "text/event-stream")
      : http(200, JSON.stringify(message), "application/json");
  }
}

export const http = (status: number, body: string, type = "text/plain"): McpReply => ({
  type: "http",
  status,
  headers: { "content-type": type },
  body,
});
