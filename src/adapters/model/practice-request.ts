/**
 * Reads a request the way the practice model needs it: who is asked, for what, and what has been done so far.
 *
 * Q1  Everything comes from the request's own messages: the practice model remembers nothing between calls.
 * Q2  Nothing in a request can make this throw; what cannot be read counts as absent.
 */
type Json = Record<string, unknown>;

export interface Message {
  role: string;
  text: string;
  calls: Call[];
  /** Of a tool message: the call that it answers. */
  answers: string;
}

export interface Call {
  id: string;
  name: string;
  args: Json;
}

export interface Asked {
  messages: Message[];
  /** Names of the tools on offer. */
  tools: ReadonlySet<string>;
  /** The function that `tool_choice` names, or "". */
  forced: string;
}

export function readRequest(body: string): Asked {
  let parsed: Json = {};
  try {
    parsed = record(JSON.parse(body));
  } catch {
    // An unreadable request is answered like an empty one.
  }
  return {
    messages: list(parsed.messages).map(readMessage),
    tools: new Set(list(parsed.tools).map((tool) => string(record(record(tool).function).name))),
    forced: string(record(record(parsed.tool_choice).function).name),
  };
}

function readMessage(raw: unknown): Message {
  const message = record(raw);
  return {
    role: string(message.role),
    text: contentText(message.content),
    calls: list(message.tool_calls).map(readCall),
    answers: string(message.tool_call_id),
  };
}

function readCall(raw: unknown): Call {
  const call = record(raw);
  const fn = record(call.function);
  return { id: string(call.id), name: string(fn.name), args: readJson(string(fn.arguments)) };
}

export function readJson(text: string): Json {
  try {
    return record(JSON.parse(text));
  } catch {
    return {};
  }
}

/**
 * What stands between `<tag>` and the last `</tag>`; null without them. People's words come first in a prompt and
 * may hold tags themselves, so theirs begins at the first one, and what the harness adds at the last.
 */
export function between(text: string, tag: string, from: "first" | "last"): string | null {
  const open = text.includes(`<${tag}>\n`) ? `<${tag}>\n` : `<${tag}>`;
  const start = from === "first" ? text.indexOf(open) : text.lastIndexOf(open);
  const end = text.lastIndexOf(`</${tag}>`);
  return start < 0 || end < start ? null : text.slice(start + open.length, end).trim();
}

export interface Tagged {
  at: number;
  text: string;
}

/** The newest message with the person's own words in their tag, before `end`. */
export const lastMessage = (messages: readonly Message[], end = messages.length): Tagged | null =>
  lastTagged(messages, "message", "first", end);

/** The newest prompt with a part of the harness, before `end`. */
export const lastPart = (
  messages: readonly Message[],
  tag: "step" | "plan",
  end = messages.length,
): Tagged | null => lastTagged(messages, tag, "last", end);

function lastTagged(
  messages: readonly Message[],
  tag: string,
  from: "first" | "last",
  end: number,
): Tagged | null {
  for (let at = end - 1; at >= 0; at--) {
    const message = messages[at];
    const text = message?.role === "user" ? between(message.text, tag, from) : null;
    if (text !== null) return { at, text };
  }
  return null;
}

export interface Done {
  call: Call;
  /** The result as the model reads it; null while there is none. */
  result: string | null;
}

/** The calls made after a message, in order, each with its result. */
export function doneSince(messages: readonly Message[], at: number): Done[] {
  const later = messages.slice(at + 1);
  const results = new Map(
    later.filter((m) => m.role === "tool").map((m) => [m.answers, m.text] as const),
  );
  return later
    .flatMap((message) => message.calls)
    .map((call) => ({ call, result: results.get(call.id) ?? null }));
}

function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  return list(content)
    .map((part) => string(record(part).text))
    .join("");
}

export const list = (raw: unknown): unknown[] => (Array.isArray(raw) ? raw : []);

export const string = (raw: unknown): string => (typeof raw === "string" ? raw : "");

export const record = (raw: unknown): Json =>
  typeof raw === "object" && raw !== null && !Array.isArray(raw) ? (raw as Json) : {};
