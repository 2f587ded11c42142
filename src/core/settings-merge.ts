/**
 * The merge of settings: layers deployment → profile → owner → session → message.
 *
 * S1  Absent means inherited: layers merge field by field, never block by block.
 * S2  `tools`, `limits` and `budget` combine by the strictest value that a layer states; all else by the nearest.
 * S3  Defaults are only defaults: they never count as strict.
 * S4  Headers of an MCP server go to no other address than the one that they were stated with.
 */
import { globMatches } from "./glob.ts";
import { DEFAULTS, type Harness, type Settings, type SettingsLayer } from "./settings.ts";

type Plain = Record<string, unknown>;
const isPlain = (v: unknown): v is Plain =>
  typeof v === "object" && v !== null && !Array.isArray(v);
/** Keys that would reach an object's prototype are never merged. */
const SAFE = (key: string) => key !== "__proto__" && key !== "constructor" && key !== "prototype";

function nearest(base: Plain, layer: Plain): Plain {
  const out: Plain = { ...base };
  for (const [key, value] of Object.entries(layer)) {
    if (value === undefined || !SAFE(key)) continue;
    const before = out[key];
    out[key] = isPlain(before) && isPlain(value) ? nearest(before, value) : value;
  }
  return out;
}

const smallest = (values: (number | null | undefined)[]): number | null | undefined => {
  const stated = values.filter((v) => v !== undefined);
  const numbers = stated.filter((v) => v !== null);
  return numbers.length > 0 ? Math.min(...numbers) : stated.length > 0 ? null : undefined;
};

function strictest<T extends Plain>(defaults: T, layers: (Partial<T> | undefined)[]): T {
  const out: Plain = { ...defaults };
  for (const key of Object.keys(defaults)) {
    const value = smallest(layers.map((l) => l?.[key] as number | null | undefined));
    if (value !== undefined) out[key] = value;
  }
  return out as T;
}

const RANK = { allow: 0, ask: 1, deny: 2 } as const;
function strictestTools(layers: (SettingsLayer["tools"] | undefined)[]): Settings["tools"] {
  const approval: Settings["tools"]["approval"] = {};
  let enabled = DEFAULTS.tools.enabled;
  let unattended = DEFAULTS.tools.unattended;
  for (const layer of layers) {
    for (const [glob, verdict] of Object.entries(layer?.approval ?? {})) {
      if (!SAFE(glob)) continue;
      const held = approval[glob];
      if (held === undefined || RANK[verdict] > RANK[held]) approval[glob] = verdict;
    }
    // The strictest list of enabled tools is what every layer that states one lets through.
    const stated = layer?.enabled;
    if (stated) enabled = enabled.includes("*") ? stated : narrow(enabled, stated);
    if (layer?.unattended === "block") unattended = "block";
  }
  return { enabled, approval, unattended };
}
const narrow = (held: string[], stated: string[]) =>
  stated.includes("*")
    ? held
    : [
        ...held.filter((glob) => stated.some((s) => globMatches(s, glob))),
        ...stated.filter((s) => !held.includes(s) && held.some((glob) => globMatches(glob, s))),
      ];

/** Headers are for the address that they were stated with: a nearer layer that names another one gets none of them. */
function moved(base: Plain, layer: SettingsLayer): Plain {
  const held = (base.mcp as SettingsLayer["mcp"])?.servers;
  if (!held) return base;
  const servers = { ...held };
  for (const [name, { url }] of Object.entries(layer.mcp?.servers ?? {})) {
    const server = Object.hasOwn(servers, name) ? servers[name] : undefined;
    if (!server || server.url === url) continue;
    const { headers: _, ...rest } = server;
    servers[name] = rest;
  }
  return { ...base, mcp: { servers } };
}

/** The effective settings of a list of layers, outermost first. */
export function mergeSettings(layers: (SettingsLayer | undefined)[]): Settings {
  let merged: Plain = DEFAULTS as unknown as Plain;
  for (const layer of layers) if (layer) merged = nearest(moved(merged, layer), layer as Plain);
  return {
    ...(merged as unknown as Settings),
    limits: strictest(
      DEFAULTS.limits,
      layers.map((l) => l?.limits),
    ),
    budget: strictest(
      DEFAULTS.budget,
      layers.map((l) => l?.budget),
    ),
    tools: strictestTools(layers.map((l) => l?.tools)),
    // Address and secret belong together: nobody signs with the secret of a layer further out.
    webhook: {
      ...DEFAULTS.webhook,
      ...layers.findLast((l) => l?.webhook?.url !== undefined)?.webhook,
    },
  };
}

/** One layer over another of the same owner (a PATCH): nearest wins, nothing is strict. */
export const patchLayer = (base: SettingsLayer, patch: SettingsLayer): SettingsLayer =>
  nearest(moved(base as Plain, patch), patch as Plain) as SettingsLayer;

const harnesses = new WeakMap<Settings, Map<string, Harness>>();
/** The harness of a role: its own fields over the session's. The same object as long as the settings are. */
export function harnessOf(settings: Settings, role: keyof Settings["roles"]): Harness {
  const held = harnesses.get(settings) ?? new Map<string, Harness>();
  harnesses.set(settings, held);
  const own = settings.roles[role].harness ?? {};
  const merged = held.get(role) ?? (nearest(settings.harness, own as Plain) as unknown as Harness);
  held.set(role, merged);
  return merged;
}
