/** A step of the plan: folds by itself when it ends well, stays open while it runs or when it failed. */
import { useState } from "preact/hooks";
import type { Row, StepItem } from "../client/index.ts";
import { Icon } from "./icons.tsx";
import { memo } from "./memo.ts";
import { inIdList, type RowContext, RowView } from "./rows.tsx";
import { StateMark } from "./status.tsx";
import { t } from "./strings.ts";
import { Line } from "./text.tsx";
import { short, since, useNow } from "./time.ts";
import { useTail } from "./use-window.ts";

interface Props extends RowContext {
  item: StepItem;
  /** Ids of messages that were not read yet, as `idList` makes it. */
  queued: string;
  openWait: string | null;
  /** Since when this step waits for a person. */
  pausedAt: string | null;
}

/** What a person said or was asked stays visible when its step is folded. */
const isLoud = (row: Row) => row.kind === "user" || row.kind === "ask";

function shownState(item: StepItem) {
  const { status, success } = item.step;
  if (status === "completed") return success === false ? "failed" : "completed";
  if (status === "pending") return "stopped";
  return status;
}

export const StepGroup = memo(function StepGroup(props: Props) {
  const { item, queued, openWait, pausedAt, ...context } = props;
  const state = shownState(item);
  const [chosen, setChosen] = useState<boolean | null>(null);
  const open = chosen ?? state !== "completed";
  const all = open ? item.rows : item.rows.filter(isLoud);
  const { from, showAll } = useTail(all.length);
  const rows = from > 0 ? all.slice(from) : all;
  return (
    <section class={`step step-${state}`} data-testid="step" data-state={state}>
      <h2>
        <button
          type="button"
          class="step-head"
          aria-expanded={open}
          onClick={() => setChosen(!open)}
        >
          <Icon name="chevron" class="fold" />
          <span class="step-number">{item.number || ""}</span>
          <span class="step-name" dir="auto">
            <Line text={item.step.description} />
          </span>
          {!open && <ToolCount rows={item.rows} />}
          <Elapsed item={item} pausedAt={pausedAt} />
          <StateMark state={pausedAt ? "waiting" : state} quiet={state === "completed"} />
        </button>
      </h2>
      {rows.length > 0 && (
        <div class="step-rows">
          {from > 0 && (
            <button type="button" class="link-button" onClick={showAll}>
              {t("earlier", { n: from })}
            </button>
          )}
          {rows.map((row) => (
            <RowView
              key={row.id}
              row={row}
              queued={inIdList(queued, row.id)}
              open={row.kind === "ask" && row.wait?.wait_id === openWait && !row.answer}
              {...context}
            />
          ))}
        </div>
      )}
      {open && item.step.error && (
        <p class="step-error" dir="auto">
          {item.step.error}
        </p>
      )}
    </section>
  );
});

function ToolCount({ rows }: { rows: Row[] }) {
  const n = rows.filter((row) => row.kind === "tool").length;
  if (n === 0) return null;
  return <span class="tool-count">{n === 1 ? t("oneTool") : t("toolsOfStep", { n })}</span>;
}

function Elapsed({ item, pausedAt }: { item: StepItem; pausedAt: string | null }) {
  const until = item.endedAt ?? pausedAt;
  const now = useNow(until === null);
  return <span class="duration">{short(since(item.ts, until, now) - item.waitedMs)}</span>;
}
