/** Scripted MCP servers on a real port of 127.0.0.1, each under a path of its own. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { McpScript } from "./mcp-script.ts";
import { readBody } from "./mock-http.ts";

export class McpServer {
  private readonly scripts = new Map<string, McpScript>();
  private readonly server: Server;
  private count = 0;

  private constructor() {
    this.server = createServer((req, res) => void this.serve(req, res));
  }
  /** `host`: one of its own, where nobody else takes the port when it is gone. */
  static async start(host = "127.0.0.1"): Promise<McpServer> {
    const made = new McpServer();
    await new Promise<void>((resolve) => {
      made.server.listen(0, host, resolve);
    });
    return made;
  }
  /** The URL under which a script is served. */
  open(script: McpScript): string {
    this.count += 1;
    const path = `/${this.count}/mcp`;
    this.scripts.set(path, script);
    const { address, port } = this.server.address() as AddressInfo;
    return `http://${address}:${port}${path}`;
  }
  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const script = this.scripts.get(req.url ?? "");
    if (!script) {
      res.writeHead(404).end();
      return;
    }
    // No connection is kept for a next request: one that is closing would take it along, and its outcome would be unknown.
    res.shouldKeepAlive = false;
    const body = await readBody(req);
    const headers = Object.fromEntries(
      Object.entries(req.headers).map(([name, value]) => [name, String(value)]),
    );
    const reply = await script.answer({ method: req.method ?? "", headers, body });
    if (reply.type === "hang") return;
    if (reply.type === "reset") {
      req.socket.destroy();
      return;
    }
    res.writeHead(reply.type === "http" ? reply.status : 200, reply.headers);
    if (reply.type === "http") res.end(reply.body);
    else res.write(reply.body, () => setTimeout(() => req.socket.destroy(), 5));
  }
}
