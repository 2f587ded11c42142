/**
 * Failures under /v1 as OpenAI's clients know them: `{error: {message, type, param, code}}` with the right status.
 *
 * E1  What the harness has tried again already is not to be tried again by the client's library: `x-should-retry`.
 * E2  A provider's wish to wait is passed on as `Retry-After`.
 */
import type { Failure } from "../core/complete.ts";
import { log } from "./log.ts";
import { HttpProblem } from "./problem.ts";

export interface OpenAIError {
  status: number;
  message: string;
  type: string;
  param: string | null;
  code: string;
  headers?: Record<string, string>;
}

export class OpenAIProblem extends Error {
  readonly error: OpenAIError;
  constructor(error: OpenAIError) {
    super(error.message);
    this.error = error;
  }
}

const typeOf = (status: number): string =>
  status === 429 ? "rate_limit_error" : status >= 500 ? "server_error" : "invalid_request_error";

export const openaiError = (
  status: number,
  code: string,
  message: string,
  param: string | null = null,
): OpenAIError => ({ status, code, message, param, type: typeOf(status) });

export const badRequest = (param: string | null, message: string): OpenAIProblem =>
  new OpenAIProblem(openaiError(400, "invalid_request", message, param));

/** OpenAI's own words where it has some. */
const CODES: Record<string, string> = {
  bad_token: "invalid_api_key",
  sign_in_required: "invalid_api_key",
  rate_limited: "rate_limit_exceeded",
  quota_exceeded: "insufficient_quota",
};

export function errorOf(error: unknown): OpenAIError {
  if (error instanceof OpenAIProblem) return error.error;
  if (error instanceof HttpProblem) {
    const { status, code, message, retryAfter } = error.problem;
    const translated = openaiError(status, CODES[code] ?? code, message);
    if (retryAfter === undefined) return translated;
    const headers: Record<string, string> = { "retry-after": String(retryAfter) };
    // Not before tomorrow: a library that waits or tries again would only hang.
    if (code === "quota_exceeded") headers["x-should-retry"] = "false";
    return { ...translated, headers };
  }
  log("error", "request_failed", {}, error);
  return openaiError(500, "internal", "Something went wrong here. Try again.");
}

/** How a guarded completion failed, as a status: what the provider said of the request itself keeps its own. */
function placed({ code, message, status }: Failure): OpenAIError {
  if (code === "context_overflow") {
    const text = message.replace(
      "Lower maxContextTokens or start a new session",
      "Shorten the messages",
    );
    return openaiError(400, "context_length_exceeded", text, "messages");
  }
  if (code === "rate_limited") return openaiError(429, "rate_limit_exceeded", message);
  if (code === "provider_quota") return openaiError(429, "insufficient_quota", message);
  if (code === "no_provider") return openaiError(503, code, message);
  if (code === "internal") return openaiError(500, code, message);
  if (status === 404) return openaiError(404, "model_not_found", message, "model");
  if (status !== undefined) return openaiError(400, "invalid_request", message);
  return openaiError(502, code, message);
}

export function failureError(failure: Failure): OpenAIError {
  const wait = failure.retryAfterMs;
  return {
    ...placed(failure),
    headers: {
      "x-should-retry": "false",
      ...(wait === undefined ? {} : { "retry-after": String(Math.ceil(wait / 1000)) }),
    },
  };
}

export const errorBody = ({ message, type, param, code }: OpenAIError) => ({
  error: { message, type, param, code },
});

export const errorResponse = (error: OpenAIError): Response =>
  Response.json(errorBody(error), {
    status: error.status,
    ...(error.headers ? { headers: error.headers } : {}),
  });
