/** Everything that happened, in order, with what is happening now at its end. */
import { useEffect, useMemo } from "preact/hooks";
import { allRows, type Item, type LiveText, type UserItem } from "../client/index.ts";
import { activity } from "./activity.ts";
import { Icon } from "./icons.tsx";
import { Items } from "./items.tsx";
import { PendingRow } from "./pending.tsx";
import { PlanCard } from "./plan-card.tsx";
import { type RowContext, Thinking } from "./rows.tsx";
import { t } from "./strings.ts";
import { Rich } from "./text.tsx";
import { useFollow } from "./use-follow.ts";
import type { LiveSession } from "./use-session.ts";
import { useWindow } from "./use-window.ts";

interface Props {
  /** Live, or as of one moment of a replay. */
  session: Pick<LiveSession, "view" | "pending" | "send" | "retry" | "discard">;
  /** Nothing can be sent from here. */
  readOnly?: boolean;
  selected: string | null;
  onSelect(id: string): void;
}

const countRows = (items: readonly Item[]): number =>
  items.reduce((n, item) => n + (item.kind === "step" ? item.rows.length + 1 : 1), 0);

export function Timeline({ session, readOnly = false, selected, onSelect }: Props) {
  const { view, pending } = session;
  const count = useMemo(() => countRows(view.items), [view.items]);
  const follow = useFollow(view, count + pending.length);
  const shown = useWindow(view.items.length, follow.atBottom, follow.scroller);
  // Who says something wants to see it said.
  const sent = pending.at(-1)?.id;
  useEffect(() => {
    if (sent) follow.jump();
  }, [sent]);
  const context: RowContext = { selected, onSelect };
  const doing = activity(view);
  return (
    <div class="timeline-frame">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by keys. */}
      <div class="timeline" ref={follow.scroller} tabIndex={0}>
        <PlanCard view={view} />
        <section class="items" aria-label={t("timeline")}>
          {shown.from > 0 && (
            <div ref={shown.sentinel} class="earlier">
              <button type="button" class="link-button" onClick={shown.earlier}>
                {t("earlier", { n: shown.from })}
              </button>
            </div>
          )}
          <Items view={view} from={shown.from} context={context} />
          {view.live.map((entry) => (
            <Live key={entry.id} entry={entry} />
          ))}
          {pending.map((p) => (
            <PendingRow key={p.id} pending={p} session={session} />
          ))}
          {!readOnly && <TryAgain session={session} />}
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

/** A failure that may pass, or a turn that was stopped: what it worked on, once more. */
function TryAgain({ session }: { session: Props["session"] }) {
  const { view, pending } = session;
  const last = view.items.findLast((item) => item.kind !== "sum");
  const passing = last?.kind === "error" && last.error.retryable && view.status === "failed";
  const stopped = last?.kind === "end" && view.status === "stopped";
  if ((!passing && !stopped) || pending.length > 0) return null;
  const message = taskOf(view.items);
  if (!message) return null;
  const { text, attachments } = message;
  return (
    <button type="button" class="button again" onClick={() => session.send(text, attachments)}>
      <Icon name="again" /> {t("tryAgain")}
    </button>
  );
}

/** Of the last turn: the message that began it, or a later one that was a task of its own. */
function taskOf(items: readonly Item[]): UserItem | null {
  const end = items.findLastIndex((item) => item.kind !== "sum");
  const begin = items.findLastIndex((item, i) => item.kind === "sum" && i < end) + 1;
  let task: UserItem | null = null;
  for (const row of allRows(items.slice(begin))) {
    if (row.kind !== "user" || row.removed) continue;
    if (!task || (row.delivery ?? "steer") !== "steer") task = row;
  }
  return task;
}

function Live({ entry }: { entry: LiveText }) {
  return (
    <article class="prose live" aria-label={t("agent")}>
      {entry.thinking && <Thinking text={entry.thinking} />}
      {entry.text && <Rich text={entry.text} />}
    </article>
  );
}
