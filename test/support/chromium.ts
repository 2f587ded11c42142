/**
 * Chromium for end-to-end tests of the page: what its console and its security policy complain about is kept, and so
 * is every request that leaves for another host.
 */
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from "playwright-core";
import { CHROMIUM, CHROMIUM_ARGS } from "./chromium-program.ts";

export { WITH_CHROMIUM, WITH_WHOLE_CHROMIUM } from "./chromium-program.ts";

/** Never leaves the machine: bytes of the page, and the parts of the browser's own PDF viewer. */
const OWN_SCHEME = /^(?:data|blob|chrome|chrome-extension):/;

export interface Opened {
  context: BrowserContext;
  page: Page;
}
export interface Chromium {
  /** Errors and warnings of every page, what the security policy refused, and requests to other hosts. */
  readonly problems: string[];
  /** A page of a fresh browser profile, watched; not yet anywhere. */
  open(options?: BrowserContextOptions): Promise<Opened>;
  watch(page: Page): void;
}

export const launchChromium = (executablePath = CHROMIUM): Promise<Browser> =>
  chromium.launch({ executablePath, headless: true, args: [...CHROMIUM_ARGS] });

export function watchedChromium(browser: Browser, origin: () => string): Chromium {
  const problems: string[] = [];
  const watch = (page: Page): void => {
    page.on("console", (m) => {
      if (m.type() === "error" || m.type() === "warning") problems.push(m.text());
    });
    page.on("pageerror", (e) => problems.push(String(e)));
    page.on("request", (r) => {
      if (!r.url().startsWith(origin()) && !OWN_SCHEME.test(r.url())) problems.push(r.url());
    });
  };
  const open = async (options: BrowserContextOptions = {}): Promise<Opened> => {
    const viewport = { width: 1440, height: 900 };
    const context = await browser.newContext({ viewport, locale: "en-US", ...options });
    context.setDefaultTimeout(30_000);
    await context.addInitScript(() => {
      addEventListener("securitypolicyviolation", (e) => {
        console.error(`policy: ${e.violatedDirective} ${e.blockedURI}`);
      });
    });
    const page = await context.newPage();
    watch(page);
    return { context, page };
  };
  return { problems, open, watch };
}

/** The message box of the session, or of the empty page. */
export async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel("Message", { exact: true }).fill(text);
  await page.keyboard.press("Enter");
}
export const status = (page: Page, word: string): Promise<void> =>
  page.locator(`[data-testid=status][data-status=${word}]`).waitFor();
