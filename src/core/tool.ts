/**
 * What the core knows of a tool: its facts and its schema, never how it runs.
 *
 * T1  A call carries its tool's facts from the moment it was judged, so a deploy cannot change them.
 * T2  `ok: false` is a structured failure (exception, timeout, unavailable). A non-zero exit code, an empty
 *     search or a missing file are observations: the call succeeded.
 */
import type { FileInfo } from "./events.ts";

export type JsonObject = { [key: string]: unknown };

/** What may be done with a call that was running when the object died. */
export type Recovery = "rerun" | "reattach" | "report";

export interface ToolFacts {
  /** Toolkit: shell, file, search, browser, mcp, delegate, message; `terminal` for schema-only tools. */
  toolkit: string;
  /** A batch runs in parallel only when every call in it is. */
  parallelSafe: boolean;
  /** Its result changes by itself: exempt from duplicate detection. */
  volatile: boolean;
  /** It changes something outside the model's view. */
  effect: boolean;
  recovery: Recovery;
  /** It is asked about whatever the settings say. */
  approval?: "ask";
}

export type Parsed<T = JsonObject> = { ok: true; value: T } | { ok: false; error: string };

export interface ToolSpec extends ToolFacts {
  name: string;
  description: string;
  /** JSON Schema of the arguments, always `type: "object"`. Work tools also have `brief`. */
  parameters: JsonObject;
  /** Checks arguments against the schema. Never throws; the error is written for the model. */
  parse(args: JsonObject): Parsed;
}

export interface ToolResult {
  ok: boolean;
  /** It failed in a way that does not tell whether its effect took place (a timeout, a lost answer). */
  unknown?: true;
  /** It failed on its way, and the same call again may succeed: see tools/run.ts. */
  retryable?: true;
  /** What the model reads: plain text or JSON, already cut to size by the shell. */
  text: string;
  /** What the `tool` event shows, by toolkit (contract 4). */
  content?: JsonObject;
  /** It is not over: a person has to decide first, and then it is called again with what they said. */
  asks?: Asks;
  /** Attachments that a terminal call named and that exist. */
  files?: FileInfo[];
}

/** What a specialist waits for, and the person in front of its parent has to decide. */
export interface Asks {
  /** Names the wait out there: the answer goes back with it. */
  id: string;
  kind: "approval" | "budget";
  /** The profile that asks. */
  who: string;
  text: string;
  /** What it wants to run. */
  tool?: { function: string; args: JsonObject };
}

/** Its work goes on in a session of its own, with a model of its own. */
export const isDelegate = (call: { toolkit: string }): boolean => call.toolkit === "delegate";

/** Toolkits whose successful calls count as work for `complete_step`. */
export const WORK_TOOLKITS: ReadonlySet<string> = new Set([
  "shell",
  "file",
  "search",
  "browser",
  "mcp",
  "delegate",
]);
