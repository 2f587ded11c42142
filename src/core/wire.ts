/**
 * What crosses the wire besides events: request bodies, client frames, server frames, snapshots. zod is the source.
 */
import * as z from "zod";
import { utf8Bytes } from "./chars.ts";
import { DELIVERIES } from "./events.ts";
import { LIMITS } from "./limits.ts";
import type * as reply from "./replies.ts";
import { MODES } from "./session.ts";
import { SettingsLayer } from "./settings.ts";

const Text = () =>
  z
    .string()
    .refine((t) => t.trim() !== "", "must not be blank")
    .refine((t) => utf8Bytes(t) <= LIMITS.messageBytes, {
      message: `is larger than ${LIMITS.messageBytes} bytes`,
      params: { too_large: true },
    });
const ClientId = () => z.string().min(1).max(200);
/** Settings as a client states them; everything of them is stored and shown, so they are bounded as a whole. */
export const SettingsBody = z.lazy(() =>
  SettingsLayer.refine((s) => JSON.stringify(s).length <= LIMITS.settingsChars, {
    message: `are larger than ${LIMITS.settingsChars} characters`,
    params: { too_large: true },
  }),
);
/** The seq of the last event that a client has, in a URL. */
export const Cursor = z.lazy(() =>
  z
    .string()
    .regex(/^\d{1,15}$/, "must be a whole number, the seq of the last event you have")
    .transform(Number),
);

/** What may stand in the URL of a list, a page of events, a report. */
export const ListQuery = z.lazy(() =>
  z.object({
    limit: z.coerce
      .number()
      .int()
      .min(1)
      .default(50)
      .transform((n) => Math.min(n, 200)),
    cursor: z.string().max(200).optional(),
    q: z.string().max(200).default(""),
    /** The beginning of an id, as people type it. */
    prefix: z
      .string()
      .regex(/^[a-z0-9]{0,26}$/, "must be the beginning of an id")
      .default(""),
  }),
);
export const PageQuery = z.lazy(() =>
  z.object({
    after: Cursor.default(0),
    epoch: z.string().max(100).default(""),
    limit: z.coerce
      .number()
      .int()
      .min(1)
      .default(LIMITS.eventsPage)
      .transform((n) => Math.min(n, LIMITS.eventsPage)),
  }),
);
const Day = () =>
  z
    .string()
    .regex(/^\d{4}-\d\d-\d\d/, "must be a day, as in 2026-01-31")
    .transform((text) => text.slice(0, 10))
    .refine((day) => !Number.isNaN(Date.parse(day)), "is no day of the calendar");
export const UsageQuery = z.lazy(() => z.object({ from: Day().optional(), to: Day().optional() }));

export const LoginBody = z.lazy(() => z.object({ token: z.string().min(1).max(4096) }));
export const CreateBody = z.lazy(() =>
  z.object({
    mode: z.enum(MODES).optional(),
    title: z.string().max(500).optional(),
    settings: SettingsBody.optional(),
    key: z.string().min(1).max(500).optional(),
    /** The key is bound to a new session; the one it was bound to stays. */
    fresh: z.boolean().optional(),
    ephemeral: z.boolean().optional(),
  }),
);
export const ForkBody = z.lazy(() => z.object({ after_seq: z.int().min(0).optional() }));
export const MessageBody = z.lazy(() =>
  z.object({
    id: ClientId().optional(),
    text: Text(),
    attachments: z.array(z.string().max(4096)).max(LIMITS.attachments).optional(),
    delivery: z.enum(DELIVERIES).optional(),
    /** task: never a command, whatever it begins with; for senders who pass on other people's words. */
    route: z.enum(["auto", "task"]).optional(),
    settings: SettingsBody.optional(),
  }),
);
export const AnswerBody = z.lazy(() =>
  z.object({
    id: ClientId().optional(),
    wait_id: z.string().min(1).max(200),
    text: Text().optional(),
    approved: z.boolean().optional(),
  }),
);
/** What of a waiting message is to be another. */
export const QueueBody = z.lazy(() =>
  z
    .object({
      text: Text().optional(),
      delivery: z.enum(["steer", "follow_up", "replan"]).optional(),
    })
    .refine((b) => b.text !== undefined || b.delivery !== undefined, "text or delivery is needed"),
);
export type QueueBody = z.infer<typeof QueueBody>;
export const StopBody = z.lazy(() => z.object({ id: ClientId().optional() }));
export type MessageBody = z.infer<typeof MessageBody>;
export type AnswerBody = z.infer<typeof AnswerBody>;

export const ClientFrame = z.lazy(() =>
  z.discriminatedUnion("type", [
    MessageBody.unwrap()
      .omit({ settings: true })
      .extend({ type: z.literal("message"), id: ClientId() }),
    AnswerBody.unwrap().extend({ type: z.literal("answer"), id: ClientId() }),
    z.object({ type: z.literal("stop"), id: ClientId() }),
    z.object({ type: z.literal("ping") }),
  ]),
);
export type ClientFrame = z.infer<typeof ClientFrame>;

/** What clients get: replies.ts and frames.ts say it in zod. */
export type { ServerFrame } from "./frames.ts";
export type SessionInfo = z.infer<typeof reply.SessionInfo>;
export type SessionView = z.infer<typeof reply.SessionView>;
export type SharedView = z.infer<typeof reply.SharedView>;
export type SessionPage = z.infer<typeof reply.SessionPage>;
export type SettingsLayers = z.infer<typeof reply.SettingsLayers>;
export type UsageRow = z.infer<typeof reply.UsageRow>;
export type Held = z.infer<typeof reply.Held>;
export type UsageReport = z.infer<typeof reply.UsageReport>;
export type TurnResult = z.infer<typeof reply.TurnResult>;
export type HealthCheck = z.infer<typeof reply.HealthCheck>;
export type Config = z.infer<typeof reply.Config>;
