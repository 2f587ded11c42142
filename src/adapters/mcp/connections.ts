/**
 * Open connections to MCP servers, one for each while the session is awake. The library loads when the first is needed.
 *
 * K1  A connection is made once and shared; one that could not be made is forgotten, and tried again when asked for.
 * K2  At rest all are closed, and a server's own session is ended.
 */
import type { Client } from "@modelcontextprotocol/client";
import { LIMITS } from "../../core/limits.ts";
import type { Absence, Server } from "../../core/servers.ts";
import { refusalOf } from "../web/address.ts";
import { createWire, type Wire } from "./wire.ts";

export interface Reach {
  /** The product is served on loopback, so what that machine can reach may be reached. */
  loopback: boolean;
  /** Hosts that may be reached although they are private. */
  allow: readonly string[];
  /** How this client calls itself. */
  version: string;
}

export interface Connection {
  client: Client;
  wire: Wire;
  close(): Promise<void>;
}

/** A connection that could not be made, or a listing that failed, with the reason. */
export class Unusable extends Error {
  readonly why: Absence;
  constructor(why: Absence) {
    super(why.code);
    this.why = why;
  }
}

/** How long a server has to end its own session. */
const END_MS = 2_000;

const mayReach = (reach: Reach) => (url: URL) =>
  reach.loopback && /^https?:$/.test(url.protocol) ? null : refusalOf(url, { allow: reach.allow });

function sendable(headers: Server["headers"]): boolean {
  try {
    new Headers({ ...headers });
    return true;
  } catch {
    return false;
  }
}

/** Why a request of this wire came to nothing. */
export function absenceOf(error: unknown, { last }: Wire, signal: AbortSignal): Absence {
  if (error instanceof Unusable) return error.why;
  if (last.blocked) return { code: "address" };
  if (signal.aborted || (error as { code?: unknown }).code === "REQUEST_TIMEOUT") {
    return { code: "timeout" };
  }
  if (last.status !== null && (last.status < 200 || last.status >= 300)) {
    return { code: "refused", status: last.status };
  }
  return { code: last.status === null ? "unreachable" : "protocol" };
}

async function connect(server: Server, reach: Reach, signal: AbortSignal): Promise<Connection> {
  if (!sendable(server.headers)) throw new Unusable({ code: "headers" });
  const wire = createWire(mayReach(reach));
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    fetch: wire.fetch,
    requestInit: { headers: { ...server.headers } },
  });
  const timeout = LIMITS.mcpListMs;
  const client = new Client(
    { name: "dormouse", version: reach.version },
    { versionNegotiation: { mode: "auto", probe: { timeoutMs: timeout } } },
  );
  const close = async (): Promise<void> => {
    if (transport.sessionId) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, END_MS);
      });
      await Promise.race([transport.terminateSession().catch(() => {}), late]);
      clearTimeout(timer);
    }
    await client.close().catch(() => {});
  };
  try {
    await client.connect(transport, { timeout, signal });
    return { client, wire, close };
  } catch (error) {
    const why = absenceOf(error, wire, signal);
    await client.close().catch(() => {});
    throw new Unusable(why);
  }
}

export interface Connections {
  /** Throws `Unusable`. */
  open(server: Server, signal: AbortSignal): Promise<Connection>;
  /** It no longer serves: the next `open` makes another. */
  drop(server: Server): void;
  closeAll(): Promise<void>;
}

export function createConnections(reach: Reach): Connections {
  const held = new Map<string, Promise<Connection>>();
  const keyOf = ({ name, url, headers }: Server) => JSON.stringify([name, url, headers]);
  return {
    open(server, signal) {
      const key = keyOf(server);
      const known = held.get(key);
      if (known) return known;
      const made = connect(server, reach, signal);
      held.set(key, made);
      made.catch(() => {
        if (held.get(key) === made) held.delete(key);
      });
      return made;
    },
    drop(server) {
      const gone = held.get(keyOf(server));
      held.delete(keyOf(server));
      void gone?.then(({ client }) => client.close()).catch(() => {});
    },
    async closeAll() {
      const open = [...held.values()];
      held.clear();
      await Promise.all(open.map((made) => made.then((c) => c.close()).catch(() => {})));
    },
  };
}
