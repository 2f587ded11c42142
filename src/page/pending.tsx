/** What a person sent and the log does not hold yet. */
import { bytes } from "./numbers.ts";
import { t } from "./strings.ts";
import { Text } from "./text.tsx";
import type { Outbox, Pending } from "./use-outbox.ts";

interface Props {
  pending: Pending;
  session: Pick<Outbox, "retry" | "discard">;
}

export function PendingRow({ pending, session }: Props) {
  return (
    <article class="user pending" aria-label={t("you")}>
      <Text text={pending.text} />
      {pending.files.length > 0 && (
        <p class="tag">{pending.files.map((f) => `${f.name} (${bytes(f.size)})`).join(" · ")}</p>
      )}
      {pending.problem ? (
        <p class="tag problem" role="alert">
          {t("notSent", { why: pending.problem })}
          <button type="button" class="link-button" onClick={() => session.retry(pending.id)}>
            {t("tryAgain")}
          </button>
          <button type="button" class="link-button" onClick={() => session.discard(pending.id)}>
            {t("discard")}
          </button>
        </p>
      ) : (
        <p class="tag">{t("sending")}</p>
      )}
    </article>
  );
}
