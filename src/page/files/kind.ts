/** How a file can be looked at, by its type and its name. What is not known is only ever saved. */
import type { FileInfo } from "../../core/events.ts";
import type { IconName } from "../icons.tsx";

export type ReadAsText = "table" | "markdown" | "text";
type Preview = ReadAsText | "image" | "pdf" | "none";
type Named = Pick<FileInfo, "name" | "content_type">;

/** The rasters that the server shows in place. */
const RASTER = /^image\/(?:png|jpeg|gif|webp|avif|bmp)(?:;|$)/;
const TEXT = /^(?:text\/|application\/(?:json|jsonl|xml|yaml|javascript))|\+xml(?:;|$)/;
/** Names without a type of their own that are text as a rule. */
const TEXT_NAME =
  /(?:^|\/)(?:Dockerfile|Makefile|README|LICENSE|\.[\w.-]+rc|\.env[\w.-]*|\.gitignore)$|\.(?:conf|cfg|env|lock|diff|patch|kt|swift|php|lua|pl|r|jl|vue|svelte|scss|less|graphql|proto|tex|rst|srt|vtt)$/i;

export const isRaster = (file: Named): boolean => RASTER.test(file.content_type);

export function previewOf(file: Named): Preview {
  const type = file.content_type;
  if (isRaster(file)) return "image";
  if (/^application\/pdf(?:;|$)/.test(type)) return "pdf";
  if (/^text\/(?:csv|tab-separated-values)/.test(type)) return "table";
  if (type.startsWith("text/markdown")) return "markdown";
  return TEXT.test(type) || TEXT_NAME.test(file.name) ? "text" : "none";
}

export function fileIcon(file: Named): IconName {
  const kind = previewOf(file);
  if (kind === "image") return "image";
  return kind === "table" ? "table" : "file";
}

const LANGUAGES: Record<string, string> = {
  sh: "bash",
  bash: "bash",
  zsh: "bash",
  c: "c",
  h: "c",
  cc: "cpp",
  cpp: "cpp",
  hpp: "cpp",
  css: "css",
  diff: "diff",
  patch: "diff",
  go: "go",
  ini: "ini",
  toml: "ini",
  java: "java",
  js: "javascript",
  mjs: "javascript",
  cjs: "javascript",
  jsx: "javascript",
  json: "json",
  jsonl: "json",
  md: "markdown",
  py: "python",
  rs: "rust",
  sql: "sql",
  ts: "typescript",
  tsx: "typescript",
  html: "xml",
  htm: "xml",
  xml: "xml",
  svg: "xml",
  vue: "xml",
  yaml: "yaml",
  yml: "yaml",
};

/** The name of its language for colours, "" for none. */
export function languageOf(path: string): string {
  const extension = /\.([A-Za-z0-9]+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
  return Object.hasOwn(LANGUAGES, extension) ? (LANGUAGES[extension] as string) : "";
}
