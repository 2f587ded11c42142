/**
 * The history oracle: what a strict provider demands of every request. Shares no code with the product on
 * purpose: the judge must not judge itself.
 *
 * H0  The request has the shape of a chat completion request.
 * H1  Each call of an assistant message has exactly one tool message, before the next message that is none.
 * H2  No tool message without its call.
 * H3  No assistant message with neither text nor calls.
 * H4  The arguments of every call parse to a JSON object.
 * H5  Call ids are unique in the request.
 * H6  No string holds half a surrogate pair or a NUL.
 * H7  There is a user message, and the last message is one of user or tool.
 * H8  Tool names are plain, and the parameters of every tool are a schema of type "object".
 * H9  A history with calls comes with tools.
 */
type Json = Record<string, unknown>;

const ROLES = new Set(["system", "developer", "user", "assistant", "tool"]);
const NAME = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

/** Every rule that the request breaks, each as `H4: what and where`; empty when it is sound. */
export function checkHistory(requestBody: unknown): string[] {
  const body = asObject(requestBody);
  if (!body) return ["H0: the request is not a JSON object"];
  if (!Array.isArray(body.messages)) return ["H0: `messages` is not a list"];
  const found: string[] = [];
  const messages: Json[] = [];
  for (const [i, raw] of body.messages.entries()) {
    const message = asObject(raw);
    if (!message) found.push(`H0: message ${i} is not an object`);
    messages.push(message ?? {});
  }
  messages.forEach((message, i) => {
    found.push(...checkShape(message, i));
  });
  found.push(...checkPairs(messages), ...checkCalls(messages), ...checkEnds(messages));
  found.push(...checkTools(body, messages));
  found.push(...checkStrings(body, "request"));
  return found;
}

function checkShape(message: Json, i: number): string[] {
  const found: string[] = [];
  const { role, content } = message;
  if (!ROLES.has(String(role))) found.push(`H0: message ${i} has the role ${JSON.stringify(role)}`);
  const hasText = typeof content === "string" || Array.isArray(content);
  if (!hasText && role !== "assistant") found.push(`H0: message ${i} has no content`);
  if (role === "assistant" && !saysSomething(content) && callsOf(message).length === 0) {
    found.push(`H3: assistant message ${i} has neither text nor calls`);
  }
  if (role !== "assistant" && message.tool_calls !== undefined) {
    found.push(`H0: message ${i} is no assistant's and has tool_calls`);
  }
  if (Array.isArray(message.tool_calls) && message.tool_calls.length === 0) {
    found.push(`H0: message ${i} has an empty list of tool_calls`);
  }
  return found;
}

function saysSomething(content: unknown): boolean {
  if (typeof content === "string") return content.trim() !== "";
  return Array.isArray(content) && content.length > 0;
}

/** Walks the history once: open calls must be answered before anything else comes. */
function checkPairs(messages: Json[]): string[] {
  const found: string[] = [];
  let open = new Map<string, number>();
  const close = (i: number): void => {
    for (const [id, answers] of open) {
      if (answers === 0) found.push(`H1: call ${id} has no result before message ${i}`);
      if (answers > 1) found.push(`H1: call ${id} has ${answers} results`);
    }
    open = new Map();
  };
  messages.forEach((message, i) => {
    if (message.role === "tool") {
      const id = String(message.tool_call_id);
      const answers = open.get(id);
      if (answers === undefined) found.push(`H2: tool message ${i} answers no open call (${id})`);
      else open.set(id, answers + 1);
      return;
    }
    close(i);
    for (const call of callsOf(message)) open.set(String(call.id), 0);
  });
  close(messages.length);
  return found;
}

function checkCalls(messages: Json[]): string[] {
  const found: string[] = [];
  const ids = new Set<unknown>();
  messages.forEach((message, i) => {
    for (const call of callsOf(message)) {
      const fn = asObject(call.function) ?? {};
      if (typeof call.id !== "string" || call.id === "")
        found.push(`H5: a call in message ${i} has no id`);
      else if (ids.has(call.id)) found.push(`H5: the call id ${call.id} is used twice`);
      ids.add(call.id);
      if (call.type !== "function") found.push(`H0: call ${call.id} is not of type "function"`);
      if (!NAME.test(String(fn.name)))
        found.push(`H8: call ${call.id} has the name ${JSON.stringify(fn.name)}`);
      const args = parseObject(fn.arguments);
      if (!args) found.push(`H4: the arguments of call ${call.id} are no JSON object`);
      // Half a character may hide behind an escape: templates that parse the arguments meet it.
      else found.push(...checkStrings(args, `arguments of call ${call.id}`, false));
    }
  });
  return found;
}

function checkEnds(messages: Json[]): string[] {
  const found: string[] = [];
  const last = messages.at(-1)?.role;
  if (!messages.some((m) => m.role === "user")) found.push("H7: there is no user message");
  if (last !== "user" && last !== "tool")
    found.push(`H7: the last message is of role ${String(last)}`);
  return found;
}

function checkTools(body: Json, messages: Json[]): string[] {
  const found: string[] = [];
  const tools = Array.isArray(body.tools) ? body.tools : [];
  if (body.tools !== undefined && tools.length === 0) found.push("H8: `tools` is an empty list");
  const names = new Set<unknown>();
  for (const raw of tools) {
    const fn = asObject(asObject(raw)?.function) ?? {};
    const name = String(fn.name);
    if (!NAME.test(name)) found.push(`H8: a tool has the name ${JSON.stringify(fn.name)}`);
    if (names.has(name)) found.push(`H8: the tool ${name} is offered twice`);
    names.add(name);
    if (asObject(fn.parameters)?.type !== "object") {
      found.push(`H8: the parameters of ${name} are no schema of type "object"`);
    }
  }
  const called = messages.some((m) => callsOf(m).length > 0 || m.role === "tool");
  if (called && tools.length === 0)
    found.push("H9: the history holds calls, but no tools are sent");
  return found;
}

/** Every string anywhere, keys too. */
function checkStrings(value: unknown, where: string, nul = true): string[] {
  if (typeof value === "string") {
    if (!value.isWellFormed()) return [`H6: half a surrogate pair in ${where}`];
    return nul && value.includes("\0") ? [`H6: a NUL in ${where}`] : [];
  }
  if (Array.isArray(value)) return value.flatMap((v, i) => checkStrings(v, `${where}[${i}]`, nul));
  const object = asObject(value);
  if (!object) return [];
  return Object.entries(object).flatMap(([key, v]) => [
    ...checkStrings(key, `a key of ${where}`, nul),
    ...checkStrings(v, `${where}.${key}`, nul),
  ]);
}

function callsOf(message: Json): Json[] {
  if (message.role !== "assistant" || !Array.isArray(message.tool_calls)) return [];
  return message.tool_calls.map((call) => asObject(call) ?? {});
}

function parseObject(text: unknown): Json | null {
  if (typeof text !== "string") return null;
  try {
    return asObject(JSON.parse(text));
  } catch {
    return null;
  }
}

function asObject(value: unknown): Json | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Json)
    : null;
}
