/**
 * The tools, in the order in which a model is offered them: work first, messages last. A new tool is one small file
 * and one line here. The order is part of a request's bytes: changing it costs the providers' caches.
 */
import {
  browserClick,
  browserInput,
  browserNavigate,
  browserPressKey,
  browserScroll,
  browserView,
} from "./browser.ts";

import type { Need, Tool } from "./define.ts";
import { delegateTask } from "./delegate.ts";
import { fileRead, fileStrReplace, fileWrite } from "./file.ts";
import { fileFindByName, fileFindInContent } from "./file-find.ts";
import { messageAskUser, messageNotifyUser } from "./message.ts";
import { infoSearchWeb } from "./search.ts";
import { shellExec } from "./shell.ts";
import { shellKillProcess, shellView, shellWait, shellWriteToProcess } from "./shell-jobs.ts";
import { webFetch } from "./web.ts";

export const TOOLS: readonly Tool[] = [
  shellExec,
  shellView,
  shellWait,
  shellWriteToProcess,
  shellKillProcess,
  fileRead,
  fileWrite,
  fileStrReplace,
  fileFindInContent,
  fileFindByName,
  infoSearchWeb,
  webFetch,
  browserNavigate,
  browserView,
  browserClick,
  browserInput,
  browserScroll,
  browserPressKey,
  delegateTask,
  messageNotifyUser,
  messageAskUser,
];

/**
 * The tools of a deployment that has these things. A command can be found again after a crash where processes outlive
 * their call; elsewhere its outcome is reported as unknown.
 */
export const toolsFor = (have: ReadonlySet<Need>): readonly Tool[] =>
  TOOLS.filter(({ needs }) => needs === undefined || have.has(needs)).map((tool) =>
    tool.toolkit === "shell" && tool.recovery === "reattach" && !have.has("background")
      ? { ...tool, recovery: "report" as const }
      : tool,
  );

export type { Need, Tool } from "./define.ts";
export { type RunPorts, runTool } from "./run.ts";
