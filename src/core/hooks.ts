/**
 * Hooks: where those who build on Dormouse join in. Two kinds, by who calls them.
 *
 * `PolicyHooks` are asked by the core: synchronous, and pure, because a session that wakes asks them again and must
 * hear the same. `PortHooks` stand around the ways out (models, tools) and may be asynchronous.
 *
 * K1  Around a model a hook fails open: it is reported, and what it did not change goes on as it was.
 * K2  What guards a tool fails closed: a `beforeToolCall` or a `filterTools` that throws lets nothing through.
 * K3  Hooks see plain data and give plain data back; what they were given they must not change.
 * K4  Without hooks no request is parsed, and its bytes stay what the core made of them.
 */
import type { Phase, Role } from "./events.ts";
import type { ModelFailure, Reply, ToolRun } from "./ports.ts";
import type { JsonObject, ToolResult, ToolSpec } from "./tool.ts";
import type { Stage } from "./trace.ts";

/** The model call that is under way. */
export interface About {
  session: string;
  /** Number of the turn. */
  run: number;
  role: Role;
  phase: Phase;
  /** Model replies in this run of the loop before it. */
  iteration: number;
}

/**
 * A reply that would end the work: a plain text where that is the answer, a step that says it succeeded, a final
 * message, or a plan without steps.
 */
export interface Conclusion {
  role: Role;
  phase: Phase;
  /** null: plain text. */
  tool: string | null;
  text: string;
  args: JsonObject;
  /** Successful work calls in this step. */
  work: number;
  /** Model replies in this run of the loop, this one included. */
  iteration: number;
}
export type Accepted = { accept: true } | { accept: false; nudge: string };

/** A hook threw. */
export interface Reports {
  report?(hook: string, error: unknown): void;
}

export interface PolicyHooks extends Reports {
  /** The tools that a turn may offer, out of those that its settings allow; asked once for a turn. */
  filterTools?(tools: readonly ToolSpec[]): readonly ToolSpec[];
  /** A conclusion that is not accepted is answered with the nudge, and counts as one that came too early. */
  shouldAcceptConclusion?(conclusion: Conclusion): Accepted;
}

type Maybe<T> = T | undefined | Promise<T | undefined>;
export interface PortHooks extends Reports {
  /** The messages of a request. A change that is not the same each time costs the provider's cache. */
  transformMessages?(messages: readonly JsonObject[], about: About): Maybe<JsonObject[]>;
  /** The whole request: options, tools, messages. */
  beforeRequest?(request: JsonObject, about: About): Maybe<JsonObject>;
  /** What came of it; a reply may be given back changed, and is judged as the model's own. */
  afterResponse?(result: Reply | ModelFailure, about: About): Maybe<Reply>;
  /** Before each dispatch, a repeated one after a crash included. `block`: it is not run, and this says why. */
  beforeToolCall?(run: ToolRun): Maybe<{ block: string }>;
  /** The result may be given back changed. Not called for a call that was blocked. */
  afterToolCall?(run: ToolRun, result: ToolResult): Maybe<ToolResult>;
}

export interface Hooks extends PolicyHooks, PortHooks {
  /** Each stage of the loop, for debugging. Nothing of it is stored or sent to clients. */
  trace?(stage: Stage): void;
}

/** Telling of a failure must not be another one. */
export function report(hooks: Reports, hook: string, error: unknown): void {
  try {
    hooks.report?.(hook, error);
  } catch {
    // There is nobody left to tell.
  }
}

/** K2: a filter that throws offers nothing; it cannot add what settings deny. */
export function chosenTools(
  hooks: PolicyHooks | undefined,
  allowed: readonly ToolSpec[],
): readonly ToolSpec[] {
  if (!hooks?.filterTools) return allowed;
  try {
    const names = new Set(hooks.filterTools(allowed).map((tool) => tool.name));
    return allowed.filter((tool) => names.has(tool.name));
  } catch (error) {
    report(hooks, "filterTools", error);
    return [];
  }
}

/** Without words of its own a refusal still has to change the conversation, or the model would loop. */
const TOO_EARLY = "Not accepted yet: the work is not complete. Go on, then finish again.";

/** null: it may stand; else what the model is told. A hook that throws lets it stand. */
export function objectionTo(
  hooks: PolicyHooks | undefined,
  conclusion: () => Conclusion,
): string | null {
  if (!hooks?.shouldAcceptConclusion) return null;
  try {
    const said = hooks.shouldAcceptConclusion(conclusion());
    return said.accept ? null : said.nudge.trim() || TOO_EARLY;
  } catch (error) {
    report(hooks, "shouldAcceptConclusion", error);
    return null;
  }
}
