/**
 * Watches one call from below the parser: how long it has been silent, and whether anybody still wants it.
 *
 * W1  Any byte counts as life, a keep-alive comment too; there is no limit on the whole duration.
 * W2  `ended` settles at once when the watch ends the call, whatever the network does.
 * W3  Closing the watch aborts a request whose body has not ended, so the provider stops writing (and charging).
 */
export type Ending = "cancelled" | "stalled" | "late";

/** What the first bytes say a body is, whatever its content type claims. */
export type BodyKind = "json" | "html" | "sse" | "empty";

export class BodyTooLong extends Error {}

export interface Watch {
  /** Owns the request: whoever reads the reply may abort it when enough has come. */
  controller: AbortController;
  ended: Promise<Ending>;
  ending(): Ending | null;
  /** A byte came, or a response head. */
  touch(): void;
  /** The reply is complete but for extras: from the next byte that has to be waited for on, at most this long. */
  wind(ms: number): void;
  /** A byte is waited for. */
  wait(): void;
  /** The body has ended: there is nothing left to abort. */
  over(): void;
  /** Releases timers and listeners, and aborts what is still open. */
  close(): void;
}

export function startWatch(timeoutMs: number, outer: AbortSignal): Watch {
  const controller = new AbortController();
  const settled = Promise.withResolvers<Ending>();
  let ending: Ending | null = null;
  let last = Date.now();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let winding: ReturnType<typeof setTimeout> | undefined;
  let extras: number | null = null;
  let over = false;

  const end = (why: Ending): void => {
    if (ending) return;
    ending = why;
    settled.resolve(why);
  };
  const cancel = (): void => end("cancelled");
  // One timer that looks at the clock, not a new one for each byte.
  const look = (): void => {
    const left = last + timeoutMs - Date.now();
    if (left <= 0) end("stalled");
    else timer = setTimeout(look, left);
  };
  if (outer.aborted) cancel();
  else {
    outer.addEventListener("abort", cancel, { once: true });
    timer = setTimeout(look, timeoutMs);
  }
  return {
    controller,
    ended: settled.promise,
    ending: () => ending,
    touch: () => {
      last = Date.now();
    },
    wind: (ms) => {
      extras = ms;
    },
    wait: () => {
      if (extras === null) return;
      clearTimeout(winding);
      winding = setTimeout(() => end("late"), extras);
      extras = null;
    },
    over: () => {
      over = true;
    },
    close: () => {
      clearTimeout(timer);
      clearTimeout(winding);
      outer.removeEventListener("abort", cancel);
      // An abort makes an exception with its stack: nothing to do for each call that went well.
      if (!over) controller.abort();
    },
  };
}

/** What a body is read from: of a stream's reader what is needed here, so that no further stream is built around it. */
export interface Bytes {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
  releaseLock(): void;
}

/** The same bytes, watched, with their kind told from the first that is not white space. */
export async function openBody(
  body: ReadableStream<Uint8Array> | null,
  watch: Watch,
  maxLine: number,
): Promise<{ kind: BodyKind; bytes: Bytes }> {
  const reader = body?.getReader();
  const held: Uint8Array[] = [];
  let kind: BodyKind | null = null;
  let done = reader === undefined;
  while (kind === null && !done && reader) {
    const part = await reader.read();
    watch.touch();
    done = part.done;
    if (part.value) held.push(part.value);
    kind = part.value ? kindOf(part.value) : null;
  }
  const rest = done ? null : (reader ?? null);
  return { kind: kind ?? "empty", bytes: watched(held, rest, watch, maxLine) };
}

function kindOf(bytes: Uint8Array): BodyKind | null {
  // White space, and the byte order mark that some servers begin with.
  const first = bytes.find((b) => b > 0x20 && b !== 0xef && b !== 0xbb && b !== 0xbf);
  if (first === undefined) return null;
  if (first === 0x7b || first === 0x5b) return "json";
  return first === 0x3c ? "html" : "sse";
}

function watched(
  held: Uint8Array[],
  reader: ReadableStreamDefaultReader<Uint8Array> | null,
  watch: Watch,
  maxLine: number,
): Bytes {
  let line = 0;
  const measure = (bytes: Uint8Array): void => {
    const end = bytes.lastIndexOf(0x0a);
    line = end < 0 ? line + bytes.length : bytes.length - end - 1;
    // Without this a line that never ends fills the memory of the whole object.
    if (line > maxLine) throw new BodyTooLong("a line of the reply is too long");
  };
  return {
    async read() {
      const first = held.shift();
      if (!first) watch.wait();
      const part = first ? { done: false, value: first } : await reader?.read();
      if (!first) watch.touch();
      if (part?.value) measure(part.value);
      if (!part || part.done) watch.over();
      return part ?? { done: true };
    },
    cancel: async () => reader?.cancel(),
    // Nobody reads it after this one, and letting go of it costs an exception.
    releaseLock: () => {},
  };
}

/** A body as text, at most `maxBytes` of it; the rest is left unread. */
export async function readText(
  reader: Bytes | undefined,
  watch: Watch,
  maxBytes: number,
): Promise<{ text: string; whole: boolean }> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  while (reader) {
    const part = await reader.read();
    watch.touch();
    if (part.done || !part.value) break;
    bytes += part.value.length;
    text += decoder.decode(part.value, { stream: true });
    if (bytes > maxBytes) {
      void reader.cancel().catch(() => undefined);
      return { text, whole: false };
    }
  }
  return { text: text + decoder.decode(), whole: true };
}
