/** Source code with colours, once they are loaded. What is long, or in an unknown language, stays plain. */
import { useMemo } from "preact/hooks";
import { CopyButton } from "../copy.tsx";
import { lazyPart, useLazy } from "../lazy.ts";

const colours = lazyPart(() => import("./highlight.ts"));
/** Colouring beyond it would hold up the page. */
const LONGEST = 60_000;

export function Code({ text, language }: { text: string; language: string }) {
  const wanted = language !== "" && text.length <= LONGEST;
  const part = useLazy(colours, wanted);
  const pieces = useMemo(
    () => (part && wanted ? part.highlight(text, language) : null),
    [part, wanted, text, language],
  );
  if (!pieces) return <code>{text}</code>;
  return (
    <code>
      {pieces.map(({ text: piece, kind }) => (kind ? <span class={kind}>{piece}</span> : piece))}
    </code>
  );
}

export function CodeBlock({ text, language }: { text: string; language: string }) {
  const name = language.trim().split(/\s/)[0]?.toLowerCase() ?? "";
  return (
    <div class="code-block">
      {name && <p class="code-name">{name}</p>}
      <CopyButton text={text} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled by keys. */}
      <pre tabIndex={0}>
        <Code text={text} language={name} />
      </pre>
    </div>
  );
}
