/** The server that is talked to, the session that was named, and what to say when either is not there. */
import { ApiError, type Client, createClient } from "../client/index.ts";
import type { Mode } from "../core/session.ts";
import type { Config as ServerConfig, SessionInfo, SessionView } from "../core/wire.ts";
import type { Target } from "./config.ts";
import { tame } from "./escape.ts";
import type { Language, Say } from "./strings.ts";

/** Why nothing could be done, in words for a person. Ends the program with 2. */
export class Trouble extends Error {}

export interface Server extends Target {
  client: Client;
  config: ServerConfig;
}

export function wordsFor(error: unknown, url: string, say: Say): string {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error);
  if (error.code === "network") return say("unreachable", url);
  return error.status === 401 ? say("signIn", url) : tame(error.message);
}

export async function connect(target: Target, say: Say): Promise<Server> {
  const { url, token } = target;
  const client = createClient({ baseUrl: url, ...(token ? { token } : {}) });
  try {
    return { ...target, client, config: await client.config() };
  } catch (error) {
    throw new Trouble(wordsFor(error, url, say));
  }
}

export interface Wanted {
  session?: string | undefined;
  key?: string | undefined;
  mode?: Mode;
  /** Chosen in the setup: what the harness says is said in it too. */
  language?: Language;
}

export function createSession({ client }: Server, wanted: Wanted): Promise<SessionView> {
  const { key, mode, language } = wanted;
  return client.createSession({
    ...(key === undefined ? {} : { key }),
    ...(mode === undefined ? {} : { mode }),
    ...(language === undefined ? {} : { settings: { locale: language } }),
  });
}

/** Pages of the list that a beginning of an id is looked for in. */
const PAGES = 25;

async function startingWith({ client }: Server, prefix: string): Promise<SessionInfo[]> {
  const found: SessionInfo[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES; page++) {
    const { sessions, next_cursor } = await client.listSessions({
      limit: 200,
      ...(cursor === undefined ? {} : { cursor }),
    });
    found.push(...sessions.filter((s) => s.id.startsWith(prefix)));
    if (next_cursor === null) break;
    cursor = next_cursor;
  }
  return found;
}

/** The session that an id, the beginning of one, or a key names. null: none was named. */
export async function namedSession(
  server: Server,
  wanted: Wanted,
  say: Say,
): Promise<SessionView | null> {
  const { session, key } = wanted;
  if (key !== undefined) return createSession(server, wanted);
  if (session === undefined) return null;
  const found = await startingWith(server, session.toLowerCase());
  const exact = found.find((s) => s.id === session) ?? (found.length === 1 ? found[0] : undefined);
  if (exact) return server.client.getSession(exact.id);
  if (found.length === 0) throw new Trouble(say("noSession", tame(session)));
  const list = found.slice(0, 10).map((s) => `  ${s.id}  ${tame(s.title)}`);
  throw new Trouble(say("manySessions", tame(session), list.join("\n")));
}
