/** Settings: their schema and their defaults. How layers of them are merged stands in settings-merge.ts. */
import * as z from "zod";
import { DELIVERIES } from "./events.ts";
import { LIMITS } from "./limits.ts";

const positive = () => z.int().positive();
export const Harness = z.lazy(() =>
  z.object({
    enabled: z.boolean(),
    mode: z.enum(["legacy", "guarded_chat", "workflow"]),
    rescueEnabled: z.boolean(),
    maxRetriesPerStep: z.int().min(0),
    maxToolErrors: positive(),
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
  }),
);
export const RoleSettings = z.lazy(() =>
  z
    .object({
      model: z.string(),
      provider: z.string(),
      harness: Harness.unwrap().partial(),
      prompt: z.string().max(32_000),
    })
    .partial(),
);
export const Limits = z.lazy(() =>
  z.object({
    /** Model replies per run of the loop (per step in agent mode). */
    maxIterations: positive(),
    maxReplans: z.int().min(0),
    maxToolRetries: z.int().min(0),
    /** Code points of one tool result that the model sees. */
    maxToolResultChars: z.int().min(200).max(LIMITS.toolResultChars),
    maxContextTokens: z.int().min(500),
    /** Milliseconds to the first byte, and between bytes. Never a total. */
    modelTimeoutMs: positive().max(LIMITS.timerMs),
    toolTimeoutMs: positive().max(LIMITS.timerMs),
    /** The longest `Retry-After` that is waited for. */
    maxRetryWaitMs: z.int().min(0).max(LIMITS.timerMs),
  }),
);
export const Budget = z.lazy(() =>
  z.object({
    maxTokens: positive().nullable(),
    maxCostUsd: z.number().positive().nullable(),
    maxToolCalls: positive().nullable(),
  }),
);
/** US dollars for a million tokens. Without `cached`, cached input costs what input costs. */
export const Price = z.lazy(() =>
  z.object({
    input: z.number().nonnegative(),
    cached: z.number().nonnegative().optional(),
    output: z.number().nonnegative(),
  }),
);
export type Price = z.infer<typeof Price>;
export const Verdict = z.lazy(() => z.enum(["allow", "ask", "deny"]));
export const McpServer = z.lazy(() =>
  z.object({
    url: z.url(),
    headers: z.record(z.string(), z.string()).optional(),
    enabled: z.boolean().optional(),
    approval: Verdict.optional(),
  }),
);
/** Who is told when a session waits or a turn ends; an empty address: nobody. The secret is write-only. */
export const Webhook = z.lazy(() =>
  z.object({
    url: z.union([z.literal(""), z.url({ protocol: /^https?$/ }).max(2_000)]),
    secret: z.string().max(200),
  }),
);

/** A read that is made before the first word; `{message}` in a text stands for what the person said. */
export const Seed = z.lazy(() =>
  z.object({
    tool: z.string(),
    args: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  }),
);
export type Seed = z.infer<typeof Seed>;

/** One layer as a client or a deployment states it: every field optional, unknown fields ignored. */
export const SettingsLayer = z.lazy(() =>
  z
    .object({
      model: z.string().max(200),
      provider: z.string().max(100),
      locale: z.enum(["auto", "en", "zh"]),
      profile: z.string().max(100),
      /** Project instructions: the last section of the system prompt. */
      instructions: z.string().max(32_000),
      summarize: z.enum(["auto", "always"]),
      onBusyMessage: z.enum(DELIVERIES),
      limits: Limits.unwrap().partial(),
      budget: Budget.unwrap().partial(),
      /** By model name. */
      prices: z.record(z.string(), Price),
      harness: Harness.unwrap().partial(),
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
      duplicates: z.object({ enabled: z.boolean(), stagnationLaps: positive() }).partial(),
      tools: z
        .object({
          enabled: z.array(z.string()),
          approval: z.record(z.string(), Verdict),
          unattended: z.enum(["wait", "block"]),
        })
        .partial(),
      mcp: z.object({ servers: z.record(z.string(), McpServer) }).partial(),
      webhook: Webhook.unwrap().partial(),
    })
    .partial(),
);
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

export type Harness = Settings["harness"];
