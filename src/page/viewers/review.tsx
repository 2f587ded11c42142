/** The reviewer's verdict: whether it is enough, how good it is, and what is missing. */
import type { EventData } from "../../core/events.ts";
import { Icon } from "../icons.tsx";
import { type StringKey, t } from "../strings.ts";
import { Rich } from "../text.tsx";

const NEXT: Record<EventData<"review">["next_action"], StringKey> = {
  none: "reviewNothing",
  replan: "reviewReplan",
  retry_actor: "reviewRetry",
};

export function Review({ review }: { review: EventData<"review"> }) {
  const { verdict, score, issues, next_action, round } = review;
  return (
    <section class="review">
      <p class={`verdict review-${verdict}`}>
        <Icon name={verdict === "pass" ? "check" : "cross"} />
        {t(verdict === "pass" ? "verdictPass" : "verdictFail")}
      </p>
      <p>
        <meter min={0} max={10} value={score} aria-label={t("score")} /> {score} / 10
      </p>
      {issues.length > 0 && (
        <ul class="issues">
          {issues.map((issue) => (
            <li>
              <Rich text={issue} />
            </li>
          ))}
        </ul>
      )}
      <p class="muted">
        {t("reviewRound", { n: round })} · {t(NEXT[next_action])}
      </p>
    </section>
  );
}
