/** How another agent is told of a session: text for its model, the same as data, files as links, and progress. */
import type { CallToolResult, ServerContext } from "@modelcontextprotocol/server";
import type { Event, Wait } from "../core/events.ts";
import type { TurnResult } from "../core/wire.ts";
import { HttpProblem } from "./problem.ts";
import type { Asker } from "./sessions.ts";

/** On whose behalf, and how the product is reached. */
export interface Caller extends Asker {
  /** For links: `https://dormouse.example.com`. */
  origin: string;
}

/** Tells whoever wants to know of each step and call as it begins. */
export function reporter({ mcpReq }: ServerContext): (event: Event) => void {
  const progressToken = mcpReq._meta?.progressToken;
  let progress = 0;
  return (event) => {
    const begun =
      (event.event === "step" && event.data.status === "running" && event.data.description) ||
      (event.event === "tool" &&
        event.data.status === "calling" &&
        (event.data.brief ?? event.data.function));
    if (!begun || progressToken === undefined) return;
    progress += 1;
    const params = { progressToken, progress, message: begun };
    // A client that left is told nothing.
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
  };
}

const howToAnswer = (session_id: string, wait: Wait): string =>
  wait.kind === "question"
    ? `Answer with the tool answer: {"session_id": "${session_id}", "text": "…"}.`
    : `Answer with the tool answer: {"session_id": "${session_id}", "approved": true or false}.`;

export interface Told extends Partial<Omit<TurnResult, "outcome">> {
  session_id: string;
  status: TurnResult["outcome"] | "running" | "idle";
}

export function reply(told: Told, { origin }: Caller): CallToolResult {
  const { session_id, status, message, wait, error } = told;
  const attachments = (told.attachments ?? []).map(({ name, size, content_type, url }) => ({
    ...{ name, size, content_type },
    url: new URL(url, origin).href,
  }));
  const lines = [
    message,
    error && `It failed: ${error.message} (${error.code})`,
    wait && wait.text !== message && wait.text,
    wait?.tool && `It wants to call ${wait.tool.function} with ${JSON.stringify(wait.tool.args)}.`,
    wait?.options && `Options: ${wait.options.join(", ")}`,
    wait && howToAnswer(session_id, wait),
    status === "running" && `It is still working. Ask get_session with "${session_id}" later.`,
    ...attachments.map((file) => `${file.name}: ${file.url}`),
    `(session ${session_id}, ${status})`,
  ];
  return {
    content: [
      { type: "text", text: lines.filter(Boolean).join("\n") },
      ...attachments.map(({ name, url, content_type, size }) => ({
        ...{ type: "resource_link" as const, uri: url, name, size },
        mimeType: content_type,
      })),
    ],
    structuredContent: {
      ...{ session_id, status, message: message ?? null, attachments },
      wait: wait ? { kind: wait.kind, text: wait.text, options: wait.options ?? [] } : null,
      error: error ?? null,
    },
    isError: status === "failed",
  };
}

/** A problem of the request's becomes a result; anything else is ours and goes on. */
export async function told(act: () => Promise<CallToolResult>): Promise<CallToolResult> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof HttpProblem)) throw error;
    const { code, message } = error.problem;
    return { content: [{ type: "text", text: `${message} (${code})` }], isError: true };
  }
}
