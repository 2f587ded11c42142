/** What the model of the fault tests says, and how that becomes bytes: an event stream, or one JSON completion. */
export interface SpokenCall {
  /** Whatever a server may send; absent when undefined. */
  id?: unknown;
  name: string;
  arguments: unknown;
}

export interface Spoken {
  /** A string, or content parts. */
  text?: unknown;
  thinking?: string;
  refusal?: string;
  calls: SpokenCall[];
  finish: string | null;
  /** The first call goes out as the old `function_call`. */
  legacy?: boolean;
}

/** How a stream departs from the usual one. */
export interface Manner {
  index?: "none" | "same" | "high" | "turns" | "names";
  /** Id and name in every delta of a call. */
  repeatNames?: boolean;
  noDone?: boolean;
  emptyChoices?: boolean;
  unknownFields?: boolean;
}

const PIECE = 24;
const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;

function pieces(text: string): string[] {
  const points = [...text];
  const size = Math.max(PIECE, Math.ceil(points.length / 100));
  const out: string[] = [];
  for (let at = 0; at < points.length; at += size) out.push(points.slice(at, at + size).join(""));
  return out;
}

function callDeltas(call: SpokenCall, i: number, manner: Manner): unknown[] {
  const { index: way } = manner;
  const index = way === "none" ? {} : { index: way === "same" ? 0 : way === "high" ? 7 + i : i };
  const head = { ...(call.id === undefined ? {} : { id: call.id }), type: "function" };
  const args = call.arguments;
  // Without an index to go by a server sends each call whole.
  if (typeof args !== "string" || way === "none" || way === "same") {
    return [{ ...index, ...head, function: { name: call.name, arguments: args } }];
  }
  const cut = way === "names" ? 7 : call.name.length;
  const first = { ...index, ...head, function: { name: call.name.slice(0, cut), arguments: "" } };
  const more =
    way === "names" ? [{ ...index, function: { name: call.name.slice(cut), arguments: "" } }] : [];
  const rest = pieces(args).map((piece) =>
    manner.repeatNames
      ? { ...index, ...head, function: { name: call.name, arguments: piece } }
      : { ...index, function: { arguments: piece } },
  );
  return [first, ...more, ...rest];
}

/** One of each in turn, as a server streams parallel calls. */
function inTurns<T>(lists: T[][]): T[] {
  const longest = Math.max(0, ...lists.map((l) => l.length));
  return Array.from({ length: longest }, (_, i) => lists.flatMap((l) => l.slice(i, i + 1))).flat();
}

/** The chunks of the stream, each as it is written. */
export function streamOf(spoken: Spoken, manner: Manner = {}, usage = true): string[] {
  const odd = manner.unknownFields
    ? { system_fingerprint: "x", obfuscation: "abc", nested: {} }
    : {};
  const base = {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 0,
    model: "m1",
    ...odd,
  };
  const chunk = (delta: object, finish: string | null = null): string =>
    data({ ...base, choices: [{ index: 0, delta, finish_reason: finish, ...odd }] });
  const out = manner.emptyChoices
    ? [data({ ...base, choices: [], prompt_filter_results: [] })]
    : [];
  out.push(chunk({ role: "assistant", content: "" }));
  for (const piece of pieces(spoken.thinking ?? "")) out.push(chunk({ reasoning_content: piece }));
  if (typeof spoken.text === "string") {
    for (const piece of pieces(spoken.text)) out.push(chunk({ content: piece }));
  } else if (spoken.text !== undefined) out.push(chunk({ content: spoken.text }));
  for (const piece of pieces(spoken.refusal ?? "")) out.push(chunk({ refusal: piece }));
  const [first] = spoken.calls;
  if (spoken.legacy && first) {
    out.push(chunk({ function_call: { name: first.name, arguments: "" } }));
    for (const piece of pieces(String(first.arguments))) {
      out.push(chunk({ function_call: { arguments: piece } }));
    }
  } else {
    const deltas = spoken.calls.map((call, i) => callDeltas(call, i, manner));
    const order = manner.index === "turns" ? inTurns(deltas) : deltas.flat();
    for (const delta of order) out.push(chunk({ tool_calls: [delta] }));
  }
  if (spoken.finish !== null) out.push(chunk({}, spoken.finish));
  if (usage || manner.emptyChoices) out.push(data({ ...base, choices: [], usage: USAGE }));
  if (spoken.finish !== null && !manner.noDone) out.push("data: [DONE]\n\n");
  return out;
}

const USAGE = { prompt_tokens: 900, completion_tokens: 20, total_tokens: 920 };

/** The same as one JSON completion. */
export function completionOf(spoken: Spoken): string {
  const [first] = spoken.calls;
  const calls = spoken.calls.map((call) => ({
    ...(call.id === undefined ? {} : { id: call.id }),
    type: "function",
    function: { name: call.name, arguments: call.arguments },
  }));
  const message = {
    role: "assistant",
    content: spoken.text ?? null,
    ...(spoken.thinking === undefined ? {} : { reasoning_content: spoken.thinking }),
    ...(spoken.refusal === undefined ? {} : { refusal: spoken.refusal }),
    ...(spoken.legacy && first
      ? { function_call: { name: first.name, arguments: first.arguments } }
      : calls.length > 0
        ? { tool_calls: calls }
        : {}),
  };
  const choices = [{ index: 0, message, finish_reason: spoken.finish }];
  return JSON.stringify({ id: "c", object: "chat.completion", model: "m1", choices, usage: USAGE });
}
