/** The right column: one tool call, one review, one file, or the session's files and usage. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { allRows, findTool, type ReviewItem, type View } from "../client/index.ts";
import type { FileInfo } from "../core/events.ts";
import { fileIcon } from "./files/kind.ts";
import { FilesPanel } from "./files/panel.tsx";
import { FilePreview } from "./files/preview.tsx";
import { Icon, type IconName } from "./icons.tsx";
import { t } from "./strings.ts";
import { toolIcon, toolLabel } from "./tool-label.ts";
import { UsageTable } from "./usage.tsx";
import { Review } from "./viewers/review.tsx";
import { ToolDetail } from "./viewers/tool.tsx";

export type Shown =
  | { type: "tool"; id: string }
  /** `back`: it was opened from the list of files. */
  | { type: "file"; file: FileInfo; back: boolean }
  | { type: "files" }
  | null;

interface Props {
  shown: Shown;
  view: View;
  /** null: a share, whose files are only those that its messages name. */
  session: string | null;
  onShow(shown: Shown): void;
}

export function Detail({ shown, view, session, onShow }: Props) {
  if (!shown) return null;
  const close = () => onShow(null);
  switch (shown.type) {
    case "files":
      return (
        <Panel icon="folder" title={t("filesUsage")} onClose={close}>
          {session && <h3>{t("files")}</h3>}
          {session && (
            <FilesPanel session={session} refresh={`${view.status}-${view.usage.tool_calls}`} />
          )}
          <h3>{t("usage")}</h3>
          <UsageTable view={view} />
        </Panel>
      );
    case "file": {
      const back = shown.back ? () => onShow({ type: "files" }) : undefined;
      const { file } = shown;
      return (
        <Panel
          icon={fileIcon(file)}
          title={file.name}
          onClose={close}
          {...(back && { onBack: back })}
        >
          <FilePreview key={file.path} file={file} />
        </Panel>
      );
    }
    case "tool":
      return <OfRow id={shown.id} view={view} onClose={close} />;
  }
}

/** A row of the timeline: a tool call, or a review. */
function OfRow({ id, view, onClose }: { id: string; view: View; onClose(): void }) {
  const tool = findTool(view, id);
  if (tool) {
    return (
      <Panel icon={toolIcon(tool)} title={toolLabel(tool)} onClose={onClose}>
        <ToolDetail key={tool.id} tool={tool} />
      </Panel>
    );
  }
  const review = findReview(view, id);
  if (!review) return null;
  return (
    <Panel icon="check" title={t("review")} onClose={onClose}>
      <Review review={review.review} />
    </Panel>
  );
}

function findReview(view: View, id: string): ReviewItem | null {
  for (const row of allRows(view.items)) if (row.kind === "review" && row.id === id) return row;
  return null;
}

interface PanelProps {
  icon: IconName;
  title: string;
  children: ComponentChildren;
  onBack?(): void;
  onClose(): void;
}

/** Whoever opened it with the keyboard is taken to it, and back when it closes. */
function Panel({ icon, title, children, onBack, onClose }: PanelProps) {
  const head = useRef<HTMLHeadingElement>(null);
  useReturnFocus(head);
  return (
    <aside class="detail" aria-label={t("detail")}>
      <header class="detail-head">
        {onBack && (
          <button type="button" class="icon-button" onClick={onBack} title={t("back")}>
            <Icon name="back" />
            <span class="sr-only">{t("back")}</span>
          </button>
        )}
        <Icon name={icon} />
        <h2 ref={head} tabIndex={-1} dir="auto">
          {title}
        </h2>
        <button type="button" class="icon-button" onClick={onClose} title={t("close")}>
          <Icon name="cross" />
          <span class="sr-only">{t("close")}</span>
        </button>
      </header>
      <div class="detail-body">{children}</div>
    </aside>
  );
}

function useReturnFocus(head: { current: HTMLElement | null }): void {
  useEffect(() => {
    const opener = document.activeElement;
    if (!(opener instanceof HTMLElement) || !opener.matches(":focus-visible")) return;
    head.current?.focus({ preventScroll: true });
    return () => {
      if (opener.isConnected) opener.focus({ preventScroll: true });
    };
  }, []);
}
