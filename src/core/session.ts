/**
 * The saved state of a session. The transcript is the program counter: what to do next is derived from this.
 *
 * M1  The head (this file's `Session`) is small; memories are rows that only a request needs.
 * M2  Memory rows are immutable, and numbered when their place is known: a reply reserves the rows of its
 *     results, so results stand in call order whenever they arrive, and no result waits in the head.
 * M3  `state` is written with every commit; `plan`, `queue`, `settings` and `turn` only when they changed.
 */
import type { Delivery, ErrorCode, Phase, Status, Step, Wait } from "./events.ts";
import type { Settings, SettingsLayer } from "./settings.ts";
import type { JsonObject, Recovery } from "./tool.ts";

export const SCHEMA = 1;
export const MODES = ["agent", "chat", "workflow", "direct"] as const;
export type Mode = (typeof MODES)[number];
export type MemoryName = "planner" | "executor" | "assistant";

/** One message of a memory, its JSON exactly as it is sent to the model. */
export interface Row {
  id: number;
  memory: MemoryName;
  kind: RowKind;
  json: string;
}
/** prompt: written by the harness · said: by a person · answer: a person's answer to a question. */
export type RowKind = "prompt" | "said" | "answer" | "reply" | "result" | "nudge";

export interface Plan {
  title: string;
  goal: string;
  language: string;
  success_criteria: string[];
  steps: Step[];
}

export interface Call {
  id: string;
  /** Reserved memory row of its result. */
  row: number;
  /** Position in the reply. */
  index: number;
  name: string;
  toolkit: string;
  kind: "work" | "notify" | "ask" | "terminal" | "void";
  /** Arguments as shown; when `cut`, the whole ones stand in the reply's memory row. */
  args: JsonObject;
  cut?: true;
  brief?: string;
  state: "judged" | "running" | "ended";
  ok?: boolean;
  parallelSafe: boolean;
  effect: boolean;
  volatile: boolean;
  recovery: Recovery;
  /** Milliseconds since the epoch at which it was dispatched. */
  since?: number;
  /** It was running when the object died, and is looked up or run again. */
  reopened?: true;
}

/** The calls of the last accepted reply, until all have ended. */
export interface Batch {
  memory: MemoryName;
  /** Memory row of the reply. */
  row: number;
  parallel: boolean;
  calls: Call[];
}

export interface Queued {
  id: string;
  text: string;
  delivery: Delivery;
  attachments: string[];
}

/** What one turn was given; written once. */
export interface Turn {
  message: string;
  attachments: string[];
  settings: Settings;
}

export interface Usage {
  model_calls: number;
  tool_calls: number;
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  measured: boolean;
  cost_usd: number | null;
}
export const NO_USAGE: Usage = {
  model_calls: 0,
  tool_calls: 0,
  input_tokens: 0,
  output_tokens: 0,
  cached_tokens: 0,
  measured: true,
  cost_usd: null,
};

/** The hot part: counters, the open batch, the wait. */
export interface State {
  schema: number;
  id: string;
  owner: string;
  /** Incarnation of the log: a cursor of another one cannot be served. */
  epoch: string;
  mode: Mode;
  title: string;
  /** A person or the planner has set the title. */
  titled: boolean;
  pinned: boolean;
  ephemeral: boolean;
  created_at: string;
  updated_at: string;
  status: Status;
  phase: Phase;
  /** Number of the turn, 1, 2, 3 …; 0 before the first. */
  run: number;
  /** Rises whenever everything in flight is void (new turn, stop, replan). */
  era: number;
  /** Last event's seq. */
  seq: number;
  /** Last memory row given out. */
  row: number;
  /** Message and call ids of this turn are numbered from it. */
  ids: number;
  batch: Batch | null;
  wait: Wait | null;
  /** Phase to go on with after the wait. */
  returnTo: Phase | null;
  /** Model calls asked for in this turn; names the one in flight. */
  asks: number;
  /** Model replies in this run of the loop. */
  iterations: number;
  /** Rejected replies in a row. */
  attempts: number;
  /** Structured tool failures in a row. */
  toolErrors: number;
  /** Successful work calls in this step. */
  work: number;
  replans: number;
  /** The replan budget is spent: what follows is the honest end. */
  spent: boolean;
  /** Transport failures of this model call in a row. */
  tries: number;
  retry: { at: number; reason: string } | null;
  /** Wake-ups in a row without an outcome. */
  restarts: number;
  /** The last step worked on did not succeed. */
  failing: boolean;
  /** The newest message, cut, for lists. */
  preview: string;
  usage: Usage;
  /** Seq of this turn's first event. */
  turnSeq: number;
  /** Results older than this row are elided in requests, by memory. */
  elided: Partial<Record<MemoryName, number>>;
  error: { code: ErrorCode; message: string } | null;
}

export interface Session extends State {
  plan: Plan | null;
  queue: Queued[];
  /** The session's own layer of settings. */
  settings: SettingsLayer;
  turn: Turn | null;
}

export interface NewSession {
  id: string;
  owner: string;
  epoch: string;
  mode: Mode;
  title: string;
  settings: SettingsLayer;
  ephemeral: boolean;
  /** Milliseconds since the epoch. */
  at: number;
}

export function newSession(n: NewSession): Session {
  const at = new Date(n.at).toISOString();
  return {
    schema: SCHEMA,
    id: n.id,
    owner: n.owner,
    epoch: n.epoch,
    mode: n.mode,
    title: n.title,
    titled: n.title !== "",
    pinned: false,
    ephemeral: n.ephemeral,
    created_at: at,
    updated_at: at,
    status: "idle",
    phase: "idle",
    run: 0,
    era: 0,
    seq: 0,
    row: 0,
    ids: 0,
    batch: null,
    wait: null,
    returnTo: null,
    asks: 0,
    iterations: 0,
    attempts: 0,
    toolErrors: 0,
    work: 0,
    replans: 0,
    spent: false,
    tries: 0,
    retry: null,
    restarts: 0,
    failing: false,
    preview: "",
    usage: NO_USAGE,
    turnSeq: 0,
    elided: {},
    error: null,
    plan: null,
    queue: [],
    settings: n.settings,
    turn: null,
  };
}

/** Parts that are stored apart from the hot state, because they change rarely. */
export const COLD_PARTS = ["plan", "queue", "settings", "turn"] as const;

/** Brings a saved session of an older schema up to date; null when it is newer than this program. */
export function upgrade(saved: Session): Session | null {
  return saved.schema === SCHEMA ? saved : null;
}
