/**
 * One tool, from one zod schema: what the model is shown, how its arguments are checked, how it runs.
 *
 * D1  The JSON Schema is plain: no `$schema`, no `additionalProperties`, no bounds that only say "integer".
 * D2  Every work tool has `brief`, a label for people. It is required of the model but its absence is forgiven, it
 *     stays among the parsed arguments for the event, and it never reaches `run`.
 * D3  `parse` never throws. Unknown fields are dropped; null for an optional field counts as absent. Its errors are
 *     written for a model: which field, which rule, and all fields of the tool.
 * D4  `run` may throw: the runner makes data of it.
 */
import * as z from "zod";
import type { FileInfo } from "../core/events.ts";
import { BRIEF, parametersOf, parserOf } from "../core/schema.ts";
import {
  type JsonObject,
  type ToolFacts,
  type ToolResult,
  type ToolSpec,
  WORK_TOOLKITS,
} from "../core/tool.ts";
import type { Usage } from "../core/usage.ts";
import type { Box } from "./box.ts";
import type { Browser } from "./browser-port.ts";
import type { Search } from "./search.ts";
import type { Web } from "./web.ts";

/** What only some deployments have: a tool that needs it is offered only there. */
export type Need = "background" | "search" | "browser" | "profiles";

/** A part of the work, for a specialist. */
export interface Task {
  profile: string;
  task: string;
  /** Paths of files that go with it. */
  files: string[];
}

export interface ToolContext {
  box: Box;
  /** Where one is bound; tools that need it are offered only there. */
  browser?: Browser;
  /** What clients see of a file, for download links; absent in tests and where there are no routes. */
  files?: { info(path: string): FileInfo | null };
  /** Has a specialist do it; absent where there are none. Called again for the same call, it finds the one at work. */
  delegate?: (task: Task, ctx: ToolContext) => Promise<ToolResult>;
  /** The public web, guarded; absent where a test does without. */
  web?: Web;
  /** The search provider, where one is configured. */
  search?: Search;
  /** Told what others have spent on the call so far, all in all. */
  spend?: (sum: Usage) => void;
  /** What a person has said to what it asked (`asks`) when it was run last. */
  answer?: { id: string; approved: boolean };
  /** Output for people, as it comes; not stored. */
  live: (text: string) => void;
  /** Aborted when the user stops or the time is over. */
  signal: AbortSignal;
  /** The call's id, the same after a crash. */
  id: string;
  /** It was started before a crash and its outcome is unknown. */
  reopened: boolean;
  /** Of an effect: the same for a call that is repeated because its outcome was unknown. */
  idempotencyKey?: string;
  timeoutMs: number;
  /** Code points of the result's text; the runner cuts to it. */
  maxChars: number;
  /** The header `traceparent` for what is asked of other services on its behalf, where calls are traced. */
  trace?: string | undefined;
}

export interface Tool extends ToolSpec {
  needs?: Need;
  /** What its toolkit asks of whoever is offered it: a section of the system prompt. One tool of a kit states it. */
  rules?: string;
  /** Milliseconds that it may take, where that is not the settings' `toolTimeoutMs`; never more than that. */
  timeoutMs?: number;
  /** Doing it again after an unknown outcome is harmless: it is idempotent, or its service knows `idempotencyKey`. */
  repeatable?: true;
  /** What it does has bounds of its own: `toolTimeoutMs` is not for it. */
  unhurried?: true;
  run(args: JsonObject, ctx: ToolContext): Promise<ToolResult>;
}

export interface Definition<S extends z.ZodObject> extends Partial<ToolFacts> {
  name: string;
  toolkit: string;
  description: string;
  /** Made when the tool is first shown or called. */
  args: () => S;
  needs?: Need;
  rules?: string;
  timeoutMs?: number;
  repeatable?: true;
  unhurried?: true;
  run: (args: z.output<S>, ctx: ToolContext) => Promise<ToolResult>;
}

/** Facts that are not stated are the careful ones: alone, effectful, never run twice. */
export function defineTool<S extends z.ZodObject>(definition: Definition<S>): Tool {
  const { name, toolkit, description, args, run } = definition;
  const labelled = WORK_TOOLKITS.has(toolkit);
  const parameters = parametersOf(() =>
    labelled ? args().extend({ brief: z.string().describe(BRIEF.description) }) : args(),
  );
  const parse = parserOf(args, parameters);
  return {
    name,
    toolkit,
    description,
    get parameters() {
      return parameters();
    },
    parallelSafe: definition.parallelSafe ?? false,
    volatile: definition.volatile ?? false,
    effect: definition.effect ?? true,
    recovery: definition.recovery ?? "report",
    ...(definition.needs === undefined ? {} : { needs: definition.needs }),
    ...(definition.rules === undefined ? {} : { rules: definition.rules }),
    ...(definition.timeoutMs === undefined ? {} : { timeoutMs: definition.timeoutMs }),
    ...(definition.repeatable === undefined ? {} : { repeatable: true as const }),
    ...(definition.unhurried ? { unhurried: true as const } : {}),
    parse(raw) {
      const parsed = parse(raw);
      if (!parsed.ok) return parsed;
      const label = labelled && typeof raw.brief === "string" ? { brief: raw.brief } : {};
      return { ok: true, value: { ...parsed.value, ...label } };
    },
    async run(raw, ctx) {
      const parsed = parse(raw);
      return parsed.ok ? run(parsed.value, ctx) : { ok: false, text: parsed.error };
    },
  };
}
