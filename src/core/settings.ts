/**
 * Settings: schema, defaults, and the merge of layers deployment → profile → owner → session → message.
 *
 * S1  Absent means inherited: layers merge field by field, never block by block.
 * S2  `tools`, `limits` and `budget` combine by the strictest value that a layer states; all else by the nearest.
 * S3  Defaults are only defaults: they never count as strict.
 * S4  Headers of an MCP server go to no other address than the one that they were stated with.
 */
import * as z from "zod";
import { DELIVERIES } from "./events.ts";
import { LIMITS } from "./limits.ts";

const positive = z.int().positive();
const Harness = z.object({
  enabled: z.boolean(),
  mode: z.enum(["legacy", "guarded_chat", "workflow"]),
  rescueEnabled: z.boolean(),
  maxRetriesPerStep: z.int().min(0),
  maxToolErrors: positive,
  terminalTools: z.array(z.string()),
  requiredSteps: z.array(z.string()),
  toolPrerequisites: z.record(
    z.string(),
    z.array(z.object({ tool: z.string(), matchArg: z.string().optional() })),
  ),
  compact: z
    .object({
      enabled: z.boolean(),
      keepRecentSteps: z.int().min(0),
      phaseThresholds: z.array(z.number().positive()),
    })
    .partial(),
});
const RoleSettings = z
  .object({
    model: z.string(),
    provider: z.string(),
    harness: Harness.partial(),
    prompt: z.string().max(32_000),
  })
  .partial();
const Limits = z.object({
  /** Model replies per run of the loop (per step in agent mode). */
  maxIterations: positive,
  maxReplans: z.int().min(0),
  maxToolRetries: z.int().min(0),
  /** Code points of one tool result that the model sees. */
  maxToolResultChars: z.int().min(200).max(LIMITS.toolResultChars),
  maxContextTokens: z.int().min(500),
  /** Milliseconds to the first byte, and between bytes. Never a total. */
  modelTimeoutMs: positive.max(LIMITS.timerMs),
  toolTimeoutMs: positive.max(LIMITS.timerMs),
  /** The longest `Retry-After` that is waited for. */
  maxRetryWaitMs: z.int().min(0).max(LIMITS.timerMs),
});
const Budget = z.object({
  maxTokens: positive.nullable(),
  maxCostUsd: z.number().positive().nullable(),
  maxToolCalls: positive.nullable(),
});
/** US dollars for a million tokens. Without `cached`, cached input costs what input costs. */
const Price = z.object({
  input: z.number().nonnegative(),
  cached: z.number().nonnegative().optional(),
  output: z.number().nonnegative(),
});
export type Price = z.infer<typeof Price>;
const Verdict = z.enum(["allow", "ask", "deny"]);
const McpServer = z.object({
  url: z.url(),
  headers: z.record(z.string(), z.string()).optional(),
  enabled: z.boolean().optional(),
  approval: Verdict.optional(),
});
/** Who is told when a session waits or a turn ends; an empty address: nobody. The secret is write-only. */
const Webhook = z.object({
  url: z.union([z.literal(""), z.url({ protocol: /^https?$/ }).max(2_000)]),
  secret: z.string().max(200),
});

/** A read that is made before the first word; `{message}` in a text stands for what the person said. */
const Seed = z.object({
  tool: z.string(),
  args: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
});
export type Seed = z.infer<typeof Seed>;

/** One layer as a client or a deployment states it: every field optional, unknown fields ignored. */
export const SettingsLayer = z
  .object({
    model: z.string().max(200),
    provider: z.string().max(100),
    locale: z.enum(["auto", "en", "zh"]),
    profile: z.string().max(100),
    /** Project instructions: the last section of the system prompt. */
    instructions: z.string().max(32_000),
    summarize: z.enum(["auto", "always"]),
    onBusyMessage: z.enum(DELIVERIES),
    limits: Limits.partial(),
    budget: Budget.partial(),
    /** By model name. */
    prices: z.record(z.string(), Price),
    harness: Harness.partial(),
    roles: z
      .object({
        planner: RoleSettings,
        executor: RoleSettings,
        reviewer: RoleSettings,
        assistant: RoleSettings,
      })
      .partial(),
    reviewer: z.object({ enabled: z.boolean(), maxRetries: z.int().min(0) }).partial(),
    evidence: z
      .object({
        enabled: z.boolean(),
        seeds: z.array(Seed).max(LIMITS.evidenceSeeds),
      })
      .partial(),
    duplicates: z.object({ enabled: z.boolean(), stagnationLaps: positive }).partial(),
    tools: z
      .object({
        enabled: z.array(z.string()),
        approval: z.record(z.string(), Verdict),
        unattended: z.enum(["wait", "block"]),
      })
      .partial(),
    mcp: z.object({ servers: z.record(z.string(), McpServer) }).partial(),
    webhook: Webhook.partial(),
  })
  .partial();
