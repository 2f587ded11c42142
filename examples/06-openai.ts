/**
 * 06 · The OpenAI library through the proxy. It shows: a program that was written for the OpenAI API gets the guarded
 * loop by its base URL alone. Its tools stay its own: their calls come back to it, checked and mended.
 *
 *   npx node examples/06-openai.ts
 */
import OpenAI from "openai";
import type {
  ChatCompletionFunctionTool,
  ChatCompletionMessageParam,
} from "openai/resources/chat/completions";

const { DORMOUSE_URL = "http://localhost:8787", DORMOUSE_TOKEN = "none" } = process.env;
const client = new OpenAI({ baseURL: `${DORMOUSE_URL}/v1`, apiKey: DORMOUSE_TOKEN });

const tools: ChatCompletionFunctionTool[] = [
  {
    type: "function",
    function: {
      name: "shell_exec",
      description: "Runs a command. Only `date` is known here.",
      parameters: {
        type: "object",
        properties: { command: { type: "string" } },
        required: ["command"],
      },
    },
  },
];
const run = ({ command }: { command: string }): string =>
  command === "date"
    ? `${new Date().toISOString()}\n[exit code 0]`
    : `${command}: not known here\n[exit code 127]`;

const messages: ChatCompletionMessageParam[] = [
  { role: "user", content: "What time is it? Look with `date`" },
];
// An empty model is the configured one.
for (;;) {
  const completion = await client.chat.completions.create({ model: "", messages, tools });
  const message = completion.choices[0]?.message;
  if (!message?.tool_calls?.length) {
    console.log(`answer: ${message?.content}`);
    break;
  }
  messages.push(message);
  for (const call of message.tool_calls) {
    if (call.type !== "function") continue;
    const content = run(JSON.parse(call.function.arguments) as { command: string });
    console.log(`${call.function.name} ${call.function.arguments} → ${content}`);
    messages.push({ role: "tool", tool_call_id: call.id, content });
  }
}
