/**
 * A PDF in the browser's own viewer, which runs apart from the page.
 *
 * V1  Only bytes that say themselves that they are a PDF are shown, and never as anything else, whatever the file is
 *     called: the page gives them their type, not the server and not the name.
 * V2  They are gone from memory when the preview closes.
 */
import { useContext, useEffect, useState } from "preact/hooks";
import type { FileInfo } from "../../core/events.ts";
import { errorWords } from "../api.ts";
import { bytes } from "../numbers.ts";
import { t } from "../strings.ts";
import { FilesAt } from "./files-at.ts";

/** Held whole in memory, unlike a text, of which the beginning is enough. */
const MOST_PDF_BYTES = 20 * 1024 * 1024;
const TYPE = "application/pdf";
/** The viewer's own list of pages would take half of the panel. */
const VIEW = "#navpanes=0&view=FitH";

/** Why it is not even fetched; null: it is. */
function hindrance(file: FileInfo): string | null {
  if (file.size === 0) return t("emptyFile");
  if (file.size > MOST_PDF_BYTES) return t("pdfTooLarge", { most: bytes(MOST_PDF_BYTES) });
  return navigator.pdfViewerEnabled ? null : t("pdfNoViewer");
}

export function Pdf({ file }: { file: FileInfo }) {
  const why = hindrance(file);
  return why === null ? <Viewer file={file} /> : <p class="muted">{why}</p>;
}

function Viewer({ file }: { file: FileInfo }) {
  const url = useContext(FilesAt).url(file.path);
  const [address, setAddress] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    const control = new AbortController();
    let made: string | null = null;
    setAddress(null);
    setProblem(null);
    read(url, control.signal).then(
      (blob) => {
        if (control.signal.aborted) return;
        made = URL.createObjectURL(blob);
        setAddress(made);
      },
      (error: unknown) => {
        if (!control.signal.aborted) setProblem(errorWords(error));
      },
    );
    return () => {
      control.abort();
      if (made) URL.revokeObjectURL(made);
    };
  }, [url, file.modified_at]);
  if (problem) return <p class="problem">{problem}</p>;
  if (!address) return <p class="muted">{t("loading")}</p>;
  return <iframe class="pdf" src={address + VIEW} title={t("pdfTitle", { name: file.name })} />;
}

async function read(url: string, signal: AbortSignal): Promise<Blob> {
  const response = await fetch(url, { signal });
  if (!response.ok) throw new Error(t("fileGone"));
  const content = await response.arrayBuffer();
  if (!isPdf(new Uint8Array(content, 0, Math.min(5, content.byteLength)))) {
    throw new Error(t("notPdf"));
  }
  return new Blob([content], { type: TYPE });
}

const isPdf = (head: Uint8Array): boolean => new TextDecoder().decode(head) === "%PDF-";
