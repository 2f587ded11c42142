/**
 * The log: one JSON line for each thing worth knowing, through the console, for Workers Logs and `wrangler dev` alike.
 *
 * G1  Ids, codes, numbers and names of routes, models and tools; never what people, models or tools said, nor
 *     arguments, file names, tokens. Owners are left out: an owner may be an e-mail address, and the hash of one is
 *     as good as the address to whoever can guess it.
 * G2  Of an exception its name, its code and where it was thrown. Its message may quote what it stumbled over, so it
 *     is added only where the deployment asks for that (`LOG_CONTENT=true`).
 * G3  It never throws, and waits for nothing.
 */
import { env } from "cloudflare:workers";
import { isPlatformError } from "../tools/platform.ts";
import type { Vars } from "./env.ts";

export const LEVELS = ["debug", "info", "warn", "error"] as const;
export type Level = (typeof LEVELS)[number];
/** Absent and undefined fields are not written. */
export type Fields = Record<string, string | number | boolean | null | undefined>;

/** `LOG_LEVEL`: the least that is written; `off` writes nothing. null: the variable says something else. */
export function levelOf(text: string | undefined): Level | "off" | null {
  const named = text?.trim().toLowerCase() || "info";
  if (named === "off") return named;
  return LEVELS.find((level) => level === named) ?? null;
}

const vars = () => env as unknown as Vars;

/** `message` names what happened, in snake_case: it is what the dashboard shows first. */
export function log(level: Level, message: string, fields: Fields = {}, error?: unknown): void {
  try {
    const least = levelOf(vars().LOG_LEVEL) ?? "info";
    if (least === "off" || LEVELS.indexOf(level) < LEVELS.indexOf(least)) return;
    const line = { message, level, time: new Date().toISOString(), ...fields };
    console[level](JSON.stringify(error === undefined ? line : { ...line, error: told(error) }));
  } catch {
    // There is nobody left to tell.
  }
}

/** Places of a stack that are worth reading. */
const FRAMES = 8;

function told(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { name: typeof error };
  const { name, message, stack = "" } = error;
  const code = codeOf(error);
  // What the platform says of itself quotes nobody.
  const spoken = vars().LOG_CONTENT?.trim().toLowerCase() === "true" || isPlatformError(error);
  const at = [...stack.matchAll(/^\s+at (.+)$/gm)].slice(0, FRAMES).map(([, place]) => place);
  return { name, ...(code ? { code } : {}), ...(spoken ? { message } : {}), at };
}

/** A code that the error carries, or that SQLite has put into its message. */
function codeOf(error: Error): string | undefined {
  const { code } = error as { code?: unknown };
  if (typeof code === "string" || typeof code === "number") return String(code).slice(0, 60);
  return /\bSQLITE_[A-Z_]+/.exec(error.message)?.[0];
}
