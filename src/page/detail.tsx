/** The right column: one tool call, or the session's files and usage. */
import { useEffect, useState } from "preact/hooks";
import { findTool, type View } from "../client/index.ts";
import type { FileInfo } from "../core/events.ts";
import { api, errorWords } from "./api.ts";
import { Icon } from "./icons.tsx";
import { locale, t } from "./strings.ts";
import { ToolDetail } from "./tool-detail.tsx";
import { toolIcon, toolLabel } from "./tool-label.ts";

export type Shown = { type: "tool"; id: string } | { type: "files" } | null;

export function Detail(props: { shown: Shown; view: View; session: string; onClose(): void }) {
  const { shown, view, session, onClose } = props;
  if (!shown) return null;
  const tool = shown.type === "tool" ? findTool(view, shown.id) : null;
  if (shown.type === "tool" && !tool) return null;
  return (
    <aside class="detail" aria-label={t("detail")}>
      <header class="detail-head">
        <Icon name={tool ? toolIcon(tool) : "folder"} />
        <h2>{tool ? toolLabel(tool) : t("filesUsage")}</h2>
        <button type="button" class="icon-button" onClick={onClose} title={t("close")}>
          <Icon name="cross" />
          <span class="sr-only">{t("close")}</span>
        </button>
      </header>
      <div class="detail-body">
        {tool ? <ToolDetail tool={tool} /> : <Overview view={view} session={session} />}
      </div>
    </aside>
  );
}

function Overview({ view, session }: { view: View; session: string }) {
  return (
    <>
      <h3>{t("files")}</h3>
      <Files session={session} refresh={`${view.status}-${view.usage.tool_calls}`} />
      <h3>{t("usage")}</h3>
      <UsageTable view={view} />
    </>
  );
}

function Files({ session, refresh }: { session: string; refresh: string }) {
  const [files, setFiles] = useState<FileInfo[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    let current = true;
    const show = (list: FileInfo[] | null, words: string | null) => {
      if (!current) return;
      if (list) setFiles(list);
      setProblem(words);
    };
    api.listFiles(session).then(
      (list) => show(list, null),
      (error: unknown) => show(null, errorWords(error)),
    );
    return () => {
      current = false;
    };
  }, [session, refresh]);
  if (problem) return <p class="problem">{problem}</p>;
  if (!files) return <p class="muted">{t("connecting")}</p>;
  if (files.length === 0) return <p class="muted">{t("noFiles")}</p>;
  return (
    <ul class="files">
      {files.map((file) => (
        <li key={file.path}>
          <a class="file-link" href={api.fileUrl(session, file.path)} download={file.name}>
            <Icon name="file" />
            <span class="mono">{file.path.replace(/^\/workspace\//, "")}</span>
            <span class="muted">{size(file.size)}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}

const number = new Intl.NumberFormat(locale);
const size = (bytes: number): string =>
  bytes < 1024
    ? `${bytes} B`
    : bytes < 1024 * 1024
      ? `${(bytes / 1024).toFixed(1)} KiB`
      : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;

function UsageTable({ view }: { view: View }) {
  const { usage } = view;
  const cost = view.snapshot?.usage.cost_usd;
  const rows: [string, string][] = [
    [t("modelCalls"), number.format(usage.model_calls)],
    [t("toolCalls"), number.format(usage.tool_calls)],
    [t("tokensIn"), number.format(usage.input_tokens)],
    [t("tokensOut"), number.format(usage.output_tokens)],
    [t("cached"), number.format(usage.cached_tokens)],
  ];
  if (typeof cost === "number") rows.push([t("cost"), `$${cost.toFixed(4)}`]);
  return (
    <>
      <dl class="usage">
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {!usage.measured && <p class="muted">{t("estimated")}</p>}
    </>
  );
}
