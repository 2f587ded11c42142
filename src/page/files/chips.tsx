/** Files that will go with the next message. */
import { Icon } from "../icons.tsx";
import { bytes } from "../numbers.ts";
import { t } from "../strings.ts";
import type { Upload, Uploads } from "./use-uploads.ts";

export function Chips({ uploads }: { uploads: Uploads }) {
  if (uploads.list.length === 0) return null;
  return (
    <ul class="chips" aria-label={t("attachments")}>
      {uploads.list.map((upload) => (
        <li
          key={upload.key}
          class={`upload is-${upload.state}`}
          data-testid="upload"
          data-state={upload.state}
        >
          <Icon name={upload.state === "failed" ? "alert" : "file"} />
          <bdi class="file-name">{upload.name}</bdi>
          <State upload={upload} />
          <button
            type="button"
            class="icon-button small"
            title={t("removeFile", { name: upload.name })}
            onClick={() => uploads.remove(upload.key)}
          >
            <Icon name="cross" />
            <span class="sr-only">{t("removeFile", { name: upload.name })}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function State({ upload }: { upload: Upload }) {
  if (upload.state === "failed") {
    return (
      <span class="problem" role="alert">
        {upload.problem}
      </span>
    );
  }
  if (upload.state === "done") return <span class="muted">{bytes(upload.size)}</span>;
  return (
    <progress
      max={Math.max(1, upload.size)}
      value={upload.sent}
      aria-label={t("uploading", { name: upload.name })}
    />
  );
}
