/**
 * What clients get over HTTP, as zod. Types follow from it (wire.ts), and so does the API's description
 * (scripts/docs-api.ts); the Worker and the page import the types alone, and run nothing of it.
 *
 * P1  A field that is shown is described here: the tests hold every reply against it.
 */
import * as z from "zod";
import { DELIVERIES, FileInfo, PHASES, STATUSES, Step, Wait } from "./events.ts";
import { same } from "./same.ts";
import { MODES } from "./session.ts";
import {
  Budget,
  Harness,
  Limits,
  McpServer,
  Price,
  RoleSettings,
  Seed,
  type Settings,
  SettingsLayer,
  Verdict,
  Webhook,
} from "./settings.ts";
import type { Usage } from "./usage.ts";

export const Time = z.string().describe("RFC 3339, UTC.");
export const Count = z.int().min(0);

export const UsageView = z.object({
  model_calls: Count,
  tool_calls: Count,
  input_tokens: Count,
  output_tokens: Count,
  cached_tokens: Count,
  measured: z
    .boolean()
    .describe("false: some of it is estimated, because a provider said nothing."),
  cost_usd: z.number().nullable().describe("US dollars by the settings' prices; null: not known."),
});
same<z.infer<typeof UsageView>, Usage>(true);

/** Settings as they come out of all layers; secrets are shown as `***`. */
export const SettingsView = z.object({
  model: z.string(),
  provider: z.string(),
  locale: z.enum(["auto", "en", "zh"]),
  profile: z.string(),
  instructions: z.string(),
  summarize: z.enum(["auto", "always"]),
  onBusyMessage: z.enum(DELIVERIES),
  limits: Limits,
  budget: Budget,
  prices: z.record(z.string(), Price),
  harness: Harness.unwrap().extend({ compact: Harness.unwrap().shape.compact.required() }),
  roles: z.object({
    planner: RoleSettings,
    executor: RoleSettings,
    reviewer: RoleSettings,
    assistant: RoleSettings,
  }),
  reviewer: z.object({ enabled: z.boolean(), maxRetries: z.number() }),
  evidence: z.object({ enabled: z.boolean(), seeds: z.array(Seed) }),
  duplicates: z.object({ enabled: z.boolean(), stagnationLaps: z.number() }),
  tools: z.object({
    enabled: z.array(z.string()),
    approval: z.record(z.string(), Verdict),
    unattended: z.enum(["wait", "block"]),
  }),
  mcp: z.object({ servers: z.record(z.string(), McpServer) }),
  webhook: Webhook,
});
same<z.infer<typeof SettingsView>, Settings>(true);

/** One layer beside what holds without it. */
export const SettingsLayers = z.object({ own: SettingsLayer, inherited: SettingsView });

export const SessionInfo = z.object({
  id: z.string(),
  title: z.string(),
  mode: z.enum(MODES),
  status: z.enum(STATUSES),
  phase: z.enum(PHASES),
  created_at: Time,
  updated_at: Time,
  last_seq: Count,
  epoch: z.string(),
  pinned: z.boolean(),
  preview: z.string(),
  usage: UsageView,
});
export const PlanView = z.object({
  title: z.string(),
  goal: z.string(),
  success_criteria: z.array(z.string()),
  steps: z.array(Step),
});
/** The snapshot: at most 256 KiB. */
export const SessionView = SessionInfo.extend({
  run: Count,
  plan: PlanView.nullable(),
  wait: Wait.nullable(),
  /** `id` is the client's; `message_id` is the one in the log. Either names it in a request. */
  queue: z.array(
    z.object({ id: z.string(), message_id: z.string(), text: z.string(), delivery: z.string() }),
  ),
  settings: SettingsView,
  files_count: Count,
});
/** What a link shows: the snapshot as of its freeze, without settings and without what still waits. */
export const SharedView = SessionView.omit({ settings: true, queue: true });
export const SessionPage = z.object({
  sessions: z.array(SessionInfo),
  next_cursor: z.string().nullable(),
});
/** A session that was made of a file, and how many lines of it could not be used. */
export const Imported = SessionView.extend({ skipped_lines: Count });

/** What one model came to on one day (UTC), over all of an owner's sessions and the proxy. */
export const UsageRow = UsageView.omit({ tool_calls: true }).extend({
  day: z.string(),
  model: z.string(),
});
/** What an owner has of what is counted for them, by quota; tokens: of today (UTC). */
export const Held = z.object({
  sessions: Count,
  storedBytes: Count,
  runningTurns: Count,
  tokensPerDay: Count,
});
const Quota = z.object({
  used: Count,
  max: Count.nullable().describe("null: as much as they like."),
});
/** `GET /api/usage`: both days included. */
export const UsageReport = z.object({
  from: z.string(),
  to: z.string(),
  days: z.array(UsageRow),
  total: UsageView,
  quotas: z.object({
    sessions: Quota,
    storedBytes: Quota,
    runningTurns: Quota,
    tokensPerDay: Quota,
  }),
});

export const Receipt = z.object({ id: z.string(), seq: Count, duplicate: z.boolean() });
export const MessageReceipt = Receipt.extend({
  delivery: z.enum([...DELIVERIES, "answer", "stop", "command"]),
});
export const TurnResult = z.object({
  outcome: z.enum(["completed", "failed", "stopped", "waiting"]),
  message: z.string().nullable(),
  attachments: z.array(FileInfo),
  wait: Wait.nullable(),
  usage: UsageView,
  last_seq: Count,
  error: z.object({ code: z.string(), message: z.string() }).optional(),
  moved_to: z.string().optional().describe("`/new`: the session in this one's place."),
});
/** Of `POST /api/login`. */
export const Owner = z.object({ owner: z.string() });
export const FileList = z.object({ files: z.array(FileInfo) });
export const Link = z.object({ share_id: z.string(), url: z.string(), upto_seq: Count });
export const Failure = z.object({
  error: z.object({ code: z.string(), message: z.string(), details: z.unknown().optional() }),
});

/** One thing that the deep check of `GET /api/health` has looked at. */
export const HealthCheck = z.object({
  name: z.string(),
  ok: z.boolean(),
  detail: z.string().describe("What was found."),
  fix: z.string().optional().describe("What to do, where it is not well."),
});
export const Health = z.object({
  ok: z.boolean(),
  version: z.string(),
  checks: z.array(HealthCheck).optional(),
});
/** What `GET /api/config` says. */
export const Config = z.object({
  product: z.string(),
  version: z.string(),
  providers: z.array(z.string()),
  provider: z.string(),
  models: z.array(z.string()),
  modes: z.array(z.enum(MODES)),
  profiles: z.array(z.string()),
  tools: z.array(z.object({ name: z.string(), toolkit: z.string() })),
  locales: z.array(z.string()),
  limits: z.record(z.string(), z.number()),
  sandbox: z.string(),
  practice: z.boolean(),
});
