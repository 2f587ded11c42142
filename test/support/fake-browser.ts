/** A browser for tests of tools: it reports what it is given and remembers what it was asked. */
import type {
  Browser,
  BrowserAction,
  BrowserReport,
  BrowserUnavailable,
  PageView,
} from "../../src/tools/browser-port.ts";

export const page = (view: Partial<PageView> = {}): PageView => ({
  url: "https://example.com/",
  title: "Example",
  elements: [],
  unlisted: 0,
  text: "",
  above: false,
  below: false,
  screenshot: null,
  ...view,
});

export class FakeBrowser implements Browser {
  readonly actions: BrowserAction[] = [];
  report: BrowserReport = { notes: [], view: page() };
  /** Set: every action throws this. */
  broken: BrowserUnavailable | null = null;

  see(view: Partial<PageView>, ...notes: string[]): this {
    this.report = { notes, view: page(view) };
    return this;
  }
  async act(action: BrowserAction): Promise<BrowserReport> {
    this.actions.push(action);
    if (this.broken) throw this.broken;
    return this.report;
  }
  async rest(): Promise<void> {}
}
