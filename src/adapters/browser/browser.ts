/**
 * The browser port over the browser binding: one browser for one session, found again after an eviction.
 *
 * V1  Its id is stored before it is used, and taken away when it is closed: no browser stays that nobody knows of.
 * V2  A browser that has gone is replaced by a new one, and the model is told what that means.
 * V3  An action that is given up ends with its connection: the page stays, nothing more is done to it.
 */
import { LIMITS } from "../../core/limits.ts";
import {
  type Browser,
  type BrowserAction,
  type BrowserReport,
  BrowserUnavailable,
  type PageView,
} from "../../tools/browser-port.ts";
import { isOpen, look, NO_PAGE, perform } from "./actions.ts";
import { acquire, type BrowserBinding, close, connect, type Socket } from "./binding.ts";
import { CdpError, CdpGone, CdpSilent } from "./cdp.ts";
import type { Refusal } from "./gate.ts";
import { Link } from "./link.ts";
import type { Tab } from "./tab.ts";

export interface BrowserParts {
  binding: BrowserBinding;
  /** Where the id of the browser is kept over evictions. */
  held: { get(): string | null; set(id: string | null): void };
  refusal: Refusal;
  /** Keeps a picture; null when it cannot. */
  keep(picture: Uint8Array): string | null;
}

const LOST =
  "The browser that was used before has ended, and with it its pages, logins and what was filled in. This is a new one.";
const BROKE =
  "The browser was lost during this call; whether it took effect is not known. The next call starts a new one: open the page again.";
const SILENT =
  "The browser does not answer any more and was closed; whether the call took effect is not known. The next call starts a new one: open the page again.";
const STOPPED = "The call was stopped before it ended.";
const HUNG =
  "The page does not answer any more and was closed; whether the call took effect is not known. Open it again, or another one.";

export class BoundBrowser implements Browser {
  readonly #parts: BrowserParts;
  #link: Link | null = null;

  constructor(parts: BrowserParts) {
    this.#parts = parts;
  }

  async act(action: BrowserAction, signal: AbortSignal, timeoutMs: number): Promise<BrowserReport> {
    const giveUp = () => this.#link?.close();
    signal.addEventListener("abort", giveUp, { once: true });
    try {
      return await this.#report(action, signal, timeoutMs);
    } catch (error) {
      if (error instanceof CdpGone) {
        throw new BrowserUnavailable(signal.aborted ? STOPPED : BROKE, true);
      }
      if (!(error instanceof CdpSilent)) throw error;
      await this.rest();
      throw new BrowserUnavailable(SILENT, true);
    } finally {
      signal.removeEventListener("abort", giveUp);
    }
  }

  async rest(): Promise<void> {
    const { held, binding } = this.#parts;
    this.#link?.close();
    this.#link = null;
    const id = held.get();
    if (id === null) return;
    held.set(null);
    await close(binding, id);
  }

  /** The connection, and what is to be told of how it came about. */
  async #linked(signal: AbortSignal): Promise<{ link: Link; notes: string[] }> {
    if (this.#link?.alive) return { link: this.#link, notes: [] };
    const { held, binding } = this.#parts;
    const before = held.get();
    const old = before === null ? null : await connect(binding, before);
    if (old) return { link: await this.#opened(old), notes: [] };
    held.set(null);
    const id = await acquire(binding);
    if (signal.aborted) {
      await close(binding, id);
      throw new BrowserUnavailable(STOPPED);
    }
    held.set(id);
    const socket = await connect(binding, id);
    if (!socket) throw new BrowserUnavailable("A browser was started, but could not be reached.");
    return { link: await this.#opened(socket), notes: before === null ? [] : [LOST] };
  }

  async #opened(socket: Socket): Promise<Link> {
    this.#link = await Link.open(socket, this.#parts.refusal);
    return this.#link;
  }

  async #report(
    action: BrowserAction,
    signal: AbortSignal,
    timeoutMs: number,
  ): Promise<BrowserReport> {
    const { link, notes } = await this.#linked(signal);
    if (signal.aborted) link.close();
    const tab = await link.front();
    try {
      const open = action.type === "navigate" || (await unlessGone(link, tab, isOpen(tab), false));
      if (!open) return { notes: [...notes, ...link.notes(), NO_PAGE], view: null };
      const loadMs = Math.min(LIMITS.browserLoadMs, timeoutMs / 2);
      const doing = perform(tab, action, this.#parts.refusal, loadMs);
      const said = await unlessGone(link, tab, doing, []);
      await tab.pulse.settle(0);
      const view = await this.#seen(link, loadMs, said);
      const all = [...notes, ...said, ...link.notes()];
      return { notes: view || all.length > 0 ? all : [NO_PAGE], view };
    } catch (error) {
      if (!(error instanceof CdpSilent)) throw error;
      await link.drop(tab);
      throw new BrowserUnavailable(HUNG, true);
    }
  }

  /** What is in front when it has become quiet; adds to what is said. */
  async #seen(link: Link, loadMs: number, said: string[]): Promise<PageView | null> {
    const tab = await link.front();
    const view = await unlessGone(link, tab, this.#quiet(tab, loadMs, said), "gone" as const);
    // It went while it was looked at: what is in front now.
    return view === "gone" ? this.#seen(link, loadMs, said) : view;
  }

  async #quiet(tab: Tab, loadMs: number, said: string[]): Promise<PageView | null> {
    if (!(await tab.pulse.settle(loadMs))) {
      await tab.stop();
      const seconds = Math.round(loadMs / 1000);
      said.push(`The page did not finish loading within ${seconds} s; loading was stopped.`);
    }
    const { status } = tab.pulse;
    if (status !== null && status >= 400) {
      said.push(`The server answered with HTTP status ${status}.`);
    }
    const view = await look(tab);
    if (!view) return null;
    const picture = await tab.shot();
    return { ...view, screenshot: picture && this.#parts.keep(picture) };
  }
}

/** A tab may crash, or close itself, under what is done to it: that is the page's doing, and told by the link. */
async function unlessGone<T, E>(
  link: Link,
  tab: Tab,
  work: Promise<T>,
  instead: E,
): Promise<T | E> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof CdpError && !link.has(tab)) return instead;
    throw error;
  }
}
