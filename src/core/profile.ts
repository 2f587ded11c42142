/**
 * What an endpoint takes, as data: a preset for each provider, and how it shrinks when the endpoint refuses.
 *
 * X1  A profile is plain JSON: it can be stored, stated in a variable, and printed by the probe.
 * X2  The strongest form is sent; a refusal that names its cause gives up that one thing, and nothing else.
 * X3  `downgrade` gives null when nothing is left to give up: the refusal is then final.
 * X4  A row's text is shaped by replacing text, never by parsing it, and the same profile gives the same bytes.
 */
import * as z from "zod";
import type { JsonObject } from "./tool.ts";

export const Profile = z.lazy(() =>
  z.object({
    /** The strongest level that may be sent: named → required → auto → none (the field is not sent). */
    toolChoice: z.enum(["named", "required", "auto", "none"]),
    parallelToolCalls: z.enum(["send-true", "omit"]),
    /** What stands as `content` beside tool calls when the model said nothing. */
    emptyContent: z.enum(["null", "empty", "omit"]),
    /** The field in which reasoning is sent back; `none`: never. */
    reasoning: z.enum(["none", "reasoning_content", "reasoning"]),
    /** Asks for usage in the stream (`stream_options`). */
    streamUsage: z.boolean(),
    maxTokensField: z.enum(["max_tokens", "max_completion_tokens"]).nullable(),
    /** null: no cap is sent. */
    maxTokens: z.int().positive().nullable(),
    /** Strict function calling, for tools whose schema allows it. */
    strict: z.boolean(),
    /** How tool schemas are written: see dialect.ts. */
    dialect: z.enum(["openai", "gemini", "plain"]),
    /** A system message may stand after the first message. */
    systemMidway: z.boolean(),
    /** Call ids as they are, or brought to nine letters and digits. */
    callIds: z.enum(["own", "nine"]),
    /** More fields of the request's body; those that the harness sets itself are ignored. */
    extraBody: z.record(z.string(), z.unknown()),
  }),
);
export type Profile = z.infer<typeof Profile>;

/** A profile that shrank, and for what: nothing is given up twice. */
export interface Learned {
  profile: Profile;
  hints: Hint[];
}

export type Dialect = Profile["dialect"];

/** What a deployment states about an endpoint: a preset by name, and fields that differ from it. */
export const ProfileLayer = z.lazy(() =>
  Profile.unwrap().partial().extend({ preset: z.string() }).partial(),
);
export type ProfileLayer = z.infer<typeof ProfileLayer>;

/** What a refusal was about. */
export type Hint =
  | "tool_choice_named"
  | "tool_choice"
  | "tool_choice_auto"
  | "parallel_tool_calls"
  | "reasoning_missing"
  | "reasoning_unknown"
  | "stream_options"
  | "null_content"
  | "max_tokens_field"
  | "schema"
  | "strict";

/** Careful: for an endpoint of which nothing is known. */
const CUSTOM: Profile = {
  toolChoice: "required",
  parallelToolCalls: "omit",
  emptyContent: "empty",
  reasoning: "none",
  streamUsage: true,
  maxTokensField: "max_tokens",
  maxTokens: null,
  strict: false,
  dialect: "plain",
  systemMidway: false,
  callIds: "own",
  extraBody: {},
};
const FULL: Profile = {
  ...CUSTOM,
  toolChoice: "named",
  emptyContent: "null",
  dialect: "openai",
  systemMidway: true,
};

