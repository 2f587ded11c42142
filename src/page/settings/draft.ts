/**
 * Settings as a form holds them, and what of it has to be sent.
 *
 * S1  Only what a person changed is sent: everything else goes on being inherited.
 * S2  A header's value is never known here. `***` stands for one that the server keeps, and is not sent back.
 */
import type { SettingsLayer } from "../../core/settings.ts";

export const KEPT = "***";
export type Verdict = "allow" | "ask" | "deny";

export interface Server {
  name: string;
  url: string;
  enabled: boolean;
  approval: Verdict;
  headers: [name: string, value: string][];
  /** The server knows it already: its name is fixed. */
  saved: boolean;
}
export interface Draft {
  provider: string;
  model: string;
  profile: string;
  locale: "auto" | "en" | "zh";
  instructions: string;
  summarize: "auto" | "always";
  onBusyMessage: "steer" | "follow_up" | "replan" | "reject";
  harness: boolean;
  reviewer: boolean;
  reviewRounds: string;
  maxTokens: string;
  maxCostUsd: string;
  maxToolCalls: string;
  commands: Verdict;
  servers: Server[];
}

const numberText = (n: number | null | undefined): string => (n == null ? "" : String(n));

export function toDraft(settings: SettingsLayer): Draft {
  const { budget, mcp, reviewer, tools } = settings;
  return {
    provider: settings.provider ?? "",
    model: settings.model ?? "",
    profile: settings.profile ?? "",
    locale: settings.locale ?? "auto",
    instructions: settings.instructions ?? "",
    summarize: settings.summarize ?? "auto",
    onBusyMessage: settings.onBusyMessage ?? "steer",
    harness: settings.harness?.enabled ?? false,
    reviewer: reviewer?.enabled ?? false,
    reviewRounds: numberText(reviewer?.maxRetries ?? 2),
    maxTokens: numberText(budget?.maxTokens),
    maxCostUsd: numberText(budget?.maxCostUsd),
    maxToolCalls: numberText(budget?.maxToolCalls),
    commands: tools?.approval?.["shell_*"] ?? "allow",
    servers: Object.entries(mcp?.servers ?? {}).map(([name, server]) => ({
      name,
      url: server.url,
      enabled: server.enabled ?? true,
      approval: server.approval ?? "allow",
      headers: Object.entries(server.headers ?? {}),
      saved: true,
    })),
  };
}

/** "" is no limit; null: this is no number that the server would take. */
export function numberOf(text: string, whole: boolean): number | null | undefined {
  if (text.trim() === "") return null;
  const n = Number(text);
  const fits = Number.isFinite(n) && n > 0 && (!whole || Number.isInteger(n));
  return fits ? n : undefined;
}

/** S1. Numbers that are none are left out; the form marks them. */
export function toPatch(before: Draft, after: Draft): SettingsLayer {
  const changed = <K extends keyof Draft>(key: K) => before[key] !== after[key];
  const patch: SettingsLayer = {};
  for (const key of ["provider", "model", "profile", "instructions"] as const) {
    if (changed(key)) patch[key] = after[key];
  }
  if (changed("locale")) patch.locale = after.locale;
  if (changed("summarize")) patch.summarize = after.summarize;
  if (changed("onBusyMessage")) patch.onBusyMessage = after.onBusyMessage;
  if (changed("harness")) patch.harness = { enabled: after.harness };
  const reviewer = reviewerPatch(before, after);
  if (reviewer) patch.reviewer = reviewer;
  const budget = budgetPatch(before, after);
  if (budget) patch.budget = budget;
  if (changed("commands")) patch.tools = { approval: { "shell_*": after.commands } };
  const servers = serversPatch(before.servers, after.servers);
  if (servers) patch.mcp = { servers };
  return patch;
}

function reviewerPatch(before: Draft, after: Draft): SettingsLayer["reviewer"] {
  const patch: NonNullable<SettingsLayer["reviewer"]> = {};
  if (before.reviewer !== after.reviewer) patch.enabled = after.reviewer;
  const rounds = Number(after.reviewRounds);
  const fits = after.reviewRounds.trim() !== "" && Number.isInteger(rounds) && rounds >= 0;
  if (before.reviewRounds !== after.reviewRounds && fits) patch.maxRetries = rounds;
  return Object.keys(patch).length > 0 ? patch : undefined;
}

function budgetPatch(before: Draft, after: Draft): SettingsLayer["budget"] {
  const patch: NonNullable<SettingsLayer["budget"]> = {};
  for (const key of ["maxTokens", "maxCostUsd", "maxToolCalls"] as const) {
    if (before[key] === after[key]) continue;
    const n = numberOf(after[key], key !== "maxCostUsd");
    if (n !== undefined) patch[key] = n;
  }
  return Object.keys(patch).length > 0 ? patch : undefined;
}

type ServerPatch = NonNullable<NonNullable<SettingsLayer["mcp"]>["servers"]>;

function serversPatch(before: Server[], after: Server[]): ServerPatch | undefined {
  const patch: ServerPatch = {};
  for (const server of after) {
    const name = server.name.trim();
    const was = before.find((held) => held.saved && held.name === name);
    if (name === "" || server.url.trim() === "" || same(was, server)) continue;
    // S2
    const stated = server.headers.filter(([key, value]) => key.trim() !== "" && value !== KEPT);
    patch[name] = {
      url: server.url.trim(),
      enabled: server.enabled,
      approval: server.approval,
      ...(stated.length > 0 && { headers: Object.fromEntries(stated) }),
    };
  }
  return Object.keys(patch).length > 0 ? patch : undefined;
}
const same = (a: Server | undefined, b: Server): boolean =>
  a !== undefined && JSON.stringify(a) === JSON.stringify(b);
