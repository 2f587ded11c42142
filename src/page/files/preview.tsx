/**
 * One file, looked at in place where that is safe: text, tables, Markdown, raster images, and PDF in the browser's own
 * viewer. HTML is shown as source, anything else is only saved, so that nothing of a file ever runs here.
 */
import { useContext, useEffect, useState } from "preact/hooks";
import type { FileInfo } from "../../core/events.ts";
import { errorWords } from "../api.ts";
import { Icon } from "../icons.tsx";
import { Code } from "../markdown/code.tsx";
import { bytes, count } from "../numbers.ts";
import { t } from "../strings.ts";
import { Rich } from "../text.tsx";
import { exact } from "../time.ts";
import { readTable, separatorOf } from "./csv.ts";
import { FilesAt } from "./files-at.ts";
import { languageOf, previewOf, type ReadAsText } from "./kind.ts";
import { Pdf } from "./pdf.tsx";

/** As much of a file as is asked for; the rest is saved, not shown. */
const MOST_BYTES = 256 * 1024;

export function FilePreview({ file }: { file: FileInfo }) {
  const at = useContext(FilesAt);
  return (
    <section class="preview" data-testid="preview">
      <p class="mono path">
        <bdi>{file.path}</bdi>
      </p>
      <p class="preview-facts">
        <span class="muted">{bytes(file.size)}</span>
        <span class="muted">{exact(file.modified_at)}</span>
        <a class="button" href={at.url(file.path)} download={file.name}>
          <Icon name="down" /> {t("download")}
        </a>
      </p>
      <Content file={file} />
    </section>
  );
}

function Content({ file }: { file: FileInfo }) {
  const at = useContext(FilesAt);
  const kind = previewOf(file);
  switch (kind) {
    case "image":
      return <img class="picture" src={at.url(file.path, { inline: true })} alt={file.name} />;
    case "pdf":
      return <Pdf file={file} />;
    case "none":
      return <p class="muted">{t("noPreview", { type: file.content_type })}</p>;
    default:
      return <Loaded file={file} kind={kind} />;
  }
}

interface Loaded_ {
  text: string;
  cut: boolean;
}

function Loaded({ file, kind }: { file: FileInfo; kind: ReadAsText }) {
  const at = useContext(FilesAt);
  const url = at.url(file.path);
  const [loaded, setLoaded] = useState<Loaded_ | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    const control = new AbortController();
    setLoaded(null);
    read(url, file.size, control.signal).then(setLoaded, (error: unknown) => {
      if (!control.signal.aborted) setProblem(errorWords(error));
    });
    return () => control.abort();
  }, [url, file.modified_at]);
  if (problem) return <p class="problem">{problem}</p>;
  if (!loaded) return <p class="muted">{t("loading")}</p>;
  return (
    <>
      <Body file={file} kind={kind} text={loaded.text} />
      {loaded.cut && <p class="muted">{t("previewCut", { shown: bytes(MOST_BYTES) })}</p>}
    </>
  );
}

async function read(url: string, size: number, signal: AbortSignal): Promise<Loaded_> {
  const cut = size > MOST_BYTES;
  const headers = cut ? { range: `bytes=0-${MOST_BYTES - 1}` } : undefined;
  const response = await fetch(url, { signal, ...(headers && { headers }) });
  if (!response.ok) throw new Error(t("fileGone"));
  const text = new TextDecoder().decode(await response.arrayBuffer());
  // A character that was cut in two.
  return { text: cut ? text.replace(/\ufffd+$/, "") : text, cut };
}

function Body({ file, kind, text }: { file: FileInfo; kind: ReadAsText; text: string }) {
  if (text === "") return <p class="muted">{t("emptyFile")}</p>;
  if (text.includes("\0"))
    return <p class="muted">{t("noPreview", { type: file.content_type })}</p>;
  if (kind === "table") return <Table text={text} name={file.name} />;
  if (kind === "markdown") return <Rich text={text} />;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by keys.
    <pre class="code" tabIndex={0}>
      <Code text={text} language={languageOf(file.name)} />
    </pre>
  );
}

const ROWS = 200;
const COLUMNS = 50;

function Table({ text, name }: { text: string; name: string }) {
  const rows = readTable(text, separatorOf(text, name), ROWS + 2);
  const [head = [], ...body] = rows;
  const more = rows.length > ROWS + 1;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled by keys. */}
      <div class="table-frame" tabIndex={0}>
        <table class="data">
          <thead>
            <tr>
              {head.slice(0, COLUMNS).map((cell, i) => (
                <th scope="col" dir="auto" class={isNumber(body[0]?.[i] ?? "") ? "number" : ""}>
                  {cell}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {body.slice(0, ROWS).map((row) => (
              <tr>
                {row.slice(0, COLUMNS).map((cell) => (
                  <td dir="auto" class={isNumber(cell) ? "number" : ""}>
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {more && <p class="muted">{t("tableCut", { n: count(ROWS) })}</p>}
    </>
  );
}
const isNumber = (cell: string): boolean => /^[-+]?[\d.,\s]*\d[\d.,\s]*%?$/.test(cell);
