/** All files of a session: look at one, save one or all, delete one. */
import { useContext, useState } from "preact/hooks";
import type { FileInfo } from "../../core/events.ts";
import { errorWords } from "../api.ts";
import { Icon } from "../icons.tsx";
import { bytes } from "../numbers.ts";
import { t } from "../strings.ts";
import { ago, exact, useNow } from "../time.ts";
import { FilesAt } from "./files-at.ts";
import { fileIcon } from "./kind.ts";
import { MOST_ZIP_BYTES, save, zipOf } from "./save.ts";
import { useFiles } from "./use-files.ts";

interface Props {
  session: string;
  /** Another value asks for the list again. */
  refresh: string;
}

export function FilesPanel({ session, refresh }: Props) {
  const { files, problem, remove } = useFiles(session, refresh);
  if (!files) {
    return <p class={problem ? "problem" : "muted"}>{problem ?? t("loading")}</p>;
  }
  return (
    <>
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {files.length === 0 && <p class="muted">{t("noFiles")}</p>}
      <ul class="files">
        {files.map((file) => (
          <Row key={file.path} file={file} onRemove={remove} />
        ))}
      </ul>
      {files.length > 1 && <SaveAll session={session} files={files} />}
    </>
  );
}

function Row({ file, onRemove }: { file: FileInfo; onRemove(file: FileInfo): void }) {
  const at = useContext(FilesAt);
  const now = useNow(true, 30_000);
  const shown = file.path.replace(/^\/workspace\//, "");
  return (
    <li class="file-row" data-testid="file">
      <button type="button" class="file-open" onClick={() => at.show?.(file)}>
        <Icon name={fileIcon(file)} />
        <bdi class="mono file-path">{shown}</bdi>
        <span class="muted">{bytes(file.size)}</span>
        <time class="muted" dateTime={file.modified_at} title={exact(file.modified_at)}>
          {ago(file.modified_at, now)}
        </time>
      </button>
      <a
        class="icon-button small"
        href={at.url(file.path)}
        download={file.name}
        title={t("saveFile", { name: file.name })}
      >
        <Icon name="down" />
        <span class="sr-only">{t("saveFile", { name: file.name })}</span>
      </a>
      <RemoveFile file={file} onRemove={onRemove} />
    </li>
  );
}

function RemoveFile({ file, onRemove }: { file: FileInfo; onRemove(file: FileInfo): void }) {
  const [sure, setSure] = useState(false);
  if (sure) {
    return (
      <button
        type="button"
        class="button danger small"
        onBlur={() => setSure(false)}
        onClick={() => onRemove(file)}
      >
        {t("removeSure")}
      </button>
    );
  }
  return (
    <button
      type="button"
      class="icon-button small"
      title={t("deleteFile", { name: file.name })}
      onClick={() => setSure(true)}
    >
      <Icon name="trash" />
      <span class="sr-only">{t("deleteFile", { name: file.name })}</span>
    </button>
  );
}

function SaveAll({ session, files }: { session: string; files: readonly FileInfo[] }) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const size = files.reduce((sum, file) => sum + file.size, 0);
  const run = async () => {
    setBusy(true);
    setProblem(null);
    try {
      save(await zipOf(session, files), `${session}.zip`);
    } catch (error) {
      setProblem(errorWords(error));
    }
    setBusy(false);
  };
  const tooMuch = size > MOST_ZIP_BYTES;
  return (
    <p>
      <button
        type="button"
        class="button"
        disabled={busy || tooMuch}
        title={tooMuch ? t("zipTooLarge", { most: bytes(MOST_ZIP_BYTES) }) : ""}
        onClick={() => void run()}
      >
        <Icon name="down" /> {busy ? t("zipping") : t("saveAll", { size: bytes(size) })}
      </button>
      {problem && (
        <span class="problem" role="alert">
          {problem}
        </span>
      )}
    </p>
  );
}
