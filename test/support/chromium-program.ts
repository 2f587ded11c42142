/**
 * Which Chromium the tests start, and how. The one without windows (`chromium-headless-shell`) comes first: for the same
 * pages it takes half the CPU time. `CHROMIUM` names another.
 */
import { existsSync } from "node:fs";

export const CHROMIUM =
  process.env.CHROMIUM ??
  ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium", "/usr/bin/google-chrome"].find((path) =>
    existsSync(path),
  );

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
