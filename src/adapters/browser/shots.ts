/** Screenshots as files of the session: numbered, the oldest removed, never a reason to fail. */
import { LIMITS } from "../../core/limits.ts";
import { ROOT } from "../../tools/paths.ts";

const FOLDER = `${ROOT}/browser`;
const NAME = /\/(\d{3,})\.jpg$/;

/** What is needed of the file store. */
export interface ShotFiles {
  list(folder: string): { path: string }[];
  write(path: string, bytes: Uint8Array): { ok: boolean };
  remove(path: string): boolean;
}

/** The path of the new file; null when it cannot be kept. */
export function keepShot(files: ShotFiles, bytes: Uint8Array): string | null {
  if (bytes.byteLength === 0 || bytes.byteLength > LIMITS.browserShotBytes) return null;
  const ours = files
    .list(FOLDER)
    .flatMap(({ path }) => {
      const number = NAME.exec(path)?.[1];
      return number === undefined ? [] : [{ path, number: Number(number) }];
    })
    .sort((a, b) => a.number - b.number);
  const next = (ours.at(-1)?.number ?? 0) + 1;
  const path = `${FOLDER}/${String(next).padStart(3, "0")}.jpg`;
  if (!files.write(path, bytes).ok) return null;
  const surplus = ours.length + 1 - LIMITS.browserShots;
  for (const old of ours.slice(0, Math.max(0, surplus))) files.remove(old.path);
  return path;
}
