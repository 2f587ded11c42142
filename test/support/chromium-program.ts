/**
 * Which Chromium the tests start, and how. The one without windows (`chromium-headless-shell`) comes first: for the same
 * pages it takes half the CPU time. `CHROMIUM` names another.
 */
import { existsSync } from "node:fs";

const found = (paths: string[]) => paths.find((path) => existsSync(path));

/** The whole program: what it shows of a PDF, say, the one without windows has not. */
export const WHOLE_CHROMIUM =
  process.env.CHROMIUM ?? found(["/usr/bin/chromium", "/usr/bin/google-chrome"]);
export const CHROMIUM =
  process.env.CHROMIUM ?? found(["/usr/bin/chromium-headless-shell"]) ?? WHOLE_CHROMIUM;

/** Nothing but the pages that are asked for: no GPU, no network of its own. */
export const CHROMIUM_ARGS: readonly string[] = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** For `describe`: skipped, and said so, where there is no Chromium. */
export const WITH_CHROMIUM = {
  skip: CHROMIUM ? false : "no Chromium on this machine",
} as const;
export const WITH_WHOLE_CHROMIUM = {
  skip: WHOLE_CHROMIUM ? false : "no whole Chromium on this machine",
} as const;
