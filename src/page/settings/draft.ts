/**
 * Settings as a form holds them, and what of it has to be sent.
 *
 * S1  The form holds what is stated here and nothing else: an empty field is inherited.
 * S2  Only what a person changed is sent; what was emptied is taken back (`null`), and inherited again.
 * S3  A header's value is never known here. `***` stands for one that the server keeps, and is not sent back.
 */
import type { SettingsLayer } from "../../core/settings.ts";
import type { SettingsPatch } from "../../core/settings-patch.ts";
import { isHalf, type PriceRow, priceRows, pricesPatch } from "./prices.ts";

export const KEPT = "***";
export type Verdict = "allow" | "ask" | "deny";
export type Delivery = "steer" | "follow_up" | "replan" | "reject";
export type Switch = "" | "on" | "off";

export interface Server {
  name: string;
  url: string;
  enabled: boolean;
  approval: Verdict;
  headers: [name: string, value: string][];
  /** It is stated already: its name is fixed. */
  saved: boolean;
}
export interface Draft {
  provider: string;
  model: string;
  profile: string;
  locale: "" | "auto" | "en" | "zh";
  instructions: string;
  summarize: "" | "auto" | "always";
  onBusyMessage: "" | Delivery;
  harness: Switch;
  reviewer: Switch;
  reviewRounds: string;
  maxTokens: string;
  maxCostUsd: string;
  maxToolCalls: string;
  commands: "" | Verdict;
  prices: PriceRow[];
  servers: Server[];
}

const numberText = (n: number | null | undefined): string => (n == null ? "" : String(n));
const switchOf = (on: boolean | undefined): Switch => (on === undefined ? "" : on ? "on" : "off");

export function toDraft(own: SettingsLayer): Draft {
  const { budget, mcp, reviewer, tools } = own;
  return {
    provider: own.provider ?? "",
    model: own.model ?? "",
    profile: own.profile ?? "",
    locale: own.locale ?? "",
    instructions: own.instructions ?? "",
    summarize: own.summarize ?? "",
    onBusyMessage: own.onBusyMessage ?? "",
    harness: switchOf(own.harness?.enabled),
    reviewer: switchOf(reviewer?.enabled),
    reviewRounds: numberText(reviewer?.maxRetries),
    maxTokens: numberText(budget?.maxTokens),
    maxCostUsd: numberText(budget?.maxCostUsd),
    maxToolCalls: numberText(budget?.maxToolCalls),
    commands: tools?.approval?.["shell_*"] ?? "",
    prices: priceRows(own.prices),
    servers: Object.entries(mcp?.servers ?? {}).map(([name, server]) => serverOf(name, server)),
  };
}

type StatedServer = NonNullable<NonNullable<SettingsLayer["mcp"]>["servers"]>[string];
export const serverOf = (name: string, server: StatedServer): Server => ({
  name,
  url: server.url,
  enabled: server.enabled ?? true,
  approval: server.approval ?? "allow",
  headers: Object.entries(server.headers ?? {}),
  saved: true,
});

/** null: nothing is stated; undefined: this is no number that the server would take. */
export function numberOf(text: string, whole: boolean, least = 1): number | null | undefined {
  if (text.trim() === "") return null;
  const n = Number(text);
  const fits = Number.isFinite(n) && (whole ? Number.isInteger(n) && n >= least : n > 0);
  return fits ? n : undefined;
}

const NUMBERS = {
  maxTokens: (text: string) => numberOf(text, true),
  maxCostUsd: (text: string) => numberOf(text, false),
  maxToolCalls: (text: string) => numberOf(text, true),
  reviewRounds: (text: string) => numberOf(text, true, 0),
} as const;
export type NumberKey = keyof typeof NUMBERS;
export const isWrong = (draft: Draft, key: NumberKey): boolean =>
  NUMBERS[key](draft[key]) === undefined;

/** Something in it is no value yet: saved now, it would be lost. */
export const isUnfinished = (draft: Draft): boolean =>
  (Object.keys(NUMBERS) as NumberKey[]).some((key) => isWrong(draft, key)) ||
  draft.prices.some(isHalf);

/** S2. Numbers that are none are left out; the form marks them. */
export function toPatch(before: Draft, after: Draft): SettingsPatch {
  const changed = (key: keyof Draft) => before[key] !== after[key];
  const text = <K extends keyof Draft>(key: K) => (after[key] === "" ? null : after[key]);
  const flag = (value: Switch) => (value === "" ? null : value === "on");
  const number = (key: NumberKey) => (changed(key) ? NUMBERS[key](after[key]) : undefined);
  const patch: Record<string, unknown> = {};
  for (const key of TEXTS) if (changed(key)) patch[key] = text(key);
  if (changed("harness")) patch.harness = { enabled: flag(after.harness) };
  const reviewer = stated({
    enabled: changed("reviewer") ? flag(after.reviewer) : undefined,
    maxRetries: number("reviewRounds"),
  });
  const budget = stated({
    maxTokens: number("maxTokens"),
    maxCostUsd: number("maxCostUsd"),
    maxToolCalls: number("maxToolCalls"),
  });
  const prices = stated(pricesPatch(before.prices, after.prices));
  const servers = stated(serversPatch(before.servers, after.servers));
  if (changed("commands")) patch.tools = { approval: { "shell_*": text("commands") } };
  Object.assign(patch, stated({ reviewer, budget, prices, mcp: servers && { servers } }));
  return patch as SettingsPatch;
}
const TEXTS = [
  ...(["provider", "model", "profile", "instructions"] as const),
  ...(["locale", "summarize", "onBusyMessage"] as const),
];

/** Without what is undefined; undefined when nothing is left. */
function stated<T extends object>(block: T): Partial<T> | undefined {
  const entries = Object.entries(block).filter(([, value]) => value !== undefined);
  return entries.length > 0 ? (Object.fromEntries(entries) as Partial<T>) : undefined;
}

function serversPatch(before: Server[], after: Server[]): Record<string, object | null> {
  const patch: Record<string, object | null> = {};
  for (const { name } of before) if (!after.some((s) => s.name === name)) patch[name] = null;
  for (const server of after) {
    const name = server.name.trim();
    const was = before.find((held) => held.name === name);
    if (name === "" || server.url.trim() === "" || same(was, server)) continue;
    const headers = headersPatch(was, server);
    patch[name] = {
      url: server.url.trim(),
      enabled: server.enabled,
      approval: server.approval,
      ...(headers && { headers }),
    };
  }
  return patch;
}

/** S3 */
function headersPatch(was: Server | undefined, server: Server) {
  const named = server.headers.filter(([name]) => name.trim() !== "");
  const gone = (was?.headers ?? []).filter(([name]) => !named.some(([held]) => held === name));
  const fresh = named.filter(([, value]) => value !== KEPT);
  return stated(Object.fromEntries([...gone.map(([name]) => [name, null] as const), ...fresh]));
}
const same = (a: Server | undefined, b: Server): boolean =>
  a !== undefined && JSON.stringify(a) === JSON.stringify(b);
