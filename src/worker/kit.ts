/** What this deployment brings to every session: tools, prompts, models. */

import assistant from "../../prompts/assistant.md";
import core from "../../prompts/core.md";
import executor from "../../prompts/executor.md";
import file from "../../prompts/file_rules.md";
import message from "../../prompts/message_rules.md";
import planner from "../../prompts/planner.md";
import { resolve } from "../adapters/model/providers.ts";
import type { Kit } from "../core/roles.ts";
import { TOOLS } from "../tools/index.ts";
import type { Bindings } from "./env.ts";

/** `about`: the sandbox's honest word on itself, for whoever is offered its shell. */
export const kitOf = (env: Bindings, about: string): Kit => ({
  tools: TOOLS,
  prompts: { core, planner, executor, assistant },
  rules: { shell: about, file, message },
  resolve: (provider, model) => resolve({ ...env }, provider, model),
});
