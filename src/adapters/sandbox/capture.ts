/**
 * A command's output while it is produced: head and tail are kept, the middle of a flood is counted and dropped.
 *
 * O1  Memory is bounded whatever a command prints.
 * O2  No cut goes through a character; bytes that are no UTF-8 become U+FFFD.
 */
import { clean } from "../../core/chars.ts";

/** UTF-16 units. */
const HEAD = 150_000;
const TAIL = 100_000;
/** What goes to people while it runs; the whole output comes with the result. */
const LIVE = 1_000_000;

/** Would a cut before `at` go through a pair? */
const splits = (text: string, at: number): boolean =>
  at > 0 && at < text.length && (text.codePointAt(at - 1) as number) > 0xffff;
const before = (text: string, at: number): number => (splits(text, at) ? at - 1 : at);

export class Capture {
  readonly #live: (text: string) => void;
  #decoder = new TextDecoder();
  #head = "";
  #tail = "";
  #total = 0;
  #dropped = 0;
  /** What comes next may begin in the middle of a character. */
  #torn = false;

  constructor(live: (text: string) => void = () => {}) {
    this.#live = live;
  }

  bytes(bytes: Uint8Array): void {
    let start = 0;
    if (this.#torn) while (((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
    this.#torn = false;
    this.#push(this.#decoder.decode(bytes.subarray(start), { stream: true }));
  }

  text(text: string): void {
    this.#push(this.#decoder.decode() + text);
  }

  /** So many bytes of the middle were never fetched. Only after more than a head of them was given. */
  skip(count: number): void {
    this.#decoder = new TextDecoder();
    this.#torn = true;
    this.#total += count;
    this.#dropped += this.#tail.length + count;
    this.#tail = "";
  }

  /** What was printed, with a marker where the middle was dropped. */
  output(): string {
    this.#push(this.#decoder.decode());
    if (this.#dropped === 0) return this.#head + this.#tail;
    return `${this.#head}\n... [${this.#dropped} characters left out] ...\n${this.#tail}`;
  }

  #push(text: string): void {
    if (text === "") return;
    if (this.#total < LIVE) this.#live(clean(text));
    this.#total += text.length;
    const room = before(text, Math.max(0, HEAD - this.#head.length));
    // Once the tail has begun, nothing may be put before it.
    const rest = this.#tail === "" ? text.slice(room) : text;
    if (this.#tail === "") this.#head += text.slice(0, room);
    this.#tail += rest;
    if (this.#tail.length > 2 * TAIL) {
      const cut = before(this.#tail, this.#tail.length - TAIL);
      this.#dropped += cut;
      this.#tail = this.#tail.slice(cut);
    }
  }
}
