/** Where the files of what is shown can be had: a session, or a share of one. */
import { createContext } from "preact";
import type { FileInfo } from "../../core/events.ts";
import { api } from "../api.ts";

export interface FilesAt {
  /** `inline`: to be shown in place; the server allows it for raster images and plain text. */
  url(path: string, how?: { inline?: boolean }): string;
  /** Opens the preview beside the timeline. */
  show?(file: FileInfo): void;
}

export const FilesAt = createContext<FilesAt>({ url: () => "" });

const withInline = (url: string, inline: boolean | undefined) => (inline ? `${url}?inline` : url);

export const filesOfSession = (id: string): FilesAt["url"] => {
  return (path, how) => withInline(api.fileUrl(id, path), how?.inline);
};
export const filesOfShare = (share: string): FilesAt["url"] => {
  return (path, how) => withInline(api.sharedFileUrl(share, path), how?.inline);
};
