/**
 * What the first message of a session is. The empty page is what `/new` asks for, so there it makes no second session:
 * with a text it is that text, as a task whatever it looks like; alone it is nothing (null).
 */
import { routeOf } from "../core/route.ts";
import type { Mode } from "../core/session.ts";

export function firstMessage(text: string, mode: Mode): string | null {
  const route = routeOf(text, mode);
  if (route.type !== "command" || route.name !== "new") return text;
  if (route.arg === "") return null;
  return /^[/!]/.test(route.arg) ? `\\${route.arg}` : route.arg;
}
