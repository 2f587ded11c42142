/** One tool call in a few words: the model's own brief, else what its arguments say. */
import type { ToolItem } from "../client/index.ts";
import type { IconName } from "./icons.tsx";
import { plainText } from "./viewers/terminal.ts";

const ICONS: Record<string, IconName> = {
  shell: "shell",
  file: "file",
  search: "search",
  browser: "browser",
  mcp: "mcp",
};
export const toolIcon = (tool: ToolItem): IconName => ICONS[tool.toolkit] ?? "other";

export const textOf = (value: unknown): string | null =>
  typeof value === "string" && value !== "" ? value : null;

export const toolLabel = (tool: ToolItem): string => plainText(labelOf(tool));

function labelOf(tool: ToolItem): string {
  if (tool.brief) return tool.brief;
  const { args } = tool;
  const what = textOf(args.command) ?? textOf(args.path) ?? textOf(args.query) ?? textOf(args.url);
  if (!what) return tool.function;
  const line = what.split("\n")[0] ?? what;
  return tool.toolkit === "shell" ? line : `${verb(tool.function)} ${line}`;
}
const verb = (name: string): string =>
  name.replace(/^(?:file|info|browser)_/, "").replace(/_/g, " ");

/** What a finished command said with its exit code; 0 is not worth a word. */
export function exitCode(tool: ToolItem): number | null {
  const code = tool.content?.exit_code;
  return typeof code === "number" && code !== 0 ? code : null;
}
