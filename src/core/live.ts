/**
 * Text as it streams, with thinking set apart while the tags that mark it are still arriving.
 *
 * W1  What may be the beginning of a tag is held back until it is told; at most a tag's length is late.
 * W2  Nothing is lost but the tags: `text` and `thinking` together are what came.
 */
import type { LiveFrame } from "./ports.ts";

const OPEN = /<(think|thinking)>/;
const CLOSE = { think: "</think>", thinking: "</thinking>" } as const;
type Tag = keyof typeof CLOSE;
const OPENS = ["<think>", "<thinking>"];

/** Characters at the end that may be the beginning of one of these. */
function pending(text: string, tags: readonly string[]): number {
  const longest = Math.max(...tags.map((t) => t.length)) - 1;
  for (let n = Math.min(longest, text.length); n > 0; n--) {
    const end = text.slice(-n);
    if (tags.some((tag) => tag.startsWith(end))) return n;
  }
  return 0;
}

export interface Heard {
  text: string;
  thinking: string;
}

/** A filter for one stream: give it the pieces in order. */
export function splitLive(): (piece: string) => Heard {
  let held = "";
  let inside: Tag | null = null;
  return (piece) => {
    const out: Heard = { text: "", thinking: "" };
    held += piece;
    if (!inside && !held.includes("<")) {
      out.text = held;
      held = "";
      return out;
    }
    for (;;) {
      const mark: string = inside ? CLOSE[inside] : (OPEN.exec(held)?.[0] ?? "");
      const at = mark === "" ? -1 : held.indexOf(mark);
      const keep = at >= 0 ? 0 : pending(held, inside ? [CLOSE[inside]] : OPENS);
      const end = at >= 0 ? at : held.length - keep;
      out[inside ? "thinking" : "text"] += held.slice(0, end);
      held = held.slice(at >= 0 ? at + mark.length : end);
      if (at < 0) return out;
      inside = inside ? null : (mark.slice(1, -1) as Tag);
    }
  };
}

/** What of it is sent: thinking always, text where the phase speaks live. */
export function framesOf({ text, thinking }: Heard, id: string, liveText: boolean): LiveFrame[] {
  const frames: LiveFrame[] = [];
  if (thinking) frames.push({ event: "thinking_delta", data: { message_id: id, text: thinking } });
  if (text && liveText) frames.push({ event: "message_delta", data: { message_id: id, text } });
  return frames;
}
