/**
 * The saved state of a session. The transcript is the program counter: what to do next is derived from this.
 *
 * M1  The head (this file's `Session`) is small; memories are rows that only a request needs.
 * M3  `state` is written with every commit; `plan`, `queue`, `settings` and `turn` only when they changed.
 */
import type { Began } from "./began.ts";
import type { Batch, Done } from "./call.ts";
import type { Errand } from "./errand.ts";
import type { Delivery, ErrorCode, FileInfo, Phase, Status, Step, Wait } from "./events.ts";
import type { Spent } from "./ledger.ts";
import type { Boundary, MemoryName } from "./memory.ts";
import type { Learned } from "./profile.ts";
import type { Settings, SettingsLayer } from "./settings.ts";
import { mergeSettings } from "./settings-merge.ts";
import type { Toolbox } from "./toolbox.ts";
import { NO_USAGE, type Usage } from "./usage.ts";

/** 2: messages may stand beside events, where a program of 1 does not look for them. */
export const SCHEMA = 2;
export const MODES = ["agent", "chat", "workflow", "direct"] as const;
export type Mode = (typeof MODES)[number];

export interface Plan {
  title: string;
  goal: string;
  language: string;
  success_criteria: string[];
  steps: Step[];
}

export interface Queued {
  /** The client's id of it. */
  id: string;
  /** Its id in the log. */
  message_id: string;
  text: string;
  delivery: Delivery;
  attachments: string[];
}

/** What one turn was given; written once. */
export interface Turn {
  message: string;
  attachments: string[];
  settings: Settings;
  /** Absent in a turn that an older program began. */
  began?: Began;
}

/** What a turn has used of what a budget counts. */
export interface Amounts {
  tokens: number;
  /** US dollars, of the calls whose price is known. */
  cost: number;
  /** Tool calls that were started. */
  tools: number;
}
export const NOTHING: Amounts = { tokens: 0, cost: 0, tools: 0 };

/** An answer that is ready, and waits for the review to pass. */
export interface Ready {
  text: string;
  attachments: FileInfo[];
}

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
  /** Where the product was served when this was made, with its port; "" when that is not known. */
  host: string;
  /** The session whose call this one works on; "" for one of its own. */
  parent: string;
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
  /** Reads of this step since the last effect: key and memory row of the result. */
  seen: [key: string, row: number][];
  /** Terminal calls that came too early in this run of the loop. */
  premature: number;
  /** How often each effect of this turn has had a known result, by step and call; `""`: how many were forgotten. */
  known: Record<string, number>;
  /** The last effectful call, its result in short, and how often it came in a row. */
  same: { key: string; result: string; count: number } | null;
  /** Replies in a row that brought nothing but what was there. */
  laps: number;
  /** Too many of those: only terminal tools are offered. */
  withdrawn: boolean;
  /** What has succeeded in this turn, for required steps and prerequisites. */
  done: Done[];
  replans: number;
  /** The replan budget is spent: what follows is the honest end. */
  spent: boolean;
  /** Reviews of this plan that sent the work back. */
  reviews: number;
  /** What the last review that was allowed found unmet; the final message says so. */
  unmet: string[] | null;
  /** The only step's result, which is the answer if the review passes. */
  ready: Ready | null;
  /** What this turn has used, and how much of it when its allowance began. */
  used: Amounts;
  allowedFrom: Amounts;
  /** The day, and the turn's tokens at which what the owner may use on it is used up; null: nobody counts. */
  allowance: { day: string; upto: number } | null;
  /** It was told in this turn that a cost is unknown. */
  costUntold: boolean;
  /** Characters that were gathered for the answer; null: its seed calls have not been made. */
  gathered: number | null;
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
  /** The same by day and model, for the owner's accounts: the newest days alone. */
  ledger: Spent;
  /** Seq of this turn's first event. */
  turnSeq: number;
  /** How much of a memory is shown shortened, by memory. */
  compacted: Partial<Record<MemoryName, Boundary>>;
  /** What this session has learned of an endpoint that refused something, by provider and model. */
  profiles: Record<string, Learned>;
  /** Tools that were left out in this turn have been told. */
  leftOut: boolean;
  /** Tokens that an endpoint found too many, by provider and model: its real window is smaller. */
  windows: Record<string, number>;
  /** Real tokens for one that was estimated, by memory, as the provider measured it last. */
  scale: Partial<Record<MemoryName, number>>;
  /** The provider found the request too long: it is to be made shorter; it has been. */
  overflow: "no" | "found" | "met";
  error: { code: ErrorCode; message: string } | null;
  /** Memories that a person wants shortened before their next request. */
  squeeze: MemoryName[];
  /** The model call that was out when that was asked for; -1: none. */
  squeezeFrom: number;
  errands: Errand[];
}

