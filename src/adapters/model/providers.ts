/**
 * Which models a deployment has, told from its variables, and the call that goes to the right one.
 *
 * V1  Naming a provider that is not configured never falls back to another: the call says what is missing.
 * V2  Without any key the practice model answers, so a fresh checkout works.
 * V3  The model's name reaches the provider as it was given, unchecked.
 * V4  What an endpoint takes is its preset, with what the variable `…_MODEL_PROFILE` states over it; a variable that cannot
 *     be read fails every call of its provider, and says so.
 */
import type { Flight, Model, ModelOutcome, ModelRequest, Piece } from "../../core/ports.ts";
import { layered, type Profile, ProfileLayer, profileOf } from "../../core/profile.ts";
import { noProvider } from "./failure.ts";
import { callOpenAI, type Fetch } from "./openai.ts";
import { callPractice } from "./practice.ts";
import { aiFetch, BINDING_URL, isAiBinding } from "./workers-ai.ts";

export const PROVIDERS = [
  "openai",
  "anthropic",
  "gemini",
  "workers-ai",
  "custom",
  "practice",
] as const;
export type ProviderId = (typeof PROVIDERS)[number];

export interface Provider {
  id: ProviderId;
  /** "" for the practice model, which goes nowhere. */
  baseURL: string;
  apiKey: string;
  /** What is asked when nobody names a model; "" when the deployment does not say. */
  model: string;
  /** Where calls do not go over the network. */
  fetch?: Fetch;
}

/** A deployment's variables: a Worker's `env` fits. */
export type ModelEnv = Readonly<Record<string, unknown>>;

const PRACTICE: Provider = { id: "practice", baseURL: "", apiKey: "", model: "practice" };

function read(env: ModelEnv, name: string): string {
  const value = env[name];
  return typeof value === "string" ? value.trim() : "";
}

/** The configured providers in order of preference; the practice model is always the last. */
export function providers(env: ModelEnv): Provider[] {
  const hosted: Provider[] = [
    {
      id: "openai",
      baseURL: read(env, "OPENAI_BASE_URL") || "https://api.openai.com/v1",
      apiKey: read(env, "OPENAI_API_KEY"),
      model: read(env, "OPENAI_MODEL_NAME") || "gpt-4.1-mini",
    },
    {
      id: "anthropic",
      baseURL: "https://api.anthropic.com/v1/",
      apiKey: read(env, "ANTHROPIC_API_KEY"),
      model: read(env, "ANTHROPIC_MODEL_NAME") || "claude-sonnet-4-5",
    },
    {
      id: "gemini",
      baseURL: "https://generativelanguage.googleapis.com/v1beta/openai/",
      apiKey: read(env, "GEMINI_API_KEY"),
      model: read(env, "GEMINI_MODEL_NAME") || "gemini-2.5-flash",
    },
  ];
  const found = hosted.filter((provider) => provider.apiKey !== "");
  const ai = workersAi(env);
  if (ai) found.push(ai);
  // A server of one's own often has no key, but always an address.
  const baseURL = read(env, "CUSTOM_BASE_URL");
  if (baseURL !== "") {
    const apiKey = read(env, "CUSTOM_API_KEY");
    found.push({ id: "custom", baseURL, apiKey, model: read(env, "CUSTOM_MODEL_NAME") });
  }
  return [...found, PRACTICE];
}

/** Workers AI by an account's id and token, else by the binding `AI`. */
function workersAi(env: ModelEnv): Provider | null {
  const model = read(env, "WORKERS_AI_MODEL_NAME") || "@cf/meta/llama-3.3-70b-instruct-fp8-fast";
  const account = encodeURIComponent(read(env, "WORKERS_AI_ACCOUNT_ID"));
  const apiKey = read(env, "WORKERS_AI_API_KEY");
  if (account !== "" && apiKey !== "") {
    const baseURL = `https://api.cloudflare.com/client/v4/accounts/${account}/ai/v1`;
    return { id: "workers-ai", baseURL, apiKey, model };
  }
  if (!isAiBinding(env.AI)) return null;
  return { id: "workers-ai", baseURL: BINDING_URL, apiKey: "", model, fetch: aiFetch(env.AI) };
}

