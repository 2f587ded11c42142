/** What this deployment brings to every session: tools, prompts, models. */
import assistant from "../../prompts/assistant.md";
import browser from "../../prompts/browser_rules.md";
import core from "../../prompts/core.md";
import executor from "../../prompts/executor.md";
import file from "../../prompts/file_rules.md";
import mcp from "../../prompts/mcp_rules.md";
import message from "../../prompts/message_rules.md";
import planner from "../../prompts/planner.md";
import reviewer from "../../prompts/reviewer.md";
import { profileFor, resolve } from "../adapters/model/providers.ts";
import type { Profile } from "../core/profile.ts";
import type { Kit } from "../core/roles.ts";
import type { Box } from "../tools/box.ts";
import { toolsFor } from "../tools/index.ts";
import { haves, profiles as profilesOf } from "./config.ts";
import type { Bindings } from "./env.ts";
import { HOOKS } from "./hooks.ts";

/** The sandbox has an honest word on itself, for whoever is offered its shell. */
export function kitOf(env: Bindings, { kind, about }: Box, child: boolean): Kit {
  const vars = { ...env };
  const profiles = new Map<string, Profile>();
  // A specialist delegates nothing.
  const tools = toolsFor(haves(env, kind)).filter(({ needs }) => !child || needs !== "profiles");
  const own = tools.flatMap(({ toolkit, rules }) => (rules ? [[toolkit, rules]] : []));
  const rules: Record<string, string> = {
    ...{ shell: about, file, browser, mcp, message },
    ...Object.fromEntries(own),
  };
  const names = Object.keys(profilesOf(env)).join(", ");
  if (rules.delegate) rules.delegate += `\n- Profiles that delegate_task takes: ${names}.`;
  return {
    tools,
    prompts: { core, planner, executor, reviewer, assistant },
    rules,
    hooks: HOOKS,
    resolve: (provider, model) => resolve(vars, provider, model),
    profile(provider, model) {
      const key = `${provider}\n${model}`;
      const profile = profiles.get(key) ?? profileFor(vars, provider, model);
      profiles.set(key, profile);
      return profile;
    },
  };
}
