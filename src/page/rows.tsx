/** What stands in the timeline besides steps: people, prose, questions that were answered, notices. */
import type {
  AskItem,
  EndItem,
  ErrorItem,
  ProseItem,
  ReplanItem,
  Row,
  UserItem,
} from "../client/index.ts";
import type { FileInfo, Step } from "../core/events.ts";
import { api } from "./api.ts";
import { Icon } from "./icons.tsx";
import { memo } from "./memo.ts";
import { t } from "./strings.ts";
import { Text } from "./text.tsx";
import { exact } from "./time.ts";
import { ToolRow } from "./tool-row.tsx";

/** Ids as one text, so that they compare by value; an id never holds a space. */
export const idList = (ids: readonly string[]): string => ` ${ids.join(" ")} `;
export const inIdList = (list: string, id: string): boolean => list.includes(` ${id} `);

export interface RowContext {
  session: string;
  /** The tool call whose detail is open. */
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
  const { row, session } = props;
  switch (row.kind) {
    case "user":
      return <UserRow row={row} session={session} queued={props.queued} />;
    case "prose":
      return <Prose row={row} session={session} />;
    case "tool":
      return <ToolRow tool={row} selected={props.selected === row.id} onSelect={props.onSelect} />;
    case "ask":
      return props.open ? null : <Asked row={row} />;
    case "note":
      return <p class="line">{row.text}</p>;
    case "nudge":
      return <p class="line">{t("nudge", { reason: row.reason.replace(/_/g, " ") })}</p>;
    case "review":
      return <Review row={row} />;
    case "replan":
      return <Replan row={row} />;
    case "error":
      return <Failure row={row} />;
    case "end":
      return <End row={row} />;
  }
});

function UserRow(props: { row: UserItem; session: string; queued: boolean }) {
  const { row, session, queued } = props;
  return (
    <article class="user" aria-label={t("you")} title={exact(row.ts)}>
      <Text text={row.text} />
      <Attachments files={row.attachments} session={session} />
      {queued && <p class="tag">{t("queued")}</p>}
    </article>
  );
}

function Prose({ row, session }: { row: ProseItem; session: string }) {
  return (
    <article
      class={`prose tone-${row.tone}`}
      data-kind={row.tone}
      aria-label={t("agent")}
      title={exact(row.ts)}
    >
      {row.thinking && <Thinking text={row.thinking} />}
      <Text text={row.text} />
      <Attachments files={row.attachments} session={session} />
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

function Attachments({ files, session }: { files: FileInfo[]; session: string }) {
  if (files.length === 0) return null;
  return (
    <ul class="attachments" aria-label={t("attachments")}>
      {files.map((file) => (
        <li key={file.path}>
          <a class="file-link" href={api.fileUrl(session, file.path)} download={file.name}>
            <Icon name="file" /> {file.name}
          </a>
        </li>
      ))}
    </ul>
  );
}

function Asked({ row }: { row: AskItem }) {
  const { answer } = row;
  const decision =
    answer?.approved === undefined ? null : t(answer.approved ? "approved" : "declined");
  const said = answer ? (answer.text ?? decision) : null;
  return (
    <article class="asked" aria-label={t("question")}>
      <Text text={row.text} />
      <p class={said ? "given" : "line"}>{said ?? t("unanswered")}</p>
    </article>
  );
}

function Review({ row }: { row: Extract<Row, { kind: "review" }> }) {
  const { verdict, score, issues } = row.review;
  return (
    <div class="line">
      <p>{t(verdict === "pass" ? "reviewPass" : "reviewFail", { score })}</p>
      {issues.length > 0 && (
        <ul>
          {issues.map((issue) => (
            <li key={issue}>{issue}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Replan({ row }: { row: ReplanItem }) {
  return (
    <details class="replan">
      <summary>
        <Icon name="swap" /> {t("planChanged")}
      </summary>
      <div class="replan-both">
        <PlanList title={t("before")} steps={row.before} />
        <PlanList title={t("after")} steps={row.after} />
      </div>
    </details>
  );
}
function PlanList({ title, steps }: { title: string; steps: Step[] }) {
  return (
    <div>
      <h4>{title}</h4>
      <ol>
        {steps.map((step) => (
          <li key={step.id}>{step.description}</li>
        ))}
      </ol>
    </div>
  );
}

function Failure({ row }: { row: ErrorItem }) {
  return (
    <div class="failure" role="alert">
      <Icon name="alert" />
      <div>
        <Text text={row.error.message} />
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
    <p class={`end end-${row.outcome}`}>
      <Icon name={row.outcome === "failed" ? "cross" : "square"} /> {text}
    </p>
  );
}
