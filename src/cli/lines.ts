/** Lines of standard input, one when it is asked for; null at its end. Nothing is read before. */
import { createInterface, type Interface } from "node:readline";

export interface Lines {
  next(): Promise<string | null>;
  close(): void;
}

export function linesOf(input: NodeJS.ReadableStream): Lines {
  let reader: Interface | null = null;
  let iterator: AsyncIterator<string> | null = null;
  return {
    async next() {
      reader ??= createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
      iterator ??= reader[Symbol.asyncIterator]();
      const { value, done } = await iterator.next();
      return done ? null : value;
    },
    close: () => reader?.close(),
  };
}
export const NO_LINES: Lines = { next: () => Promise.resolve(null), close: () => {} };
