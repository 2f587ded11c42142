/** The system prompt of a role, from the deployment's texts and the settings. */
import { enabledTools, type Kit, type Policy } from "./roles.ts";
import type { Settings } from "./settings.ts";

/** Toolkit → its tools' names, in offering order. */
function toolkits(kit: Kit, settings: Settings): Map<string, string[]> {
  const kits = new Map<string, string[]>();
  for (const tool of enabledTools(kit, settings)) {
    kits.set(tool.toolkit, [...(kits.get(tool.toolkit) ?? []), tool.name]);
  }
  return kits;
}

const section = (name: string, text: string) => `<${name}>\n${text.trim()}\n</${name}>`;

/**
 * Core · a section of rules for each toolkit that is offered · the role · for the planner, an overview of what the
 * executor can do · the project's instructions. Nothing in it changes within a turn.
 */
export function systemPrompt(policy: Policy, kit: Kit, settings: Settings): string {
  const role = policy.memory;
  const kits = [...toolkits(kit, settings)];
  const overview = kits.map(([name, tools]) => `- ${name}: ${tools.join(", ")}`).join("\n");
  const rules = kits.flatMap(([name]) => {
    const text = kit.rules[name];
    return text ? [section(`${name}_rules`, text)] : [];
  });
  return [
    kit.prompts.core,
    ...(policy.tools ? rules : []),
    settings.roles[role].prompt || kit.prompts[role],
    ...(role === "planner" ? [section("executor_capabilities", overview)] : []),
    ...(settings.instructions ? [section("project_instructions", settings.instructions)] : []),
  ]
    .map((part) => part.trim())
    .join("\n\n");
}
