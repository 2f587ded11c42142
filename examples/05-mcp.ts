/**
 * 05 · Another agent over /mcp. It shows: Dormouse as tools of whoever speaks MCP. A task is given, its question comes
 * back as a result, the answer goes in by another call.
 *
 *   npx node examples/05-mcp.ts
 *
 * Most agents need no code for it: docs/mcp.md has the lines of their configuration.
 */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const { DORMOUSE_URL = "http://localhost:8787", DORMOUSE_TOKEN: token } = process.env;
const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
interface Result {
  session_id: string;
  status: string;
  message: string | null;
  wait: { text: string } | null;
}

const agent = new Client({ name: "another-agent", version: "1.0.0" });
const url = new URL("/mcp", DORMOUSE_URL);
await agent.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
const { tools } = await agent.listTools();
console.log(`tools: ${tools.map((tool) => tool.name).join(", ")}`);

async function call(name: string, args: Record<string, unknown>): Promise<Result> {
  const { structuredContent } = await agent.callTool({ name, arguments: args });
  return structuredContent as unknown as Result;
}
let result = await call("run_task", { task: "Count them `ls / | wc -l`\nShall I go on (yes/no)?" });
while (result.wait) {
  console.log(`it asks: ${result.wait.text}`);
  result = await call("answer", { session_id: result.session_id, text: "yes" });
}
console.log(`${result.status}: ${result.message}`);
await agent.close();
