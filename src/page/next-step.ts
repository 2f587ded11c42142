/** The one thing to do about an error; files and history are kept whatever happened. */
import type { ErrorCode } from "../core/events.ts";
import { type StringKey, t } from "./strings.ts";

const WORDS: Partial<Record<ErrorCode, StringKey>> = {
  provider_auth: "nextKey",
  no_provider: "nextProvider",
  provider_quota: "nextQuota",
  rate_limited: "nextLater",
  context_overflow: "nextShorter",
  sandbox_unavailable: "nextSandbox",
  budget_exceeded: "nextBudget",
  max_iterations: "nextSmaller",
  tool_errors_exhausted: "nextSmaller",
};

export function nextStep(error: { code: ErrorCode; retryable: boolean }): string {
  const held = t("nothingLost");
  const key = WORDS[error.code] ?? (error.retryable ? "nextAgain" : "nextMessage");
  return `${held} ${t(key)}`;
}
