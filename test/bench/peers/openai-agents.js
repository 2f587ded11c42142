/** OpenAI's Agents SDK: `run` over chat completions, streamed. It keeps its history in memory; nothing is stored. */
import {
  Agent,
  OpenAIChatCompletionsModel,
  run as runAgent,
  setTracingDisabled,
  tool,
} from "@openai/agents";
import OpenAI from "openai";
import { peer, systemOf, taskOf, toolOf } from "./run.js";

async function loop(run, env) {
  setTracingDisabled(true);
  const { name, description, parameters, result } = toolOf(run);
  let steps = 0;
  const client = new OpenAI({ baseURL: env.MODEL_URL, apiKey: "none", maxRetries: 0 });
  const agent = new Agent({
    name: "bench",
    instructions: systemOf(run),
    model: new OpenAIChatCompletionsModel(client, run.model),
    tools: [
      tool({
        name,
        description,
        parameters,
        strict: false,
        execute: async () => {
          steps += 1;
          return result;
        },
      }),
    ],
  });
  const stream = await runAgent(agent, taskOf(run), { stream: true, maxTurns: 100_000 });
  await stream.completed;
  return steps;
}

const { Peer, worker } = peer(loop);

export { Peer };
export default worker;
