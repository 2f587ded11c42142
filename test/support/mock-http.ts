/** The little of HTTP that the mock model needs. */
import type { IncomingMessage, ServerResponse } from "node:http";

/** Ends early when the client goes away. */
export const pause = (ms: number, res: ServerResponse): Promise<void> =>
  ms <= 0 || res.destroyed
    ? Promise.resolve()
    : new Promise((resolve) => {
        const end = (): void => {
          clearTimeout(timer);
          res.removeListener("close", end);
          resolve();
        };
        const timer = setTimeout(end, ms);
        res.once("close", end);
      });

export async function readBody(req: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of req) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
}

export function parseJson(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

export function sendJson(res: ServerResponse, status: number, body: unknown): void {
  res.writeHead(status, { "content-type": "application/json" });
  res.end(JSON.stringify(body));
}

export function sendError(
  res: ServerResponse,
  status: number,
  message: string,
  code: string | null = null,
): void {
  const type = status < 500 ? "invalid_request_error" : "server_error";
  sendJson(res, status, { error: { message, type, code } });
}
