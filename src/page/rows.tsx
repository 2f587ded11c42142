/** What stands in the timeline besides steps: people, prose, questions that were answered, notices. */

import { useContext } from "preact/hooks";
import type { AskItem, EndItem, ErrorItem, ProseItem, Row, UserItem } from "../client/index.ts";
import type { Delivery } from "../core/events.ts";
import { Acts } from "./acts.ts";
import { Attachments } from "./attachments.tsx";
import { Icon } from "./icons.tsx";
import { memo } from "./memo.ts";
import { nextStep } from "./next-step.ts";
import { QueuedTag } from "./queued.tsx";
import { Replan } from "./replan.tsx";
import { sessionHref } from "./route.ts";
import { RowTools } from "./row-tools.tsx";
import { type StringKey, t } from "./strings.ts";
import { Sum } from "./sum.tsx";
import { Line, Rich, Text } from "./text.tsx";
import { exact } from "./time.ts";
import { ToolRow } from "./tool-row.tsx";

/** Ids as one text, so that they compare by value; an id never holds a space. */
export const idList = (ids: readonly string[]): string => ` ${ids.join(" ")} `;
export const inIdList = (list: string, id: string): boolean => list.includes(` ${id} `);

export interface RowContext {
  /** The tool call or review whose detail is open. */
  selected: string | null;
  onSelect(id: string): void;
}
interface Props extends RowContext {
  row: Row;
  /** A user's message that was not read yet. */
  queued: boolean;
  /** An approval or question that is open right now is shown in the dock, not here. */
  open: boolean;
}

export const RowView = memo(function RowView(props: Props) {
  const { row } = props;
  switch (row.kind) {
    case "user":
      return <UserRow row={row} queued={props.queued} />;
    case "prose":
      return <Prose row={row} />;
    case "tool":
      return <ToolRow tool={row} selected={props.selected === row.id} onSelect={props.onSelect} />;
    case "ask":
      return props.open ? null : <Asked row={row} />;
    case "note":
      return <p class="line">{row.text}</p>;
    case "moved":
      return <Moved to={row.to} />;
    case "nudge":
      return <p class="line">{t("nudge", { reason: row.reason.replace(/_/g, " ") })}</p>;
    case "review":
      return <Review row={row} selected={props.selected === row.id} onSelect={props.onSelect} />;
    case "replan":
      return <Replan row={row} />;
    case "error":
      return <Failure row={row} />;
    case "end":
      return <End row={row} />;
    case "sum":
      return <Sum usage={row.usage} workedMs={row.workedMs} />;
  }
});

const DELIVERED: Partial<Record<Delivery, StringKey>> = {
  follow_up: "wasFollowUp",
  replan: "wasReplan",
};

function UserRow({ row, queued }: { row: UserItem; queued: boolean }) {
  const { id, text, delivery = "steer", removed } = row;
  const how = DELIVERED[delivery];
  return (
    <article
      class={`user ${removed ? "removed" : ""}`}
      aria-label={t("you")}
      title={exact(row.ts)}
      data-testid="user"
    >
      <Text text={text} />
      <Attachments files={row.attachments} />
      {removed && <p class="tag">{t("takenBack")}</p>}
      {queued && <QueuedTag id={id} text={text} delivery={delivery} />}
      {!queued && !removed && how && <p class="tag">{t(how)}</p>}
      {!queued && <RowTools text={text} seq={row.seq} own />}
    </article>
  );
}

function Prose({ row }: { row: ProseItem }) {
  return (
    <article
      class={`prose tone-${row.tone}`}
      data-kind={row.tone}
      aria-label={t("agent")}
      title={exact(row.ts)}
    >
      {row.thinking && <Thinking text={row.thinking} />}
      <Rich text={row.text} />
      <Attachments files={row.attachments} />
      <RowTools text={row.text} seq={row.seq} />
    </article>
  );
}

export function Thinking({ text }: { text: string }) {
  return (
    <details class="thinking">
      <summary>{t("thinkingOf")}</summary>
      <Text text={text} />
    </details>
  );
}

function Asked({ row }: { row: AskItem }) {
  const { answer } = row;
  const decision =
    answer?.approved === undefined ? null : t(answer.approved ? "approved" : "declined");
  const said = answer ? (answer.text ?? decision) : null;
  return (
    <article class="asked" aria-label={t("question")}>
      <Rich text={row.text} />
      <p class={said ? "given" : "line"} dir="auto">
        {said ?? t("unanswered")}
      </p>
      <Attachments files={answer?.attachments ?? []} />
    </article>
  );
}

/** Whoever reads a share has no way there. */
function Moved({ to }: { to: string }) {
  const acts = useContext(Acts);
  return (
    acts && (
      <p class="line">
        <a href={sessionHref(to)}>{t("movedTo")}</a>
      </p>
    )
  );
}

interface ReviewProps {
  row: Extract<Row, { kind: "review" }>;
  selected: boolean;
  onSelect(id: string): void;
}
function Review({ row, selected, onSelect }: ReviewProps) {
  const { verdict, score, issues } = row.review;
  return (
    <button
      type="button"
      class="tool-row review-row"
      aria-pressed={selected}
      onClick={() => onSelect(row.id)}
    >
      <Icon name={verdict === "pass" ? "check" : "swap"} class={`review-${verdict}`} />
      <span class="tool-label">
        {t(verdict === "pass" ? "reviewPass" : "reviewFail", { score })}
      </span>
      {issues.length > 0 && <span class="chip">{t("issues", { n: issues.length })}</span>}
    </button>
  );
}

function Failure({ row }: { row: ErrorItem }) {
  return (
    <div class="failure" role="alert">
      <Icon name="alert" />
      <div>
        <Text text={row.error.message} />
        <p>{nextStep(row.error)}</p>
        <p class="muted mono">{row.error.code}</p>
      </div>
    </div>
  );
}

function End({ row }: { row: EndItem }) {
  const what = row.interrupted;
  const text =
    row.outcome === "failed"
      ? t("failedPlain")
      : what
        ? t("interrupted", { what })
        : t("stoppedPlain");
  return (
    <p class={`end end-${row.outcome}`} dir="auto">
      <Icon name={row.outcome === "failed" ? "cross" : "square"} /> <Line text={text} />
    </p>
  );
}
