/** Input from outside, held against its schema; the error names the field and what to do. */
import type * as z from "zod";
import { clean } from "../core/chars.ts";
import { LIMITS } from "../core/limits.ts";
import { problem } from "./problem.ts";

export function firstIssue(error: z.ZodError): { message: string; tooLarge: boolean } {
  const [issue] = error.issues;
  const field = issue?.path.map(String).join(".") || "the body";
  const params = issue?.code === "custom" ? (issue.params as { too_large?: boolean }) : undefined;
  return {
    message: `${field}: ${issue?.message ?? "is wrong"}`,
    tooLarge: params?.too_large === true,
  };
}

export function check<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { message, tooLarge } = firstIssue(parsed.error);
  throw tooLarge ? problem(413, "too_large", message) : problem(400, "invalid_request", message);
}

/** A body of at most `max` bytes; it is not read further than that. */
export async function readBytes(request: Request, max: number): Promise<Uint8Array> {
  const tooLarge = () => problem(413, "too_large", `The body may have at most ${max} bytes.`);
  if (Number(request.headers.get("content-length") ?? 0) > max) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > max) throw tooLarge();
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}

/** Half characters and NULs hide behind escapes; a text without such an escape needs no second look. */
const SUSPECT = /\\u(?:d[89a-f]|0000)/i;

/** JSON from outside: half characters and NULs end here, whichever field they came in. Throws like `JSON.parse`. */
export const parseJson = (text: string): unknown =>
  SUSPECT.test(text)
    ? JSON.parse(text, (_, value: unknown) => (typeof value === "string" ? clean(value) : value))
    : JSON.parse(text);

/** A JSON body. An empty one counts as `{}`, so that a bare POST works. */
export async function readJson<T>(request: Request, schema: z.ZodType<T>): Promise<T> {
  const text = new TextDecoder().decode(await readBytes(request, LIMITS.bodyBytes));
  if (text.trim() === "") return check(schema, {});
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    throw problem(400, "invalid_request", "The body is not valid JSON.");
  }
  return check(schema, value);
}
