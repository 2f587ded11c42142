/** One page of the browser: where its script is run, and what hands would do to it. */
import { LIMITS } from "../../core/limits.ts";
import { type Cdp, CdpError, CdpSilent, type Params } from "./cdp.ts";
import type { Key } from "./keys.ts";
import { SCRIPT } from "./page-script.ts";
import { Pulse } from "./pulse.ts";

const WORLD = "dormouse";

export class Tab {
  readonly id: string;
  readonly session: string;
  readonly pulse: Pulse;
  readonly #cdp: Cdp;

  constructor(cdp: Cdp, id: string, session: string) {
    this.#cdp = cdp;
    this.id = id;
    this.session = session;
    this.pulse = new Pulse(id);
  }

  /** Calls a function of the page's script. */
  async run<T>(name: string, ...args: unknown[]): Promise<T> {
    const expression = `${SCRIPT}\ndormouse.${name}(${args.map((a) => JSON.stringify(a)).join(",")})`;
    for (let again = false; ; again = true) {
      try {
        return await this.#evaluate<T>(expression);
      } catch (error) {
        // The document went away between the two commands: the next one is asked, once.
        if (again || !(error instanceof CdpError)) throw error;
        await this.pulse.settle(LIMITS.browserLoadMs);
      }
    }
  }

  async #evaluate<T>(expression: string): Promise<T> {
    const world = { frameId: this.id, worldName: WORLD };
    const { executionContextId } = await this.#send("Page.createIsolatedWorld", world);
    const call = { expression, contextId: executionContextId, returnByValue: true };
    const { result, exceptionDetails } = await this.#send("Runtime.evaluate", call);
    if (exceptionDetails) throw new Error(`the page's script failed: ${thrown(exceptionDetails)}`);
    return (result as { value: T }).value;
  }

  /** The browser's error, "" when it ended in something that is no page; null: it was opened. */
  async navigate(url: string, ms: number): Promise<string | null> {
    this.pulse.status = null;
    try {
      const { errorText } = await this.#cdp.send("Page.navigate", { url }, this.session, ms);
      return errorText === undefined ? null : String(errorText);
    } catch (error) {
      if (error instanceof CdpError) return error.message;
      if (!(error instanceof CdpSilent)) throw error;
      await this.stop();
      return `no answer within ${Math.round(ms / 1000)} s`;
    }
  }

  async stop(): Promise<void> {
    await this.#send("Page.stopLoading");
  }

  async click(x: number, y: number): Promise<void> {
    const at = { x, y, button: "left", clickCount: 1 };
    await this.#send("Input.dispatchMouseEvent", { type: "mouseMoved", x, y });
    await this.#send("Input.dispatchMouseEvent", { ...at, type: "mousePressed", buttons: 1 });
    await this.#send("Input.dispatchMouseEvent", { ...at, type: "mouseReleased" });
  }

  async press({ text, ...key }: Key): Promise<void> {
    const down = text ? { type: "keyDown", text } : { type: "rawKeyDown" };
    await this.#send("Input.dispatchKeyEvent", { ...key, ...down });
    await this.#send("Input.dispatchKeyEvent", { ...key, type: "keyUp" });
  }

  async write(text: string): Promise<void> {
    await this.#send("Input.insertText", { text });
  }

  /** null: no picture could be taken. */
  async shot(): Promise<Uint8Array | null> {
    const how = { format: "jpeg", quality: 60, optimizeForSpeed: true };
    try {
      const { data } = await this.#send("Page.captureScreenshot", how);
      return Uint8Array.from(atob(String(data)), (char) => char.charCodeAt(0));
    } catch (error) {
      if (error instanceof CdpError || error instanceof CdpSilent) return null;
      throw error;
    }
  }

  #send(method: string, params?: Params): Promise<Params> {
    return this.#cdp.send(method, params, this.session);
  }
}

const thrown = (details: unknown): string => {
  const { exception, text } = details as { exception?: { description?: string }; text?: string };
  return exception?.description ?? text ?? "";
};
