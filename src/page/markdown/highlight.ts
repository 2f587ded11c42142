/** Source code coloured by `highlight.js`, as a tree (`lowlight`) and never as HTML. Only these languages. */
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import markdown from "highlight.js/lib/languages/markdown";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { createLowlight } from "lowlight";

const grammars = {
  bash,
  c,
  cpp,
  css,
  diff,
  go,
  ini,
  java,
  javascript,
  json,
  markdown,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
};
const lowlight = createLowlight(grammars);

/** A piece of source with the class names of its kind, "" for plain. */
export interface Piece {
  text: string;
  kind: string;
}
type Node = ReturnType<typeof lowlight.highlight>["children"][number];

/** null: the language is not known here. */
export function highlight(text: string, language: string): Piece[] | null {
  if (!lowlight.registered(language)) return null;
  const out: Piece[] = [];
  const walk = (nodes: Node[], kind: string): void => {
    for (const node of nodes) {
      if (node.type === "text") out.push({ text: node.value, kind });
      else if (node.type === "element") walk(node.children, classOf(node.properties) || kind);
    }
  };
  walk(lowlight.highlight(language, text).children, "");
  return out;
}

const classOf = (properties: Record<string, unknown>): string =>
  Array.isArray(properties.className) ? properties.className.join(" ") : "";
