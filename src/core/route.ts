/**
 * What a message is: a command, a command line of the person's own, or a task. Pure; no model is asked.
 *
 * K1  Only the very first character decides, and only a known name makes a command: a path or prose that begins
 *     with a slash is a task.
 * K2  A backslash before `/` or `!` makes a task of anything, and is taken off. A leading space does too, and stays.
 */
import type { Mode } from "./session.ts";

export const COMMANDS = [
  "help",
  "new",
  "stop",
  "plan",
  "model",
  "mode",
  "usage",
  "compact",
  "review",
  "lang",
  "export",
] as const;
export type CommandName = (typeof COMMANDS)[number];

export type Route =
  | { type: "command"; name: CommandName; arg: string }
  /** A slash and one word that is no command, and nothing else: a slip of the fingers. */
  | { type: "unknown"; name: string }
  | { type: "shell"; command: string }
  | { type: "task"; text: string };

const COMMAND = /^\/([a-z]+)(?:\s+([\s\S]*))?$/i;

export function routeOf(text: string, mode: Mode): Route {
  if (/^\\[/!]/.test(text)) return { type: "task", text: text.slice(1) };
  const [, word = "", rest = ""] = COMMAND.exec(text) ?? [];
  const name = word.toLowerCase();
  const known = COMMANDS.find((c) => c === name);
  if (known) return { type: "command", name: known, arg: rest.trim() };
  if (name !== "" && rest.trim() === "") return { type: "unknown", name };
  // Two marks are emphasis. A direct session has no tools, so there it is only text.
  const line = mode !== "direct" && /^![^!]/.test(text) ? text.slice(1).trim() : "";
  return line === "" ? { type: "task", text } : { type: "shell", command: line };
}
