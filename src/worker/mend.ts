/**
 * A session whose rows are damaged, made sound again of what can be read. It is at rest then, and says so in its log.
 *
 * N1  What can be read is kept: events are numbered anew over a hole (so the log is of a new epoch), memories stay valid
 *     histories, messages that nobody had read stand in the memory that reads next. Files are not touched.
 * N2  It is one transaction. What the log or a memory has lost, it has a `repair` event for.
 * N3  A head that cannot be read is made of the last resting point; whose it is, its owner's list knows.
 */
import type { Event } from "../core/events.ts";
import { pairing } from "../core/history.ts";
import { memoriesOf, type Row } from "../core/memory.ts";
import { type Body, type Relog, relog } from "../core/relog.ts";
import { Rest, restOf, sessionAt } from "../core/rest.ts";
import { newSession, type Queued, type Session, upgrade } from "../core/session.ts";
import { localeOf, words } from "../core/text.ts";
import { headOf, jsonOf, markOf } from "./damage.ts";
import { directoryStub } from "./directory.ts";
import type { Bindings } from "./env.ts";
import { newEpoch } from "./ids.ts";
import { putRow, storedRows } from "./memories.ts";
import { TABLES } from "./migrations.ts";
import { EventLine, Line } from "./pack-format.ts";
import { newer, partsIn, partsOf, putLog, putRest } from "./store.ts";
import { migrate, put, remakeTables } from "./tables.ts";

/** What is known of a session that has no readable head. */
interface Known {
  id: string;
  owner: string;
  epoch: string;
}
interface Lost {
  events: number;
  messages: number;
  parts: string[];
}

/** The saved session as far as it can be read; null: its state cannot. */
function readable(sql: SqlStorage): { session: Session | null; lost: string[] } {
  const { held, lost } = headOf(partsIn(sql));
  const { state, ...parts } = held;
  if (!state) return { session: null, lost: lost.includes("state") ? lost : ["state", ...lost] };
  const session = upgrade({ ...(state as object), ...parts } as Partial<Session>);
  if (!session || (held.migration as number) > TABLES) throw newer();
  return { session, lost };
}

/** The session's id, as its log has it; null: there is none. */
function idIn(sql: SqlStorage): string | null {
  const query = "SELECT json FROM log ORDER BY first_seq";
  for (const { json } of sql.exec<{ json: string }>(query)) {
    const id = /"session_id":"([a-z2-7]{26})"/.exec(json)?.[1];
    if (id) return id;
  }
  return null;
}

/**
 * Who a damaged session is. `asked`: whoever asks for it, whose list is believed where the session cannot say whose it
 * is. null: it is not theirs.
 */
export async function knownTo(
  sql: SqlStorage,
  env: Bindings,
  asked: string | null,
): Promise<Known | null> {
  const { session } = readable(sql);
  const id = session?.id ?? idIn(sql);
  const owner = session?.owner ?? asked;
  if (id === null || owner === null || (asked !== null && asked !== owner)) return null;
  if (!session && !(await directoryStub(env, owner).lists(id))) return null;
  return { id, owner, epoch: newEpoch() };
}

/** The events of a row one by one, with their old numbers: one that is broken does not take the others with it. */
function* eventsOf(json: string, mark: string): Generator<[seq: number, body: Body]> {
  const starts = [...json.matchAll(new RegExp(mark.replace(/[{}]/g, "\\$&"), "g"))].map(
    (m) => m.index,
  );
  for (const [i, start] of starts.entries()) {
    const event = jsonOf(json.slice(start, starts[i + 1]).replace(/,$/, ""));
    const parsed = EventLine.safeParse(event);
    if (parsed.success) yield [(event as Event).seq, parsed.data];
  }
}

/** The log, numbered anew, and where an old number is now. */
function mendLog(
  sql: SqlStorage,
  id: string,
): { log: Relog; events: Event[]; at(seq: number): number } {
  const log = relog(id);
  const events: Event[] = [];
  const moved: [old: number, now: number][] = [];
  const rows = sql.exec<{ json: string }>("SELECT json FROM log ORDER BY first_seq").toArray();
  for (const { json } of rows) {
    for (const [old, body] of eventsOf(json, markOf(id))) {
      events.push(...log.take(body));
      moved.push([old, log.last()]);
    }
  }
  return { log, events, at: (seq) => moved.findLast(([old]) => old <= seq)?.[1] ?? 0 };
}

/** The memories as valid histories, and how many messages they have lost. */
function mendMemory(sql: SqlStorage): { rows: Row[]; last: number; lost: number } {
  const pairs = pairing();
  const rows: Row[] = [];
  const stored = storedRows(sql);
  let { lost } = stored;
  for (const row of stored.rows) {
    const { id, memory, kind, json } = row;
    const fits = Line.safeParse({
      type: "memory",
      id,
      memory,
      kind,
      message: jsonOf(json),
    }).success;
    const taken = fits ? pairs.take(row) : null;
    lost += taken === null ? 1 : taken.length - 1;
    rows.push(...(taken ?? []));
  }
  const missing = pairs.end();
  return { rows: [...rows, ...missing], last: pairs.last(), lost: lost + missing.length };
}

