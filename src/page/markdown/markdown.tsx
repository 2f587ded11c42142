/**
 * Markdown that a model wrote, drawn token by token: there is no HTML in between, so nothing in it can become markup.
 *
 * A1  HTML in the text is shown as it was written.
 * A2  A link is http, https or mailto; it opens apart from the page and tells the other side nothing.
 * A3  Nothing is loaded from elsewhere because of what a text says: a remote image is a link. Only images of the
 *     session's own files are shown.
 */
import type { MarkedToken, Tokens } from "marked";
import type { ComponentChildren } from "preact";
import { memo } from "../memo.ts";
import { Link, Text } from "../text.tsx";
import { readable } from "../viewers/terminal.ts";
import { CodeBlock } from "./code.tsx";
import { Picture } from "./picture.tsx";
import { decoded, known, readMarkdown } from "./tokens.ts";

/** Deeper than this, text is only text. */
const DEEPEST = 24;

export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const tokens = readMarkdown(readable(text));
  if (!tokens) return <Text text={text} />;
  return (
    <div class="text markdown" dir="auto">
      <Tokens_ tokens={tokens} depth={0} />
    </div>
  );
});

interface Props {
  tokens: MarkedToken[];
  depth: number;
}
function Tokens_({ tokens, depth }: Props) {
  if (depth > DEEPEST) return <>{tokens.map((token) => token.raw).join("")}</>;
  return (
    <>
      {tokens.map((token) => (
        <One token={token} depth={depth + 1} />
      ))}
    </>
  );
}

function One({ token, depth }: { token: MarkedToken; depth: number }) {
  const inner = (tokens: Parameters<typeof known>[0]) => (
    <Tokens_ tokens={known(tokens)} depth={depth} />
  );
  switch (token.type) {
    case "paragraph":
      return <p dir="auto">{inner(token.tokens)}</p>;
    case "heading":
      return <Heading level={token.depth}>{inner(token.tokens)}</Heading>;
    case "code":
      return <CodeBlock text={token.text} language={token.lang ?? ""} />;
    case "blockquote":
      return <blockquote dir="auto">{inner(token.tokens)}</blockquote>;
    case "list":
      return <List list={token} depth={depth} />;
    case "table":
      return <Table table={token} depth={depth} />;
    case "hr":
      return <hr />;
    case "space":
    case "def":
      return null;
    default:
      return <Inline token={token} inner={inner} />;
  }
}

type Inner = (tokens: Parameters<typeof known>[0]) => ComponentChildren;

function Inline({ token, inner }: { token: MarkedToken; inner: Inner }) {
  switch (token.type) {
    case "strong":
      return <strong>{inner(token.tokens)}</strong>;
    case "em":
      return <em>{inner(token.tokens)}</em>;
    case "del":
      return <del>{inner(token.tokens)}</del>;
    case "codespan":
      return <code>{token.text}</code>;
    case "br":
      return <br />;
    case "link":
      return <Link href={decoded(token.href)}>{inner(token.tokens)}</Link>;
    case "image":
      return <Picture address={decoded(token.href)} alt={decoded(token.text)} />;
    case "checkbox":
      return <span class="task-box">{token.checked ? "☑ " : "☐ "}</span>;
    case "escape":
      return <>{token.text}</>;
    case "text":
      return <>{token.tokens ? inner(token.tokens) : decoded(token.text)}</>;
    case "html":
      if (/^<br\s*\/?>$/i.test(token.raw.trim())) return <br />;
      return <>{token.raw}</>;
    default:
      return <>{token.raw}</>;
  }
}

/** Styled by its depth; for a reader all are one level, that of the steps. */
function Heading({ level, children }: { level: number; children: ComponentChildren }) {
  return (
    <h2 class={`heading heading-${Math.min(level, 4)}`} dir="auto">
      {children}
    </h2>
  );
}

function List({ list, depth }: { list: Tokens.List; depth: number }) {
  const items = list.items.map((item) => (
    <li class={item.task ? "task" : ""} dir="auto">
      <Tokens_ tokens={known(item.tokens)} depth={depth} />
    </li>
  ));
  return list.ordered ? <ol start={Number(list.start) || 1}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ table, depth }: { table: Tokens.Table; depth: number }) {
  const cells = (row: Tokens.TableCell[], Cell: "th" | "td") => (
    <tr>
      {row.map((cell) => (
        <Cell class={cell.align ? `align-${cell.align}` : ""} dir="auto">
          <Tokens_ tokens={known(cell.tokens)} depth={depth} />
        </Cell>
      ))}
    </tr>
  );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled by keys.
    <div class="table-frame" tabIndex={0}>
      <table>
        <thead>{cells(table.header, "th")}</thead>
        <tbody>{table.rows.map((row) => cells(row, "td"))}</tbody>
      </table>
    </div>
  );
}
