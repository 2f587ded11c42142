/** What a file tool read or wrote: the content in colours, or what has changed. */
import { useMemo, useState } from "preact/hooks";
import type { ToolItem } from "../../client/index.ts";
import { CopyButton } from "../copy.tsx";
import { languageOf } from "../files/kind.ts";
import { lazyPart, useLazy } from "../lazy.ts";
import { Code } from "../markdown/code.tsx";
import { type StringKey, t } from "../strings.ts";
import { textOf } from "../tool-label.ts";
import type { Content } from "./tool.tsx";

const differ = lazyPart(() => import("./diff.ts"));
type Side = "changes" | "after" | "before";
const NAMES: Record<Side, StringKey> = {
  changes: "changes",
  after: "newContent",
  before: "oldContent",
};

export function FileView({ tool, content }: { tool: ToolItem; content: Content }) {
  const path = textOf(content.path) ?? textOf(tool.args.path) ?? "";
  const text = textOf(content.content) ?? textOf(content.result) ?? "";
  const old = typeof content.old_content === "string" ? content.old_content : null;
  const changed = old !== null && old !== text;
  const [side, setSide] = useState<Side>("changes");
  const shown = changed ? side : "after";
  return (
    <section class="file-body">
      <div class="file-top">
        <p class="mono path">
          <bdi>{path}</bdi>
        </p>
        {text && <CopyButton text={text} />}
      </div>
      {changed && <Sides side={side} onChange={setSide} />}
      {shown === "changes" && old !== null ? (
        <Changes before={old} after={text} />
      ) : (
        <Source text={shown === "before" ? (old ?? "") : text} path={path} tool={tool} />
      )}
    </section>
  );
}

function Sides({ side, onChange }: { side: Side; onChange(side: Side): void }) {
  return (
    <section class="segments" aria-label={t("changes")}>
      {(Object.keys(NAMES) as Side[]).map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={name === side}
          onClick={() => onChange(name)}
        >
          {t(NAMES[name])}
        </button>
      ))}
    </section>
  );
}

function Source({ text, path, tool }: { text: string; path: string; tool: ToolItem }) {
  if (text === "") {
    return <p class="muted">{t(tool.state === "running" ? "noOutputYet" : "noOutput")}</p>;
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by keys.
    <pre class="code" tabIndex={0}>
      <Code text={text} language={languageOf(path)} />
    </pre>
  );
}

const SIGNS = { added: "+", removed: "−", same: " ", gap: "⋯" } as const;

function Changes({ before, after }: { before: string; after: string }) {
  const part = useLazy(differ);
  const result = useMemo(() => part?.lineChanges(before, after) ?? null, [part, before, after]);
  if (!part) return <p class="muted">{t("loading")}</p>;
  if (!result) return <p class="muted">{t("diffTooLarge")}</p>;
  return (
    <>
      <p class="diff-count">
        <span class="plus">+{result.added}</span> <span class="minus">−{result.removed}</span>
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by keys. */}
      <pre class="code diff" tabIndex={0} data-testid="diff">
        {result.lines.map(({ kind, text }) => (
          <span class={`diff-line is-${kind}`}>
            <span class="sign">{SIGNS[kind]}</span>
            {text}
            {"\n"}
          </span>
        ))}
      </pre>
    </>
  );
}
