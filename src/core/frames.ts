/**
 * What clients get over the WebSocket, as zod, and pages of stored events. As with replies.ts, only the types of it run in
 * the Worker.
 */
import * as z from "zod";
import { type Event, EventBody } from "./events.ts";
import type { LiveFrame } from "./ports.ts";
import { Count, SessionView, Time } from "./replies.ts";
import { same } from "./same.ts";

/** A stored event, as it is sent. */
const [first, ...others] = EventBody.unwrap().options.map((body) =>
  z.object({
    type: z.literal("event"),
    session_id: z.string(),
    seq: Count,
    ts: Time,
    ...body.shape,
  }),
);
export const StoredEvent = z.union([first as NonNullable<typeof first>, ...others]);
export const EventPage = z.object({
  events: z.array(StoredEvent),
  last_seq: Count,
  epoch: z.string(),
  reset: z.literal(true).optional(),
});

const live = <N extends string, D extends z.ZodType>(event: N, data: D) =>
  z.object({ type: z.literal("live"), event: z.literal(event), data });
const Said = z.object({ message_id: z.string(), text: z.string() });
export const Live = z.discriminatedUnion("event", [
  live("message_delta", Said),
  live("delta_reset", z.object({ message_id: z.string() })),
  live("thinking_delta", Said),
  live("terminal_update", z.object({ tool_call_id: z.string(), text: z.string() })),
  live("retry_wait", z.object({ until: Time, reason: z.string() })),
]);
same<z.infer<typeof Live>, { type: "live" } & LiveFrame>(true);

const Told = [
  z.object({
    type: z.literal("hello"),
    session_id: z.string(),
    epoch: z.string(),
    after: Count,
    last_seq: Count,
    session: SessionView,
  }),
  z.object({ type: z.literal("reset"), epoch: z.string(), last_seq: Count, session: SessionView }),
  z.object({ type: z.literal("ack"), id: z.string(), seq: Count, duplicate: z.boolean() }),
  z.object({ type: z.literal("stream_end"), session_id: z.string(), run: Count }),
  z.object({
    type: z.literal("error"),
    id: z.string().optional(),
    code: z.string(),
    message: z.string(),
  }),
  z.object({ type: z.literal("pong") }),
] as const;
const OneFrame = z.union([StoredEvent, Live, ...Told]);
/** A batch holds frames, never batches. */
export const ServerFrame = z.union([
  OneFrame,
  z.object({ type: z.literal("batch"), frames: z.array(OneFrame) }),
]);
type Single = Event | z.infer<typeof Live> | z.infer<(typeof Told)[number]>;
export type ServerFrame = Single | { type: "batch"; frames: Single[] };
