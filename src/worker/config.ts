/** What the deployment's variables say: settings layers, profiles, sandbox, and the public configuration. */
import * as z from "zod";
import manifest from "../../package.json";
import { defaultProvider, providers } from "../adapters/model/providers.ts";
import { searchSetup } from "../adapters/search/index.ts";
import type { AddressRules } from "../adapters/web/address.ts";
import { LIMITS } from "../core/limits.ts";
import { MODES } from "../core/session.ts";
import { DEFAULTS, SettingsLayer } from "../core/settings.ts";
import type { Config } from "../core/wire.ts";
import { type Need, toolsFor } from "../tools/index.ts";
import type { Bindings } from "./env.ts";
import { isLoopback, nameOf } from "./host.ts";
import { problem } from "./problem.ts";

export const VERSION: string = manifest.version;

/** A variable that holds JSON. A deployment that states nonsense must hear it, not run without its limits. */
function parseVar<T>(name: string, text: string | undefined, schema: z.ZodType<T>): T | undefined {
  if (!text?.trim()) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw problem(
      500,
      "bad_configuration",
      `The variable ${name} is not valid JSON. Correct it and deploy again.`,
    );
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [first] = parsed.error.issues;
  throw problem(
    500,
    "bad_configuration",
    `The variable ${name} is wrong at ${first?.path.join(".") || "its top"}: ${first?.message}`,
  );
}

/** Layers around a session's own: the deployment's, then the profile's. */
export function outerLayers(
  env: Bindings,
  profile: string | undefined,
): (SettingsLayer | undefined)[] {
  const deployment = parseVar("SETTINGS", env.SETTINGS, SettingsLayer);
  const named = profile || deployment?.profile;
  return [deployment, named ? profiles(env)[named] : undefined];
}

export const profiles = (env: Bindings): Record<string, SettingsLayer> =>
  parseVar("PROFILES", env.PROFILES, z.record(z.string(), SettingsLayer)) ?? {};

/** A profile that is not there is an error of whoever names it. */
export function knownProfile(env: Bindings, name: string | undefined): void {
  if (!name || Object.hasOwn(profiles(env), name)) return;
  throw problem(400, "invalid_request", `settings.profile: there is no profile ${name}.`);
}

/** Which sandbox serves: never a fallback on failure. The container backend is not in this version. */
export function sandboxOf(env: Bindings): "embedded" | "container" {
  return env.SANDBOX === "container" ? "container" : "embedded";
}

/** What this deployment has beyond the ordinary: the tools that need it are offered. */
export function haves(env: Bindings): ReadonlySet<Need> {
  return new Set(searchSetup(env).type === "on" ? ["search"] : []);
}

/** A search that is configured wrongly is not offered; whoever configures it hears why. */
export function checkSearch(env: Bindings): void {
  const setup = searchSetup(env);
  if (setup.type === "wrong") throw problem(500, "bad_configuration", setup.why);
}

/** What tools may ask outside. `host`: where the product is served; only on loopback may it look behind the door. */
export function addressRules(env: Bindings, host: string): AddressRules {
  const allow = (env.FETCH_ALLOW_PRIVATE ?? "").split(",");
  return { own: [host], allow: isLoopback(nameOf(host)) ? allow : [] };
}

export function publicConfig(env: Bindings): Config {
  checkSearch(env);
  const configured = providers({ ...env });
  const provider = defaultProvider({ ...env });
  return {
    product: "Dormouse",
    version: VERSION,
    providers: configured.map((p) => p.id),
    provider,
    models: configured.map((p) => p.model).filter((m) => m !== ""),
    modes: [...MODES],
    profiles: Object.keys(profiles(env)),
    tools: toolsFor(haves(env)).map((t) => ({ name: t.name, toolkit: t.toolkit })),
    locales: ["auto", "en", "zh"],
    limits: { ...LIMITS, ...DEFAULTS.limits },
    sandbox: sandboxOf(env),
    practice: provider === "practice",
  };
}
