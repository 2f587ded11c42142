/**
 * The practice model: rules in place of a model, so that the whole machine can be tried without a key or a network.
 *
 * K1  It speaks through the same port, with the same stream of pieces, as every other model.
 * K2  Its reply depends on the request alone.
 * K3  It reports what really happened: success is exit codes, results are outputs.
 */
import type { ModelOutcome, ModelRequest, Piece, RawCall, Reply } from "../../core/ports.ts";
import { cancelled } from "./failure.ts";
import { type Asked, readRequest } from "./practice-request.ts";
import { decide, type Said } from "./practice-rules.ts";

/** Pieces of a streamed text, and the pause between two: a text takes well under a second. */
const PIECES = 40;
const PAUSE_MS = 12;

export async function callPractice(
  request: ModelRequest,
  live: (piece: Piece) => void,
  signal: AbortSignal,
): Promise<ModelOutcome> {
  const asked = readRequest(request.body);
  const said = decide(asked);
  const whole = await speak(said.text, live, signal);
  if (!whole) return { type: "failed", failure: cancelled() };
  return { type: "reply", reply: replyOf(said, asked) };
}

/** False when the signal came first. */
async function speak(
  text: string,
  live: (piece: Piece) => void,
  signal: AbortSignal,
): Promise<boolean> {
  const points = Array.from(text);
  const size = Math.max(6, Math.ceil(points.length / PIECES));
  for (let at = 0; at < points.length && !signal.aborted; at += size) {
    if (at > 0) await pause(signal);
    if (!signal.aborted) live({ text: points.slice(at, at + size).join("") });
  }
  return !signal.aborted;
}

const pause = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, PAUSE_MS);
    signal.addEventListener("abort", end);
  });

function replyOf(said: Said, asked: Asked): Reply {
  const used = new Set(asked.messages.flatMap((m) => m.calls.map((call) => call.id)));
  let n = used.size;
  const calls: RawCall[] = said.calls.map((call) => {
    do n++;
    while (used.has(`practice_${n}`));
    return { id: `practice_${n}`, name: call.name, arguments: JSON.stringify(call.args) };
  });
  return {
    text: said.text,
    thinking: "",
    calls,
    finish: calls.length > 0 ? "tool_calls" : "stop",
    model: "practice",
    usage: null,
  };
}
