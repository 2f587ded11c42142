/**
 * Facts as OpenTelemetry spans, in OTLP's JSON and with the semantic conventions for generative AI (`gen_ai.*`,
 * 1.41): `invoke_agent` for a turn, `chat` for a model call, `execute_tool` for a tool call; a wait has none there.
 */
import type {
  Fact,
  ModelCallEnded,
  ToolCallEnded,
  TurnEnded,
  WaitEnded,
} from "../../core/facts.ts";
import { contextOf, spanId } from "./ids.ts";

type Value =
  | { stringValue: string }
  | { intValue: string }
  | { doubleValue: number }
  | { boolValue: boolean }
  | { arrayValue: { values: Value[] } };
export interface Attribute {
  key: string;
  value: Value;
}
export interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  /** Nanoseconds since the epoch, as decimal digits. */
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Attribute[];
  status: { code: number };
}

const INTERNAL = 1;
const CLIENT = 3;
const UNSET = 0;
const ERROR = 2;
/** What a provider or a person has named may be long. */
const NAME_CHARS = 200;

type Attributes = Record<string, string | number | boolean | string[] | null | undefined>;

function wrapped(value: string | number | boolean | string[]): Value {
  if (typeof value === "string") return { stringValue: value.slice(0, NAME_CHARS).toWellFormed() };
  if (typeof value === "boolean") return { boolValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(wrapped) } };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** Absent ones are left out. */
export const attributesOf = (given: Attributes): Attribute[] =>
  Object.entries(given).flatMap(([key, value]) =>
    value === null || value === undefined || value === "" ? [] : [{ key, value: wrapped(value) }],
  );

/** The conventions' own names, where they have one. */
const PROVIDERS: Record<string, string> = { gemini: "gcp.gemini" };

const AGENT = "dormouse";

interface About {
  name: string;
  kind: number;
  error: string | null;
  attributes: Attributes;
}

const turnSpan = ({ mode, turn, outcome, error, usage }: TurnEnded & { turn: number }): About => ({
  name: `invoke_agent ${AGENT}`,
  kind: INTERNAL,
  error: outcome === "failed" ? (error ?? "not_achieved") : null,
  attributes: {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.name": AGENT,
    "gen_ai.usage.input_tokens": usage.input_tokens,
    "gen_ai.usage.output_tokens": usage.output_tokens,
    "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens,
    "dormouse.turn": turn,
    "dormouse.mode": mode,
    "dormouse.outcome": outcome,
    "dormouse.model_calls": usage.model_calls,
    "dormouse.tool_calls": usage.tool_calls,
    "dormouse.cost_usd": usage.cost_usd,
  },
});

const chatSpan = (call: ModelCallEnded): About => ({
  name: `chat ${call.model.slice(0, NAME_CHARS)}`,
  kind: CLIENT,
  error: call.error,
  attributes: {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": PROVIDERS[call.provider] ?? call.provider,
    "gen_ai.request.model": call.model,
    "gen_ai.response.model": call.reply_model,
    "gen_ai.response.finish_reasons": call.finish === null ? null : [call.finish],
    "dormouse.role": call.role,
    "dormouse.attempt": call.attempt,
    "dormouse.cost_usd": call.cost_usd,
    "http.response.status_code": call.status,
    ...(call.error === null
      ? {
          "gen_ai.usage.input_tokens": call.input_tokens,
          "gen_ai.usage.output_tokens": call.output_tokens,
          "gen_ai.usage.cache_read.input_tokens": call.cached_tokens,
          "dormouse.usage.estimated": call.measured ? null : true,
        }
      : {}),
  },
});

const toolSpan = ({ tool, toolkit, call, ok }: ToolCallEnded): About => ({
  name: `execute_tool ${tool}`,
  kind: INTERNAL,
  error: ok ? null : "tool_failed",
  attributes: {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": tool,
    "gen_ai.tool.call.id": call,
    "gen_ai.tool.type": toolkit === "mcp" ? "extension" : "function",
    "dormouse.toolkit": toolkit,
  },
});

const waitSpan = ({ kind, answered }: WaitEnded): About => ({
  name: `wait ${kind}`,
  kind: INTERNAL,
  error: null,
  attributes: { "dormouse.wait.kind": kind, "dormouse.wait.answered": answered },
});

function aboutOf(fact: Fact): About | null {
  switch (fact.fact) {
    case "turn_ended":
      return turnSpan(fact);
    case "model_call_ended":
      return chatSpan(fact);
    case "tool_call_ended":
      return toolSpan(fact);
    case "wait_ended":
      return waitSpan(fact);
    default:
      return null;
  }
}

const nanos = (ms: number): string => `${Math.max(0, Math.round(ms))}000000`;

/** null: it is nothing that lasted, or belongs to a trace that nobody wants. */
export function spanOf(fact: Fact): Span | null {
  const about = aboutOf(fact);
  if (!about || !("from" in fact)) return null;
  const { traceId, parentId, sampled } = contextOf(fact);
  if (!sampled) return null;
  // A call of the proxy belongs to no turn.
  const proxied = "mode" in fact && fact.mode === "proxy";
  const root = fact.fact === "turn_ended" || proxied;
  const parent = root ? parentId : spanId(fact, `turn ${fact.turn}`);
  const { name, kind, error, attributes } = about;
  return {
    traceId,
    spanId: spanId(fact, fact.key),
    ...(parent === null ? {} : { parentSpanId: parent }),
    name,
    kind,
    startTimeUnixNano: nanos(Math.min(fact.from, fact.at)),
    endTimeUnixNano: nanos(fact.at),
    attributes: attributesOf({
      "gen_ai.conversation.id": proxied ? null : fact.session,
      "error.type": error,
      ...attributes,
    }),
    status: { code: error === null ? UNSET : ERROR },
  };
}
