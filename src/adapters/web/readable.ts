/**
 * HTML made readable: the article of a page as Markdown, with absolute links.
 *
 * H1  Bounded work: the page is cut at a number of characters and of tags before anything looks at it.
 * H2  Whatever the page is, text comes back: what the reader cannot take (a tower of ten thousand elements) is
 *     stripped of its tags instead.
 * H3  Links and images keep only web and mail addresses; scripts, forms and inline data are left out.
 */
import type Turndown from "turndown";
import { LIMITS } from "../../core/limits.ts";
import { plainText } from "./plain.ts";

export interface Readable {
  title: string;
  text: string;
  /** The page was cut before it was read. */
  cut: boolean;
}

/** The time of the reader grows with the tags, and with the square of how deep they stand in each other. */
const MAX_TAGS = 15_000;
const MAX_DEPTH = 250;
/** Elements without an end, or with one that is often left out. */
const OPEN =
  /^(area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr|p|li|dt|dd|tr|td|th|tbody|thead|option|path)$/;
/** An article that is shorter than this is perhaps no article: the whole body is shown then. */
const SHORT = 250;
const LEFT_OUT = ["script", "style", "noscript", "template", "iframe", "form", "button", "select"];

export async function readable(html: string, url: string): Promise<Readable> {
  const page = cutOff(html);
  const cut = page.length < html.length;
  try {
    if (isTower(page)) return { title: "", text: plainText(page), cut };
    return { ...(await read(page, url)), cut };
  } catch {
    return { title: "", text: plainText(page), cut };
  }
}

function cutOff(html: string): string {
  let at = -1;
  for (let tags = 0; tags <= MAX_TAGS; tags++) {
    at = html.indexOf("<", at + 1);
    if (at < 0) return html.slice(0, LIMITS.htmlChars);
  }
  return html.slice(0, Math.min(at, LIMITS.htmlChars));
}

function isTower(html: string): boolean {
  let depth = 0;
  for (const [, end, name] of html.matchAll(/<(\/?)([a-z][a-z0-9]*)/gi)) {
    if (OPEN.test((name ?? "").toLowerCase())) continue;
    depth = end ? Math.max(0, depth - 1) : depth + 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

/** Loaded when the first page is read: most sessions read none. */
const parts = () =>
  Promise.all([import("linkedom/worker"), import("@mozilla/readability"), import("turndown")]);

async function read(html: string, url: string): Promise<{ title: string; text: string }> {
  const [{ parseHTML }, { Readability }, { default: Converter }] = await parts();
  // The parser makes no document of a fragment.
  const whole = /<html[\s>]/i.test(html) ? html : `<html><body>${html}</body></html>`;
  const { document } = parseHTML(whole);
  const base = URL.parse(document.querySelector("base")?.getAttribute("href") ?? "", url)?.href;
  const title = document.querySelector("title")?.textContent ?? "";
  const converter = markdown(Converter, base ?? url);
  // The reader takes the document apart, so the body is copied before.
  const body = document.body.cloneNode(true);
  const options = { serializer: (node: Node) => node, charThreshold: SHORT };
  const article = new Readability(document as never, options as never).parse();
  const found = article?.content ? converter.turndown(article.content as never) : "";
  const text = found.length < SHORT ? converter.turndown(body as never) : found;
  return { title: line(article?.title || title), text };
}

const line = (text: string): string => text.replace(/\s+/g, " ").trim();
type Node = Parameters<Turndown.FilterFunction>[0];

function markdown(Converter: typeof Turndown, base: string): Turndown {
  const converter = new Converter({
    headingStyle: "atx",
    codeBlockStyle: "fenced",
    bulletListMarker: "-",
  });
  converter.remove(LEFT_OUT as never);
  const web = (node: unknown, name: string): string | null => {
    const value = (node as { getAttribute(name: string): string | null }).getAttribute(name);
    const url = value === null ? null : URL.parse(value.trim(), base);
    return url && /^(https?|mailto):$/.test(url.protocol)
      ? url.href.replace(/[()]/g, encode)
      : null;
  };
  converter.addRule("link", {
    filter: "a",
    replacement: (content, node) => {
      const href = web(node, "href");
      const text = line(content);
      return href && text !== "" ? `[${text}](${href})` : text;
    },
  });
  converter.addRule("image", {
    filter: "img",
    replacement: (_, node) => {
      const alt = line((node as unknown as Element).getAttribute("alt") ?? "");
      const src = web(node, "src");
      return src && alt !== "" ? `![${alt}](${src})` : alt;
    },
  });
  converter.addRule("cell", {
    filter: ["th", "td"],
    replacement: (content) => `| ${line(content)} `,
  });
  converter.addRule("row", {
    filter: "tr",
    replacement: (content, node) => `\n${content.trim()} |${rule(node)}`,
  });
  converter.addRule("table", {
    filter: "table",
    replacement: (content) => `\n\n${content.replace(/\n{2,}/g, "\n").trim()}\n\n`,
  });
  return converter;
}

interface Element {
  getAttribute(name: string): string | null;
  parentNode: Element | null;
  querySelector(selector: string): Element | null;
  children: ArrayLike<unknown>;
}
const encode = (char: string): string => (char === "(" ? "%28" : "%29");

/** Below the first row of a table stands the line that makes it one. */
function rule(node: unknown): string {
  const row = node as Element;
  const table = row.parentNode?.parentNode;
  const first = (table?.querySelector("tr") ?? row.parentNode?.querySelector("tr")) === row;
  return first ? `\n${"| --- ".repeat(row.children.length)}|` : "";
}
