/**
 * Session → the exact request to the model, as text.
 *
 * Q1  `messages` is the last key. Between compactions a memory's request begins with the bytes of its last one,
 *     and its `tools` text is the same, so that the provider's cache hits.
 * Q2  The same session and rows give the same bytes: a lost model call is asked again unchanged.
 * Q3  Rows are joined as text, never parsed.
 */
import { estimate, shown } from "./compaction.ts";
import type { ModelRequest } from "./ports.ts";
import { enabledTools, type Kit, offeredTools, type Policy, policyOf } from "./roles.ts";
import type { Row, Session } from "./session.ts";
import type { Settings } from "./settings.ts";
import type { ToolSpec } from "./tool.ts";

const toolText = new WeakMap<ToolSpec, string>();
function textOf(tool: ToolSpec): string {
  let text = toolText.get(tool);
  if (text === undefined) {
    const { name, description, parameters } = tool;
    text = JSON.stringify({ type: "function", function: { name, description, parameters } });
    toolText.set(tool, text);
  }
  return text;
}

function choiceText({ toolChoice }: Policy): string {
  if (typeof toolChoice === "string") return JSON.stringify(toolChoice);
  return JSON.stringify({ type: "function", function: { name: toolChoice.name } });
}

/** `- shell: shell_exec`: what the executor can do, for a planner that must not see its schemas. */
export function capabilities(kit: Kit, settings: Settings): string {
  const kits = new Map<string, string[]>();
  for (const tool of enabledTools(kit, settings)) {
    kits.set(tool.toolkit, [...(kits.get(tool.toolkit) ?? []), tool.name]);
  }
  return [...kits].map(([name, tools]) => `- ${name}: ${tools.join(", ")}`).join("\n");
}

export function systemPrompt(policy: Policy, kit: Kit, settings: Settings): string {
  const { prompts } = kit;
  const role = policy.memory;
  const overview = `<executor_capabilities>\n${capabilities(kit, settings)}\n</executor_capabilities>`;
  return [
    prompts.core,
    settings.roles[role].prompt || prompts[role],
    ...(role === "planner" ? [overview] : []),
    ...(settings.instructions
      ? [`<project_instructions>\n${settings.instructions}\n</project_instructions>`]
      : []),
  ]
    .map((part) => part.trim())
    .join("\n\n");
}

export function settingsOf(s: Session): Settings {
  if (!s.turn) throw new Error("no turn has begun");
  return s.turn.settings;
}

/** The request for the session's next model call. `rows`: the memory that its policy names. */
export function buildRequest(s: Session, kit: Kit, rows: readonly Row[]): ModelRequest {
  const policy = policyOf(s);
  const settings = settingsOf(s);
  const own = settings.roles[policy.role];
  const { provider, model } = kit.resolve(
    own.provider || settings.provider,
    own.model || settings.model,
  );
  const tools = offeredTools(policy, kit, settings);
  const system = JSON.stringify({ role: "system", content: systemPrompt(policy, kit, settings) });
  const before = s.elided[policy.memory] ?? 0;
  const messages = [system, ...rows.map((row) => shown(row, before))].join(",");
  const offered =
    tools.length > 0
      ? `,"tools":[${tools.map(textOf).join(",")}],"tool_choice":${choiceText(policy)}`
      : "";
  return {
    provider,
    model,
    body: `{"model":${JSON.stringify(model)},"stream":true,"stream_options":{"include_usage":true}${offered},"messages":[${messages}]}`,
    timeoutMs: settings.limits.modelTimeoutMs,
  };
}

/** Tokens that are left for the rows beside the system prompt and the tools, by estimate. */
export function rowBudget(s: Session, kit: Kit): number {
  const fixed = estimate(buildRequest(s, kit, []).body.length);
  return Math.max(0, settingsOf(s).limits.maxContextTokens - fixed);
}
