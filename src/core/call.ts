/** A tool call that was accepted, with its tool's facts as of then, and the batch that it belongs to. */
import type { MemoryName } from "./memory.ts";
import type { Asks, JsonObject, Recovery } from "./tool.ts";
import type { Usage } from "./usage.ts";

/** A call that succeeded: its tool, and the arguments that some prerequisite matches on, as canonical JSON. */
export interface Done {
  tool: string;
  args: Record<string, string>;
}

export interface Call {
  id: string;
  /** Reserved memory row of its result. */
  row: number;
  /** Position in the reply. */
  index: number;
  name: string;
  toolkit: string;
  /**
   * copy: a read that was made before in this step; its result is fetched instead. void: answered at once. own: a
   * person's command line, which no model has asked for.
   */
  kind: "work" | "notify" | "ask" | "terminal" | "copy" | "void" | "own";
  /** What it is and is called with, in short: the same key is the same call. */
  key?: string;
  /** Idempotency key of an effect: the same while its outcome is unknown, another after a known result. */
  once?: string;
  /** Memory row of the result that a copy repeats. */
  copyOf?: number;
  /** A work tool whose success ends the phase: it runs last, alone. */
  final?: true;
  /** Nothing new came of it. */
  stale?: true;
  /** What is recorded when it succeeds. */
  done?: Done;
  /** Arguments as shown; when `cut`, the whole ones stand in the reply's memory row. */
  args: JsonObject;
  cut?: true;
  brief?: string;
  /** asking: what it started outside waits for a person, and nothing of it runs here. */
  state: "judged" | "running" | "asking" | "ended";
  ok?: boolean;
  parallelSafe: boolean;
  effect: boolean;
  volatile: boolean;
  recovery: Recovery;
  /** Its tool is asked about whatever the settings say. */
  approval?: "ask";
  /** Milliseconds since the epoch at which it was dispatched. */
  since?: number;
  /** A person has allowed it. */
  approved?: true;
  /** What is asked on its behalf, and what a person has said to it. */
  asks?: Asks;
  answer?: { id: string; approved: boolean } | undefined;
  /** What others have spent on it, as far as it was told. */
  spent?: Usage;
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