export interface Session extends State {
  plan: Plan | null;
  queue: Queued[];
  /** The session's own layer of settings. */
  settings: SettingsLayer;
  turn: Turn | null;
  /** What the turn's MCP servers offer; null: they were not asked. */
  toolbox: Toolbox | null;
}

export interface NewSession {
  id: string;
  owner: string;
  epoch: string;
  mode: Mode;
  title: string;
  settings: SettingsLayer;
  ephemeral: boolean;
  host: string;
  parent?: string;
  /** Milliseconds since the epoch. */
  at: number;
}

/** A session in which nothing has happened yet. */
const BLANK: Session = {
  schema: SCHEMA,
  id: "",
  owner: "",
  epoch: "",
  mode: "agent",
  title: "",
  titled: false,
  pinned: false,
  ephemeral: false,
  host: "",
  parent: "",
  created_at: "",
  updated_at: "",
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
  premature: 0,
  toolErrors: 0,
  work: 0,
  seen: [],
  known: {},
  same: null,
  laps: 0,
  withdrawn: false,
  done: [],
  replans: 0,
  spent: false,
  reviews: 0,
  unmet: null,
  ready: null,
  used: NOTHING,
  allowedFrom: NOTHING,
  allowance: null,
  costUntold: false,
  gathered: null,
  tries: 0,
  retry: null,
  restarts: 0,
  failing: false,
  preview: "",
  usage: NO_USAGE,
  ledger: {},
  turnSeq: 0,
  compacted: {},
  profiles: {},
  windows: {},
  leftOut: false,
  scale: {},
  overflow: "no",
  error: null,
  squeeze: [],
  squeezeFrom: -1,
  errands: [],
  plan: null,
  queue: [],
  settings: {},
  turn: null,
  toolbox: null,
};

export function newSession({ at, host = "", ...given }: NewSession): Session {
  const now = new Date(at).toISOString();
  return { ...BLANK, ...given, host, titled: given.title !== "", created_at: now, updated_at: now };
}

/** Parts that are stored apart from the hot state, because they change rarely. */
export const COLD_PARTS = ["plan", "queue", "settings", "turn", "toolbox"] as const;

/**
 * Brings a saved session up to date: fields that its program did not know yet begin as in a new one, and settings of
 * the turn under way as their defaults. A change that needs more than that raises SCHEMA and is made here. null: it
 * was saved by a newer program.
 */
export function upgrade(saved: Partial<Session>): Session | null {
  if ((saved.schema ?? 0) > SCHEMA) return null;
  const turn = saved.turn && { ...saved.turn, settings: mergeSettings([saved.turn.settings]) };
  const queue = (saved.queue ?? []).map((q) => ({ ...q, message_id: q.message_id ?? q.id }));
  return { ...BLANK, ...saved, turn: turn ?? null, queue, schema: SCHEMA };
}

/** The settings that hold for the turn under way. */
export function settingsOf(s: Session): Settings {
  if (!s.turn) throw new Error("no turn has begun");
  return s.turn.settings;
}
