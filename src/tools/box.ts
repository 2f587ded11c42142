/**
 * The sandbox port: a machine with a shell and `/workspace`. One backend is chosen per deployment, never a fallback.
 *
 * X1  Nothing here rejects for what a command did: exit codes, missing files and timeouts are data.
 * X2  A backend that cannot work at all throws `BoxUnavailable` with a message for a person.
 * X3  Every path is absolute, normalised and under /workspace before it gets here (see paths.ts).
 */
export interface ExecRequest {
  /** The call's id: names the process, so that it can be found again after a crash. */
  id: string;
  command: string;
  /** Absolute working directory. */
  cwd: string;
  timeoutMs: number;
  /** It was started before a crash: find it before starting it. */
  reopened: boolean;
}

export interface ExecResult {
  /** stdout and stderr as they came, already capped in the middle when very long. */
  output: string;
  /** 0 to 255; 124 after a timeout or an abort, with the output so far. */
  exitCode: number;
  timedOut: boolean;
  /** Nobody knows whether it ended, or ran at all: the machine did not answer, or was lost under it. */
  unknown?: true;
}

/** A background command as it stands. */
export interface Job {
  /** Like a result's, capped. */
  output: string;
  /** null: it runs. */
  exitCode: number | null;
  /** Nobody knows whether it was started: the machine was lost under it. */
  unknown?: true;
}

/** Commands that outlive their call, until the machine rests. null: there is no such command (any more). */
export interface Jobs {
  /** Starts it and gives what it did in its first moments. */
  start(request: ExecRequest, signal: AbortSignal): Promise<Job>;
  /** Waits until it has ended, but no longer than that. */
  view(id: string, waitMs: number, signal: AbortSignal): Promise<Job | null>;
  /** full: it does not read its input, and not all was taken. */
  write(id: string, text: string): Promise<"ok" | "full" | "ended" | null>;
  kill(id: string): Promise<Job | null>;
}

export interface BoxFile {
  path: string;
  size: number;
}

export interface Box {
  /** Which backend this is, for /api/config and errors. */
  readonly kind: "embedded" | "container";
  /** One honest paragraph for the model: what this machine has and what is missing. */
  readonly about: string;
  /** Output goes to `live` as it comes. Aborting ends the process. */
  exec(
    request: ExecRequest,
    live: (text: string) => void,
    signal: AbortSignal,
  ): Promise<ExecResult>;
  /** null: there is no such file. */
  read(path: string): Promise<Uint8Array | null>;
  /** Creates folders on the way. A quota that would be passed is `{ok: false}` with the reason. */
  write(path: string, bytes: Uint8Array): Promise<{ ok: true } | { ok: false; error: string }>;
  /** Files at or under a folder, sorted by path; empty when there is none. */
  list(folder: string): Promise<BoxFile[]>;
  /** Only where commands can run in the background. */
  readonly jobs?: Jobs;
  /** A path of the file store was changed by someone else (an upload, a deletion): the machine has to learn of it. */
  outside(path: string): void;
  /** What became of the machine that nobody asked for; told to the model, once. */
  news(): string | null;
  /** Nothing is going to run for a while (waiting, end of turn): release what costs. Never throws. */
  rest(): Promise<void>;
  /** The session is deleted: nothing of the machine stays. Never throws. */
  destroy(): Promise<void>;
}

export class BoxUnavailable extends Error {
  /** Nothing has run, and the same again in a while may succeed: it is starting, say. */
  retryable = false;
}
