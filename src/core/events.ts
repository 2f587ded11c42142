/**
 * What clients receive: the event union, as zod. This file is the contract; docs and types follow from it.
 *
 * E1  `seq` is 1, 2, 3 … per session, without a gap.
 * E2  An event is immutable once written; clients rebuild the whole session from the events alone.
 */
import * as z from "zod";

export const FileInfo = z.lazy(() =>
  z.object({
    path: z.string(),
    name: z.string(),
    /** Bytes. */
    size: z.int(),
    content_type: z.string(),
    /** RFC 3339, UTC. */
    modified_at: z.string(),
    url: z.string(),
  }),
);
export type FileInfo = z.infer<typeof FileInfo>;

export const Step = z.lazy(() =>
  z.object({
    id: z.string(),
    description: z.string(),
    status: z.enum(["pending", "running", "completed", "failed"]),
    success: z.boolean().optional(),
    result: z.string().optional(),
    error: z.string().optional(),
  }),
);
export type Step = z.infer<typeof Step>;

const Usage = z.lazy(() =>
  z.object({
    model_calls: z.int(),
    tool_calls: z.int(),
    input_tokens: z.int(),
    output_tokens: z.int(),
    cached_tokens: z.int(),
    measured: z.boolean(),
    cost_usd: z.number().nullable(),
  }),
);

export const Wait = z.lazy(() =>
  z.object({
    wait_id: z.string(),
    kind: z.enum(["question", "approval", "budget"]),
    text: z.string(),
    options: z.array(z.string()).optional(),
    tool_call_id: z.string().optional(),
    tool: z.object({ function: z.string(), args: z.record(z.string(), z.unknown()) }).optional(),
    /** The profile on whose behalf it is asked; `tool` is then the specialist's. */
    specialist: z.string().optional(),
    since: z.string(),
  }),
);
export type Wait = z.infer<typeof Wait>;

export const STATUSES = ["idle", "running", "waiting", "completed", "failed", "stopped"] as const;
export const PHASES = [
  "idle",
  "planning",
  "executing",
  "updating",
  "reviewing",
  "summarizing",
  "answering",
  "waiting",
  "completed",
] as const;
export const ROLES = ["planner", "executor", "reviewer", "assistant"] as const;
export type Status = (typeof STATUSES)[number];
export type Phase = (typeof PHASES)[number];
export type Role = (typeof ROLES)[number];

export const DELIVERIES = ["steer", "follow_up", "replan", "reject"] as const;
export type Delivery = (typeof DELIVERIES)[number];

export const NUDGES = [
  "unknown_tool",
  "bare_text",
  "required_step_missing",
  "prerequisite_missing",
  "invalid_arguments",
  "premature_complete",
  "tool_failed",
  "duplicate_call",
  "output_limit",
  "empty_reply",
  "wrong_phase",
] as const;
export type NudgeReason = (typeof NUDGES)[number];

/** The typed ways in which a turn can fail. */
export const ERROR_CODES = [
  "retry_exhausted",
  "tool_errors_exhausted",
  "max_iterations",
  "provider_error",
  "provider_auth",
  "provider_quota",
  "rate_limited",
  "context_overflow",
  "no_provider",
  "sandbox_unavailable",
  "budget_exceeded",
  "restart_limit",
  "out_of_memory",
  "storage_full",
  "internal",
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

const event = <N extends string, D extends z.ZodType>(name: N, data: D) =>
  z.object({ event: z.literal(name), data });

const Args = () => z.record(z.string(), z.unknown());

export const EventBody = z.lazy(() =>
  z.discriminatedUnion("event", [
    event(
      "message",
      z.object({
        message_id: z.string(),
        role: z.enum(["user", "assistant"]),
        content: z.string(),
        attachments: z.array(FileInfo),
        kind: z.enum(["plan", "question", "notice", "final", "answer"]).optional(),
        client_id: z.string().optional(),
        delivery: z.enum(DELIVERIES).optional(),
        thinking: z.string().optional(),
      }),
    ),
    event("title", z.object({ title: z.string() })),
    event(
      "plan",
      z.object({ op: z.enum(["created", "updated", "completed"]), steps: z.array(Step) }),
    ),
    event("step", Step),
    event(
      "tool",
      z.object({
        tool_call_id: z.string(),
        /** The toolkit. */
        name: z.string(),
        function: z.string(),
        status: z.enum(["calling", "called"]),
        args: Args(),
        brief: z.string().optional(),
        ok: z.boolean().optional(),
        content: z.record(z.string(), z.unknown()).optional(),
        duration_ms: z.number().optional(),
        /** What a specialist has spent on it, which no `usage` event tells. */
        usage: Usage.optional(),
      }),
    ),
    event("wait", Wait),
    event(
      "answer",
      z.object({
        wait_id: z.string(),
        text: z.string().optional(),
        approved: z.boolean().optional(),
        attachments: z.array(FileInfo).optional(),
        client_id: z.string().optional(),
      }),
    ),
    event(
      "review",
      z.object({
        verdict: z.enum(["pass", "fail"]),
        score: z.number().min(0).max(10),
        issues: z.array(z.string()),
        next_action: z.enum(["none", "replan", "retry_actor"]),
        round: z.int(),
      }),
    ),
    event(
      "nudge",
      z.object({
        role: z.enum(ROLES),
        reason: z.enum(NUDGES),
        attempt: z.int(),
        tool_call_id: z.string().optional(),
      }),
    ),
    event(
      "compaction",
      z.object({
        role: z.enum(ROLES),
        phase: z.int(),
        before_tokens: z.int(),
        after_tokens: z.int(),
      }),
    ),
    event("repair", z.object({ role: z.enum(ROLES), what: z.string() })),
    event(
      "usage",
      z.object({
        role: z.enum(ROLES),
        model: z.string(),
        input_tokens: z.int(),
        output_tokens: z.int(),
        cached_tokens: z.int(),
        /** false: estimated from the text, because the provider said nothing. */
        measured: z.boolean(),
        /** US dollars, by the settings' prices; null when the model has none there. */
        cost_usd: z.number().nullable().optional(),
      }),
    ),
    /** A message that waits for a running turn was changed, or taken back, before anyone had read it. */
    event(
      "queue",
      z.object({
        op: z.enum(["edited", "removed"]),
        message_id: z.string(),
        client_id: z.string(),
        /** As they are from now on. */
        text: z.string().optional(),
        delivery: z.enum(DELIVERIES).optional(),
      }),
    ),
    /** `/new`: the conversation goes on in another session. */
    event("moved", z.object({ to: z.string(), client_id: z.string() })),
    event("notice", z.object({ code: z.string(), text: z.string() })),
    event(
      "error",
      z.object({ code: z.enum(ERROR_CODES), message: z.string(), retryable: z.boolean() }),
    ),
    event("status_update", z.object({ status: z.enum(STATUSES), phase: z.enum(PHASES) })),
    event("done", z.object({ outcome: z.enum(["completed", "failed", "stopped"]), run: z.int() })),
  ]),
);
export type EventBody = z.infer<typeof EventBody>;
export type EventName = EventBody["event"];
export type EventData<N extends EventName> = Extract<EventBody, { event: N }>["data"];

/** One stored event, exactly as a client gets it. */
export type Event = EventBody & { type: "event"; session_id: string; seq: number; ts: string };
