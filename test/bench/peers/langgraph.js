/** LangGraph: its ready-made agent over `ChatOpenAI`, streamed, with its checkpoints in memory. */
import { tool } from "@langchain/core/tools";
import { MemorySaver } from "@langchain/langgraph";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { peer, systemOf, taskOf, toolOf } from "./run.js";

async function loop(run, env) {
  const { name, description, parameters, result } = toolOf(run);
  let steps = 0;
  const llm = new ChatOpenAI({
    model: run.model,
    apiKey: "none",
    configuration: { baseURL: env.MODEL_URL },
    maxRetries: 0,
  });
  const read = tool(
    async () => {
      steps += 1;
      return result;
    },
    { name, description, schema: parameters },
  );
  const agent = createReactAgent({
    llm,
    tools: [read],
    prompt: systemOf(run),
    checkpointer: new MemorySaver(),
  });
  // Streamed like this, and not by `streaming: true`, which counts tokens with a table from the network.
  const stream = await agent.stream(
    { messages: [{ role: "user", content: taskOf(run) }] },
    {
      configurable: { thread_id: run.model },
      recursionLimit: 1_000_000,
      streamMode: "messages",
    },
  );
  for await (const _ of stream);
  return steps;
}

const { Peer, worker } = peer(loop);

export { Peer };
export default worker;
