/** One tool call, whole: what it was asked, what it gave. Live while it runs. */
import { useLayoutEffect, useRef } from "preact/hooks";
import type { ToolItem } from "../client/index.ts";
import { t } from "./strings.ts";
import { plainText } from "./terminal.ts";
import { Link } from "./text.tsx";
import { exitCode, textOf } from "./tool-label.ts";

export function ToolDetail({ tool }: { tool: ToolItem }) {
  return (
    <>
      <Body tool={tool} />
      <details class="raw">
        <summary>{t("rawArgs")}</summary>
        <pre class="code">{JSON.stringify(tool.args, null, 2)}</pre>
      </details>
      {tool.content && (
        <details class="raw">
          <summary>{t("rawResult")}</summary>
          <pre class="code">{plainText(JSON.stringify(tool.content, null, 2))}</pre>
        </details>
      )}
    </>
  );
}

function Body({ tool }: { tool: ToolItem }) {
  const content = tool.content ?? {};
  switch (tool.toolkit) {
    case "shell":
      return <Terminal tool={tool} />;
    case "file":
      return <FileBody tool={tool} content={content} />;
    case "search":
      return <Results results={content.results} fallback={tool} />;
    default:
      return <Other tool={tool} content={content} />;
  }
}

function Terminal({ tool }: { tool: ToolItem }) {
  const box = useRef<HTMLPreElement>(null);
  const output = plainText(textOf(tool.content?.output) ?? tool.live);
  useLayoutEffect(() => {
    const pre = box.current;
    if (pre && tool.state === "running") pre.scrollTop = pre.scrollHeight;
  }, [output]);
  const command = textOf(tool.args.command) ?? textOf(tool.content?.command) ?? tool.function;
  const code = exitCode(tool);
  return (
    <section class="terminal" aria-label={t("output")}>
      <pre class="command">
        <span aria-hidden="true">$ </span>
        {command}
      </pre>
      <pre class="output" ref={box} data-testid="output">
        {output || t(tool.state === "running" ? "noOutputYet" : "noOutput")}
      </pre>
      {code !== null && <p class="chip">{t("exitCode", { code })}</p>}
    </section>
  );
}

type Content = Record<string, unknown>;

function FileBody({ tool, content }: { tool: ToolItem; content: Content }) {
  const path = textOf(content.path) ?? textOf(tool.args.path) ?? "";
  const text = textOf(content.content) ?? textOf(content.result);
  const old = textOf(content.old_content);
  return (
    <section class="file-body">
      <p class="mono path">{path}</p>
      <pre class="code">{text ?? t(tool.state === "running" ? "noOutputYet" : "noOutput")}</pre>
      {old && (
        <details class="raw">
          <summary>{t("oldContent")}</summary>
          <pre class="code">{old}</pre>
        </details>
      )}
    </section>
  );
}

function Results({ results, fallback }: { results: unknown; fallback: ToolItem }) {
  const content = fallback.content ?? {};
  if (!Array.isArray(results)) return <Other tool={fallback} content={content} />;
  return (
    <ol class="results">
      {results.map((result: Content) => {
        const link = textOf(result.link) ?? "";
        return (
          <li key={link}>
            <Link href={link}>{textOf(result.title) ?? link}</Link>
            <p class="muted mono">{link}</p>
            <p>{textOf(result.snippet) ?? ""}</p>
          </li>
        );
      })}
    </ol>
  );
}

function Other({ tool, content }: { tool: ToolItem; content: Content }) {
  const url = textOf(content.url);
  const result = content.result ?? content.title;
  const text =
    typeof result === "string" || result === undefined ? result : JSON.stringify(result, null, 2);
  return (
    <section>
      {url && (
        <p class="mono path">
          <Link href={url}>{url}</Link>
        </p>
      )}
      <pre class="code">
        {text ? plainText(text) : t(tool.state === "running" ? "noOutputYet" : "noOutput")}
      </pre>
    </section>
  );
}
