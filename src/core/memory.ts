/**
 * Memories: what each role has said and read, as rows that only a request needs.
 *
 * M2  Rows are immutable, and numbered when their place is known: a reply reserves the rows of its results, so
 *     results stand in call order whenever they arrive, and no result waits in the head.
 */
import type { Mode } from "./session.ts";

export type MemoryName = "planner" | "executor" | "reviewer" | "assistant";

/** The memories that a session of this mode speaks from; the first one hears the person. */
export const memoriesOf = (mode: Mode): [MemoryName, ...MemoryName[]] =>
  mode === "agent" ? ["planner", "executor"] : ["assistant"];

/** One message of a memory, its JSON exactly as it is sent to the model. */
export interface Row {
  id: number;
  memory: MemoryName;
  kind: RowKind;
  json: string;
}
/** prompt, hint: written by the harness · said: by a person · answer: a person's answer to a question. */
export type RowKind = "prompt" | "said" | "answer" | "reply" | "result" | "nudge" | "hint";

/** Rows before `before` are shown as phase 1, 2, 3 … of compaction asks for. */
export interface Boundary {
  phase: number;
  before: number;
  /** Results before it are shown shortened, however new: the last resort. */
  tight: number;
  /** Tokens of the request after it, by estimate. */
  tokens: number;
}
