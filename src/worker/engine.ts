/** One session, awake: its store, sandbox and sockets joined to the core's drive. Made anew each time it wakes. */

import { BoundBrowser } from "../adapters/browser/browser.ts";
import { keepShot } from "../adapters/browser/shots.ts";
import { fileUrl } from "../adapters/files/info.ts";
import { FileStore } from "../adapters/files/store.ts";
import { type McpServers, mcpServers } from "../adapters/mcp/port.ts";
import { createModelPort } from "../adapters/model/providers.ts";
import { absentBox } from "../adapters/sandbox/absent.ts";
import { containerBox } from "../adapters/sandbox/container.ts";
import { embeddedBox } from "../adapters/sandbox/embedded.ts";
import type { BoxNotice, Kept } from "../adapters/sandbox/machine.ts";
import { createDrive, type Drive } from "../core/drive.ts";
import type { FileInfo } from "../core/events.ts";
import { hookedModel, hookedTools } from "../core/hooked.ts";
import { LIMITS } from "../core/limits.ts";
import type { Clock, Flight, Tools } from "../core/ports.ts";
import { serversOf } from "../core/servers.ts";
import { type Session, settingsOf } from "../core/session.ts";
import { isTerminal } from "../core/terminal.ts";
import type { ToolResult } from "../core/tool.ts";
import type { Box } from "../tools/box.ts";
import type { Browser } from "../tools/browser-port.ts";
import { type RunPorts, runTool, TOOLS, type Tool } from "../tools/index.ts";
import { resolvePath } from "../tools/paths.ts";
import { egressRefusal, privateHosts, sandboxOf, VERSION } from "./config.ts";
import { delegate } from "./delegate.ts";
import type { Bindings } from "./env.ts";
import { HOOKS } from "./hooks.ts";
import { kitOf } from "./kit.ts";
import type { Sockets } from "./sockets.ts";
import type { SessionStore } from "./store.ts";

export interface Engine {
  store: SessionStore;
  files: FileStore;
  box: Box;
  drive: Drive;
  /** Nothing is going to run for a while: what costs is released. */
  rest(): Promise<void>;
  /** The session is about to be deleted. */
  destroy(): Promise<void>;
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

/** Where what is known of a session's container is stored. */
const KEPT = "sandbox";
const clock: Clock = { now: () => Date.now() };

export function createEngine({ ctx, env, store, sockets, wake, broken }: EngineParts): Engine {
  const files = new FileStore(ctx.storage.sql, clock);
  // Told by the drive, which is made of the box.
  const later: { drive?: Drive } = {};
  const notice = (code: BoxNotice) => later.drive?.keep({ type: "noticed", code });
  const box = boxOf({ ctx, env, store }, files, notice);
  const fileInfo = (path: string): FileInfo | null =>
    files.info(path, (p) => fileUrl(store.session().id, p));
  const { loopback } = store.session();
  const servers = mcpServers({ loopback, allow: privateHosts(env), version: VERSION });
  const browser = browserOf(ctx, env, files);
  const drive = createDrive(
    {
      store,
      clock,
      model: hookedModel(createModelPort({ ...env }), HOOKS),
      tools: hookedTools(
        toolsPort(
          {
            box,
            ...(browser ? { browser } : {}),
            files: { info: fileInfo },
            delegate: (task, ctx) =>
              delegate({ env, files, session: () => store.session() }, task, ctx),
          },
          (name) => serverTool(store.session(), servers, name),
        ),
        HOOKS,
      ),
      trace: HOOKS.trace,
      servers,
      attended: () => sockets.attended,
      live: (frame) => sockets.live(frame),
      wake,
      broken,
    },
    kitOf(env, box, store.session().parent !== ""),
  );
  later.drive = drive;
  const rest = async () => {
    await Promise.all([box.rest(), browser?.rest(), servers.rest()]);
  };
  const destroy = async () => {
    await Promise.all([box.destroy(), browser?.rest(), servers.rest()]);
  };
  return { store, files, box, drive, rest, destroy, fileInfo };
}

/** The id of the browser in use; no row stands there while none is. */
const BROWSER_ID = "browser";

function browserOf(
  { storage }: DurableObjectState,
  env: Bindings,
  files: FileStore,
): Browser | null {
  if (!env.BROWSER) return null;
  return new BoundBrowser({
    binding: env.BROWSER,
    held: {
      get: () => storage.kv.get<string>(BROWSER_ID) ?? null,
      set: (id) => (id === null ? storage.kv.delete(BROWSER_ID) : storage.kv.put(BROWSER_ID, id)),
    },
    refusal: egressRefusal(env),
    keep: (picture) => keepShot(files, picture),
  });
}

type BoxParts = Pick<EngineParts, "ctx" | "env" | "store">;

function boxOf(
  { ctx, env, store }: BoxParts,
  files: FileStore,
  tell: (code: BoxNotice) => void,
): Box {
  const { id, loopback } = store.session();
  if (sandboxOf(env, loopback) === "embedded") return embeddedBox(files);
  if (!env.Sandbox) {
    return absentBox(
      "container",
      "This deployment has no container sandbox. Deploy it with containers, or set the variable SANDBOX to embedded.",
    );
  }
  const { kv } = ctx.storage;
  return containerBox(files, {
    namespace: env.Sandbox,
    id,
    keeper: { get: () => kv.get<Kept>(KEPT), put: (kept) => kv.put(KEPT, kept) },
    notice: (code) => {
      try {
        tell(code);
      } catch (error) {
        console.error("a notice of the sandbox could not be stored", error);
      }
    },
  });
}

/** A tool of one of the turn's MCP servers, as it was when the turn began. */
function serverTool(s: Session, servers: McpServers, name: string): Tool | undefined {
  const stored = s.toolbox?.find((t) => t.name === name);
  const server = stored && serversOf(settingsOf(s)).find((held) => held.name === stored.server);
  return server && servers.tool(server, stored);
}

type Outside = Omit<RunPorts, "live" | "signal"> & { files: NonNullable<RunPorts["files"]> };

function toolsPort(outside: Outside, serverToolOf: (name: string) => Tool | undefined): Tools {
  return {
    run(run, live): Flight<ToolResult> {
      if (isTerminal(run.name)) {
        const found = attachments(run.args.attachments, outside.files.info);
        return { outcome: Promise.resolve({ ok: true, text: "", files: found }), cancel: () => {} };
      }
      const tool = TOOLS.find((t) => t.name === run.name) ?? serverToolOf(run.name);
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
