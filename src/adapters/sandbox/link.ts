/** The way to a container, as far as the machine needs it: a line of bash, a file, an end. */

export type Reply =
  | { ok: true; exitCode: number; stdout: string }
  /**
   * hung: our own clock was over first, and nobody knows what became of it. interrupted: the container or its object
   * went away under it. unavailable: it cannot be had; the message is for a person.
   */
  | { ok: false; why: "hung" | "interrupted" | "unavailable"; message: string };

/** Nothing here rejects, and everything answers in time. */
export interface Link {
  /** Runs one line without a session. A container that is not up is started by it. */
  exec(line: string, timeoutMs: number): Promise<Reply>;
  /** Writes a file and the folders above it. */
  put(path: string, bytes: Uint8Array): Promise<Reply>;
  /** Ends the container and everything in it; false when that could not be done in time. May be called twice. */
  destroy(): Promise<boolean>;
}
