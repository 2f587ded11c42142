/**
 * Text that a model, a tool or a person wrote, as text nodes: nothing in it can become markup. `Rich` is for what a
 * model wrote: Markdown, once its part is loaded, until then the same plain text.
 *
 * A1  Only paragraphs, code spans, code blocks and links exist; everything else stays as it was written.
 * A2  A link is http, https or mailto; it opens apart from the page and tells the other side nothing.
 * A3  Nothing is loaded because of what a text says: images are links.
 */
import type { ComponentChildren } from "preact";
import { blocks, safeUrl } from "./blocks.ts";
import { lazyPart, useLazy } from "./lazy.ts";
import { memo } from "./memo.ts";
import { readable } from "./viewers/terminal.ts";

const INLINE = /`([^`\n]+)`|((?:https?:\/\/|mailto:)[^\s<>"'`)\]}]+)/g;

function Inline({ text }: { text: string }) {
  const parts = [];
  let at = 0;
  for (const match of text.matchAll(INLINE)) {
    parts.push(text.slice(at, match.index));
    at = match.index + match[0].length;
    if (match[1] !== undefined) {
      parts.push(<code>{match[1]}</code>);
      continue;
    }
    const address = (match[2] ?? "").replace(/[.,;:!?]+$/, "");
    at -= match[0].length - address.length;
    parts.push(<Link href={address}>{address}</Link>);
  }
  return (
    <>
      {parts}
      {text.slice(at)}
    </>
  );
}

/** One line with its code spans, for where a link would be out of place. */
export function Line({ text }: { text: string }) {
  return (
    <>
      {readable(text)
        .split(/(`[^`]+`)/)
        .map((part) =>
          part.length > 2 && part.startsWith("`") ? <code>{part.slice(1, -1)}</code> : part,
        )}
    </>
  );
}

export function Link({ href, children }: { href: string; children: ComponentChildren }) {
  const url = safeUrl(href);
  if (!url) return <>{children}</>;
  return (
    <a href={url} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

export const Text = memo(function Text({ text }: { text: string }) {
  return (
    <div class="text" dir="auto">
      {blocks(readable(text)).map((block) =>
        block.type === "code" ? (
          <pre>
            <code>{block.text}</code>
          </pre>
        ) : (
          <p dir="auto">
            <Inline text={block.text} />
          </p>
        ),
      )}
    </div>
  );
});

/** Asked for when a session is opened, so that its history is drawn once and not first as plain text. */
export const markdown = lazyPart(() => import("./markdown/markdown.tsx"));

export function Rich({ text }: { text: string }) {
  const part = useLazy(markdown);
  return part ? <part.Markdown text={text} /> : <Text text={text} />;
}