export const PRESETS = {
  openai: { ...FULL, maxTokensField: "max_completion_tokens" },
  anthropic: { ...FULL, systemMidway: false },
  gemini: { ...FULL, dialect: "gemini", systemMidway: false },
  // Its schema of a request wants a string as content.
  "workers-ai": { ...CUSTOM, systemMidway: true },
  // Thinking, its default, refuses any forced choice and wants its reasoning back.
  deepseek: { ...FULL, toolChoice: "auto", reasoning: "reasoning_content", dialect: "plain" },
  // Refuses fields that it does not know; sends usage without being asked.
  mistral: {
    ...FULL,
    streamUsage: false,
    systemMidway: false,
    callIds: "nine",
    dialect: "plain",
  },
  ollama: { ...CUSTOM, systemMidway: true },
  vllm: { ...FULL, systemMidway: false },
  groq: { ...FULL, maxTokensField: "max_completion_tokens" },
  custom: CUSTOM,
  practice: FULL,
} as const satisfies Record<string, Profile>;
export type PresetName = keyof typeof PRESETS;

const HOSTS: readonly [RegExp, PresetName][] = [
  [/(^|\.)openai\.(com|azure\.com)(:|$)/, "openai"],
  [/(^|\.)anthropic\.com(:|$)/, "anthropic"],
  [/(^|\.)googleapis\.com(:|$)/, "gemini"],
  [/^api\.cloudflare\.com(:|$)/, "workers-ai"],
  [/(^|\.)deepseek\.com(:|$)/, "deepseek"],
  [/(^|\.)mistral\.ai(:|$)/, "mistral"],
  [/(^|\.)groq\.com(:|$)/, "groq"],
  [/ollama|:11434$/, "ollama"],
  [/vllm/, "vllm"],
];

/** What a model needs wherever it is served. */
const MODELS: readonly [RegExp, Partial<Profile>][] = [
  [/deepseek|kimi.*think/, { toolChoice: "auto", reasoning: "reasoning_content" }],
  [/mi(ni)?stral|magistral|codestral|devstral/, { callIds: "nine", systemMidway: false }],
  [/gemini/, { dialect: "gemini" }],
];

export const isPreset = (name: string): name is PresetName => Object.hasOwn(PRESETS, name);

/** The preset that fits; a custom endpoint's is told from its host (with port), then from the model's name. */
export function profileOf(provider: string, model: string, host: string): Profile {
  if (provider !== "custom") return isPreset(provider) ? PRESETS[provider] : CUSTOM;
  const where = host.toLowerCase();
  const known = HOSTS.find(([pattern]) => pattern.test(where));
  if (known) return PRESETS[known[1]];
  const name = model.toLowerCase();
  if (name.startsWith("@cf/")) return PRESETS["workers-ai"];
  return { ...CUSTOM, ...MODELS.find(([pattern]) => pattern.test(name))?.[1] };
}

/** The preset, or the one that the layer names, with the layer's own fields over it. */
export function layered(base: Profile, { preset, ...fields }: ProfileLayer): Profile {
  const named = preset !== undefined && isPreset(preset) ? PRESETS[preset] : base;
  const stated = Object.entries(fields).filter(([, value]) => value !== undefined);
  return { ...named, ...Object.fromEntries(stated) };
}

const LEVELS = ["none", "auto", "required", "named"] as const;
type Level = (typeof LEVELS)[number];
const below = (p: Profile, level: Level): Partial<Profile> | null =>
  LEVELS.indexOf(p.toolChoice) > LEVELS.indexOf(level) ? { toolChoice: level } : null;

/** What each refusal takes away; null: it is gone already. */
const GIVE_UP: Record<Hint, (p: Profile) => Partial<Profile> | null> = {
  tool_choice_named: (p) => below(p, "required"),
  tool_choice: (p) => below(p, "auto"),
  tool_choice_auto: (p) => below(p, "none"),
  parallel_tool_calls: (p) =>
    p.parallelToolCalls === "omit" ? null : { parallelToolCalls: "omit" },
  reasoning_missing: (p) => (p.reasoning === "none" ? { reasoning: "reasoning_content" } : null),
  reasoning_unknown: (p) => (p.reasoning === "none" ? null : { reasoning: "none" }),
  stream_options: (p) => (p.streamUsage ? { streamUsage: false } : null),
  null_content: (p) => {
    if (p.emptyContent === "omit") return null;
    return { emptyContent: p.emptyContent === "null" ? "empty" : "omit" };
  },
  max_tokens_field: (p) => {
    if (p.maxTokensField === null || p.maxTokens === null) return null;
    return { maxTokensField: p.maxTokensField === "max_tokens" ? "max_completion_tokens" : null };
  },
  // A strict schema is the likelier culprit.
  schema: (p) => {
    if (p.strict) return { strict: false };
    return p.dialect === "plain" ? null : { dialect: "plain" };
  },
  strict: (p) => (p.strict ? { strict: false } : null),
};

