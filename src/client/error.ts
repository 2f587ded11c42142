/** The one error that the client throws: what the server said, or that it could not be reached. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** HTTP status; 0 when there was no reply at all. */
  readonly status: number;
  /** The server's code; `network` when there was no reply, `http_error` when the reply was not ours. */
  readonly code: string;
  readonly details: unknown;

  constructor(status: number, code: string, message: string, details?: unknown) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

const record = (value: unknown): Record<string, unknown> | null =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;

/** Reads a refused reply; proxies in between may have answered with something that is not JSON. */
export async function toApiError(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => null);
  const error = record(record(body)?.error);
  const code = typeof error?.code === "string" ? error.code : "http_error";
  const message =
    typeof error?.message === "string"
      ? error.message
      : `The server answered ${response.status} ${response.statusText}`.trim();
  return new ApiError(response.status, code, message, error?.details);
}
