/** What was said in a session, as text for a memory that was not there: its newest messages, each cut, oldest first. */
import { head } from "../core/chars.ts";
import type { Event } from "../core/events.ts";
import { routeOf } from "../core/route.ts";
import type { SessionStore } from "./store.ts";

/** Messages that are told, code points of each, and of all together. */
const MESSAGES = 40;
const EACH = 2_000;
const ALL = 16_000;

function lineOf(e: Event): string | null {
  if (e.event === "answer") return e.data.text ? `user: ${head(e.data.text, EACH)}` : null;
  if (e.event !== "message" || e.data.kind === "notice") return null;
  const { role, content } = e.data;
  return `${role}: ${head(content, EACH)}`;
}

/** A command and what it was answered are no part of the conversation. */
const isCommand = (e: Event): boolean =>
  e.event === "message" &&
  e.data.role === "user" &&
  ["command", "unknown"].includes(routeOf(e.data.content, "agent").type);

export function transcript(store: SessionStore): string {
  const lines: string[] = [];
  let skip = false;
  for (const events of store.events(0)) {
    for (const e of events) {
      if (e.event === "message" && e.data.role === "user") skip = isCommand(e);
      const line = skip ? null : lineOf(e);
      if (line) lines.push(line);
      // What follows a command that was answered beside a turn belongs to the turn.
      if (e.event === "message" && e.data.role === "assistant") skip = false;
    }
    lines.splice(0, Math.max(0, lines.length - MESSAGES));
  }
  let size = 0;
  const first = lines.findLastIndex((line) => {
    size += line.length;
    return size > ALL;
  });
  return lines.slice(first + 1).join("\n");
}
