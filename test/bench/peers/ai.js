/** Vercel's AI SDK: `streamText` with its own tool loop. What it says of each step is stored as rows, as its docs do. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { jsonSchema, stepCountIs, streamText, tool } from "ai";
import { peer, systemOf, taskOf, toolOf } from "./run.js";

async function loop(run, env, storage) {
  const { name, description, parameters, result } = toolOf(run);
  storage.sql.exec("CREATE TABLE messages (id INTEGER PRIMARY KEY, json TEXT NOT NULL) STRICT");
  let steps = 0;
  let row = 0;
  const provider = createOpenAICompatible({
    name: "bench",
    baseURL: env.MODEL_URL,
    apiKey: "none",
    includeUsage: true,
  });
  const stream = streamText({
    model: provider.chatModel(run.model),
    system: systemOf(run),
    prompt: taskOf(run),
    tools: {
      [name]: tool({
        description,
        inputSchema: jsonSchema(parameters),
        execute: async () => {
          steps += 1;
          return result;
        },
      }),
    },
    stopWhen: stepCountIs(100_000),
    onStepFinish({ response }) {
      storage.transactionSync(() => {
        for (const message of response.messages) {
          row += 1;
          storage.sql.exec("INSERT INTO messages VALUES (?, ?)", row, JSON.stringify(message));
        }
      });
    },
  });
  await stream.consumeStream();
  return steps;
}

const { Peer, worker } = peer(loop);

export { Peer };
export default worker;
