/** Asks the practice model, and plays its steps against a world of given tool results. */
import { expect } from "vitest";
import { callPractice } from "../../src/adapters/model/practice.ts";
import type { Piece } from "../../src/core/ports.ts";
import { checkHistory } from "./history-oracle.ts";

export type Message = Record<string, unknown>;
export type Args = Record<string, unknown>;

export const WORK = [
  "shell_exec",
  "file_write",
  "message_ask_user",
  "complete_step",
  "deliver_result",
];
export const user = (content: string): Message => ({ role: "user", content });

export async function ask(messages: Message[], tools: string[], choice: unknown = "auto") {
  const offered = tools.map((name) => ({
    type: "function",
    function: { name, parameters: { type: "object", properties: {} } },
  }));
  const body = JSON.stringify({ model: "practice", tools: offered, tool_choice: choice, messages });
  const pieces: Piece[] = [];
  const outcome = await callPractice(
    { provider: "practice", model: "practice", body, timeoutMs: 1000 },
    (piece) => pieces.push(piece),
    new AbortController().signal,
  );
  if (outcome.type === "failed") throw new Error(outcome.failure.message);
  return { reply: outcome.reply, pieces, call: outcome.reply.calls[0] };
}
export const argsOf = (call: { arguments: string } | undefined): Args =>
  JSON.parse(call?.arguments ?? "null");

export async function planOf(text: string) {
  const { call } = await ask(
    [user(`Plan this.\n<message>\n${text}\n</message>`)],
    ["create_plan"],
    "required",
  );
  expect(call?.name).toBe("create_plan");
  return argsOf(call) as { steps: { id: string; description: string }[] } & Args;
}

/** Plays a step to its end: results come from `world`; returns the calls in order and the grown history. */
export async function play(
  messages: Message[],
  world: (name: string, args: Args) => string,
  tools = WORK,
) {
  const calls: { name: string; args: Args }[] = [];
  for (let i = 0; i < 20; i++) {
    const { reply, call } = await ask(messages, tools);
    if (!call) return { calls, text: reply.text };
    const args = argsOf(call);
    calls.push({ name: call.name, args });
    const { id, name } = call;
    messages.push({
      role: "assistant",
      content: null,
      tool_calls: [{ id, type: "function", function: { name, arguments: call.arguments } }],
    });
    messages.push({ role: "tool", tool_call_id: id, content: world(name, args) });
    const offered = tools.map((t) => ({
      type: "function",
      function: { name: t, parameters: { type: "object" } },
    }));
    expect(checkHistory({ messages, tools: offered })).toEqual([]);
    if (name === "complete_step") return { calls, text: "" };
  }
  throw new Error("the step has no end");
}
export const step = (line: string): Message[] => [user(`Do this step.\n<step>\n${line}\n</step>`)];
export const shell = (outputs: Record<string, string>) => (name: string, args: Args) =>
  name === "shell_exec" ? (outputs[String(args.command)] ?? "[exit code 127]") : "ok";
