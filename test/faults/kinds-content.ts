/** Faults of what the model says: replies without a call, odd names, arguments and ids, calls in the wrong place. */
import { type Answer, JUNK, type Kind, type Struck, say } from "./kind.ts";
import { call, read } from "./model.ts";
import type { Spoken, SpokenCall } from "./spoken.ts";

const G = "content";
const one = { group: G, costs: 1 } as const;
const free = { group: G, costs: 0 } as const;
/** The call that appends, in either task. */
const WRITE = { positions: ["middle"] } as const;

/** The right reply with something else about its calls. */
const calls =
  (change: (call: SpokenCall, args: Record<string, unknown>) => Partial<SpokenCall>) =>
  ({ right }: Struck): Answer =>
    say({
      ...right,
      calls: right.calls.map((c) => ({
        ...c,
        ...change(c, JSON.parse(String(c.arguments)) as Record<string, unknown>),
      })),
    });
const text = (spoken: Partial<Spoken>) => (): Answer =>
  say({ calls: [], finish: "stop", ...spoken });
const argumentText = (write: (json: string) => unknown) =>
  calls((c) => ({ arguments: write(String(c.arguments)) }));
const extra = (key: string) =>
  argumentText((json) => `{${JSON.stringify(key)}:{"polluted":true},${json.slice(1)}`);
const offers = ({ body }: Struck, name: string) =>
  body.tools?.some((t) => t.function.name === name) === true;

/** Numbers and booleans as text, text that is a number as a number. */
const asText = (value: unknown): unknown =>
  typeof value === "number" || typeof value === "boolean" ? String(value) : value;
function stringly(args: Record<string, unknown>): string {
  const out = Object.entries(args).map(([key, value]) => [key, asText(value)] as const);
  return JSON.stringify(Object.fromEntries(out));
}
/** Without the last field that is required. */
function lacking(args: Record<string, unknown>): string {
  const needed = ["record", "steps", "success", "message"].find((key) => key in args);
  return JSON.stringify({ ...args, [needed ?? ""]: undefined });
}
/** The right call twice, the first of them with other words. */
function twice({ right }: Struck): Answer {
  const [first] = right.calls;
  const args = String(first?.arguments).replace("Alles", "Fast alles");
  const other = { ...first, id: "t1", arguments: args } as SpokenCall;
  return say({ ...right, calls: [other, ...right.calls] });
}
const NOTHING = { brief: null, page: null, success_criteria: null, attachments: null };
const MISPLACED = call("deliver_result", { message: JUNK });
const WRONG_PHASE = call("complete_step", { success: true, result: JUNK });

