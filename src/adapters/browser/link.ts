/**
 * One connection to a browser: its tabs, which of them is in front, and what they did since somebody last asked.
 *
 * I1  A tab is in the list once its rules are in force.
 * I2  A tab that a page opens comes to the front; when the one in front goes, the one before it does.
 */
import { LIMITS } from "../../core/limits.ts";
import type { Socket } from "./binding.ts";
import { Cdp, CdpError, type CdpEvent, type Params } from "./cdp.ts";
import { admit, guard, type Refusal, type Target } from "./gate.ts";
import { Tab } from "./tab.ts";

export class Link {
  readonly #cdp: Cdp;
  readonly #refusal: Refusal;
  /** In the order in which they came to the front. */
  #tabs: Tab[] = [];
  #notes: string[] = [];
  /** Its tabs are known: from now on a new one was opened by a page. */
  #settled = false;
  /** Targets that are getting their rules. */
  readonly #coming = new Set<Promise<void>>();

  private constructor(socket: Socket, refusal: Refusal) {
    this.#refusal = refusal;
    this.#cdp = new Cdp(socket, (event) => this.#take(event));
  }

  static async open(socket: Socket, refusal: Refusal): Promise<Link> {
    const link = new Link(socket, refusal);
    try {
      await link.#start();
      return link;
    } catch (error) {
      link.close();
      throw error;
    }
  }

  async #start(): Promise<void> {
    const refuse = { behavior: "deny", eventsEnabled: true };
    this.#cdp.tell("Browser.setDownloadBehavior", refuse);
    const attach = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true };
    await this.#cdp.send("Target.setAutoAttach", attach);
    await this.arrived();
    this.#settled = true;
    if (this.#tabs.length === 0) await this.#fresh();
  }

  get alive(): boolean {
    return this.#cdp.open;
  }

  /** Whoever waits for an answer is told that there will be none. */
  close(): void {
    this.#cdp.close();
  }

  has(tab: Tab): boolean {
    return this.#tabs.includes(tab);
  }

  /** The tab in front; a new one when the last was closed. */
  async front(): Promise<Tab> {
    await this.arrived();
    const front = this.#tabs.at(-1);
    if (front) return front;
    await this.#fresh();
    return this.front();
  }

  /** Tabs that were announced are in the list. */
  async arrived(): Promise<void> {
    while (this.#coming.size > 0) await Promise.all(this.#coming);
  }

  /** A page that does not answer is closed without its help. */
  async drop(tab: Tab): Promise<void> {
    this.#forget(tab.session);
    // A browser without any page may end.
    if (this.#tabs.length === 0) await this.#fresh();
    await this.#cdp.send("Target.closeTarget", { targetId: tab.id }).catch(() => {});
  }

  /** What was noted since the last time. */
  notes(): string[] {
    const notes = this.#notes;
    this.#notes = [];
    return notes;
  }

  async #fresh(): Promise<void> {
    this.#settled = false;
    await this.#cdp.send("Target.createTarget", { url: "about:blank" });
    await this.arrived();
    this.#settled = true;
  }

  readonly #note = (text: string): void => {
    // A page that says the same again and again says it once.
    if (this.#notes.length < LIMITS.browserNotes && !this.#notes.includes(text)) {
      this.#notes.push(text);
    }
  };

  #take(event: CdpEvent): void {
    if (event.method === "Target.attachedToTarget") this.#attached(event.params);
    if (event.method === "Target.detachedFromTarget") this.#left(String(event.params.sessionId));
    if (event.method === "Inspector.targetCrashed" && event.session) this.#crashed(event.session);
    guard(this.#cdp, event, this.#refusal, this.#note);
    this.#tabs.find((tab) => tab.session === event.session)?.pulse.take(event);
  }

  #attached({ sessionId, targetInfo }: Params): void {
    const { targetId: id, type, url } = targetInfo as Record<"targetId" | "type" | "url", string>;
    const session = String(sessionId);
    const coming = this.#admit({ id, type, session }, url).finally(() =>
      this.#coming.delete(coming),
    );
    this.#coming.add(coming);
  }

  async #admit(target: Target, url: string): Promise<void> {
    const opened = this.#settled;
    if (!(await admit(this.#cdp, target)) || target.type !== "page") return;
    const tab = new Tab(this.#cdp, target.id, target.session);
    // Of tabs that were there before, one that shows something is in front.
    if (!opened && url === "about:blank") this.#tabs.unshift(tab);
    else this.#tabs.push(tab);
    if (opened) this.#note("The page opened a new tab; it is the one shown now.");
    if (this.#tabs.length > LIMITS.browserTabs) {
      const [oldest] = this.#tabs;
      if (oldest) await this.drop(oldest);
    }
  }

  #crashed(session: string): void {
    const tab = this.#tabs.find((t) => t.session === session);
    if (!tab) return;
    this.#note("The page crashed and was closed.");
    void this.drop(tab).catch(() => {});
    this.#cdp.left(session, new CdpError("the page crashed"));
  }

  #left(session: string): void {
    this.#cdp.left(session, new CdpError("the tab was closed"));
    if (this.#forget(session)) this.#note("A tab was closed; the one before it is shown now.");
  }

  /** True: it was the one in front. */
  #forget(session: string): boolean {
    const front = this.#tabs.at(-1)?.session === session;
    this.#tabs = this.#tabs.filter((tab) => tab.session !== session);
    return front;
  }
}
