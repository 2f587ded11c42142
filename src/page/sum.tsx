/** What a turn took: one quiet line at its end. */
import type { Usage } from "../core/usage.ts";
import { cost, count } from "./numbers.ts";
import { t } from "./strings.ts";
import { short } from "./time.ts";

export function Sum({ usage, workedMs }: { usage: Usage; workedMs: number }) {
  if (usage.model_calls === 0) return null;
  const tokens = usage.input_tokens + usage.output_tokens;
  const parts = [
    t("sumTime", { time: short(workedMs) }),
    usage.model_calls === 1 ? t("sumOneCall") : t("sumCalls", { n: count(usage.model_calls) }),
    t(usage.measured ? "sumTokens" : "sumTokensAbout", { n: count(tokens) }),
  ];
  if (usage.cost_usd !== null) parts.push(cost(usage.cost_usd));
  return (
    <p class="line sum" data-testid="sum">
      {parts.join(" · ")}
    </p>
  );
}
