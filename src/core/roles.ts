/**
 * The policy table: one loop, and a row for each phase that says how it runs. A new phase is a new row.
 *
 * R1  The planner never sees an executor's schema, only an overview of what it can do.
 * R2  The executor's list of tools is the same in every phase, so that its requests share a prefix. (The planner has
 *     two, with one tool each: what it must call is all it sees.)
 */
import { verdictOf } from "./approval.ts";
import type { Phase, Role } from "./events.ts";
import { globMatches } from "./glob.ts";
import { chosenTools, type PolicyHooks } from "./hooks.ts";
import type { MemoryName } from "./memory.ts";
import type { Profile } from "./profile.ts";
import { type Session, settingsOf } from "./session.ts";
import type { Harness, Settings } from "./settings.ts";
import { harnessOf } from "./settings-merge.ts";
import { TERMINALS, type TerminalName } from "./terminal.ts";
import type { ToolSpec } from "./tool.ts";

export interface Policy {
  role: Role;
  memory: MemoryName;
  /** Work tools and the message toolkit are offered. */
  tools: boolean;
  /** Terminal tools offered after them, in this order. */
  offer: readonly TerminalName[];
  /** The ones that are accepted in this phase; any other is `wrong_phase`. May name work tools (workflow). */
  terminal: readonly string[];
  toolChoice: "auto" | "required" | { name: TerminalName };
  /** A reply without calls ends the phase; else it is refused. */
  bareTextFinal: boolean;
  /** Text is sent while it streams; else only once the reply has passed. */
  liveText: boolean;
  /** A bad call refuses its whole batch; else it only gets a result of its own. */
  guarded: boolean;
  /** Success needs a successful work call in this step. */
  workNeeded: boolean;
  /** What a spent cap ends: the step (the planner is asked), the turn, or the review (the work goes on without). */
  capEnds: "step" | "turn" | "review";
  /** What people say meanwhile is read before the next model call; else it waits for a phase that can act on it. */
  hears: boolean;
  /** Only reads are offered, for so many replies; then it must speak. */
  gathers?: true;
}

const PLANNER = {
  role: "planner",
  memory: "planner",
  tools: false,
  toolChoice: "required",
  bareTextFinal: false,
  liveText: false,
  guarded: true,
  workNeeded: false,
  capEnds: "turn",
  hears: true,
} as const;
const EXECUTOR = {
  ...PLANNER,
  role: "executor",
  memory: "executor",
  tools: true,
  offer: ["complete_step", "deliver_result"],
  toolChoice: "auto",
} as const;
const PLAN_ACT: Partial<Record<Phase, Policy>> = {
  planning: { ...PLANNER, offer: ["create_plan"], terminal: ["create_plan"] },
  updating: { ...PLANNER, offer: ["update_plan"], terminal: ["update_plan"] },
  executing: { ...EXECUTOR, terminal: ["complete_step"], workNeeded: true, capEnds: "step" },
  summarizing: {
    ...EXECUTOR,
    terminal: ["deliver_result"],
    toolChoice: { name: "deliver_result" },
    hears: false,
  },
  reviewing: {
    ...PLANNER,
    role: "reviewer",
    memory: "reviewer",
    offer: ["submit_review"],
    terminal: ["submit_review"],
    capEnds: "review",
    hears: false,
  },
};

/** The assistant's rows. In `legacy` the guard is off: an unknown tool only gets its result, text streams live. */
const CHAT: Policy = {
  role: "assistant",
  memory: "assistant",
  tools: true,
  offer: [],
  terminal: [],
  toolChoice: "auto",
  bareTextFinal: true,
  liveText: true,
  guarded: false,
  workNeeded: false,
  capEnds: "turn",
  hears: true,
};
const GUARDED_CHAT: Policy = { ...CHAT, guarded: true, liveText: false };
const DIRECT: Policy = { ...CHAT, tools: false };
/** A direct answer that looks first: the same loop, with reads alone. */
const GATHER: Policy = { ...CHAT, gathers: true };

/** Ends through one of the terminal tools alone; `agent_response` is laid over when it is one of them. */
const workflows = new WeakMap<Harness, Policy>();
function workflow(harness: Harness): Policy {
  const offer = harness.terminalTools.includes("agent_response") ? ["agent_response" as const] : [];
  const policy = workflows.get(harness) ?? {
    ...GUARDED_CHAT,
    offer,
    terminal: harness.terminalTools,
    bareTextFinal: false,
  };
  workflows.set(harness, policy);
  return policy;
}

