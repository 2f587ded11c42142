/** What a terminal shows of a tool: one line that it runs, and a few of what came of it. */
import type { EventData } from "../core/events.ts";
import { oneLine, tame } from "./escape.ts";
import type { Say } from "./strings.ts";

const LINES = 12;

type Tool = EventData<"tool">;
const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** The arguments that say most about a call. */
const TELLING = ["command", "path", "query", "url", "regex", "glob", "id", "text"];

export function labelOf({ function: name, args, brief }: Tool): string {
  const key = TELLING.find((k) => text(args[k]) !== "");
  const detail = key ? oneLine(text(args[key])) : "";
  const label = brief ? oneLine(brief) : "";
  return [label || name, label.includes(detail) ? "" : detail].filter(Boolean).join("  ");
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** State and duration of a call that has ended. */
export function endOf(
  { ok, content, duration_ms }: Tool,
  say: Say,
): { good: boolean; text: string } {
  const code = content?.exit_code;
  const exit = typeof code === "number" && code !== 0 ? say("exit", code) : "";
  const failed = ok === false ? say("failed") : "";
  const time = duration_ms === undefined ? "" : seconds(duration_ms);
  return { good: !exit && !failed, text: [failed || exit, time].filter(Boolean).join(" · ") };
}

function outputOf(content: Record<string, unknown> = {}): string {
  const { output, result, results, title, url, path } = content;
  if (Array.isArray(results)) {
    return (results as { title?: unknown; link?: unknown }[])
      .map((r) => `${text(r.title)}  ${text(r.link)}`)
      .join("\n");
  }
  return (
    text(output) || text(result) || [text(title), text(url), text(path)].filter(Boolean).join("  ")
  );
}

/** The first lines of a result, and how many more there are. */
export function resultLines({ content }: Tool, say: Say, colour: boolean): string[] {
  const whole = tame(outputOf(content), colour).replace(/\s+$/, "");
  if (whole === "") return [];
  const lines = whole.split("\n");
  const shown = lines.slice(0, LINES);
  return lines.length > LINES ? [...shown, say("more", lines.length - LINES)] : shown;
}
