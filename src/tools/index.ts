/**
 * The tools, in the order in which a model is offered them: work first, messages last. A new tool is one small file
 * and one line here. The order is part of a request's bytes: changing it costs the providers' caches.
 */
import type { Need, Tool } from "./define.ts";
import { fileRead, fileStrReplace, fileWrite } from "./file.ts";
import { fileFindByName, fileFindInContent } from "./file-find.ts";
import { messageAskUser, messageNotifyUser } from "./message.ts";
import { infoSearchWeb } from "./search.ts";
import { shellExec } from "./shell.ts";
import { webFetch } from "./web.ts";

export const TOOLS: readonly Tool[] = [
  shellExec,
  fileRead,
  fileWrite,
  fileStrReplace,
  fileFindInContent,
  fileFindByName,
  infoSearchWeb,
  webFetch,
  messageNotifyUser,
  messageAskUser,
];

/** The tools of a deployment that has these things. */
export const toolsFor = (have: ReadonlySet<Need>): readonly Tool[] =>
  TOOLS.filter(({ needs }) => needs === undefined || have.has(needs));

export type { Need, Tool } from "./define.ts";
export { type RunPorts, runTool } from "./run.ts";