function answering(s: Session): Policy {
  const harness = harnessOf(settingsOf(s), "assistant");
  if (s.mode === "direct") return settingsOf(s).evidence.enabled ? GATHER : DIRECT;
  if (s.mode === "workflow") return workflow(harness);
  if (!harness.enabled || harness.mode === "legacy") return CHAT;
  return harness.mode === "workflow" ? workflow(harness) : GUARDED_CHAT;
}

/** The policy in force. Only a running session has one. */
export function policyOf(s: Session): Policy {
  const policy = s.phase === "answering" ? answering(s) : PLAN_ACT[s.phase];
  if (!policy) throw new Error(`no policy for phase ${s.phase}`);
  return policy;
}

/** What the deployment brings: its tools, prompts and models. The same for every session. */
export interface Kit {
  /** Work tools first, then the message toolkit; fixed order. */
  tools: readonly ToolSpec[];
  prompts: Record<"core" | MemoryName, string>;
  /** What a toolkit asks of whoever is offered it, by its name: a section of the system prompt. */
  rules: Readonly<Record<string, string>>;
  /** The provider and model that a pair of settings ("" = default) stands for. */
  resolve(provider: string, model: string): { provider: string; model: string };
  /** What that model's endpoint takes, before a session has learned better. The same object for the same pair. */
  profile(provider: string, model: string): Profile;
  /** What those who build on the house decide: see hooks.ts. */
  hooks?: PolicyHooks;
}

const enabled = new WeakMap<Kit, WeakMap<Settings, readonly ToolSpec[]>>();
/** Work and message tools that these settings let a model see; a denied one is not even offered. */
export function enabledTools(kit: Kit, settings: Settings): readonly ToolSpec[] {
  const bySettings = enabled.get(kit) ?? new WeakMap<Settings, readonly ToolSpec[]>();
  enabled.set(kit, bySettings);
  const tools = bySettings.get(settings) ?? filterTools(kit, settings);
  bySettings.set(settings, tools);
  return tools;
}
const filterTools = (kit: Kit, settings: Settings): readonly ToolSpec[] =>
  chosenTools(
    kit.hooks,
    kit.tools.filter(
      ({ name }) =>
        verdictOf(settings, name) !== "deny" &&
        settings.tools.enabled.some((glob) => globMatches(glob, name)),
    ),
  );
/** What changes nothing, and bothers nobody. */
const reads = (tools: readonly ToolSpec[]): readonly ToolSpec[] =>
  tools.filter((tool) => !tool.effect && tool.toolkit !== "message");

/** A pure function of these three, worked out once for as long as all of them live. */
export function remembered<T>(
  make: (policy: Policy, kit: Kit, settings: Settings) => T,
): (policy: Policy, kit: Kit, settings: Settings) => T {
  const kits = new WeakMap<Kit, WeakMap<Settings, Map<Policy, T>>>();
  return (policy, kit, settings) => {
    const bySettings = kits.get(kit) ?? new WeakMap<Settings, Map<Policy, T>>();
    kits.set(kit, bySettings);
    const byPolicy = bySettings.get(settings) ?? new Map<Policy, T>();
    bySettings.set(settings, byPolicy);
    const value = byPolicy.get(policy) ?? make(policy, kit, settings);
    byPolicy.set(policy, value);
    return value;
  };
}

const offerable = (policy: Policy, kit: Kit, settings: Settings): readonly ToolSpec[] =>
  policy.gathers ? reads(enabledTools(kit, settings)) : enabledTools(kit, settings);
const allTools = remembered((policy, kit, settings): readonly ToolSpec[] => [
  ...(policy.tools ? offerable(policy, kit, settings) : []),
  ...policy.offer.map((name) => TERMINALS[name]),
]);
const terminalTools = remembered((policy, kit, settings): readonly ToolSpec[] =>
  allTools(policy, kit, settings).filter((tool) => policy.terminal.includes(tool.name)),
);

/** Everything the model is offered, in order; of one that goes in circles, the terminal tools alone. */
export const offeredTools = (
  policy: Policy,
  kit: Kit,
  settings: Settings,
  withdrawn: boolean,
): readonly ToolSpec[] => (withdrawn ? terminalTools : allTools)(policy, kit, settings);
