/** Long sessions, made as people make them: by turns. One is worked, exported, and imported again with its turns repeated. */
import { nameOf, newSession, work } from "./contestants.ts";
import type { InstantModel } from "./instant-model.ts";
import { ask, type Served } from "./workerd.ts";

export interface Log {
  /** Path of the session. */
  base: string;
  /** Its events as JSON, in order. */
  events: string[];
}

interface Line {
  type: string;
}

/** Ids that stand for themselves in a log get a new one in each copy. */
const renamed = (line: string, copy: number): string =>
  line.replaceAll(/"(message_id|tool_call_id|client_id)":"([^"]+)"/g, `"$1":"$2-${copy}"`);

/** The lines of an export with its events repeated until there are `count`. */
function repeated(lines: readonly string[], count: number): string[] {
  const typeOf = (line: string) => (JSON.parse(line) as Line).type;
  const turn = lines.filter((line) => typeOf(line) === "event");
  const others = lines.filter((line) => !["event", "rest"].includes(typeOf(line)));
  const rest = lines.findLast((line) => typeOf(line) === "rest");
  const copies = Array.from({ length: Math.ceil(count / turn.length) }, (_, i) =>
    turn.map((line) => renamed(line, i)),
  );
  const [header = "", ...memory] = others;
  return [header, ...copies.flat().slice(0, count), ...(rest ? [rest] : []), ...memory];
}

/** A finished turn of two tool calls, as exported. */
export async function exported(served: Served, model: InstantModel): Promise<string[]> {
  const name = nameOf({ steps: 2 });
  const base = await newSession(served, name);
  await work(served, base, model, name);
  const text = await (await served.fetch(`${base}/export`)).text();
  return text.trim().split("\n");
}

/** A session with about so many events, at rest. */
export async function longSession(served: Served, lines: string[], count: number): Promise<Log> {
  const body = repeated(lines, count).join("\n");
  const made = await ask<{ id: string }>(served, "/api/sessions/import", { method: "POST", body });
  const base = `/api/sessions/${made.id}`;
  const events: string[] = [];
  for (;;) {
    const path = `${base}/events?after=${events.length}&limit=1000`;
    const page = await ask<{ events: object[]; last_seq: number }>(served, path);
    events.push(...page.events.map((event) => JSON.stringify(event)));
    if (events.length >= page.last_seq) return { base, events };
  }
}
