/** Cloudflare's Think as it comes: its object stores messages, streams and recovery rows by itself. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Think } from "@cloudflare/think";
import { jsonSchema, tool } from "ai";
import { systemOf, taskOf, toolOf } from "./run.js";

export class Peer extends Think {
  maxSteps = 100_000;
  chatRecovery = true;
  #run;
  #steps = 0;

  getModel() {
    return createOpenAICompatible({
      name: "bench",
      baseURL: this.env.MODEL_URL,
      apiKey: "none",
      includeUsage: true,
    }).chatModel(this.#run.model);
  }
  getSystemPrompt() {
    return systemOf(this.#run);
  }
  getTools() {
    const { name, description, parameters, result } = toolOf(this.#run);
    const execute = async () => {
      this.#steps += 1;
      return result;
    };
    return { [name]: tool({ description, inputSchema: jsonSchema(parameters), execute }) };
  }
  async bench(run) {
    this.#run = run;
    this.#steps = 0;
    const text = taskOf(run);
    const parts = [{ type: "text", text }];
    const outcome = await this.saveMessages([{ id: "task", role: "user", parts }]);
    if (outcome.status !== "completed") throw new Error(JSON.stringify(outcome));
    return this.#steps;
  }
}

export default {
  async fetch(request, env) {
    if (request.method !== "POST") return new Response("ready");
    const agent = env.PEER.getByName(new URL(request.url).pathname.slice(1));
    return Response.json({ steps: await agent.bench(await request.json()) });
  },
};
