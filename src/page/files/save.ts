/** Gives bytes to the browser to keep. */

import type { FileInfo } from "../../core/events.ts";
import { api } from "../api.ts";

export function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The download has begun by then; an address that is never revoked keeps its bytes.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** More than this would not fit into a browser's memory twice. */
export const MOST_ZIP_BYTES = 200 * 1024 * 1024;

/** All files in one archive, folders kept. `fflate` comes with the first one. */
export async function zipOf(session: string, files: readonly FileInfo[]): Promise<Blob> {
  const { zip } = await import("fflate");
  const entries: Record<string, Uint8Array> = {};
  for (const file of files) {
    const response = await api.readFile(session, file.path);
    entries[file.path.replace(/^\/workspace\//, "")] = new Uint8Array(await response.arrayBuffer());
  }
  return new Promise((resolve, reject) => {
    zip(entries, { level: 6, consume: true }, (error, data) => {
      if (error) reject(error);
      else resolve(new Blob([data as Uint8Array<ArrayBuffer>], { type: "application/zip" }));
    });
  });
}
