/**
 * The browser binding's wire: plain HTTP to acquire and close a browser, a WebSocket of the DevTools protocol to use it.
 *
 * K1  Whatever the service answers, what comes out is a browser, or `BrowserUnavailable` with a sentence for people.
 * K2  A browser that is not there any more is null, not an error.
 */
import { head } from "../../core/chars.ts";
import { LIMITS } from "../../core/limits.ts";
import { BrowserUnavailable } from "../../tools/browser-port.ts";

/** What is needed of a Worker's WebSocket. */
export interface Socket {
  accept(): void;
  send(text: string): void;
  close(): void;
  addEventListener(type: "message", take: (event: { data: unknown }) => void): void;
  addEventListener(type: "close" | "error", take: () => void): void;
}
interface Answer {
  status: number;
  text(): Promise<string>;
  webSocket?: Socket | null;
}
interface Ask {
  method?: string;
  headers?: Record<string, string>;
}
/** What is needed of the binding. */
export interface BrowserBinding {
  fetch(url: string, ask?: Ask): Promise<Answer>;
}

/** The host is not looked at; the path is. */
const BASE = "https://browser.internal/v1/devtools/browser";
/** Starting one may take a while, closing one may not. */
const START_MS = 30_000;
const CLOSE_MS = 5_000;

export async function acquire(binding: BrowserBinding): Promise<string> {
  const url = `${BASE}?keep_alive=${LIMITS.browserKeepMs}`;
  const starting = started(binding, url);
  const id = await inTime(START_MS, starting);
  if (id !== null) return id;
  // Whoever comes too late is sent away again.
  starting.then((late) => close(binding, late)).catch(() => {});
  throw new BrowserUnavailable(`No browser was started within ${START_MS / 1000} s.`);
}

async function started(binding: BrowserBinding, url: string): Promise<string> {
  const answer = await ask(binding, url, { method: "POST" });
  const body = await answer.text().catch(() => "");
  const id = answer.status === 200 ? idOf(body) : null;
  if (id) return id;
  throw new BrowserUnavailable(
    answer.status === 429
      ? "No browser is free: the account's limit of browsers is reached. Try again in a minute, or go on without one."
      : `No browser could be started: the service answered ${answer.status} ${head(body.trim(), 200)}`,
  );
}

function idOf(body: string): string | null {
  try {
    const { sessionId } = JSON.parse(body) as { sessionId?: unknown };
    return typeof sessionId === "string" && sessionId !== "" ? sessionId : null;
  } catch {
    return null;
  }
}

export async function connect(binding: BrowserBinding, id: string): Promise<Socket | null> {
  const asking = ask(binding, at(id), { headers: { upgrade: "websocket" } }).catch(() => null);
  const answer = await inTime(START_MS, asking);
  const socket = answer?.webSocket ?? null;
  socket?.accept();
  return socket;
}

/** Never rejects: one that cannot be closed ends by itself after its idle time. */
export async function close(binding: BrowserBinding, id: string): Promise<void> {
  const closing = ask(binding, at(id), { method: "DELETE" }).then((answer) => answer.text());
  await inTime(CLOSE_MS, closing).catch(() => null);
}

const at = (id: string): string => `${BASE}/${encodeURIComponent(id)}`;

async function ask(binding: BrowserBinding, url: string, init: Ask): Promise<Answer> {
  try {
    return await binding.fetch(url, init);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new BrowserUnavailable(`The browser service could not be reached: ${head(why, 200)}`);
  }
}

/**
 * null: it took longer. Not by a signal on the request, which would outlive the answer and end the socket that came
 * of it.
 */
async function inTime<T>(ms: number, work: Promise<T>): Promise<T | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  work.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
