/** Whether a page is still loading or asking for things, from its events. */
import { LIMITS } from "../../core/limits.ts";
import type { CdpEvent, Params } from "./cdp.ts";

/** A page is quiet when so long nothing was under way. */
const QUIET_MS = 200;
const LOOK_MS = 25;
/** Requests that may stay open for ever. */
const ENDLESS = new Set(["EventSource", "WebSocket", "Media", "Ping", "Prefetch"]);

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export class Pulse {
  readonly #frame: string;
  readonly #asked = new Set<unknown>();
  #loading = false;
  /** HTTP status of the document that is shown. */
  status: number | null = null;

  /** `frame`: the page's own, which has the target's id. */
  constructor(frame: string) {
    this.#frame = frame;
  }

  take({ method, params }: CdpEvent): void {
    switch (method) {
      case "Page.frameStartedLoading":
        if (params.frameId === this.#frame) this.#loading = true;
        break;
      case "Page.frameStoppedLoading":
        if (params.frameId === this.#frame) this.#loading = false;
        break;
      case "Network.requestWillBeSent":
        if (!ENDLESS.has(String(params.type))) this.#asked.add(params.requestId);
        break;
      case "Network.responseReceived":
        this.#answered(params);
        break;
      case "Network.loadingFinished":
      case "Network.loadingFailed":
        this.#asked.delete(params.requestId);
        break;
    }
  }

  #answered({ type, frameId, response }: Params): void {
    if (type !== "Document" || frameId !== this.#frame) return;
    this.status = (response as { status: number }).status;
  }

  /** False: it was still loading when the time was over. Requests after loading are waited for only a while. */
  async settle(loadMs: number): Promise<boolean> {
    const end = Date.now() + loadMs;
    let loaded = 0;
    let quiet = 0;
    while (quiet < QUIET_MS) {
      await sleep(LOOK_MS);
      if (this.#loading && Date.now() >= end) return false;
      if (!this.#loading) loaded += LOOK_MS;
      quiet = this.#loading || this.#asked.size > 0 ? 0 : quiet + LOOK_MS;
      if (loaded >= LIMITS.browserQuietMs) break;
    }
    // What is still open now is not waited for again.
    this.#asked.clear();
    return true;
  }
}
