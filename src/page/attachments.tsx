/** Files of a message: pictures as pictures, everything else as a link with its size. */
import { useContext } from "preact/hooks";
import type { FileInfo } from "../core/events.ts";
import { FilesAt } from "./files/files-at.ts";
import { fileIcon, isRaster } from "./files/kind.ts";
import { Icon } from "./icons.tsx";
import { bytes } from "./numbers.ts";
import { t } from "./strings.ts";

export function Attachments({ files }: { files: FileInfo[] }) {
  if (files.length === 0) return null;
  return (
    <ul class="attachments" aria-label={t("attachments")}>
      {files.map((file) => (
        <li key={file.path}>
          <Attachment file={file} />
        </li>
      ))}
    </ul>
  );
}

function Attachment({ file }: { file: FileInfo }) {
  const at = useContext(FilesAt);
  const show = (event: MouseEvent) => {
    const plain = !event.ctrlKey && !event.metaKey && !event.shiftKey;
    if (!at.show || !plain) return;
    event.preventDefault();
    at.show(file);
  };
  const picture = isRaster(file);
  return (
    <a
      class={`file-link ${picture ? "is-picture" : ""}`}
      href={at.url(file.path)}
      download={file.name}
      title={file.name}
      onClick={show}
    >
      {picture ? (
        <img src={at.url(file.path, { inline: true })} alt="" loading="lazy" />
      ) : (
        <Icon name={fileIcon(file)} />
      )}
      <bdi class="file-name">{file.name}</bdi>
      <span class="muted">{bytes(file.size)}</span>
    </a>
  );
}
