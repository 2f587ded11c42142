/** The one error type at the edge: what went wrong and what to do, with its HTTP status. A stack never leaves. */
export interface Problem {
  status: 400 | 401 | 403 | 404 | 409 | 413 | 416 | 422 | 426 | 429 | 500 | 503 | 507;
  code: string;
  message: string;
  details?: unknown;
  /** Seconds after which the same request may be let through. */
  retryAfter?: number;
}

export class HttpProblem extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(problem.message);
    this.problem = problem;
  }
}

export const problem = (
  status: Problem["status"],
  code: string,
  message: string,
  details?: unknown,
  retryAfter?: number,
): HttpProblem =>
  new HttpProblem({
    status,
    code,
    message,
    ...(details === undefined ? {} : { details }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  });

/** How a Durable Object answers an RPC: failure is data, because error classes do not survive the way. */
export type Answer<T> = { ok: true; value: T } | { ok: false; problem: Problem };
export const yes = <T>(value: T): Answer<T> => ({ ok: true, value });
export const no = (
  status: Problem["status"],
  code: string,
  message: string,
): { ok: false; problem: Problem } => ({ ok: false, problem: { status, code, message } });

/** The value, or the problem thrown for the edge to answer with. */
export function unwrap<T>(answer: Answer<T>): T {
  if (answer.ok) return answer.value;
  throw new HttpProblem(answer.problem);
}

export const NO_SESSION = no(
  404,
  "session_not_found",
  "There is no such session. List yours with GET /api/sessions, or create one with POST /api/sessions.",
);

/** The storage of a session has no room left; of its account, or of the machine. */
export const FULL = no(
  507,
  "storage_full",
  "The storage is full, so nothing could be changed. Everything stored can still be read, exported and deleted. Make room (delete files or sessions), then send this again with the same id.",
);

export const errorBody = ({ code, message, details }: Problem) => ({
  error: { code, message, ...(details === undefined ? {} : { details }) },
});
