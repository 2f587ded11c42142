/** What the deployment's variables say: settings layers, profiles, sandbox, and the public configuration. */
import * as z from "zod";
import { version } from "../../package.json";
import { defaultProvider, providers } from "../adapters/model/providers.ts";
import { searchSetup } from "../adapters/search/index.ts";
import type { AddressRules } from "../adapters/web/address.ts";
import { head } from "../core/chars.ts";
import { LIMITS } from "../core/limits.ts";
import { MODES } from "../core/session.ts";
import { DEFAULTS, SettingsLayer } from "../core/settings.ts";
import type { Config } from "../core/wire.ts";
import { type Need, toolsFor } from "../tools/index.ts";
import type { Bindings } from "./env.ts";
import { problem } from "./problem.ts";
import { onLoopback } from "./served.ts";

export const VERSION: string = version;

/** A variable that holds JSON. A deployment that states nonsense must hear it, not run without its limits. */
export function parseVar<T>(
  name: string,
  text: string | undefined,
  schema: z.ZodType<T>,
): T | undefined {
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

/** Layers around a session's own: the deployment's, the profile's, the owner's. The nearest names the profile. */
export function outerLayers(
  env: Bindings,
  owner: SettingsLayer,
  profile: string | undefined,
): (SettingsLayer | undefined)[] {
  const deployment = parseVar("SETTINGS", env.SETTINGS, SettingsLayer);
  const named = profile || owner.profile || deployment?.profile;
  return [
    deployment,
    named && Object.hasOwn(profiles(env), named) ? profiles(env)[named] : undefined,
    owner,
  ];
}

export const profiles = (env: Bindings): Record<string, SettingsLayer> =>
  parseVar("PROFILES", env.PROFILES, z.record(z.string(), SettingsLayer)) ?? {};

/** A profile that is not there is an error of whoever names it. */
export function knownProfile(env: Bindings, name: string | undefined): void {
  if (!name || Object.hasOwn(profiles(env), name)) return;
  throw problem(400, "invalid_request", `settings.profile: there is no profile ${name}.`);
}

export type SandboxKind = "embedded" | "container";

/**
 * Which sandbox serves; never a fallback on failure. `auto`: what is served on loopback has the embedded one. An
 * object does not know how its Worker is reached, so a session remembers it from its creation.
 */
export function sandboxOf(env: Bindings, host: string): SandboxKind {
  const named = env.SANDBOX?.trim().toLowerCase() || "auto";
  if (named === "embedded" || named === "container") return named;
  // A session without a host was made before there were containers.
  if (named === "auto") return host === "" || onLoopback(host) ? "embedded" : "container";
  throw problem(
    500,
    "bad_configuration",
    `The variable SANDBOX is "${head(named, 40)}". It may be auto, embedded or container.`,
  );
}

/** Private hosts that MCP servers may stand on although the product is not served on loopback. */
export const privateHosts = (env: Bindings): string[] =>
  (env.MCP_ALLOW_PRIVATE ?? "").split(",").flatMap((host) => host.trim() || []);

/** What this deployment has beyond the ordinary: the tools that need it are offered. */
export function haves(env: Bindings, sandbox: SandboxKind): ReadonlySet<Need> {
  const have: [Need, boolean][] = [
    ["background", sandbox === "container"],
    ["search", searchSetup(env).type === "on"],
    ["browser", env.BROWSER !== undefined],
    ["profiles", Object.keys(profiles(env)).length > 0],
  ];
  return new Set(have.flatMap(([need, there]) => (there ? [need] : [])));
}

/** A search that is configured wrongly is not offered; whoever configures it hears why. */
export function checkSearch(env: Bindings): void {
  const setup = searchSetup(env);
  if (setup.type === "wrong") throw problem(500, "bad_configuration", setup.why);
}

/** What tools may ask outside. `host`: where the product is served; only on loopback may it look behind the door. */
export function addressRules(env: Bindings, host: string): AddressRules {
  const allow = (env.FETCH_ALLOW_PRIVATE ?? "").split(",");
  return { own: [host], allow: onLoopback(host) ? allow : [] };
}

export function publicConfig(env: Bindings, host: string): Config {
  const sandbox = sandboxOf(env, host);
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
    tools: toolsFor(haves(env, sandbox)).map((t) => ({ name: t.name, toolkit: t.toolkit })),
    locales: ["auto", "en", "zh"],
    limits: { ...LIMITS, ...DEFAULTS.limits },
    sandbox,
    practice: provider === "practice",
  };
}
