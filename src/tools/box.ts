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
  /** Nothing is going to run for a while (waiting, end of turn): release what costs. */
  rest(): Promise<void>;
}

export class BoxUnavailable extends Error {
  /** Nothing has run, and the same again in a while may succeed: it is starting, say. */
  retryable = false;
}