/** The provider for `""`: what `PROVIDER` names, configured or not, else the first that is configured. */
export function defaultProvider(env: ModelEnv): string {
  return read(env, "PROVIDER").toLowerCase() || (providers(env)[0] ?? PRACTICE).id;
}

/** The provider and model that a pair of settings stands for; "" = the default. Never throws. */
export function resolve(
  env: ModelEnv,
  provider: string,
  model: string,
): { provider: string; model: string } {
  const id = provider.trim().toLowerCase() || defaultProvider(env);
  const configured = providers(env).find((p) => p.id === id);
  return { provider: id, model: model || configured?.model || "" };
}

const profileVariable = (id: string): string =>
  `${id.toUpperCase().replaceAll("-", "_")}_MODEL_PROFILE`;

/** What the deployment states about a provider's endpoint; a text says what is wrong with it. */
function statedProfile(env: ModelEnv, id: string): ProfileLayer | string {
  const name = profileVariable(id);
  const text = read(env, name);
  if (text === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return `The variable ${name} is not valid JSON.`;
  }
  const parsed = ProfileLayer.safeParse(value);
  if (parsed.success) return parsed.data;
  const [first] = parsed.error.issues;
  return `The variable ${name} is wrong at ${first?.path.join(".") || "its top"}: ${first?.message}`;
}

/** What the endpoint of a resolved pair takes, before anything it refuses. Never throws. */
export function profileFor(env: ModelEnv, provider: string, model: string): Profile {
  const baseURL = providers(env).find((p) => p.id === provider)?.baseURL ?? "";
  const preset = profileOf(provider, model, URL.parse(baseURL)?.host ?? "");
  const stated = statedProfile(env, provider);
  return typeof stated === "string" ? preset : layered(preset, stated);
}

/** Why a resolved pair cannot be asked, and what to do; null: it can. */
export function missingIn(env: ModelEnv, id: string, model: string): string | null {
  const provider = providers(env).find((p) => p.id === id);
  if (!provider) return missing(id);
  if (provider.id === "practice") return null;
  if (model === "" && provider.model === "") return `No model is named: ${unnamed(id)}`;
  const stated = statedProfile(env, id);
  return typeof stated === "string" ? stated : null;
}

export type CallAny = (
  request: ModelRequest,
  live: (piece: Piece) => void,
  signal: AbortSignal,
) => Promise<ModelOutcome>;

/** Calls the provider that the request names. Never rejects. */
export function createModel(env: ModelEnv, options: { fetch?: Fetch } = {}): CallAny {
  return async (request, live, signal) => {
    const { provider: id } = resolve(env, request.provider, request.model);
    const provider = providers(env).find((p) => p.id === id);
    const lacks = missingIn(env, id, request.model);
    if (!provider || lacks !== null) {
      return { type: "failed", failure: noProvider(lacks ?? missing(id)) };
    }
    if (provider.id === "practice") return callPractice(request, live, signal);
    const { baseURL, apiKey, fetch = options.fetch } = provider;
    return callOpenAI(request, { baseURL, apiKey, fetch }, live, signal);
  };
}

/** The core's port: the same call with a handle to cancel it. */
export function createModelPort(env: ModelEnv, options: { fetch?: Fetch } = {}): Model {
  const call = createModel(env, options);
  return {
    call(request, live): Flight<ModelOutcome> {
      const controller = new AbortController();
      const outcome = call(request, live, controller.signal);
      return { outcome, cancel: () => controller.abort() };
    },
  };
}

const NEEDS: Record<string, string> = {
  openai: "set OPENAI_API_KEY",
  anthropic: "set ANTHROPIC_API_KEY",
  gemini: "set GEMINI_API_KEY",
  custom: "set CUSTOM_BASE_URL (and CUSTOM_API_KEY, CUSTOM_MODEL_NAME)",
  "workers-ai":
    "set WORKERS_AI_ACCOUNT_ID and WORKERS_AI_API_KEY, or uncomment [ai] in wrangler.toml",
};

function missing(id: string): string {
  const needs = NEEDS[id];
  return needs
    ? `The model provider "${id}" is not configured: ${needs}.`
    : `There is no model provider "${id.slice(0, 40)}". Known are: ${PROVIDERS.join(", ")}.`;
}

const unnamed = (id: string): string =>
  `set ${id.toUpperCase().replaceAll("-", "_")}_MODEL_NAME, or choose a model in the settings.`;
