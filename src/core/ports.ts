/**
 * The only ways out of the core. Each port says in one sentence whether it may throw and be called twice.
 */
import type { Errand } from "./errand.ts";
import type { Delivery, ErrorCode, Event } from "./events.ts";
import type { Fact } from "./facts.ts";
import type { About } from "./hooks.ts";
import type { MemoryName, Row } from "./memory.ts";
import type { Hint } from "./profile.ts";
import type { Listed, Server } from "./servers.ts";
import type { Session } from "./session.ts";
import type { JsonObject, ToolResult } from "./tool.ts";
import type { Stage } from "./trace.ts";
import type { Usage } from "./usage.ts";

/** One request to a model: the body is the exact JSON text, `messages` last. */
export interface ModelRequest {
  provider: string;
  model: string;
  body: string;
  /** Milliseconds to the first byte and between bytes. */
  timeoutMs: number;
  /** For hooks; a call outside of a session has none. */
  about?: About;
  /** The header `traceparent`, where calls are traced. */
  trace?: string | undefined;
}

/** A tool call as the model wrote it: nothing of it is believed yet. */
export interface RawCall {
  id: string;
  name: string;
  /** The text as it came; an object that a server sent in place of text is already JSON text here. */
  arguments: string;
}

export interface Reply {
  text: string;
  thinking: string;
  calls: RawCall[];
  /** As the provider said it; `null` when the stream ended without one. */
  finish: string | null;
  model: string;
  usage: { input_tokens: number; output_tokens: number; cached_tokens: number } | null;
}

export interface ModelFailure {
  code: ErrorCode;
  /** For a person: what went wrong and what to do. Never holds a key or a header. */
  message: string;
  /** Another try of the same request may succeed. */
  retryable: boolean;
  /** What the provider asked us to wait, in milliseconds. */
  retryAfterMs?: number;
  /** HTTP status of a refusal of the request itself; absent for every other failure. */
  status?: number;
  /** What of the request it was about: with a smaller profile the endpoint may take it. */
  hint?: Hint;
}

export type ModelOutcome =
  | { type: "reply"; reply: Reply }
  | { type: "failed"; failure: ModelFailure };

/** Text as it streams, before anything is judged. */
export interface Piece {
  text?: string;
  thinking?: string;
}

/** Something under way outside. `cancel` may be called at any time and twice; `outcome` then still settles. */
export interface Flight<T> {
  outcome: Promise<T>;
  cancel(): void;
}

/** Never rejects: every ending is data, a cancelled one included. May be called again with the same request. */
export interface Model {
  call(request: ModelRequest, live: (piece: Piece) => void): Flight<ModelOutcome>;
}

export interface ToolRun {
  /** Stable over crashes: names the process of a command. */
  id: string;
  name: string;
  args: JsonObject;
  /** It was started before a crash: look for it before starting it again. */
  reopened: boolean;
  /** What a person has said to what it asked when it was run last; that it was taken in may be known out there already. */
  answer?: { id: string; approved: boolean };
  /** For a service that can tell a repeated request from a new one. Effects alone have it. */
  idempotencyKey?: string;
  timeoutMs: number;
  /** How often a call that failed on its way may be made again. */
  retries: number;
  /** Code points of the result that the model may see. */
  maxChars: number;
}

/** A tool at work. What others spend on it is known before it ends. */
export interface ToolFlight extends Flight<ToolResult> {
  spent?(): Usage | undefined;
}

/**
 * A failure is a result with `ok: false`. It rejects only when the platform failed under the call: the object is then
 * to die, and the call follows its recovery. Called once per dispatch.
 */
export interface Tools {
  run(run: ToolRun, live: (text: string) => void): ToolFlight;
}

/** Never rejects: a server that cannot be used is absent, with the reason. May be asked again. */
export interface Servers {
  list(servers: readonly Server[]): Flight<Listed[]>;
}

/** Never rejects. Called again for the same errand, after a crash, it finds it done; null: it could not be done. */
export interface Errands {
  run(errand: Errand): Promise<{ to: string | null }>;
}

/** Frames that are sent and never stored. */
export type LiveFrame =
  | { event: "message_delta"; data: { message_id: string; text: string } }
  | { event: "delta_reset"; data: { message_id: string } }
  | { event: "thinking_delta"; data: { message_id: string; text: string } }
  | { event: "terminal_update"; data: { tool_call_id: string; text: string } }
  | { event: "retry_wait"; data: { until: string; reason: string } };

/** What one outcome changed: written whole, in one transaction, or not at all. */
export interface Change {
  session: Session;
  events: Event[];
  rows: Row[];
  /** A client's frame that this commit takes in: the same id again is a duplicate. */
  client?: ClientMark;
}
export interface ClientMark {
  id: string;
  seq: number;
  /** command: it was answered at once, beside the turn under way. */
  as: Delivery | "answer" | "stop" | "command";
}

/** Why a commit can never succeed as it is: there is no room left, or a value is larger than the store takes. */
export type Refusal = "full" | "too_large";

/** The durable side of one session. */
export interface Store {
  /** The live session; reads nothing. */
  session(): Session;
  /** Durable when it returns; throws, and has changed nothing, when it cannot be. */
  commit(change: Change): void;
  /** What an error of `commit` says of it; null: it may succeed another time. */
  refusal(error: unknown): Refusal | null;
  /** Whether the memories are small enough to be loaded. */
  fits(): boolean;
  /** A memory's rows in order. Cached while the object lives. */
  rows(memory: MemoryName): readonly Row[];
}

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

export interface Ports {
  store: Store;
  model: Model;
  tools: Tools;
  servers: Servers;
  errands: Errands;
  clock: Clock;
  /** Somebody is connected who could be asked for an approval; never throws. */
  attended(): boolean;
  /** Hears each stage of the loop, for debugging; what it throws is ignored. */
  trace?: ((stage: Stage) => void) | undefined;
  /** Hears each fact, for logs, traces and counters; what it throws is ignored. */
  tell?: ((fact: Fact) => void) | undefined;
  /** The header `traceparent` for a model call of the turn under way; undefined where nothing is traced. */
  traceparent?(s: Session, key: string): string | undefined;
  /** Sends a frame to whoever listens; never throws. */
  live(frame: LiveFrame): void;
  /** Someone must call `kick` at that time (ms since the epoch), even after a crash; null: nothing is due. */
  wake(at: number | null): void;
  /** The drive cannot go on (the store failed): the object is to die and be woken. Never throws. */
  broken(error: unknown): void;
}