/** Resting points and links, at their new numbers; those that cannot be read are gone. */
function moveMarks(sql: SqlStorage, log: ReturnType<typeof mendLog>): Rest | null {
  const rests = sql.exec<{ json: string }>("SELECT json FROM rests ORDER BY upto").toArray();
  sql.exec("DELETE FROM rests");
  let last: Rest | null = null;
  for (const { json } of rests) {
    const rest = Rest.safeParse(jsonOf(json));
    if (!rest.success) continue;
    last = { ...rest.data, upto: log.at(rest.data.upto) };
    if (last.upto > 0) putRest(sql, last);
  }
  const shares = sql.exec<{ id: number; json: string }>("SELECT id, json FROM shares").toArray();
  for (const { id, json } of shares) {
    const share = jsonOf(json) as { upto?: number } | undefined;
    if (typeof share?.upto !== "number") sql.exec("DELETE FROM shares WHERE id = ?", id);
    else {
      const moved = JSON.stringify({ ...share, upto: log.at(share.upto) });
      sql.exec("UPDATE shares SET json = ? WHERE id = ?", moved, id);
    }
  }
  sql.exec("DELETE FROM client_ids WHERE NOT json_valid(json)");
  return last;
}

/** What nobody had read stands in the memory that reads next. */
function unread(queue: Queued[], memory: Row["memory"], last: number): Row[] {
  const message = (q: Queued) => JSON.stringify({ role: "user", content: String(q.text) });
  return queue.map((q, i) => ({ id: last + 1 + i, memory, kind: "said", json: message(q) }));
}

/** The session at rest, with what it keeps of before. */
function atRest(before: Session | null, rest: Rest, known: Known): Session {
  const { settings = {}, ephemeral = false, host = "", parent = "" } = before ?? {};
  const made = sessionAt(rest, { ...known, settings, ephemeral, host, parent, at: Date.now() });
  if (!before) return made;
  const { pinned, created_at, usage, ledger } = before;
  return { ...made, pinned, created_at, usage, ledger };
}

const restStatus = (status: Session["status"]): Rest["status"] =>
  status === "running" || status === "waiting" ? "stopped" : status;

/** One event that says what is gone. */
function tell(log: Relog, rest: Rest, locale: "auto" | "en" | "zh", lost: Lost, ts: string): Event {
  const spoken = words(localeOf(locale, rest.plan?.language ?? "", rest.preview));
  const role = rest.mode === "agent" ? "planner" : "assistant";
  return log.add({ event: "repair", data: { role, what: spoken.repaired(lost) } }, ts);
}

function blank(known: Known): Rest {
  const given = { ...known, mode: "agent" as const, title: "", settings: {}, ephemeral: false };
  return restOf(newSession({ ...given, host: "", at: 0 }));
}

function mended(sql: SqlStorage, before: Session | null, known: Known, parts: string[]): void {
  const held = mendLog(sql, known.id);
  const { log } = held;
  const last = moveMarks(sql, held);
  const rest = before ? restOf(before) : (last ?? blank(known));
  const memory = mendMemory(sql);
  const row = Math.max(memory.last, before?.row ?? 0);
  const said = unread(before?.queue ?? [], memoriesOf(rest.mode)[0], row);
  const ts = new Date().toISOString();
  const events = Math.max(0, (before?.seq ?? 0) - held.events.length);
  const lost: Lost = { events, messages: memory.lost, parts };
  const closing = log.close(ts, rest.plan?.steps ?? null);
  const repair = tell(log, rest, before?.settings.locale ?? "auto", lost, ts);
  const upto = log.last();
  // Ids of messages and calls are numbered by the turn: none may come twice, whatever the log has lost.
  const run = Math.max(log.run(), rest.run);
  const place = { upto, row: row + said.length, run, status: restStatus(log.status()) };
  const session = atRest(before, { ...rest, ...place }, known);
  for (const table of ["log", "memory"]) sql.exec(`DELETE FROM ${table}`);
  putLog(sql, [...held.events, ...closing, repair]);
  for (const one of [...memory.rows, ...said]) putRow(sql, one);
  for (const [part, value] of Object.entries(partsOf(session))) put(sql, part, value);
  putRest(sql, restOf(session));
}

/** Mends everything there is; the session is to be opened anew. */
export function mend(storage: DurableObjectStorage, known: Known): void {
  const { sql } = storage;
  const { session, lost } = readable(sql);
  const { migration } = headOf(partsIn(sql)).held;
  // A session that was saved by an older program is read here for the first time: its tables are brought up to date.
  if (typeof migration === "number") migrate(storage, migration);
  else remakeTables(storage);
  storage.transactionSync(() => mended(sql, session, known, lost));
}
