/**
 * MCP servers: which ones a turn asks for their tools, and what becomes of their answers.
 *
 * Z1  Asked once, at the start of a turn, and only when its settings name an enabled server; else nothing happens.
 * Z2  The answer is stored with the turn: requests stay the same bytes, and waking asks nobody.
 * Z3  A server that cannot be used is left out with a notice, and asked again in the next turn.
 */
import type { Draft } from "./draft.ts";
import { emit, say } from "./draft.ts";
import type { Kit } from "./roles.ts";
import { type Session, settingsOf } from "./session.ts";
import type { Settings } from "./settings.ts";
import { specOf, type Toolbox, toolboxOf } from "./toolbox.ts";

export interface Server {
  name: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Whether its calls are asked about; one whose calls are denied is not even listed. */
  approval: "allow" | "ask";
}

/** A tool as its server describes it: nothing of it is believed yet. */
export interface ListedTool {
  name: string;
  description: string;
  schema: unknown;
  /** What the server claims of it, as far as it is true: `readOnly`, `idempotent`, `closedWorld`, `keyed`. */
  hints: readonly Hint[];
}
export const HINTS = ["readOnly", "idempotent", "closedWorld", "keyed"] as const;
export type Hint = (typeof HINTS)[number];

/** The name of a call's idempotency key in its `_meta`; a tool that says so of itself knows repeated calls by it. */
export const IDEMPOTENCY_KEY = "dormouse/idempotencyKey";

/** Why a server is left out. */
export type Absence =
  | { code: "address" | "headers" | "unreachable" | "timeout" | "protocol" | "no_tools" }
  | { code: "refused"; status: number };

export type Listed = { server: string } & ({ tools: ListedTool[] } | { absent: Absence });

/** The servers that these settings let a session use, by name, so that their order is the same every time. */
export function serversOf({ mcp }: Settings): Server[] {
  const usable = Object.entries(mcp.servers).flatMap(([name, server]): Server[] => {
    const { url, headers = {}, enabled = true, approval = "allow" } = server;
    return enabled && approval !== "deny" ? [{ name, url, headers, approval }] : [];
  });
  return usable.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The turn under way has not asked its servers yet. */
export const unprepared = (s: Session): boolean =>
  s.toolbox === null && s.mode !== "direct" && serversOf(settingsOf(s)).length > 0;

/** Takes in what the servers said; false: it came too late. */
export function prepared(d: Draft, listed: readonly Listed[]): boolean {
  if (d.s.toolbox !== null) return false;
  const servers = serversOf(settingsOf(d.s));
  const { toolbox, leftOut } = toolboxOf(servers, listed);
  Object.assign(d.s, { toolbox, restarts: 0 });
  const absent = listed.flatMap((l) => ("absent" in l ? [{ name: l.server, why: l.absent }] : []));
  const words = say(d);
  if (absent.length > 0) {
    emit(d, "notice", { code: "mcp_server_left_out", text: words.serversLeftOut(absent) });
  }
  if (leftOut.length > 0) {
    emit(d, "notice", { code: "tool_left_out", text: words.mcpToolsLeftOut(leftOut) });
  }
  return true;
}

const kits = new WeakMap<Toolbox, WeakMap<Kit, Kit>>();
/** The deployment's kit with the servers' tools of this turn in their place. The same object for the same two. */
export function kitWith(kit: Kit, toolbox: Toolbox | null): Kit {
  if (toolbox === null || toolbox.length === 0) return kit;
  const held = kits.get(toolbox) ?? new WeakMap<Kit, Kit>();
  kits.set(toolbox, held);
  const own = held.get(kit) ?? { ...kit, tools: joined(kit, toolbox) };
  held.set(kit, own);
  return own;
}

/** Work tools, the servers' tools, the message toolkit. */
function joined({ tools }: Kit, toolbox: Toolbox): Kit["tools"] {
  const messages = tools.filter((t) => t.toolkit === "message");
  const work = tools.filter((t) => t.toolkit !== "message");
  return [...work, ...toolbox.map(specOf), ...messages];
}
