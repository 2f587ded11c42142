/**
 * A model that does its task rightly: what it says next follows from the request alone, so whatever happened before
 * (a lost reply, a refusal, a failed tool, a shortened history) it goes on sensibly. It looks into the ledger before
 * it writes, and again when it does not know what became of a write.
 */
import type { Spoken } from "./spoken.ts";

export interface Body {
  model?: string;
  stream?: boolean;
  stream_options?: unknown;
  parallel_tool_calls?: unknown;
  tool_choice?: unknown;
  tools?: { function: { name: string; parameters: unknown } }[];
  messages: Message[];
  [field: string]: unknown;
}
interface Message {
  role: string;
  content?: unknown;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
  [field: string]: unknown;
}

export interface Task {
  /** One record for each step, to be in the ledger once. */
  records: readonly string[];
  /** Looks into the ledger again after each write. */
  verify: boolean;
  /** Repeats a write of unknown outcome without looking: the idempotency key must make that harmless. */
  blind?: boolean;
}

const STEP = /<step>\nRecord (.*) in the ledger\.\n<\/step>/u;
const SUMMARY = /with deliver_result/;
const LEDGER = /LEDGER (\[.*\])$/mu;
/** What the harness says of a call that did not run. */
const NOT_RUN = /^(Not run|Rejected|Unknown tool|Invalid arguments)/;

const textOf = (m: Message): string => (typeof m.content === "string" ? m.content : "");

export const call = (name: string, args: object): Spoken => ({
  calls: [{ id: "", name, arguments: JSON.stringify(args) }],
  finish: "tool_calls",
});
export const read = (page = 1): Spoken => call("ledger_read", { brief: "Schaut nach 🔎", page });

const steps = (records: readonly string[]) =>
  records.map((record, i) => ({
    id: String(i + 1),
    description: `Record ${record} in the ledger.`,
  }));

function update(body: Body): Spoken {
  const prompt = body.messages.findLast((m) => m.role === "user" && textOf(m).includes("<plan>"));
  const json = /<plan>\n(.*)\n<\/plan>/u.exec(prompt ? textOf(prompt) : "")?.[1] ?? "{}";
  const plan = JSON.parse(json) as {
    steps?: { id: string; description: string; status: string; success?: boolean }[];
  };
  const todo = (plan.steps ?? []).filter((s) => s.status !== "completed" || s.success === false);
  const fresh = [...new Set(todo.map((s) => s.description))];
  return call("update_plan", {
    steps: fresh.map((description, i) => ({ id: `r${i}`, description })),
  });
}

/** What the step knows of the ledger; null: it has to look. */
function knowledge(messages: Message[], record: string, task: Task): string[] | null {
  const names = new Map<string, string>();
  let known: string[] | null = null;
  for (const m of messages) {
    for (const c of m.tool_calls ?? []) names.set(c.id, c.function.name);
    if (m.role !== "tool") continue;
    const name = names.get(String(m.tool_call_id));
    const text = textOf(m);
    const list = LEDGER.exec(text)?.[1];
    if (name === "ledger_read" && list) known = JSON.parse(list) as string[];
    if (name !== "ledger_append" || NOT_RUN.test(text)) continue;
    if (text.startsWith("appended") && !task.verify) known = [...(known ?? []), record];
    else if (!task.blind || text.startsWith("appended")) known = null;
  }
  return known;
}

export function rightReply(body: Body, task: Task): Spoken {
  const offered = new Set((body.tools ?? []).map((t) => t.function.name));
  if (offered.has("create_plan")) {
    return call("create_plan", {
      message: "Ich trage das ein 🚀",
      language: "de",
      title: "Ledger",
      goal: "All records stand in the ledger once.",
      steps: steps(task.records),
    });
  }
  if (offered.has("update_plan")) return update(body);
  const at = body.messages.findLastIndex(
    (m) => m.role === "user" && (STEP.test(textOf(m)) || SUMMARY.test(textOf(m))),
  );
  const prompt = body.messages[at];
  const record = prompt ? STEP.exec(textOf(prompt))?.[1] : undefined;
  if (record === undefined) return call("deliver_result", { message: FINAL });
  const known = knowledge(body.messages.slice(at + 1), record, task);
  if (known?.includes(record)) {
    return call("complete_step", { success: true, result: FINAL });
  }
  if (!offered.has("ledger_append")) {
    return call("complete_step", { success: false, result: "I have no tools left." });
  }
  return known === null
    ? read()
    : call("ledger_append", { brief: "Trägt ein ✍️", record, weight: 3, tags: ["a", "b"] });
}

/** The answer that must reach the user. */
export const FINAL = "Alles eingetragen ✅ – fertig.";
