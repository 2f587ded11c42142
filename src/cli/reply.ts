/** What a typed line means to a session that waits: words for a question, a yes or no, or no answer at all. */

import type { Wait } from "../core/events.ts";
import { routeOf } from "../core/route.ts";

export type Reply =
  | {
      type: "answer";
      given: { wait_id: string; text: string } | { wait_id: string; approved: boolean };
    }
  /** A command: sent as a message, and the session goes on waiting. */
  | { type: "message"; text: string }
  | { type: "unclear" };

const YES = /^(y|yes|ok|是|好|好的|可以|允许)$/i;
const NO = /^(n|no|否|不|不行|不要|拒绝)$/i;

export function replyTo(wait: Wait, line: string): Reply {
  const { wait_id } = wait;
  const text = line.trim();
  const route = routeOf(text, "agent");
  if (route.type === "command" || route.type === "shell") return { type: "message", text };
  if (wait.kind === "question") {
    const option = /^\d{1,2}$/.test(text) ? wait.options?.[Number(text) - 1] : undefined;
    const own = route.type === "task" ? route.text : text;
    return { type: "answer", given: { wait_id, text: option ?? own } };
  }
  if (YES.test(text)) return { type: "answer", given: { wait_id, approved: true } };
  if (NO.test(text)) return { type: "answer", given: { wait_id, approved: false } };
  return { type: "unclear" };
}
