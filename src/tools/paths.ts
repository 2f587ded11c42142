/**
 * The one place of path rules: what a model or a client calls a file, made absolute, or refused with a reason.
 *
 * W1  A path that comes out is absolute, normalised and is /workspace or lies under it, compared by whole segments.
 * W2  Relative paths start at /workspace (or at the folder given). `.` and `..` are resolved before the check.
 * W3  Nothing is decoded here: an HTTP route decodes exactly once and hands over the result, so `%2e` is a plain name.
 * W4  A refusal is text for whoever wrote the path; it never throws.
 */
import { utf8Bytes } from "../core/chars.ts";

export const ROOT = "/workspace";
/** UTF-8 bytes, as on Linux. */
const SEGMENT_BYTES = 255;
const PATH_BYTES = 4096;

export type PathResult = { ok: true; path: string } | { ok: false; error: string };

/** Control characters, line separators, and what turns the direction of the text around it (file names that lie). */
const FORBIDDEN = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

function objection(input: string): string | null {
  if (input === "") return "The path is empty.";
  if (!input.isWellFormed()) return "The path is not valid Unicode.";
  if (input.includes("\0")) return "The path holds a NUL character.";
  if (FORBIDDEN.test(input)) return "The path holds a control character.";
  if (input.includes("\\")) return "The path holds a backslash; use / between folders.";
  if (utf8Bytes(input) > PATH_BYTES) return `The path is longer than ${PATH_BYTES} bytes.`;
  return null;
}

/** `base` must itself be a result of this function. */
export function resolvePath(input: string, base = ROOT): PathResult {
  const error = objection(input);
  if (error) return { ok: false, error };
  const segments: string[] = [];
  for (const segment of (input.startsWith("/") ? input : `${base}/${input}`).split("/")) {
    if (segment === "..") segments.pop();
    else if (segment !== "" && segment !== ".") segments.push(segment);
  }
  if (segments.some((segment) => utf8Bytes(segment) > SEGMENT_BYTES)) {
    return { ok: false, error: `A name in the path is longer than ${SEGMENT_BYTES} bytes.` };
  }
  const path = `/${segments.join("/")}`;
  if (!within(path, ROOT)) {
    return { ok: false, error: `The path is outside ${ROOT}; files live under ${ROOT}.` };
  }
  // The base makes it longer than what came in.
  if (utf8Bytes(path) > PATH_BYTES) {
    return { ok: false, error: `The path is longer than ${PATH_BYTES} bytes.` };
  }
  return { ok: true, path };
}

/** Both normalised: is `path` the folder itself or below it? `/workspace-evil` is not within `/workspace`. */
export const within = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);

/** The part below /workspace, without a leading slash; "" for the root itself. */
export const relative = (path: string): string => path.slice(ROOT.length + 1);

export const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** Every folder above a path, nearest last, the root of the workspace first and not included. */
export function ancestors(path: string): string[] {
  const found: string[] = [];
  for (let at = path.indexOf("/", ROOT.length + 1); at >= 0; at = path.indexOf("/", at + 1)) {
    found.push(path.slice(0, at));
  }
  return found;
}
