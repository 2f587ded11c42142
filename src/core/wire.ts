/**
 * What crosses the wire besides events: request bodies, client frames, server frames, snapshots. zod is the source.
 */
import * as z from "zod";
import { utf8Bytes } from "./chars.ts";
import {
  DELIVERIES,
  type Event,
  type FileInfo,
  type Phase,
  type Status,
  type Step,
  type Wait,
} from "./events.ts";
import { LIMITS } from "./limits.ts";
import type { LiveFrame } from "./ports.ts";
import { MODES, type Mode } from "./session.ts";
import { type Settings, SettingsLayer } from "./settings.ts";
import type { Usage } from "./usage.ts";

const Text = z
  .string()
  .refine((t) => t.trim() !== "", "must not be blank")
  .refine((t) => utf8Bytes(t) <= LIMITS.messageBytes, {
    message: `is larger than ${LIMITS.messageBytes} bytes`,
    params: { too_large: true },
  });
const ClientId = z.string().min(1).max(200);
/** Settings as a client states them; everything of them is stored and shown, so they are bounded as a whole. */
export const SettingsBody = SettingsLayer.refine(
  (s) => JSON.stringify(s).length <= LIMITS.settingsChars,
  {
    message: `are larger than ${LIMITS.settingsChars} characters`,
    params: { too_large: true },
  },
);
/** The seq of the last event that a client has, in a URL. */
export const Cursor = z
  .string()
  .regex(/^\d{1,15}$/, "must be a whole number, the seq of the last event you have")
  .transform(Number);

export const CreateBody = z.object({
  mode: z.enum(MODES).optional(),
  title: z.string().max(500).optional(),
  settings: SettingsBody.optional(),
  key: z.string().min(1).max(500).optional(),
  /** The key is bound to a new session; the one it was bound to stays. */
  fresh: z.boolean().optional(),
  ephemeral: z.boolean().optional(),
});
export const ForkBody = z.object({ after_seq: z.int().min(0).optional() });
export const MessageBody = z.object({
  id: ClientId.optional(),
  text: Text,
  attachments: z.array(z.string().max(4096)).max(LIMITS.attachments).optional(),
  delivery: z.enum(DELIVERIES).optional(),
  /** task: never a command, whatever it begins with; for senders who pass on other people's words. */
  route: z.enum(["auto", "task"]).optional(),
  settings: SettingsBody.optional(),
});
export const AnswerBody = z.object({
  id: ClientId.optional(),
  wait_id: z.string().min(1).max(200),
  text: Text.optional(),
  approved: z.boolean().optional(),
});
/** What of a waiting message is to be another. */
export const QueueBody = z
  .object({ text: Text.optional(), delivery: z.enum(["steer", "follow_up", "replan"]).optional() })
  .refine((b) => b.text !== undefined || b.delivery !== undefined, "text or delivery is needed");
export type QueueBody = z.infer<typeof QueueBody>;
export const StopBody = z.object({ id: ClientId.optional() });
export type MessageBody = z.infer<typeof MessageBody>;
export type AnswerBody = z.infer<typeof AnswerBody>;

export const ClientFrame = z.discriminatedUnion("type", [
  MessageBody.omit({ settings: true }).extend({ type: z.literal("message"), id: ClientId }),
  AnswerBody.extend({ type: z.literal("answer"), id: ClientId }),
  z.object({ type: z.literal("stop"), id: ClientId }),
  z.object({ type: z.literal("ping") }),
]);
export type ClientFrame = z.infer<typeof ClientFrame>;

export interface SessionInfo {
  id: string;
  title: string;
  mode: Mode;
  status: Status;
  phase: Phase;
  created_at: string;
  updated_at: string;
  last_seq: number;
  epoch: string;
  pinned: boolean;
  preview: string;
  usage: Usage;
}
export interface PlanView {
  title: string;
  goal: string;
  success_criteria: string[];
  steps: Step[];
}
/** The snapshot: at most 256 KiB. */
export interface SessionView extends SessionInfo {
  run: number;
  plan: PlanView | null;
  wait: Wait | null;
  /** `id` is the client's; `message_id` is the one in the log. Either names it in a request. */
  queue: { id: string; message_id: string; text: string; delivery: string }[];
  settings: Settings;
  files_count: number;
}
/** What one model came to on one day (UTC), over all of an owner's sessions and the proxy. */
export interface UsageRow extends Omit<Usage, "tool_calls"> {
  day: string;
  model: string;
}
/** `GET /api/usage`: both days included. */
export interface UsageReport {
  from: string;
  to: string;
  days: UsageRow[];
  total: Usage;
}
/** What a link shows: the snapshot as of its freeze, without settings and without what still waits. */
export type SharedView = Omit<SessionView, "settings" | "queue">;
export interface TurnResult {
  outcome: "completed" | "failed" | "stopped" | "waiting";
  message: string | null;
  attachments: FileInfo[];
  wait: Wait | null;
  usage: Usage;
  last_seq: number;
  error?: { code: string; message: string };
}

/** One layer beside what holds without it. */
export interface SettingsLayers {
  own: SettingsLayer;
  inherited: Settings;
}

export type ServerFrame =
  | Event
  | ({ type: "live" } & LiveFrame)
  | {
      type: "hello";
      session_id: string;
      epoch: string;
      after: number;
      last_seq: number;
      session: SessionView;
    }
  | { type: "reset"; epoch: string; last_seq: number; session: SessionView }
  | { type: "batch"; frames: ServerFrame[] }
  | { type: "ack"; id: string; seq: number; duplicate: boolean }
  | { type: "stream_end"; session_id: string; run: number }
  | { type: "error"; id?: string; code: string; message: string }
  | { type: "pong" };

/** What `GET /api/config` says. */
export interface Config {
  product: string;
  version: string;
  providers: string[];
  provider: string;
  models: string[];
  modes: Mode[];
  profiles: string[];
  tools: { name: string; toolkit: string }[];
  locales: string[];
  limits: Record<string, number>;
  sandbox: string;
  practice: boolean;
}
