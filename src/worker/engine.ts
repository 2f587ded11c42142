/** One session, awake: its store, sandbox and sockets joined to the core's drive. Made anew each time it wakes. */

import { fileUrl } from "../adapters/files/info.ts";
import { FileStore } from "../adapters/files/store.ts";
import { createModelPort } from "../adapters/model/providers.ts";
import { absentBox } from "../adapters/sandbox/absent.ts";
import { embeddedBox } from "../adapters/sandbox/embedded.ts";
import { searchSetup } from "../adapters/search/index.ts";
import type { AddressRules } from "../adapters/web/address.ts";
import { guardedWeb } from "../adapters/web/web.ts";
import { createDrive, type Drive } from "../core/drive.ts";
import type { FileInfo } from "../core/events.ts";
import { LIMITS } from "../core/limits.ts";
import type { Clock, Flight, Tools } from "../core/ports.ts";
import { isTerminal } from "../core/terminal.ts";
import type { ToolResult } from "../core/tool.ts";
import type { Box } from "../tools/box.ts";
import { type RunPorts, runTool, TOOLS } from "../tools/index.ts";
import { resolvePath } from "../tools/paths.ts";
import { addressRules, sandboxOf } from "./config.ts";
import type { Bindings } from "./env.ts";
import { kitOf } from "./kit.ts";
import type { Sockets } from "./sockets.ts";
import type { SessionStore } from "./store.ts";

export interface Engine {
  store: SessionStore;
  files: FileStore;
  box: Box;
  drive: Drive;
  fileInfo(path: string): FileInfo | null;
}

export interface EngineParts {
  ctx: DurableObjectState;
  env: Bindings;
  store: SessionStore;
  sockets: Sockets;
  wake(at: number | null): void;
  broken(error: unknown): void;
}

const clock: Clock = { now: () => Date.now() };

export function createEngine({ ctx, env, store, sockets, wake, broken }: EngineParts): Engine {
  const files = new FileStore(ctx.storage.sql, clock);
  const rules = addressRules(env, store.session().host);
  const box = boxOf(env, files, rules);
  const fileInfo = (path: string): FileInfo | null =>
    files.info(path, (p) => fileUrl(store.session().id, p));
  const drive = createDrive(
    {
      store,
      clock,
      model: createModelPort({ ...env }),
      tools: toolsPort({ box, files: { info: fileInfo }, ...webOf(env, rules) }),
      attended: () => sockets.attended,
      live: (frame) => sockets.live(frame),
      wake,
      broken,
    },
    kitOf(env, box.about),
  );
  return { store, files, box, drive, fileInfo };
}

/** The search is there where it is configured. */
function webOf(env: Bindings, rules: AddressRules): Pick<RunPorts, "web" | "search"> {
  const setup = searchSetup(env);
  return { web: guardedWeb(rules), ...(setup.type === "on" ? { search: setup.search } : {}) };
}

const boxOf = (env: Bindings, files: FileStore, rules: AddressRules): Box =>
  sandboxOf(env) === "embedded"
    ? embeddedBox(files, rules)
    : absentBox(
        "container",
        "The container sandbox is not in this version. Set the variable SANDBOX to embedded.",
      );

type Outside = Omit<RunPorts, "live" | "signal"> & { files: NonNullable<RunPorts["files"]> };

function toolsPort(outside: Outside): Tools {
  return {
    run(run, live): Flight<ToolResult> {
      if (isTerminal(run.name)) {
        const found = attachments(run.args.attachments, outside.files.info);
        return { outcome: Promise.resolve({ ok: true, text: "", files: found }), cancel: () => {} };
      }
      const tool = TOOLS.find((t) => t.name === run.name);
      if (!tool) {
        const text = `The tool ${run.name} is no longer available.`;
        return { outcome: Promise.resolve({ ok: false, text }), cancel: () => {} };
      }
      const controller = new AbortController();
      const ports = { ...outside, live, signal: controller.signal };
      return { outcome: runTool(tool, run, ports), cancel: () => controller.abort() };
    },
  };
}

/** The files that a terminal call names, as far as they exist. */
const attachments = (paths: unknown, info: (path: string) => FileInfo | null): FileInfo[] =>
  [...new Set(Array.isArray(paths) ? paths.map(String) : [])]
    .slice(0, LIMITS.attachments)
    .flatMap((path) => {
      const resolved = resolvePath(path);
      const file = resolved.ok ? info(resolved.path) : null;
      return file ? [file] : [];
    });
