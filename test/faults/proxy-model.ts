/** The model of a bare client's task, and faults of the model of the drive's task played on it. */
import { type Answer, type Kind, type Position, type Struck, say } from "./kind.ts";
import { type Body, call, FINAL, read } from "./model.ts";
import type { Fault } from "./server.ts";
import type { Spoken } from "./spoken.ts";

export const RECORDS = ["α-eins 🚀", "β-zwei ✍️"] as const;
/** Looks before, between and after two writes, then answers: six calls. */
export const PLACES: Record<Position, number> = { first: 1, middle: 4, last: 6 };

const LEDGER = /^LEDGER (\[.*\])$/u;

/** What it knows of the ledger; null: it has to look. */
function knowledge({ messages }: Body): string[] | null {
  let known: string[] | null = null;
  for (const m of messages) {
    const text = m.role === "tool" && typeof m.content === "string" ? m.content : "";
    const list = LEDGER.exec(text)?.[1];
    if (list) known = JSON.parse(list) as string[];
    if (text.startsWith("appended")) known = null;
  }
  return known;
}

/** Answers in plain text, and through the proxy's hidden tool where that is offered. */
function rightReply(body: Body): Spoken {
  const known = knowledge(body);
  if (known === null) return read();
  const record = RECORDS.find((r) => !known.includes(r));
  if (record !== undefined) return call("ledger_append", { record, weight: 3, tags: ["a", "b"] });
  const hidden = body.tools?.some((t) => t.function.name === "agent_response");
  return hidden
    ? call("agent_response", { text: FINAL })
    : { text: FINAL, calls: [], finish: "stop" };
}

/** Kinds that make something of a call, or say something beside it; an answer in plain text they leave alone. */
const OF_CALLS = new Set([
  "content as parts",
  "finish length, a call written as text",
  "no rescue: an unknown tool among them",
  "no rescue: half a call",
  "text and reasoning beside the call",
  "two terminal calls",
]);
const needsCall = ({ name }: Kind): boolean => OF_CALLS.has(name) || name.startsWith("rescue: ");

/** Ids where a kind gave none of its own accord. */
function identified({ calls }: Spoken, n: number): void {
  calls.forEach((c, i) => {
    if (c.id === "") c.id = `call_${n}_${i}`;
  });
}

/** The kind at one place of this task; `met` is told of each request that it meets. */
export function faultAt(kind: Kind, at: number, met: () => void): Fault {
  const strike = (struck: Struck): Answer => {
    const n = struck.nth + 1;
    const nth = n - at;
    const right = rightReply(struck.body);
    identified(right, n);
    const idle = nth < 0 || nth >= (kind.times ?? 1);
    if (idle || (needsCall(kind) && right.calls.length === 0)) return say(right);
    met();
    const answer = kind.strike?.({ ...struck, right, nth }) ?? say(right);
    if (answer.type === "say" && kind.name !== "id empty") identified(answer.spoken, n);
    return answer;
  };
  return { kind: { ...kind, times: Number.POSITIVE_INFINITY, strike }, at: 1 };
}
