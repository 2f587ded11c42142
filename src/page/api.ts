/** The page's one client, and its errors in words. */
import { ApiError, createClient } from "../client/index.ts";
import { type StringKey, t } from "./strings.ts";

export const api = createClient({ baseUrl: "" });

const WORDS: Record<string, StringKey> = {
  network: "errNetwork",
  not_found: "errNotFound",
  auth_not_configured: "errNoAuth",
  already_answered: "errAnswered",
  busy: "errBusy",
  too_large: "errTooLarge",
};

export function wordsFor(code: string, message: string): string {
  const key = WORDS[code];
  return key ? t(key) : message;
}
export function errorWords(error: unknown): string {
  if (error instanceof ApiError) return wordsFor(error.code, error.message);
  return error instanceof Error ? error.message : String(error);
}
/** For what a server may not have: there a 404 is not about the session that stands on the screen. */
export const newerWords = (error: unknown): string =>
  error instanceof ApiError && error.status === 404 && error.code === "not_found"
    ? t("errMissing")
    : errorWords(error);
export const isSignedOut = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 401;
