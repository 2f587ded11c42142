/** A web page that was fetched: where from, and its text as Markdown. */
import type { ToolItem } from "../../client/index.ts";
import { t } from "../strings.ts";
import { Link, Rich } from "../text.tsx";
import { textOf } from "../tool-label.ts";
import type { Content } from "./tool.tsx";

const TEXTS = ["content", "markdown", "text", "result"] as const;

export function PageView({ tool, content }: { tool: ToolItem; content: Content }) {
  const url = textOf(content.url) ?? textOf(tool.args.url);
  const title = textOf(content.title);
  const text = TEXTS.map((name) => textOf(content[name])).find((found) => found !== null);
  return (
    <section class="fetched">
      {title && (
        <p class="fetched-title" dir="auto">
          {title}
        </p>
      )}
      {url && (
        <p class="mono path">
          <Link href={url}>{url}</Link>
        </p>
      )}
      {text ? (
        <Rich text={text} />
      ) : (
        <p class="muted">{t(tool.state === "running" ? "noOutputYet" : "noOutput")}</p>
      )}
    </section>
  );
}
