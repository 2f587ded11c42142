/**
 * 04 · A whole set of hooks. It shows: a house rule in every request, a locked door, tidied results, tools by policy,
 * an answer that must be backed by work, and a trace. To use them, put these two lines into src/worker/hooks.ts:
 *
 *   import { exampleHooks } from "../../examples/04-hooks.ts";
 *   export const HOOKS: Hooks = exampleHooks;
 */
import type { Hooks } from "../src/core/hooks.ts";

const SECRET = /\b(sk|ghp)[-_][A-Za-z0-9]{16,}/g;
const LOCKED = /^\/workspace\/(\.git|secrets)\//;

export const exampleHooks: Hooks = {
  /** Added at the end and always the same, so that the beginning of the request stays as it was. */
  transformMessages: (messages, { role }) =>
    role === "executor"
      ? [...messages, { role: "user", content: "House rule: never touch production." }]
      : undefined,

  beforeRequest: (request, { session }) => ({ user: session.slice(0, 8), ...request }),

  beforeToolCall: ({ args }) =>
    LOCKED.test(String(args.path)) ? { block: `${String(args.path)} is locked.` } : undefined,

  afterToolCall: (_, result) =>
    SECRET.test(result.text) ? { ...result, text: result.text.replace(SECRET, "***") } : undefined,

  filterTools: (tools) => tools.filter((tool) => tool.name !== "file_write"),

  shouldAcceptConclusion: ({ role, work, iteration }) =>
    role === "assistant" && work === 0 && iteration < 3
      ? { accept: false, nudge: "Look it up with a tool before you answer." }
      : { accept: true },

  trace: (stage) => console.debug(JSON.stringify(stage)),
};
