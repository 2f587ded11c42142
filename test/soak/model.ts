/**
 * A model that does what the people ask (task.ts). What it says next follows from the request alone, so it goes on
 * sensibly after whatever happened before: a lost reply, a refusal, a failed tool. It looks before it repeats a call of
 * whose outcome it was not told.
 */
import type { ChatRequest, MockReply } from "../support/mock-model.ts";
import { type Act, actsOf, stepsOf } from "./task.ts";

interface Message {
  role: string;
  content?: unknown;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}
interface Done {
  name: string;
  args: Record<string, unknown>;
  text: string;
}

const STEP = /<step>\n(.*)\n<\/step>/;
const PLAN = /<plan>\n(.*)\n<\/plan>/;
/** What the harness says of a call that has not run. */
const NOT_RUN = /^(Not run|Rejected|Unknown tool|Invalid arguments)/;

const textOf = (m: Message): string => (typeof m.content === "string" ? m.content : "");
const call = (name: string, args: object): MockReply => ({
  tool_calls: [{ name, arguments: args }],
});

export function rightReply(body: ChatRequest): MockReply {
  const messages = body.messages as Message[];
  const offered = new Set((body.tools ?? []).map((t) => t.function.name));
  if (offered.has("create_plan")) return plan(messages);
  if (offered.has("update_plan")) return update(messages);
  const last = messages.findLast((m) => m.role === "user");
  if (last && textOf(last).includes("with deliver_result")) {
    return call("deliver_result", { message: "All of it is done." });
  }
  const done = callsOf(messages);
  const act = wanted(messages).find((a) => !isDone(a, done));
  if (act) return perform(act, done, offered);
  if (offered.has("complete_step")) return finishStep(messages, done);
  if (offered.has("agent_response")) return call("agent_response", { text: "It is done." });
  return { text: "It is done, as far as I can see." };
}

const asked = (messages: Message[]): string[] =>
  messages.filter((m) => m.role === "user").flatMap((m) => stepsOf(textOf(m)));
const listed = (steps: string[]) =>
  steps.map((description, i) => ({ id: String(i + 1), description }));

function plan(messages: Message[]): MockReply {
  const from = messages.findLastIndex((m) => textOf(m).startsWith("Plan the user's task"));
  const steps = asked(messages.slice(from));
  const words = steps.length > 0 ? "I will." : "There is nothing to do.";
  const head = { message: words, language: "en", title: "Soak", goal: "It is done" };
  return call("create_plan", { ...head, steps: listed(steps) });
}

function update(messages: Message[]): MockReply {
  const from = messages.findLastIndex((m) => PLAN.test(textOf(m)));
  const json = PLAN.exec(textOf(messages[from] ?? { role: "user" }))?.[1] ?? "{}";
  const { steps = [] } = JSON.parse(json) as {
    steps?: { description: string; status: string; success?: boolean }[];
  };
  const todo = steps.filter((s) => s.status !== "completed" || s.success === false);
  const said = asked(messages.slice(from));
  return call("update_plan", {
    steps: listed([...new Set([...todo.map((s) => s.description), ...said])]),
  });
}

/** Calls that were made, with what came of them. */
function callsOf(messages: Message[]): Done[] {
  const results = new Map(
    messages.filter((m) => m.role === "tool").map((m) => [m.tool_call_id, textOf(m)]),
  );
  return messages
    .flatMap((m) => m.tool_calls ?? [])
    .map((c) => ({
      name: c.function.name,
      args: JSON.parse(c.function.arguments || "{}") as Record<string, unknown>,
      text: results.get(c.id) ?? "",
    }));
}

/** The acts of the step, and those that people have thrown in since; without steps, all that was asked for. */
function wanted(messages: Message[]): Act[] {
  const step = messages.findLast((m) => m.role === "user" && STEP.test(textOf(m)));
  const thrownIn = messages.filter((m) => m.role === "user" && !STEP.test(textOf(m)));
  const own = step ? (STEP.exec(textOf(step))?.[1] ?? "") : "";
  return [own, ...asked(thrownIn)].flatMap(actsOf).filter(({ verb }) => verb !== "flunk");
}

const CALLS: Record<string, string> = {
  append: "mcp_ledger_append",
  book: "mcp_ledger_book",
  flaky: "mcp_ledger_flaky",
  write: "file_write",
  shell: "shell_exec",
  ask: "message_ask_user",
};
const isOf = ({ verb, what }: Act, { name, args }: Done): boolean =>
  name === CALLS[verb] &&
  (args.record === what || args.path === what || args.command === what || args.text === what);
const isEffect = ({ verb }: Act): boolean => CALLS[verb]?.startsWith("mcp_") === true;

function isDone(act: Act, done: Done[]): boolean {
  const tries = done.filter((d) => isOf(act, d) && !NOT_RUN.test(d.text));
  if (!isEffect(act)) return tries.length > 0;
  return tries.some((d) => d.text.startsWith("appended")) || lookedUp(act, done) === "found yes";
}
/** What the ledger said, if it was asked after the last try. */
function lookedUp(act: Act, done: Done[]): string | null {
  const last = done.findLastIndex((d) => isOf(act, d));
  const look = done
    .slice(last + 1)
    .findLast((d) => d.name === "mcp_ledger_find" && d.args.record === act.what);
  return look?.text.match(/found (yes|no)/)?.[0] ?? null;
}

function perform(act: Act, done: Done[], offered: Set<string>): MockReply {
  const name = CALLS[act.verb] ?? "";
  // Without its tools (they were withdrawn, the server is away) a step cannot be done now.
  if (!offered.has(name)) {
    return offered.has("complete_step")
      ? call("complete_step", { success: false, result: `There is no ${name} now.` })
      : { text: `I have no ${name} now.` };
  }
  const brief = `${act.verb} ${act.what}`;
  if (act.verb === "ask") return call(name, { text: act.what, options: ["red", "blue"] });
  if (act.verb === "write") return call(name, { path: act.what, content: act.what, brief });
  if (act.verb === "shell") return call(name, { command: act.what, brief });
  const tried = done.some((d) => isOf(act, d) && !NOT_RUN.test(d.text));
  if (tried && lookedUp(act, done) === null) {
    return call("mcp_ledger_find", { record: act.what, brief: `find ${act.what}` });
  }
  return call(name, { record: act.what, brief });
}

/** A step that is to flunk does so once; the planner gives it again. */
function finishStep(messages: Message[], done: Done[]): MockReply {
  const step = messages.findLast((m) => m.role === "user" && STEP.test(textOf(m)));
  const own = STEP.exec(textOf(step ?? { role: "user" }))?.[1] ?? "";
  const flunks = actsOf(own).some(({ verb }) => verb === "flunk");
  const flunked = done.some((d) => d.name === "complete_step" && d.args.success === false);
  return flunks && !flunked
    ? call("complete_step", { success: false, result: "It did not work out." })
    : call("complete_step", { success: true, result: `Done: ${own}` });
}