/** The profile after a refusal; null: there is nothing to give up, so the same would be refused again. */
export function downgrade(profile: Profile, hint: Hint): Profile | null {
  const less = GIVE_UP[hint](profile);
  return less && { ...profile, ...less };
}

export type Choice = "auto" | "required" | { name: string };

/** `tool_choice` as it may be sent: what is wanted, or the strongest level below it; null: not at all. */
export function choiceFor(profile: Profile, wanted: Choice): unknown {
  const level = typeof wanted === "string" ? wanted : "named";
  const sent = LEVELS[Math.min(LEVELS.indexOf(level), LEVELS.indexOf(profile.toolChoice))];
  if (sent === "none" || sent === undefined) return null;
  if (sent !== "named" || typeof wanted === "string") return sent;
  return { type: "function", function: { name: wanted.name } };
}

/** Fields of a body that no `extraBody` may set. */
const OWN = new Set(["model", "messages", "tools", "tool_choice", "stream", "stream_options"]);

/** The body's fields that the profile alone decides, tools aside. */
export function fieldsOf(profile: Profile): JsonObject {
  const { maxTokensField, maxTokens } = profile;
  const extra = Object.entries(profile.extraBody).filter(([field]) => !OWN.has(field));
  return {
    stream: true,
    ...(profile.streamUsage ? { stream_options: { include_usage: true } } : {}),
    ...(maxTokensField && maxTokens ? { [maxTokensField]: maxTokens } : {}),
    ...Object.fromEntries(extra),
  };
}

/** The fields beside `tools`. */
export function toolFieldsOf(profile: Profile, wanted: Choice): JsonObject {
  const choice = choiceFor(profile, wanted);
  return {
    ...(choice === null ? {} : { tool_choice: choice }),
    ...(profile.parallelToolCalls === "send-true" ? { parallel_tool_calls: true } : {}),
  };
}

const SPEAKS = '{"role":"assistant"';
const SILENT = `${SPEAKS},"content":null`;
/** The last key of a kept reply. Inside a string its quotes would be escaped, so it is found by its text. */
const THOUGHT = ',"reasoning_content":';
const SHORT_ID = /"(id|tool_call_id)":"([A-Za-z0-9]{1,8})"/g;

/**
 * One message of a memory as this endpoint takes it. A kept reply is
 * `{"role":"assistant","content":…[,"tool_calls":[…]][,"reasoning_content":"…"]}`, keys in this order.
 */
export function shapeMessage(json: string, profile: Profile): string {
  const ids =
    profile.callIds === "nine"
      ? json.replace(SHORT_ID, (_, key, id: string) => `"${key}":"${id.padStart(9, "0")}"`)
      : json;
  return ids.startsWith(SPEAKS) ? shapeReply(ids, profile) : ids;
}

function shapeReply(json: string, { reasoning, emptyContent }: Profile): string {
  const at = json.lastIndexOf(THOUGHT);
  const said = at < 0 ? json.slice(0, -1) : json.slice(0, at);
  const thought = at < 0 ? '""' : json.slice(at + THOUGHT.length, -1);
  const sent = reasoning === "none" ? "" : `,"${reasoning}":${thought}`;
  if (emptyContent === "null" || !said.startsWith(SILENT)) return `${said}${sent}}`;
  const content = emptyContent === "empty" ? `${SPEAKS},"content":""` : SPEAKS;
  return `${content}${said.slice(SILENT.length)}${sent}}`;
}
