/** One tool call, whole: what it was asked, what it gave. Live while it runs. */
import type { ToolItem } from "../../client/index.ts";
import { t } from "../strings.ts";
import { exact, short } from "../time.ts";
import { textOf } from "../tool-label.ts";
import { BrowserView } from "./browser.tsx";
import { FileView } from "./file.tsx";
import { JsonTree } from "./json.tsx";
import { PageView } from "./page.tsx";
import { SearchView } from "./search.tsx";
import { TerminalView } from "./shell.tsx";

export function ToolDetail({ tool }: { tool: ToolItem }) {
  return (
    <>
      <Body tool={tool} />
      <p class="muted facts">
        <span class="mono">{tool.function}</span>
        <time dateTime={tool.ts}>{exact(tool.ts)}</time>
        {tool.durationMs !== null && <span>{short(tool.durationMs)}</span>}
      </p>
      <details class="raw">
        <summary>{t("rawArgs")}</summary>
        <JsonTree value={tool.args} />
      </details>
      {tool.content && (
        <details class="raw">
          <summary>{t("rawResult")}</summary>
          <JsonTree value={tool.content} />
        </details>
      )}
    </>
  );
}

export type Content = Record<string, unknown>;

function Body({ tool }: { tool: ToolItem }) {
  const content: Content = tool.content ?? {};
  switch (tool.toolkit) {
    case "shell":
      return <TerminalView tool={tool} />;
    case "file":
      return <FileView tool={tool} content={content} />;
    case "browser":
      return <BrowserView tool={tool} content={content} />;
    case "search":
      return Array.isArray(content.results) ? (
        <SearchView query={textOf(tool.args.query)} results={content.results} />
      ) : (
        <PageView tool={tool} content={content} />
      );
    default:
      return <Other tool={tool} content={content} />;
  }
}

/** MCP servers, and toolkits of a newer server. */
function Other({ tool, content }: { tool: ToolItem; content: Content }) {
  const result = Object.keys(content).length === 1 ? (content.result ?? content) : content;
  if (!tool.content) {
    return <p class="muted">{t(tool.state === "running" ? "noOutputYet" : "noOutput")}</p>;
  }
  return <JsonTree value={parsed(result)} />;
}

/** Servers like to give JSON as a text. */
function parsed(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
