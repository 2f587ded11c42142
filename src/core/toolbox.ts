/**
 * The tools of a turn's MCP servers as they are stored: named, bounded, with their facts; and as the guard knows them.
 *
 * X1  Pure and deterministic: the same answers give the same names in the same order.
 * X2  Hints decide how a call may be repeated, never whether it is allowed: a lie costs its own server alone.
 * X3  Arguments are held against the server's own schema. A field `brief` of its own is offered under another name,
 *     because `brief` is the label of every work tool.
 */
import { clean, head } from "./chars.ts";
import { fitting } from "./client-tools.ts";
import { fingerprint } from "./duplicates.ts";
import { isObject } from "./hygiene-json.ts";
import { LIMITS } from "./limits.ts";
import { BRIEF } from "./schema.ts";
import type { Hint, Listed, ListedTool, Server } from "./servers.ts";
import type { JsonObject, Parsed, ToolFacts, ToolSpec } from "./tool.ts";

export interface StoredTool extends ToolFacts {
  /** What a model calls it. */
  name: string;
  server: string;
  /** What its server calls it. */
  tool: string;
  description: string;
  /** The server's own schema of the arguments. */
  schema: JsonObject;
  /** Doing it twice is harmless: it is idempotent, or knows a repeated request by its key. */
  repeatable?: true;
}
export type Toolbox = readonly StoredTool[];

export interface Omitted {
  tool: string;
  why: "too_many" | "too_large" | "no_schema";
}

/** Names that endpoints take; anything else becomes `_`. */
const safe = (text: string): string => text.replace(/[^a-zA-Z0-9_-]/g, "_");

/** The plain name for whoever comes first by server and tool; others, and what is too long, bear a mark of their own. */
function nameOf({ server, tool }: Place, taken: ReadonlySet<string>): string {
  const plain = `mcp_${safe(server)}_${safe(tool)}`;
  if (plain.length <= LIMITS.toolNameChars && !taken.has(plain)) return plain;
  const mark = `_${safe(fingerprint(`${server}\n${tool}`)).slice(0, 8)}`;
  return plain.slice(0, LIMITS.toolNameChars - mark.length) + mark;
}

function factsOf(hints: readonly Hint[]): Omit<ToolFacts, "toolkit" | "approval"> {
  const reads = hints.includes("readOnly");
  return {
    parallelSafe: reads,
    // What lies behind a server changes by itself, unless it says that nothing else can reach it.
    volatile: reads && !hints.includes("closedWorld"),
    effect: !reads,
    recovery: reads || repeats(hints) ? "rerun" : "report",
  };
}
const repeats = (hints: readonly Hint[]): boolean =>
  hints.includes("idempotent") || hints.includes("keyed");

interface Place {
  server: string;
  tool: string;
}

function stored(server: Server, listed: ListedTool, taken: ReadonlySet<string>): StoredTool {
  return {
    name: nameOf({ server: server.name, tool: listed.name }, taken),
    server: server.name,
    tool: listed.name,
    description: head(clean(listed.description), LIMITS.mcpDescriptionChars),
    schema: listed.schema as JsonObject,
    toolkit: "mcp",
    ...factsOf(listed.hints),
    ...(server.approval === "ask" ? { approval: "ask" as const } : {}),
    ...(repeats(listed.hints) ? { repeatable: true as const } : {}),
  };
}

/** By name, whatever the order in which they were listed; names that need no change come first, and so keep theirs. */
const inOrder = (tools: readonly ListedTool[]): ListedTool[] => {
  const key = ({ name }: ListedTool) => `${safe(name) === name ? 0 : 1}${name}`;
  return [...tools].sort((a, b) => (key(a) < key(b) ? -1 : 1));
};

/** All tools within the bounds, ordered by server and name; and what was left out. */
export function toolboxOf(
  servers: readonly Server[],
  listed: readonly Listed[],
): { toolbox: Toolbox; leftOut: Omitted[] } {
  const toolbox: StoredTool[] = [];
  const leftOut: Omitted[] = [];
  const taken = new Set<string>();
  let room: number = LIMITS.mcpChars;
  for (const server of servers) {
    const answer = listed.find((l) => l.server === server.name);
    const tools = answer && "tools" in answer ? inOrder(answer.tools) : [];
    for (const [i, tool] of tools.entries()) {
      const one = stored(server, tool, taken);
      const size = JSON.stringify(one).length;
      const why = omission(tool, i, size, room);
      if (why) {
        leftOut.push({ tool: `${server.name}/${head(clean(tool.name), 80)}`, why });
        continue;
      }
      room -= size;
      taken.add(one.name);
      toolbox.push(one);
    }
  }
  return { toolbox, leftOut };
}

function omission(tool: ListedTool, i: number, size: number, room: number): Omitted["why"] | null {
  if (i >= LIMITS.mcpTools) return "too_many";
  if (!isObject(tool.schema)) return "no_schema";
  return size > LIMITS.mcpToolChars || size > room ? "too_large" : null;
}

/** The name under which a server's own `brief` is offered. */
function briefFor(properties: JsonObject): string {
  let name = "brief_argument";
  while (Object.hasOwn(properties, name)) name += "_";
  return name;
}

const propertiesOf = (schema: JsonObject): JsonObject =>
  isObject(schema.properties) ? schema.properties : {};

/** The server's schema with the label of every work tool. */
function shown(schema: JsonObject): JsonObject {
  const { brief, ...others } = propertiesOf(schema);
  const own = brief === undefined ? {} : { [briefFor(others)]: brief };
  const needed = Array.isArray(schema.required) ? schema.required : [];
  const required = needed.map((key) => (key === "brief" ? briefFor(others) : key));
  return {
    ...schema,
    properties: { ...others, ...own, brief: BRIEF },
    required: [...required, "brief"],
  };
}

/** Arguments as the server wants them: without our label, with its own `brief` back in its place. */
export function argumentsFor({ schema }: StoredTool, args: JsonObject): Parsed {
  const { brief: _, ...rest } = args;
  const { brief, ...others } = propertiesOf(schema);
  if (brief === undefined) return fitting(rest, schema);
  const { [briefFor(others)]: own, ...kept } = rest;
  return fitting(own === undefined ? kept : { ...kept, brief: own }, schema);
}

const specs = new WeakMap<StoredTool, ToolSpec>();
/** What the guard knows of a stored tool. The same object for the same tool. */
export function specOf(tool: StoredTool): ToolSpec {
  const { name, description, toolkit, parallelSafe, volatile, effect, recovery, approval } = tool;
  const spec = specs.get(tool) ?? {
    ...{ name, description, toolkit, parallelSafe, volatile, effect, recovery },
    ...(approval === undefined ? {} : { approval }),
    parameters: shown(tool.schema),
    parse: (args) => argumentsFor(tool, args),
  };
  specs.set(tool, spec);
  return spec;
}
