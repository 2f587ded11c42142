/**
 * Which calls a person must allow first.
 *
 * P1  Of all globs that match a tool, and its own word, the strictest counts; what nothing matches is allowed.
 * P2  A call that waits for an approval has not started; a denied one never does, and is answered honestly.
 */
import type { Call } from "./call.ts";
import { globMatches } from "./glob.ts";
import type { Settings } from "./settings.ts";

export type Verdict = Settings["tools"]["approval"][string];

export function verdictOf({ tools }: Settings, name: string): Verdict {
  const verdicts = Object.entries(tools.approval)
    .filter(([glob]) => globMatches(glob, name))
    .map(([, verdict]) => verdict);
  if (verdicts.includes("deny")) return "deny";
  return verdicts.includes("ask") ? "ask" : "allow";
}

/** It is to be asked about and has not been answered yet. */
export const needsApproval = (settings: Settings, call: Call): boolean =>
  call.kind === "work" &&
  call.approved !== true &&
  (call.approval === "ask" || verdictOf(settings, call.name) === "ask");
