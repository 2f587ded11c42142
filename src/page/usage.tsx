/** What a session took so far: calls, tokens, money. */
import type { View } from "../client/index.ts";
import type { Usage } from "../core/usage.ts";
import { cost, count } from "./numbers.ts";
import { t } from "./strings.ts";

export function UsageTable({ view }: { view: View }) {
  const paid = view.usage.cost_usd ?? view.snapshot?.usage.cost_usd;
  const row = (name: string, of: (usage: Usage) => number) => (
    <tr>
      <th scope="row">{name}</th>
      <td>{count(of(view.turnUsage))}</td>
      <td>{count(of(view.usage))}</td>
    </tr>
  );
  return (
    <>
      <table class="usage">
        <thead>
          <tr>
            <td />
            <th scope="col">{t("thisTurn")}</th>
            <th scope="col">{t("wholeSession")}</th>
          </tr>
        </thead>
        <tbody>
          {row(t("modelCalls"), (u) => u.model_calls)}
          {row(t("toolCalls"), (u) => u.tool_calls)}
          {row(t("tokensIn"), (u) => u.input_tokens)}
          {row(t("tokensOut"), (u) => u.output_tokens)}
          {row(t("cached"), (u) => u.cached_tokens)}
          {typeof paid === "number" && (
            <tr>
              <th scope="row">{t("cost")}</th>
              <td>{view.turnUsage.cost_usd === null ? "" : cost(view.turnUsage.cost_usd)}</td>
              <td>{cost(paid)}</td>
            </tr>
          )}
        </tbody>
      </table>
      {!view.usage.measured && <p class="muted">{t("estimated")}</p>}
    </>
  );
}
