/**
 * The browser binding's wire over Chromium on this machine: acquire starts one, connect is its DevTools socket, close
 * ends it. It speaks what the service documents (POST, upgrade, DELETE under /v1/devtools/browser), nothing else.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrowserBinding, Socket } from "../../src/adapters/browser/binding.ts";
import { CHROMIUM, CHROMIUM_ARGS } from "./chromium-program.ts";

const ARGS = [
  ...CHROMIUM_ARGS,
  "--headless=new",
  "--disable-dev-shm-usage",
  "--disable-popup-blocking",
  "--disable-extensions",
  // Each page of a Chromium with windows would bring two processes more: its button to reload, and one in reserve.
  "--disable-features=WebUIReloadButton,SpareRendererForSitePerProcess",
  "--mute-audio",
  "--remote-debugging-port=0",
];

interface Running {
  child: ChildProcess;
  endpoint: string;
  profile: string;
}

export class LocalBrowsers implements BrowserBinding {
  readonly running = new Map<string, Running>();
  /** Method and path of every request, ids left out. */
  readonly asked: string[] = [];
  /** Set: the next acquisitions are answered with this. */
  refuse: { status: number; body: string } | null = null;
  #sockets: WebSocket[] = [];
  #last = 0;

  async fetch(url: string, ask: { method?: string; headers?: Record<string, string> } = {}) {
    const { pathname } = new URL(url);
    const id = /^\/v1\/devtools\/browser\/(.+)$/.exec(pathname)?.[1];
    const what = ask.headers?.upgrade ? "connect" : (ask.method ?? "GET");
    this.asked.push(what);
    if (what === "POST" && !id) return this.#acquire();
    const browser = id === undefined ? undefined : this.running.get(id);
    if (!browser || id === undefined) return answer(404, "no such browser");
    if (what === "connect") return { ...answer(101, ""), webSocket: await this.#open(browser) };
    if (what !== "DELETE") return answer(405, "");
    await this.kill(id);
    return answer(200, '{"status":"closed"}');
  }

  /** A browser dies, as by itself. */
  async kill(id: string): Promise<void> {
    const browser = this.running.get(id);
    this.running.delete(id);
    if (!browser) return;
    const over = new Promise((resolve) => browser.child.once("exit", resolve));
    if (browser.child.pid !== undefined) process.kill(-browser.child.pid, "SIGKILL");
    await over;
    await rm(browser.profile, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Every page of every browser crashes. */
  async crashPages(): Promise<void> {
    const groups = new Set([...this.running.values()].map(({ child }) => child.pid));
    for (const entry of await readdir("/proc")) {
      const pid = Number(entry);
      if (!pid) continue;
      const [stat, line] = await Promise.all(
        ["stat", "cmdline"].map((file) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "")),
      );
      // After the name in parentheses: state, parent, process group.
      const group = Number(stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[2]);
      if (groups.has(group) && line?.includes("--type=renderer")) process.kill(pid, "SIGKILL");
    }
  }

  /** Every connection breaks; the browsers stay. */
  cut(): void {
    for (const socket of this.#sockets) socket.close();
    this.#sockets = [];
  }

  async stop(): Promise<void> {
    for (const id of [...this.running.keys()]) await this.kill(id);
  }

  async #acquire() {
    if (this.refuse) return answer(this.refuse.status, this.refuse.body);
    const id = `local-${++this.#last}`;
    this.running.set(id, await launch());
    return answer(200, JSON.stringify({ sessionId: id }));
  }

  async #open({ endpoint }: Running): Promise<Socket> {
    const ws = new WebSocket(endpoint);
    await new Promise((resolve, reject) => {
      ws.addEventListener("open", resolve, { once: true });
      ws.addEventListener("error", reject, { once: true });
    });
    this.#sockets.push(ws);
    return Object.assign(ws, { accept: () => {} }) as unknown as Socket;
  }
}

const answer = (status: number, body: string) => ({ status, text: async () => body });

async function launch(): Promise<Running> {
  const profile = await mkdtemp(join(tmpdir(), "dormouse-browser-"));
  const args = [...ARGS, `--user-data-dir=${profile}`, "about:blank"];
  const child = spawn(CHROMIUM ?? "chromium", args, {
    stdio: ["ignore", "ignore", "pipe"],
    detached: true,
  });
  process.once("exit", () => {
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
      process.kill(-child.pid, "SIGKILL");
    }
  });
  let said = "";
  const endpoint = await new Promise<string>((resolve, reject) => {
    child.once("exit", () => reject(new Error(`Chromium ended: ${said}`)));
    child.stderr?.on("data", (part) => {
      said += part;
      const url = /DevTools listening on (ws:\/\/\S+)/.exec(said)?.[1];
      if (url) resolve(url);
    });
  });
  return { child, endpoint, profile };
}
