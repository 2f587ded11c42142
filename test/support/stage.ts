/**
 * What the suites of the page share within one process: one Chromium, one `wrangler dev` with the practice model (and
 * a scripted one for sessions that ask for it), one server of the bare page. Each starts when it is first asked for;
 * all of them end after the last test.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import type { Browser } from "playwright-core";
import { type Chromium, launchChromium, watchedChromium } from "./chromium.ts";
import { WHOLE_CHROMIUM } from "./chromium-program.ts";
import { type DevServer, startDev } from "./dev-server.ts";
import { type MockModel, startMockModel } from "./mock-model.ts";
import { type PageServer, servePage } from "./page-server.ts";

export interface Stage {
  url: string;
  /** Watched for this suite alone. */
  chromium: Chromium;
}

let browser: Promise<Browser> | undefined;
let whole: Promise<Browser> | undefined;
let dev: Promise<DevServer> | undefined;
let model: Promise<MockModel> | undefined;
let bare: Promise<PageServer> | undefined;
let dir: string | undefined;

/** The page over the real server, where the practice model works. */
export async function practiceStage(): Promise<Stage> {
  dev ??= practice();
  const { url } = await dev;
  return { url, chromium: await chromiumAt(url) };
}

/** The same server, in a browser that shows a PDF. */
export async function viewerStage(): Promise<Stage> {
  dev ??= practice();
  whole ??= launchChromium(WHOLE_CHROMIUM);
  const { url } = await dev;
  const browser = await whole;
  return { url, chromium: watchedChromium(browser, () => url) };
}

/** The same server; `model` answers sessions with the settings `SCRIPTED`. */
export async function scriptedStage(): Promise<Stage & { model: MockModel }> {
  model ??= startMockModel();
  return { ...(await practiceStage()), model: await model };
}
export const SCRIPTED = { provider: "custom", model: "scripted" } as const;

/** The page with nothing behind it: the test plays the server. */
export async function bareStage(): Promise<Stage> {
  bare ??= servePage();
  const { url } = await bare;
  return { url, chromium: await chromiumAt(url) };
}

async function chromiumAt(url: string): Promise<Chromium> {
  browser ??= launchChromium();
  return watchedChromium(await browser, () => url);
}

async function practice(): Promise<DevServer> {
  dir = await mkdtemp(join(tmpdir(), "dormouse-"));
  const careful = { instructions: "Be careful.", reviewer: { enabled: true } };
  model ??= startMockModel();
  const vars = {
    PROVIDER: "practice",
    PROFILES: JSON.stringify({ careful }),
    CUSTOM_BASE_URL: (await model).url,
  };
  return startDev({ vars, persistTo: dir });
}

after(async () => {
  await (await browser)?.close();
  await (await whole)?.close();
  await Promise.all([dev?.then((d) => d.stop()), bare?.then((b) => b.stop())]);
  await (await model)?.close();
  if (dir) await rm(dir, { recursive: true, force: true, maxRetries: 5 });
});
