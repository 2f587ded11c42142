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
import {
  enabledTools,
  type Kit,
  offeredTools,
  type Policy,
  policyOf,
  remembered,
} from "./roles.ts";
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

export function settingsOf(s: Session): Settings {
  if (!s.turn) throw new Error("no turn has begun");
  return s.turn.settings;
}

/** Everything of a request before its rows; the same for a phase as long as the settings are. */
const frontOf = remembered(makeFront);

function makeFront(policy: Policy, kit: Kit, settings: Settings): ModelRequest {
  const own = settings.roles[policy.role];
  const { provider, model } = kit.resolve(
    own.provider || settings.provider,
    own.model || settings.model,
  );
  const tools = offeredTools(policy, kit, settings);
  const offered =
    tools.length > 0
      ? `,"tools":[${tools.map(textOf).join(",")}],"tool_choice":${choiceText(policy)}`
      : "";
  const system = JSON.stringify({ role: "system", content: systemPrompt(policy, kit, settings) });
  return {
    provider,
    model,
    body: `{"model":${JSON.stringify(model)},"stream":true,"stream_options":{"include_usage":true}${offered},"messages":[${system}`,
    timeoutMs: settings.limits.modelTimeoutMs,
  };
}

/** The request for the session's next model call. `rows`: the memory that its policy names. */
export function buildRequest(s: Session, kit: Kit, rows: readonly Row[]): ModelRequest {
  const policy = policyOf(s);
  const front = frontOf(policy, kit, settingsOf(s));
  const before = s.elided[policy.memory] ?? 0;
  const texts = before === 0 ? rows.map((row) => row.json) : rows.map((row) => shown(row, before));
  const messages = texts.join(",");
  return { ...front, body: `${front.body}${messages === "" ? "" : ","}${messages}]}` };
}

/** Tokens that the rows may take when a request is over its budget, by estimate; null: it is within. */
export function rowBudget(s: Session, kit: Kit, request: ModelRequest): number | null {
  const settings = settingsOf(s);
  const { maxContextTokens } = settings.limits;
  if (estimate(request.body.length) <= maxContextTokens) return null;
  const front = frontOf(policyOf(s), kit, settings);
  return Math.max(0, maxContextTokens - estimate(front.body.length));
}
