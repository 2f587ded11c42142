/** What a reader may do with a message, where it may be done at all: a shared session has none of it. */
import { createContext } from "preact";

export interface Acts {
  /** A new session that goes on from there; from one's own message: from before it, with its words to be changed. */
  fork(seq: number, own?: string): void;
  /** Puts a text into the composer again. */
  reuse(text: string): void;
  /** A message that was not read yet. The words say what went wrong; null when it worked. */
  editQueued(id: string, text: string): Promise<string | null>;
  removeQueued(id: string): Promise<string | null>;
}

export const Acts = createContext<Acts | null>(null);
