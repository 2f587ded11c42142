/** What a command did, as the model reads it and as people see it. */
import { clean, headAndTail } from "../core/chars.ts";
import { LIMITS } from "../core/limits.ts";
import type { JsonObject } from "../core/tool.ts";
import { ROOT } from "./paths.ts";

/** Output, then how it stands, last, so that a cut keeps it. */
export function withEnd(output: string, end: string, maxChars: number): string {
  const room = Math.max(0, maxChars - end.length - 200);
  const body = headAndTail(output, room, "write it to a file and read parts of it");
  return body === "" ? end : `${body}${body.endsWith("\n") ? "" : "\n"}${end}`;
}

export const shown = (command: string, output: string, exit_code: number | null): JsonObject => ({
  command: headAndTail(clean(command), LIMITS.shownArgsChars),
  output: headAndTail(output, LIMITS.eventOutputChars),
  exit_code,
});

/** Bytes that were never meant to be read would only fill the model's memory. */
export function readable(output: string): string {
  let strange = 0;
  for (const char of output) if (isStrange(char)) strange++;
  if (strange <= output.length / 20) return clean(output);
  return `[binary output, about ${output.length} bytes, not shown; write it to a file under ${ROOT} instead]\n`;
}

/** Escape is not: colours are text. */
const isStrange = (char: string): boolean =>
  char === "\ufffd" || (char < " " && !"\t\n\v\f\r\b\x1b".includes(char));
