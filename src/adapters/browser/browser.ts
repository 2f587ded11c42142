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
} from "../../tools/browser-port.ts";
import { isOpen, look, NO_PAGE, perform } from "./actions.ts";
import { acquire, type BrowserBinding, close, connect } from "./binding.ts";
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
const STOPPED = "The call was stopped before it ended.";
const HUNG =
  "The page does not answer any more and was closed; whether the call took effect is not known. Open it again, or another one.";

export function boundBrowser(parts: BrowserParts): Browser {
  const { binding, held } = parts;
  let link: Link | null = null;

  /** The connection, and what is to be told of how it came about. */
  async function linked(signal: AbortSignal): Promise<{ link: Link; notes: string[] }> {
    if (link?.alive) return { link, notes: [] };
    const before = held.get();
    const old = before === null ? null : await connect(binding, before);
    if (old) return { link: await opened(old), notes: [] };
    held.set(null);
    const id = await acquire(binding);
    if (signal.aborted) await close(binding, id);
    if (signal.aborted) throw new BrowserUnavailable(STOPPED);
    held.set(id);
    const socket = await connect(binding, id);
    if (!socket) throw new BrowserUnavailable("A browser was started, but could not be reached.");
    return { link: await opened(socket), notes: before === null ? [] : [LOST] };
  }
  async function opened(socket: Parameters<typeof Link.open>[0]): Promise<Link> {
    link = await Link.open(socket, parts.refusal);
    return link;
  }

  async function report(
    action: BrowserAction,
    signal: AbortSignal,
    timeoutMs: number,
  ): Promise<BrowserReport> {
    const { link, notes } = await linked(signal);
    if (signal.aborted) link.close();
    const tab = await link.front();
    try {
      return await acted(link, tab, notes, action, Math.min(LIMITS.browserLoadMs, timeoutMs / 2));
    } catch (error) {
      if (!(error instanceof CdpSilent)) throw error;
      await link.drop(tab);
      throw new BrowserUnavailable(HUNG, true);
    }
  }

  async function acted(
    link: Link,
    tab: Tab,
    notes: string[],
    action: BrowserAction,
    loadMs: number,
  ): Promise<BrowserReport> {
    if (action.type !== "navigate" && !(await isOpen(tab))) {
      return { notes: [...notes, ...link.notes(), NO_PAGE], view: null };
    }
    const said = await perform(tab, action, parts.refusal, loadMs).catch((error: unknown) => {
      // A tab may close itself under the action, as a sign-in does when it is done.
      if (error instanceof CdpError && !link.has(tab)) return [] as string[];
      throw error;
    });
    await tab.pulse.settle(0);
    const front = await link.front();
    if (!(await front.pulse.settle(loadMs))) {
      await front.stop();
      said.push(
        `The page did not finish loading within ${Math.round(loadMs / 1000)} s; loading was stopped.`,
      );
    }
    const { status } = front.pulse;
    if (status !== null && status >= 400)
      said.push(`The server answered with HTTP status ${status}.`);
    const view = await look(front);
    const all = [...notes, ...said, ...link.notes()];
    if (!view) return { notes: all.length > 0 ? all : [NO_PAGE], view: null };
    const picture = await front.shot();
    return { notes: all, view: { ...view, screenshot: picture && parts.keep(picture) } };
  }

  return {
    async act(action, signal, timeoutMs) {
      const giveUp = () => link?.close();
      signal.addEventListener("abort", giveUp, { once: true });
      try {
        return await report(action, signal, timeoutMs);
      } catch (error) {
        if (error instanceof CdpGone) {
          throw new BrowserUnavailable(signal.aborted ? STOPPED : BROKE, true);
        }
        throw error;
      } finally {
        signal.removeEventListener("abort", giveUp);
      }
    },
    async rest() {
      link?.close();
      link = null;
      const id = held.get();
      if (id === null) return;
      held.set(null);
      await close(binding, id);
    },
  };
}
