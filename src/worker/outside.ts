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
import type { ToolFlight, Tools } from "../core/ports.ts";
import { serversOf } from "../core/servers.ts";
import { settingsOf } from "../core/session.ts";
import { isTerminal } from "../core/terminal.ts";
import type { Usage } from "../core/usage.ts";
import type { Box } from "../tools/box.ts";
import type { Browser } from "../tools/browser-port.ts";
import { type RunPorts, runTool, TOOLS, type Tool } from "../tools/index.ts";
import { resolvePath } from "../tools/paths.ts";
import { Children } from "./children.ts";
import { addressRules, privateHosts, sandboxOf, VERSION } from "./config.ts";
import { delegate } from "./delegate.ts";
import type { Bindings } from "./env.ts";
import { log } from "./log.ts";
import { type Observer, turnOf } from "./observe.ts";
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
  header: Observer["header"];
  /** Something that people should know of happened out there. May throw: the store may not take it. */
  notice(code: BoxNotice): void;
}

type Ports = Omit<RunPorts, "live" | "signal" | "spend">;

export interface Outside {
  box: Box;
  servers: McpServers;
  /** What every tool is given. */
  ports: Ports;
  /** `traceparent` for what is asked on behalf of a call; undefined where nothing is traced. */
  traceOf(call: string): string | undefined;
  /** A tool of one of the turn's MCP servers, as it was when the turn began. */
  serverTool(name: string): Tool | undefined;
  fileInfo(path: string): FileInfo | null;
  rest(): Promise<void>;
  destroy(): Promise<void>;
}

export function outsideOf(parts: OutsideParts): Outside {
  const { ctx, env, store, files, fileInfo } = parts;
  const { host } = store.session();
  const rules = addressRules(env, host);
  const box = boxOf(parts, rules);
  const browser = browserOf(parts, rules);
  const servers = mcpServers({
    loopback: onLoopback(host),
    allow: privateHosts(env),
    version: VERSION,
  });
  const children = new Children(ctx.storage.kv);
  const session = () => store.session();
  const setup = searchSetup(env);
  const ports: Ports = {
    box,
    files: { info: fileInfo },
    web: guardedWeb(rules),
    ...(setup.type === "on" ? { search: setup.search } : {}),
    ...(browser ? { browser } : {}),
    delegate: (task, context) =>
      children.during(delegate({ env, files, box, children, session }, task, context)),
  };
  const others = () => [browser?.rest(), servers.rest()];
  return {
    ...{ box, servers, ports, fileInfo },
    traceOf: (call) => parts.header(turnOf(store.session()), call),
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
      await Promise.all([children.remove(env, session()), box.destroy(), ...others()]);
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
        log("error", "notice_not_stored", { session: id }, error);
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

export function toolsPort({ ports, serverTool, fileInfo, traceOf }: Outside): Tools {
  return {
    run(run, live): ToolFlight {
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
      let spent: Usage | undefined;
      const spend = (sum: Usage) => {
        spent = sum;
      };
      const { signal } = controller;
      const given = { ...ports, live, spend, signal, trace: traceOf(run.id) };
      return {
        outcome: runTool(tool, run, given),
        cancel: () => controller.abort(),
        spent: () => spent,
      };
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
