/**
 * Facts as data points of Workers Analytics Engine, where a dataset is bound (`ANALYTICS`): one for each model call,
 * tool call and turn. The columns keep their meaning for good, since old points stay; docs/observability.md has them
 * as a table, with queries.
 */
import type { Fact } from "../core/facts.ts";

interface Columns {
  what: "model_call" | "tool_call" | "turn";
  mode: string;
  /** `ok`, or the code of the error; of a turn its outcome. */
  result: string;
  role?: string;
  provider?: string;
  model?: string;
  finish?: string | null;
  tool?: string;
  toolkit?: string;
  error?: string | null;
  input?: number;
  output?: number;
  cached?: number;
  /** US dollars; null: not known. */
  cost?: number | null;
  modelCalls?: number;
  toolCalls?: number;
  attempt?: number;
}

/** All blobs of a point together may have 16 kB; no name needs more than this. */
const BLOB_CHARS = 200;

function columnsOf(fact: Fact): Columns | null {
  switch (fact.fact) {
    case "model_call_ended": {
      const { mode, role, provider, model, finish, attempt, error, cost_usd: cost } = fact;
      const tokens = {
        input: fact.input_tokens,
        output: fact.output_tokens,
        cached: fact.cached_tokens,
      };
      const about = { mode, role, provider, model, finish, attempt, error, cost };
      return { what: "model_call", result: error ?? "ok", ...about, ...tokens, modelCalls: 1 };
    }
    case "tool_call_ended": {
      const { mode, tool, toolkit, ok } = fact;
      return { what: "tool_call", result: ok ? "ok" : "failed", mode, tool, toolkit, toolCalls: 1 };
    }
    case "turn_ended": {
      const { mode, outcome, error, usage } = fact;
      return {
        ...{ what: "turn", result: outcome, mode, error, cost: usage.cost_usd },
        ...{ input: usage.input_tokens, output: usage.output_tokens, cached: usage.cached_tokens },
        ...{ modelCalls: usage.model_calls, toolCalls: usage.tool_calls },
      };
    }
    default:
      return null;
  }
}

/** null: it is not counted. */
export function pointOf(fact: Fact): AnalyticsEngineDataPoint | null {
  const c = columnsOf(fact);
  if (!c || !("from" in fact)) return null;
  const blobs = [
    c.what,
    c.mode,
    c.result,
    c.role,
    c.provider,
    c.model,
    c.finish,
    c.tool,
    c.toolkit,
    c.error,
  ];
  const known = c.cost !== null && c.cost !== undefined;
  return {
    // Points of one session are sampled alike.
    indexes: [fact.session],
    blobs: blobs.map((blob) => (blob ?? "").slice(0, BLOB_CHARS)),
    doubles: [
      Math.max(0, fact.at - fact.from),
      ...[c.input ?? 0, c.output ?? 0, c.cached ?? 0],
      ...[c.cost ?? 0, known ? 1 : 0],
      ...[c.modelCalls ?? 0, c.toolCalls ?? 0, c.attempt ?? 0],
    ],
  };
}
