/**
 * How much one socket may send: a bucket that fills by the second and lets a burst through. It is lost with the object,
 * which costs no row and helps nobody: a flood keeps the object awake.
 *
 * F1  Every frame costs one, a large one more, whether it can be read or not; pings that the platform answers cost
 *     nothing.
 * F2  A socket that was closed for it is not listened to any more, whatever is still on its way.
 */
import { utf8Bytes } from "../core/chars.ts";
import { LIMITS } from "../core/limits.ts";

interface Bucket {
  left: number;
  at: number;
  closed: boolean;
}
const buckets = new WeakMap<WebSocket, Bucket>();

export const frameBytes = (frame: string | ArrayBuffer): number =>
  typeof frame === "string" ? utf8Bytes(frame) : frame.byteLength;

/** ok: listen to it. flood: it is one too many, and the socket is to be closed. over: it was closed already. */
export function pour(ws: WebSocket, bytes: number, now: number): "ok" | "flood" | "over" {
  const held = buckets.get(ws) ?? { left: LIMITS.frameBurst, at: now, closed: false };
  if (held.closed) return "over";
  const filled = held.left + (Math.max(0, now - held.at) / 1000) * LIMITS.framesPerSecond;
  const left = Math.min(LIMITS.frameBurst, filled) - 1 - Math.floor(bytes / LIMITS.frameUnit);
  buckets.set(ws, { left, at: now, closed: left < 0 });
  return left < 0 ? "flood" : "ok";
}
