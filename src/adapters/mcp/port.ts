/** The MCP servers of one session, awake: listing them, and their tools as tools that run. */

import { LIMITS } from "../../core/limits.ts";
import type { Flight } from "../../core/ports.ts";
import type { Listed, Server } from "../../core/servers.ts";
import type { StoredTool } from "../../core/toolbox.ts";
import type { Tool } from "../../tools/define.ts";
import { mcpTool } from "./call.ts";
import { createConnections, type Reach } from "./connections.ts";
import { listServer } from "./list.ts";

export interface McpServers {
  /** All at once, each with its own time. */
  list(servers: readonly Server[]): Flight<Listed[]>;
  tool(server: Server, stored: StoredTool): Tool;
  /** Nothing is going to run for a while: connections are closed. */
  rest(): Promise<void>;
}

/** Aborted when time is over, or by `stop`. */
function bounded(ms: number, stop: AbortSignal): { signal: AbortSignal; clear(): void } {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), ms);
  return { signal: AbortSignal.any([late.signal, stop]), clear: () => clearTimeout(timer) };
}

export function mcpServers(reach: Reach, listMs: number = LIMITS.mcpListMs): McpServers {
  const connections = createConnections(reach);
  return {
    list(servers) {
      const stop = new AbortController();
      const one = async (server: Server): Promise<Listed> => {
        const { signal, clear } = bounded(listMs, stop.signal);
        const late = new Promise<Listed>((resolve) => {
          const absent = { server: server.name, absent: { code: "timeout" as const } };
          signal.addEventListener("abort", () => resolve(absent), { once: true });
        });
        try {
          return await Promise.race([listServer(connections, server, signal), late]);
        } finally {
          clear();
        }
      };
      return { outcome: Promise.all(servers.map(one)), cancel: () => stop.abort() };
    },
    tool: (server, stored) => mcpTool(connections, server, stored),
    rest: () => connections.closeAll(),
  };
}
