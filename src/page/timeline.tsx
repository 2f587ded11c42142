/** Everything that happened, in order, with what is happening now at its end. */
import { useMemo } from "preact/hooks";
import { allRows, type Item, type LiveText, type View } from "../client/index.ts";
import { activity } from "./activity.ts";
import { Icon } from "./icons.tsx";
import { PlanCard } from "./plan-card.tsx";
import { idList, inIdList, type RowContext, RowView, Thinking } from "./rows.tsx";
import { StepGroup } from "./step.tsx";
import { t } from "./strings.ts";
import { Text } from "./text.tsx";
import { useFollow } from "./use-follow.ts";
import type { Pending } from "./use-outbox.ts";
import type { LiveSession } from "./use-session.ts";

interface Props {
  session: LiveSession;
  selected: string | null;
  onSelect(id: string): void;
}

export function Timeline({ session, selected, onSelect }: Props) {
  const { view, pending } = session;
  const count = useMemo(() => [...allRows(view.items)].length, [view.items]);
  const follow = useFollow(view, count + pending.length);
  const context: RowContext = { session: session.id, selected, onSelect };
  const doing = activity(view);
  return (
    <div class="timeline-frame">
      <div class="timeline" ref={follow.scroller}>
        <PlanCard view={view} />
        <section class="items" aria-label={t("timeline")}>
          <Items view={view} context={context} />
          {view.live.map((entry) => (
            <Live key={entry.id} entry={entry} />
          ))}
          {pending.map((p) => (
            <PendingRow key={p.id} pending={p} session={session} />
          ))}
          <TryAgain session={session} />
          {doing && (
            <p class="activity">
              <span class="pulse" aria-hidden="true" />
              <span class="activity-text">{doing}</span>
            </p>
          )}
        </section>
      </div>
      {!follow.atBottom && (
        <button type="button" class="jump" onClick={follow.jump}>
          <Icon name="down" /> {t("liveJump")}
          {follow.unseen > 0 && (
            <span class="jump-count">{t("liveNew", { n: follow.unseen })}</span>
          )}
        </button>
      )}
    </div>
  );
}

function Items({ view, context }: { view: View; context: RowContext }) {
  const queued = idList(view.queue.map((message) => message.id));
  const openWait = view.wait?.wait_id ?? null;
  const draw = (item: Item, index: number) =>
    item.kind === "step" ? (
      <StepGroup
        key={item.id}
        item={item}
        queued={queued}
        openWait={openWait}
        pausedAt={index === view.open ? view.pausedAt : null}
        {...context}
      />
    ) : (
      <RowView
        key={item.id}
        row={item}
        queued={inIdList(queued, item.id)}
        open={item.kind === "ask" && item.wait?.wait_id === openWait && !item.answer}
        {...context}
      />
    );
  return <>{view.items.map(draw)}</>;
}

/** A failure that may pass: the last message once more. */
function TryAgain({ session }: { session: LiveSession }) {
  const { view } = session;
  const last = view.items.at(-1);
  if (view.status !== "failed" || last?.kind !== "error" || !last.error.retryable) return null;
  let text = "";
  for (const row of allRows(view.items)) if (row.kind === "user") text = row.text;
  if (text === "" || session.pending.length > 0) return null;
  return (
    <button type="button" class="button again" onClick={() => session.send(text)}>
      {t("tryAgain")}
    </button>
  );
}

function Live({ entry }: { entry: LiveText }) {
  return (
    <article class="prose live" aria-label={t("agent")}>
      {entry.thinking && <Thinking text={entry.thinking} />}
      {entry.text && <Text text={entry.text} />}
    </article>
  );
}

function PendingRow({ pending, session }: { pending: Pending; session: LiveSession }) {
  return (
    <article class="user pending" aria-label={t("you")}>
      <Text text={pending.text} />
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
