/** What one session has of the outside world: its sandbox, the web, a browser, MCP servers, specialists. */
import { BoundBrowser } from "../adapters/browser/browser.ts";
import { keepShot } from "../adapters/browser/shots.ts";
import type { FileStore } from "../adapters/files/store.ts";
import { type McpServers, mcpServers } from "../adapters/mcp/port.ts";
import { absentBox } from "../adapters/sandbox/absent.ts";
import { containerBox } from "../adapters/sandbox/container.ts";
import { embeddedBox } from "../adapters/sandbox/embedded.ts";
import type { BoxNotice, Kept } from "../adapters/sandbox/machine.ts";
import { searchSetup } from "../adapters/search/index.ts";
import { type AddressRules, refusalOf } from "../adapters/web/address.ts";
import { guardedWeb } from "../adapters/web/web.ts";
import type { FileInfo } from "../core/events.ts";
import { LIMITS } from "../core/limits.ts";
import type { Flight, Tools } from "../core/ports.ts";
import { serversOf } from "../core/servers.ts";
import { settingsOf } from "../core/session.ts";
import { isTerminal } from "../core/terminal.ts";
import type { ToolResult } from "../core/tool.ts";
import type { Box } from "../tools/box.ts";
import type { Browser } from "../tools/browser-port.ts";
import { type RunPorts, runTool, TOOLS, type Tool } from "../tools/index.ts";
import { resolvePath } from "../tools/paths.ts";
import { addressRules, privateHosts, sandboxOf, VERSION } from "./config.ts";
import { delegate } from "./delegate.ts";
import type { Bindings } from "./env.ts";
import { placed } from "./place.ts";
import { onLoopback } from "./served.ts";
import type { SessionStore } from "./store.ts";

/** Where what is known of a session's container is stored, and the id of its browser; no rows while there is none. */
const SANDBOX = "sandbox";
const BROWSER = "browser";

export interface OutsideParts {
  ctx: DurableObjectState;
  env: Bindings;
  store: SessionStore;
  files: FileStore;
  fileInfo(path: string): FileInfo | null;
  /** Something that people should know of happened out there. May throw: the store may not take it. */
  notice(code: BoxNotice): void;
}

type Ports = Omit<RunPorts, "live" | "signal">;

export interface Outside {
  box: Box;
  servers: McpServers;
  /** What every tool is given. */
  ports: Ports;
  /** A tool of one of the turn's MCP servers, as it was when the turn began. */
  serverTool(name: string): Tool | undefined;
  fileInfo(path: string): FileInfo | null;
  rest(): Promise<void>;
  destroy(): Promise<void>;
}

export function outsideOf(parts: OutsideParts): Outside {
  const { env, store, files, fileInfo } = parts;
  const { host } = store.session();
  const rules = addressRules(env, host);
  const box = boxOf(parts, rules);
  const browser = browserOf(parts, rules);
  const servers = mcpServers({
    loopback: onLoopback(host),
    allow: privateHosts(env),
    version: VERSION,
  });
  const setup = searchSetup(env);
  const ports: Ports = {
    box,
    files: { info: fileInfo },
    web: guardedWeb(rules),
    ...(setup.type === "on" ? { search: setup.search } : {}),
    ...(browser ? { browser } : {}),
    delegate: (task, ctx) =>
      delegate({ env, files, box, session: () => store.session() }, task, ctx),
  };
  const others = () => [browser?.rest(), servers.rest()];
  return {
    ...{ box, servers, ports, fileInfo },
    serverTool(name) {
      const s = store.session();
      const stored = s.toolbox?.find((t) => t.name === name);
      const server = stored && serversOf(settingsOf(s)).find((held) => held.name === stored.server);
      return server && servers.tool(server, stored);
    },
    async rest() {
      await Promise.all([box.rest(), ...others()]);
    },
    async destroy() {
      await Promise.all([box.destroy(), ...others()]);
    },
  };
}

function boxOf({ ctx, env, store, files, notice }: OutsideParts, rules: AddressRules): Box {
  const { id, host } = store.session();
  if (sandboxOf(env, host) === "embedded") return embeddedBox(files, rules);
  if (!env.Sandbox) {
    return absentBox(
      "container",
      "This deployment has no container sandbox. Deploy it with containers, or set the variable SANDBOX to embedded.",
    );
  }
  const { kv } = ctx.storage;
  return containerBox(files, {
    namespace: placed(env, env.Sandbox),
    id,
    keeper: { get: () => kv.get<Kept>(SANDBOX), put: (kept) => kv.put(SANDBOX, kept) },
    notice: (code) => {
      try {
        notice(code);
      } catch (error) {
        console.error("a notice of the sandbox could not be stored", error);
      }
    },
  });
}

function browserOf({ ctx, env, files }: OutsideParts, rules: AddressRules): Browser | null {
  if (!env.BROWSER) return null;
  const { kv } = ctx.storage;
  return new BoundBrowser({
    binding: env.BROWSER,
    held: {
      get: () => kv.get<string>(BROWSER) ?? null,
      set: (id) => (id === null ? kv.delete(BROWSER) : kv.put(BROWSER, id)),
    },
    refusal: (url) => refusalOf(url, rules),
    keep: (picture) => keepShot(files, picture),
  });
}

export function toolsPort({ ports, serverTool, fileInfo }: Outside): Tools {
  return {
    run(run, live): Flight<ToolResult> {
      if (isTerminal(run.name)) {
        const found = attachments(run.args.attachments, fileInfo);
        return { outcome: Promise.resolve({ ok: true, text: "", files: found }), cancel: () => {} };
      }
      const tool = TOOLS.find((t) => t.name === run.name) ?? serverTool(run.name);
      if (!tool) {
        const text = `The tool ${run.name} is no longer available.`;
        return { outcome: Promise.resolve({ ok: false, text }), cancel: () => {} };
      }
      const controller = new AbortController();
      const given = { ...ports, live, signal: controller.signal };
      return { outcome: runTool(tool, run, given), cancel: () => controller.abort() };
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
