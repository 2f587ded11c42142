/**
 * The browser port: one browser with one page in front, kept between calls.
 *
 * B1  Nothing rejects for what a page or a server did: a refused address, an error page, a dialog, an element that is
 *     gone are told in `notes`.
 * B2  `BrowserUnavailable` is thrown when no browser can be had, when it is lost in the middle, or when a page hangs.
 * B3  After a stop nothing of the action goes on.
 */
export type BrowserAction =
  | { type: "navigate"; url: string }
  | { type: "view" }
  | { type: "click"; index: number }
  | { type: "input"; index: number; text: string; enter: boolean }
  | { type: "scroll"; direction: ScrollDirection }
  | { type: "press"; key: string };

export const SCROLL_DIRECTIONS = ["down", "up", "bottom", "top"] as const;
export type ScrollDirection = (typeof SCROLL_DIRECTIONS)[number];

/** What can be seen of a page from where it is scrolled to. All strings are the page's own words. */
export interface PageView {
  url: string;
  title: string;
  /** Element 1 is the first; each is its kind in angle brackets, its name and its state. */
  elements: string[];
  /** Elements there are beyond those. */
  unlisted: number;
  text: string;
  above: boolean;
  below: boolean;
  /** Path of the picture, when one was taken and kept. */
  screenshot: string | null;
}

export interface BrowserReport {
  /** What came of the action and what the page did meanwhile, sentences for the model. */
  notes: string[];
  /** null: there is no page to be seen. */
  view: PageView | null;
}

export interface Browser {
  /** Starts a browser when there is none. One action at a time. */
  act(action: BrowserAction, signal: AbortSignal, timeoutMs: number): Promise<BrowserReport>;
  /** Nothing is going to run for a while: the browser is closed. Never rejects; may be called twice. */
  rest(): Promise<void>;
}

export class BrowserUnavailable extends Error {
  /** The action had begun: whether it took effect is not known. */
  readonly begun: boolean;
  constructor(message: string, begun = false) {
    super(message);
    this.begun = begun;
  }
}
