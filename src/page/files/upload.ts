/**
 * Bytes to the session's workspace, with progress.
 *
 * U1  A name that is taken gets a number; nothing that is there is replaced.
 * U2  Whatever goes wrong is words for the person who chose the file.
 */
import { ApiError, type Client } from "../../client/index.ts";
import type { FileInfo } from "../../core/events.ts";
import { errorWords } from "../api.ts";

export const FOLDER = "upload";
/** As the server has it: bytes of one file. Asked before anything is sent. */
export const MOST_BYTES = 25 * 1024 * 1024;
/** UTF-8 bytes of a name, with room for a number. */
const NAME_BYTES = 240;
const UNFIT = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\\/]/gu;

/** A name that the workspace takes, whatever the file is called where it comes from. */
export function fitName(name: string): string {
  let fit = name.toWellFormed().replace(UNFIT, "_").trim();
  if (/^\.*$/.test(fit)) fit = "file";
  const [stem, extension] = split(fit);
  let short = [...stem];
  while (
    new TextEncoder().encode(short.join("") + extension).length > NAME_BYTES &&
    short.length > 1
  )
    short = short.slice(0, -1);
  return short.join("") + extension;
}

/** U1: `a.csv`, `a-2.csv`, `a-3.csv` … */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  const [stem, extension] = split(name);
  let n = 2;
  while (taken.has(`${stem}-${n}${extension}`)) n++;
  return `${stem}-${n}${extension}`;
}

function split(name: string): [stem: string, extension: string] {
  const dot = name.lastIndexOf(".");
  const has = dot > 0 && name.length - dot <= 16;
  return has ? [name.slice(0, dot), name.slice(dot)] : [name, ""];
}

/** Names that the upload folder holds. */
export async function takenNames(api: Client, session: string): Promise<Set<string>> {
  const prefix = `/workspace/${FOLDER}/`;
  const files = await api.listFiles(session);
  return new Set(
    files.flatMap((f) => (f.path.startsWith(prefix) ? [f.path.slice(prefix.length)] : [])),
  );
}

export interface Put {
  done: Promise<FileInfo>;
  abort(): void;
}

/** XMLHttpRequest, because `fetch` does not tell how far an upload is. */
export function put(url: string, file: Blob, onSent: (bytes: number) => void): Put {
  const request = new XMLHttpRequest();
  const done = new Promise<FileInfo>((resolve, reject) => {
    request.open("PUT", url);
    request.responseType = "json";
    request.setRequestHeader("content-type", file.type || "application/octet-stream");
    request.upload.onprogress = (event) => onSent(event.loaded);
    request.onload = () => {
      const ok = request.status >= 200 && request.status < 300;
      if (ok) resolve(request.response as FileInfo);
      else reject(refusal(request.status, request.response));
    };
    request.onerror = () => reject(new ApiError(0, "network", "The server could not be reached"));
    request.onabort = () => reject(new ApiError(0, "aborted", ""));
    request.send(file);
  });
  return { done, abort: () => request.abort() };
}

function refusal(status: number, body: unknown): ApiError {
  const error = (body as { error?: { code?: string; message?: string } } | null)?.error;
  return new ApiError(status, error?.code ?? "http_error", error?.message ?? `HTTP ${status}`);
}

/** U2 */
export const uploadWords = (error: unknown, tooLarge: string): string =>
  error instanceof ApiError && error.code === "too_large" ? tooLarge : errorWords(error);
