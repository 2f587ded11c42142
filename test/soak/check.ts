/**
 * What must hold when all is over. Each line that comes back is a violation.
 *
 * N1  Nothing is lost: every message and answer that was accepted stands in its log once.
 * N2  No gap and no double: in the log, and in what each client was given, which is the log's beginning to the byte.
 * N3  Everything has ended: no session runs or waits, each message has a `done` behind it, no queue is left.
 * N4  An effect in the ledger happened exactly once where its turn was completed, else at most once.
 * N5  The owner's list says of each session what the session says, and knows none that is gone.
 */
import type { StoredEvent, View } from "../support/client-node.ts";
import { checkEvents } from "../support/event-oracle.ts";
import type { Ledger } from "./ledger.ts";
import type { Player } from "./player.ts";
import { recordsOf } from "./task.ts";

const ENDED = new Set(["completed", "failed", "stopped"]);
/** Failures that the faults of models and tools explain; any other is one of the house. */
const EXPLAINED = new Set([
  "retry_exhausted",
  "tool_errors_exhausted",
  "provider_error",
  "rate_limited",
]);

export interface Listed {
  id: string;
  status: string;
  last_seq: number;
}
export interface Verdict {
  violations: string[];
  events: number;
  /** Turns by how they ended. */
  turns: Record<string, number>;
}

export async function wholeLog(p: Player): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for (;;) {
    const { body } = await p.json<{ events: StoredEvent[]; last_seq: number }>(
      `/events?after=${events.length}`,
    );
    events.push(...body.events);
    if (body.events.length === 0 || events.length >= body.last_seq) return events;
  }
}

export async function checkPlayer(
  p: Player,
  ledger: Ledger,
  list: ReadonlyMap<string, Listed>,
): Promise<Verdict> {
  const verdict: Verdict = { violations: [], events: 0, turns: {} };
  const wrong = (text: string) => verdict.violations.push(`${p.name} (${p.id}): ${text}`);
  for (const fault of [...p.faults, ...p.follower.faults]) wrong(fault);
  if (p.deleted) {
    const { status } = await p.json("");
    if (status !== 404) wrong(`was deleted and answers ${status}`);
    if (list.has(p.id)) wrong("was deleted and is listed");
    for (const { text } of p.accepted) checkEffects(text, "stopped", ledger, wrong);
    return verdict;
  }
  const log = await wholeLog(p);
  const { body: view } = await p.json<View & { queue: unknown[] }>("");
  verdict.events = log.length;
  for (const fault of checkEvents(log)) wrong(fault);
  p.follower.events.forEach((given, i) => {
    if (JSON.stringify(given) !== JSON.stringify(log[i]))
      wrong(`event ${i + 1} was told otherwise`);
  });
  if (!ENDED.has(view.status)) wrong(`is ${view.status}`);
  if (view.queue.length > 0) wrong(`${view.queue.length} messages still wait`);
  const row = list.get(p.id);
  if (row?.status !== view.status || row.last_seq !== view.last_seq) {
    wrong(`is listed as ${JSON.stringify(row)}, and is ${view.status} at ${view.last_seq}`);
  }
  for (const { data } of log.filter((e) => e.event === "error")) {
    if (!EXPLAINED.has(String(data.code)))
      wrong(`failed: ${String(data.code)}, ${String(data.message)}`);
  }
  checkAccepted(p, log, ledger, wrong);
  for (const { data } of log.filter((e) => e.event === "done")) {
    const outcome = String(data.outcome);
    verdict.turns[outcome] = (verdict.turns[outcome] ?? 0) + 1;
  }
  return verdict;
}

function checkAccepted(
  p: Player,
  log: StoredEvent[],
  ledger: Ledger,
  wrong: (text: string) => void,
): void {
  for (const { id, kind, text } of p.accepted) {
    const found = log.filter((e) => e.event === kind && e.data.client_id === id);
    const [taken] = found;
    if (found.length !== 1 || !taken) {
      wrong(`the ${kind} ${id} stands ${found.length} times in the log`);
      continue;
    }
    const done = log.find((e) => e.seq > taken.seq && e.event === "done");
    if (!done) wrong(`the ${kind} ${id} has no end`);
    // A turn that had to do without the ledger, and said so, cannot have written.
    const without = log.some((e) => e.data.code === "mcp_server_left_out");
    checkEffects(text, without ? "without" : String(done?.data.outcome), ledger, wrong);
  }
}

function checkEffects(
  text: string,
  outcome: string,
  ledger: Ledger,
  wrong: (text: string) => void,
): void {
  for (const record of recordsOf(text)) {
    const times = ledger.records.get(record) ?? 0;
    if (times > 1 || (outcome === "completed" && times !== 1)) {
      wrong(`the record ${record} stands ${times} times in the ledger (${outcome})`);
    }
  }
}
