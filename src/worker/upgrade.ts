/**
 * What a client's socket is told first, and what becomes of the frames it sends. A bad frame never closes it; a flood
 * does.
 */
import { LIMITS } from "../core/limits.ts";
import { ClientFrame, Cursor, type ServerFrame, type SessionView } from "../core/wire.ts";
import { frameBytes, pour } from "./flood.ts";
import type { Answer } from "./problem.ts";
import type { Ack } from "./requests.ts";
import { send } from "./sockets.ts";
import type { SessionStore } from "./store.ts";
import { firstIssue, parseJson } from "./validate.ts";

/** `hello` or `reset`, and the cursor that the replay starts from. A malformed cursor is told and counts as 0. */
export function openingOf(
  store: SessionStore,
  session: SessionView,
  query: URLSearchParams,
): { opening: ServerFrame[]; after: number } {
  const s = store.session();
  const cursor = Cursor.safeParse(query.get("after") ?? "0");
  const epoch = query.get("epoch") ?? "";
  const after = cursor.success ? cursor.data : 0;
  const common = { epoch: s.epoch, last_seq: s.seq, session };
  if (!store.follows(after, epoch)) {
    return { opening: [{ type: "reset", ...common }], after: 0 };
  }
  const hello: ServerFrame = { type: "hello", session_id: s.id, after, ...common };
  const complaint: ServerFrame = {
    type: "error",
    code: "bad_cursor",
    message:
      "`after` must be a whole number, the seq of the last event you have. All events follow.",
  };
  return { opening: cursor.success ? [hello] : [complaint, hello], after };
}

export interface Actions {
  say(body: Extract<ClientFrame, { type: "message" }>): Promise<Answer<Ack>>;
  answer(body: Extract<ClientFrame, { type: "answer" }>): Promise<Answer<Ack>>;
  stop(id: string): Promise<Answer<Ack>>;
}

/** A close frame takes 123 bytes. */
const FLOOD =
  "Too many frames, or too much in them. Wait a moment, then connect again with your cursor.";

type Read =
  | { ok: true; frame: ClientFrame }
  | { ok: false; id?: string; code: string; message: string };

function readFrame(message: string | ArrayBuffer, bytes: number): Read {
  if (typeof message !== "string") {
    return { ok: false, code: "bad_frame", message: "Frames are JSON text, not binary." };
  }
  if (bytes > LIMITS.frameBytes) {
    return {
      ok: false,
      code: "too_large",
      message: `A frame may have at most ${LIMITS.frameBytes} bytes.`,
    };
  }
  let value: unknown;
  try {
    value = parseJson(message);
  } catch {
    return { ok: false, code: "bad_frame", message: "The frame is not valid JSON." };
  }
  const parsed = ClientFrame.safeParse(value);
  if (parsed.success) return { ok: true, frame: parsed.data };
  const id =
    typeof value === "object" && value !== null ? (value as { id?: unknown }).id : undefined;
  const issue = firstIssue(parsed.error);
  return {
    ok: false,
    ...(typeof id === "string" ? { id } : {}),
    code: issue.tooLarge ? "too_large" : "invalid_request",
    message: issue.message,
  };
}

export async function takeFrame(
  ws: WebSocket,
  message: string | ArrayBuffer,
  actions: Actions,
): Promise<void> {
  const reply = (frame: ServerFrame) => send(ws, JSON.stringify(frame));
  const bytes = frameBytes(message);
  const poured = pour(ws, bytes, Date.now());
  if (poured === "over") return;
  if (poured === "flood") return ws.close(1008, FLOOD);
  const read = readFrame(message, bytes);
  if (!read.ok) {
    const { id, code, message } = read;
    return reply({ type: "error", ...(id === undefined ? {} : { id }), code, message });
  }
  const { frame } = read;
  if (frame.type === "ping") return reply({ type: "pong" });
  const answer = await act(frame, actions);
  if (!answer.ok) {
    const { code, message } = answer.problem;
    return reply({ type: "error", id: frame.id, code, message });
  }
  const { id, seq, duplicate } = answer.value;
  reply({ type: "ack", id, seq, duplicate });
}

function act(
  frame: Exclude<ClientFrame, { type: "ping" }>,
  actions: Actions,
): Promise<Answer<Ack>> {
  switch (frame.type) {
    case "message":
      return actions.say(frame);
    case "answer":
      return actions.answer(frame);
    case "stop":
      return actions.stop(frame.id);
  }
}
