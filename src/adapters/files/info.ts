/** What clients see of a file. */
import type { FileInfo } from "../../core/events.ts";
import { contentType } from "../../tools/content-type.ts";
import { baseName, relative } from "../../tools/paths.ts";
import type { Node } from "./nodes.ts";

/** The download address; each segment is encoded once. */
export const fileUrl = (sessionId: string, path: string): string =>
  `/api/sessions/${sessionId}/files/${relative(path).split("/").map(encodeURIComponent).join("/")}`;

export const fileInfo = (node: Node, urlOf: (path: string) => string): FileInfo => ({
  path: node.path,
  name: baseName(node.path),
  size: node.size,
  content_type: contentType(node.path),
  modified_at: new Date(node.modified).toISOString(),
  url: urlOf(node.path),
});