export type SettingsLayer = z.infer<typeof SettingsLayer>;

export interface Settings {
  model: string;
  provider: string;
  locale: "auto" | "en" | "zh";
  profile: string;
  instructions: string;
  summarize: "auto" | "always";
  onBusyMessage: (typeof DELIVERIES)[number];
  limits: z.infer<typeof Limits>;
  budget: z.infer<typeof Budget>;
  prices: Record<string, Price>;
  harness: Omit<z.infer<typeof Harness>, "compact"> & {
    compact: Required<z.infer<typeof Harness>["compact"]>;
  };
  roles: Record<"planner" | "executor" | "reviewer" | "assistant", z.infer<typeof RoleSettings>>;
  reviewer: { enabled: boolean; maxRetries: number };
  evidence: { enabled: boolean; seeds: Seed[] };
  duplicates: { enabled: boolean; stagnationLaps: number };
  tools: {
    enabled: string[];
    approval: Record<string, z.infer<typeof Verdict>>;
    unattended: "wait" | "block";
  };
  mcp: { servers: Record<string, z.infer<typeof McpServer>> };
  webhook: z.infer<typeof Webhook>;
}

export const DEFAULTS: Settings = {
  model: "",
  provider: "",
  locale: "auto",
  profile: "",
  instructions: "",
  summarize: "auto",
  onBusyMessage: "steer",
  limits: {
    maxIterations: 100,
    maxReplans: 5,
    maxToolRetries: 3,
    maxToolResultChars: 16_000,
    maxContextTokens: 100_000,
    modelTimeoutMs: 120_000,
    toolTimeoutMs: 120_000,
    maxRetryWaitMs: 600_000,
  },
  budget: { maxTokens: null, maxCostUsd: null, maxToolCalls: null },
  prices: {},
  harness: {
    enabled: false,
    mode: "guarded_chat",
    rescueEnabled: true,
    maxRetriesPerStep: 3,
    maxToolErrors: 2,
    terminalTools: ["agent_response"],
    requiredSteps: [],
    toolPrerequisites: {},
    compact: { enabled: true, keepRecentSteps: 4, phaseThresholds: [0.6, 0.75, 0.9] },
  },
  roles: { planner: {}, executor: {}, reviewer: {}, assistant: {} },
  reviewer: { enabled: false, maxRetries: 2 },
  evidence: { enabled: false, seeds: [] },
  duplicates: { enabled: true, stagnationLaps: 2 },
  tools: { enabled: ["*"], approval: {}, unattended: "wait" },
  mcp: { servers: {} },
  webhook: { url: "", secret: "" },
};

type Plain = Record<string, unknown>;
const isPlain = (v: unknown): v is Plain =>
  typeof v === "object" && v !== null && !Array.isArray(v);
/** Keys that would reach an object's prototype are never merged. */
const SAFE = (key: string) => key !== "__proto__" && key !== "constructor" && key !== "prototype";

function nearest(base: Plain, layer: Plain): Plain {
  const out: Plain = { ...base };
  for (const [key, value] of Object.entries(layer)) {
    if (value === undefined || !SAFE(key)) continue;
    const before = out[key];
    out[key] = isPlain(before) && isPlain(value) ? nearest(before, value) : value;
  }
  return out;
}

const smallest = (values: (number | null | undefined)[]): number | null | undefined => {
  const stated = values.filter((v) => v !== undefined);
  const numbers = stated.filter((v) => v !== null);
  return numbers.length > 0 ? Math.min(...numbers) : stated.length > 0 ? null : undefined;
};