export const CONTENT: readonly Kind[] = [
  { ...one, name: "bare text", strike: text({ text: `${JUNK} I will do that now.` }) },
  { ...one, name: "empty reply", strike: text({}) },
  { ...one, name: "reasoning only", strike: text({ thinking: "Hm, was nun?" }) },
  { ...one, name: "refusal", strike: text({ refusal: `${JUNK} I cannot help with that.` }) },
  { ...one, name: "content filter", strike: text({ text: "", finish: "content_filter" }) },
  {
    ...one,
    name: "content filter in the middle of a call",
    strike: ({ right }) =>
      say({
        ...right,
        calls: right.calls.map((c) => ({ ...c, arguments: String(c.arguments).slice(0, -9) })),
        finish: "content_filter",
      }),
  },
  {
    ...one,
    name: "content filter after a whole call",
    strike: ({ right }) => say({ ...right, finish: "content_filter" }),
  },
  { ...one, name: "white space and an end token", strike: text({ text: " \n</s>\n" }) },
  { ...one, name: "finish tool_calls without calls", strike: text({ finish: "tool_calls" }) },
  {
    ...free,
    name: "finish of another provider",
    strike: ({ right }) => say({ ...right, finish: "end_turn" }),
  },
  {
    ...one,
    name: "finish length, whole JSON",
    strike: ({ right }) => say({ ...right, finish: "length" }),
  },
  {
    ...one,
    name: "finish length, cut JSON",
    strike: ({ right }) =>
      say({
        ...right,
        calls: right.calls.map((c) => ({ ...c, arguments: String(c.arguments).slice(0, -9) })),
        finish: "length",
      }),
  },
  {
    ...one,
    name: "finish length, a call written as text",
    strike: ({ right }) =>
      say({ text: `${JUNK} ${JSON.stringify(right.calls[0])}`, calls: [], finish: "length" }),
  },
  { ...one, name: "finish missing", strike: ({ right }) => say({ ...right, finish: null }) },
  {
    ...free,
    name: "finish stop with calls",
    strike: ({ right }) => say({ ...right, finish: "stop" }),
  },
  {
    ...one,
    name: "reply of 300 000 characters",
    strike: text({ text: `${JUNK} `.repeat(33_000) }),
  },

  // Names.
  { ...one, name: "unknown tool", strike: calls(() => ({ name: "web_browse" })) },
  {
    ...one,
    name: "unknown tool in a batch",
    strike: ({ right }) =>
      say({ ...right, calls: [...right.calls, { id: "u1", name: "web_browse", arguments: "{}" }] }),
  },
  { ...free, name: "name in another case", strike: calls((c) => ({ name: c.name.toUpperCase() })) },
  {
    ...free,
    name: "functions. before the name",
    strike: calls((c) => ({ name: `functions.${c.name}` })),
  },
  {
    ...free,
    name: "junk tokens in the name",
    strike: calls((c) => ({ name: `${c.name}<|channel|>commentary` })),
  },
  { ...one, name: "empty name", strike: calls(() => ({ name: "" })) },
  {
    ...one,
    name: "name of 300 characters with spaces",
    strike: calls(() => ({ name: "a b".repeat(100) })),
  },

  // Arguments.
  {
    ...free,
    name: "arguments fenced",
    strike: argumentText((json) => `\`\`\`json\n${json}\n\`\`\``),
  },
  {
    ...free,
    name: "arguments double-encoded",
    strike: argumentText((json) => JSON.stringify(json)),
  },
  {
    ...free,
    name: "arguments with a trailing comma",
    strike: argumentText((json) => `${json.slice(0, -1)},}`),
  },
  { ...one, name: "arguments empty", strike: argumentText(() => "") },
  { ...one, name: "arguments null", strike: argumentText(() => "null") },
  { ...one, name: "arguments an array", strike: argumentText((json) => `[${json}]`) },
  { ...one, name: "arguments broken JSON", strike: argumentText((json) => json.slice(0, -5)) },
  { ...free, name: "arguments an object", strike: argumentText((json) => JSON.parse(json)) },
  {
    ...free,
    name: "numbers and booleans as text",
    strike: calls((_, args) => ({ arguments: stringly(args) })),
  },
  {
    ...free,
    name: "null for optional fields",
    strike: calls((_, args) => ({
      arguments: JSON.stringify({ ...args, ...NOTHING }),
    })),
  },
  {
    ...one,
    name: "arguments as a Python dict",
    strike: argumentText((json) => json.replaceAll('"', "'").replaceAll("true", "True")),
  },
  { ...one, name: "arguments twice in a row", strike: argumentText((json) => json + json) },
  { ...free, name: "unknown key", strike: extra("confidence") },
  { ...free, name: "__proto__ among the arguments", strike: extra("__proto__") },
  {
    ...one,
    name: "required field missing",
    strike: calls((_, args) => ({ arguments: lacking(args) })),
  },
  {
    ...free,
    name: "NUL and half a character in arguments",
    strike: calls((_, args) => ({
      arguments: JSON.stringify({ ...args, brief: "x\0y\ud83d" }),
    })),
  },

  // Ids.
  { ...free, name: "id missing", strike: calls(() => ({ id: undefined })) },
  { ...free, name: "id empty", strike: calls(() => ({ id: "" })) },
  { ...free, name: "id numeric", strike: calls(() => ({ id: 0 })) },
  { ...free, name: "id too long", strike: calls(() => ({ id: "x".repeat(300) })) },
  {
    ...free,
    name: "id reused in every reply",
    times: Number.POSITIVE_INFINITY,
    strike: calls(() => ({ id: "call_0" })),
  },
  {
    ...free,
    name: "ids duplicate in a reply",
    strike: (s) => {
      const more = offers(s, "ledger_read") ? [...read(2).calls, ...read(3).calls] : [];
      return say({
        ...s.right,
        calls: [...more, ...s.right.calls].map((c) => ({ ...c, id: "same" })),
      });
    },
  },

  // Shapes.
  {
    ...free,
    name: "legacy function_call",
    strike: ({ right }) => say({ ...right, legacy: true, finish: "function_call" }),
  },
  {
    ...free,
    name: "content as parts",
    strike: ({ right }) =>
      say({
        ...right,
        text: [
          { type: "text", text: "Moment, " },
          { type: "text", text: "bitte." },
        ],
      }),
  },
  {
    ...free,
    name: "text and reasoning beside the call",
    strike: ({ right }) => say({ ...right, text: "Gleich fertig.", thinking: "ok" }),
  },

  // Calls in the wrong number or place.
  {
    ...free,
    name: "the same effect twice in one reply",
    strike: ({ right }) =>
      say({ ...right, calls: [...right.calls, ...right.calls.map((c) => ({ ...c, id: "twin" }))] }),
  },
  {
    ...free,
    name: "the same effect twice, worded differently",
    ...WRITE,
    strike: ({ right }) => {
      const other = right.calls.map((c) => ({
        id: "twin",
        name: c.name,
        arguments: JSON.stringify({
          tags: ["a", "b"],
          ...JSON.parse(String(c.arguments)),
          brief: "nochmal",
        }),
      }));
      return say({ ...right, calls: [...right.calls, ...other] });
    },
  },
  {
    ...one,
    name: "premature complete_step",
    positions: ["middle"],
    at: { middle: { big: 6, small: 2 } },
    // Later in a step it would be a lie that nobody can tell.
    alone: true,
    strike: () => say(WRONG_PHASE),
  },
  {
    ...one,
    name: "terminal tool of another phase",
    strike: (s) => say(s.right.calls[0]?.name === "deliver_result" ? WRONG_PHASE : MISPLACED),
  },
  {
    ...free,
    name: "terminal call before the work in one batch",
    ...WRITE,
    strike: ({ right }) => {
      if (right.calls[0]?.name !== "ledger_append") return null;
      const end = call("complete_step", {
        success: true,
        result: "Alles eingetragen ✅ – fertig.",
      });
      return say({ ...right, calls: [...end.calls, ...right.calls] });
    },
  },
  { ...free, name: "two terminal calls", positions: ["first", "last"], strike: twice },
  {
    group: G,
    name: "the same read once more",
    positions: ["middle"],
    costs: 1,
    alone: true,
    strike: () => say(read()),
  },
  {
    group: G,
    name: "the same read three times",
    positions: ["middle"],
    times: 2,
    // The second lap takes the tools away: the step fails, the planner is asked, and a new step does the work.
    costs: 6,
    alone: true,
    strike: () => say(read()),
  },
  {
    ...free,
    name: "40 calls in one reply",
    strike: (s) => {
      const many = offers(s, "ledger_read")
        ? Array.from(
            { length: 39 },
            (_, i) => ({ ...read(i + 10).calls[0], id: `m${i}` }) as SpokenCall,
          )
        : Array.from(
            { length: 39 },
            (_, i) => ({ ...s.right.calls[0], id: `m${i}` }) as SpokenCall,
          );
      return say({ ...s.right, calls: [...many, ...s.right.calls] });
    },
  },
];
