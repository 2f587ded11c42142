/** What the browser saw: the address, the title, and its picture out of the session's own files. */
import { useContext } from "preact/hooks";
import type { ToolItem } from "../../client/index.ts";
import { FilesAt } from "../files/files-at.ts";
import { t } from "../strings.ts";
import { Link, Rich } from "../text.tsx";
import { textOf } from "../tool-label.ts";
import type { Content } from "./tool.tsx";

export function BrowserView({ tool, content }: { tool: ToolItem; content: Content }) {
  const files = useContext(FilesAt);
  const url = textOf(content.url) ?? textOf(tool.args.url);
  const title = textOf(content.title);
  const shot = screenshotAt(textOf(content.screenshot), files);
  const text = textOf(content.content) ?? textOf(content.text) ?? textOf(content.result);
  return (
    <section class="browser">
      <p class="browser-bar">
        {title && (
          <strong class="browser-title" dir="auto">
            {title}
          </strong>
        )}
        {url && <Link href={url}>{url}</Link>}
      </p>
      {shot && (
        <a href={shot} target="_blank" rel="noopener noreferrer">
          <img class="picture" src={shot} alt={t("screenshotOf", { what: title ?? url ?? "" })} />
        </a>
      )}
      {text && <Rich text={text} />}
      {!shot && !text && (
        <p class="muted">{t(tool.state === "running" ? "noOutputYet" : "noScreenshot")}</p>
      )}
    </section>
  );
}

/** A path of the workspace, or the address that the server gave for one; never another host. */
function screenshotAt(given: string | null, files: FilesAt): string | null {
  if (!given) return null;
  const match = /^(?:\/api\/sessions\/[^/]+\/files\/|\/workspace\/)(.+)$/.exec(given);
  if (match?.[1] && !match[1].includes("..")) {
    const path = given.startsWith("/api/") ? decoded(match[1]) : match[1];
    return path ? files.url(path, { inline: true }) : null;
  }
  return /^[\w][\w./-]*$/.test(given) && !given.includes("..")
    ? files.url(given, { inline: true })
    : null;
}

function decoded(path: string): string | null {
  try {
    return decodeURIComponent(path.split("?")[0] ?? "");
  } catch {
    return null;
  }
}