function strictest<T extends Plain>(defaults: T, layers: (Partial<T> | undefined)[]): T {
  const out: Plain = { ...defaults };
  for (const key of Object.keys(defaults)) {
    const value = smallest(layers.map((l) => l?.[key] as number | null | undefined));
    if (value !== undefined) out[key] = value;
  }
  return out as T;
}

const RANK = { allow: 0, ask: 1, deny: 2 } as const;
function strictestTools(layers: (SettingsLayer["tools"] | undefined)[]): Settings["tools"] {
  const approval: Settings["tools"]["approval"] = {};
  let enabled = DEFAULTS.tools.enabled;
  let unattended = DEFAULTS.tools.unattended;
  for (const layer of layers) {
    for (const [glob, verdict] of Object.entries(layer?.approval ?? {})) {
      if (!SAFE(glob)) continue;
      const held = approval[glob];
      if (held === undefined || RANK[verdict] > RANK[held]) approval[glob] = verdict;
    }
    // The strictest list of enabled tools is what every layer that states one lets through.
    const stated = layer?.enabled;
    if (stated) enabled = enabled.includes("*") ? stated : narrow(enabled, stated);
    if (layer?.unattended === "block") unattended = "block";
  }
  return { enabled, approval, unattended };
}
const narrow = (held: string[], stated: string[]) =>
  stated.includes("*")
    ? held
    : [
        ...held.filter((glob) => stated.some((s) => globMatches(s, glob))),
        ...stated.filter((s) => !held.includes(s) && held.some((glob) => globMatches(glob, s))),
      ];

/** `*` stands for any run of characters; everything else for itself. */
export function globMatches(glob: string, name: string): boolean {
  const parts = glob.split("*");
  if (parts.length === 1) return glob === name;
  const first = parts[0] as string;
  const last = parts[parts.length - 1] as string;
  if (!name.startsWith(first) || !name.endsWith(last)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at + last.length <= name.length;
}

/** Headers are for the address that they were stated with: a nearer layer that names another one gets none of them. */
function moved(base: Plain, layer: SettingsLayer): Plain {
  const servers = { ...(base.mcp as Settings["mcp"]).servers };
  for (const [name, { url }] of Object.entries(layer.mcp?.servers ?? {})) {
    const held = Object.hasOwn(servers, name) ? servers[name] : undefined;
    if (!held || held.url === url) continue;
    const { headers: _, ...rest } = held;
    servers[name] = rest;
  }
  return { ...base, mcp: { servers } };
}

/** The effective settings of a list of layers, outermost first. */
export function mergeSettings(layers: (SettingsLayer | undefined)[]): Settings {
  let merged: Plain = DEFAULTS as unknown as Plain;
  for (const layer of layers) if (layer) merged = nearest(moved(merged, layer), layer as Plain);
  return {
    ...(merged as unknown as Settings),
    limits: strictest(
      DEFAULTS.limits,
      layers.map((l) => l?.limits),
    ),
    budget: strictest(
      DEFAULTS.budget,
      layers.map((l) => l?.budget),
    ),
    tools: strictestTools(layers.map((l) => l?.tools)),
    // Address and secret belong together: nobody signs with the secret of a layer further out.
    webhook: {
      ...DEFAULTS.webhook,
      ...layers.findLast((l) => l?.webhook?.url !== undefined)?.webhook,
    },
  };
}

/** One layer over another of the same owner (a PATCH): nearest wins, nothing is strict. */
export const patchLayer = (base: SettingsLayer, patch: SettingsLayer): SettingsLayer =>
  nearest(base as Plain, patch as Plain) as SettingsLayer;

export type Harness = Settings["harness"];

const harnesses = new WeakMap<Settings, Map<string, Harness>>();
/** The harness of a role: its own fields over the session's. The same object as long as the settings are. */
export function harnessOf(settings: Settings, role: keyof Settings["roles"]): Harness {
  const held = harnesses.get(settings) ?? new Map<string, Harness>();
  harnesses.set(settings, held);
  const own = settings.roles[role].harness ?? {};
  const merged = held.get(role) ?? (nearest(settings.harness, own as Plain) as unknown as Harness);
  held.set(role, merged);
  return merged;
}
