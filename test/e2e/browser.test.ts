/** The page as a person uses it, in Chromium, over `wrangler dev`: a task, a question, a stop, a second tab. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { type DevServer, startDev } from "../support/dev-server.ts";

const executablePath =
  process.env.CHROMIUM ??
  ["/usr/bin/chromium", "/usr/bin/google-chrome"].find((p) => existsSync(p));
const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

describe("the page", { skip: executablePath ? false : "no Chromium on this machine" }, () => {
  let dev: DevServer;
  let browser: Browser;
  let dir: string;
  const problems: string[] = [];

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "dormouse-"));
    dev = await startDev({ vars: { PROVIDER: "practice" }, persistTo: dir });
    browser = await chromium.launch({ executablePath, headless: true, args: ARGS });
    await mkdir("test-results", { recursive: true });
  });
  after(async () => {
    await browser?.close();
    await dev?.stop();
    await rm(dir, { recursive: true, force: true });
  });

  const watch = (page: Page) => {
    page.on("console", (m) => {
      if (m.type() === "error" || m.type() === "warning") problems.push(m.text());
    });
    page.on("pageerror", (e) => problems.push(String(e)));
  };
  async function open(
    options: Parameters<Browser["newContext"]>[0] = {},
  ): Promise<{ context: BrowserContext; page: Page }> {
    const context = await browser.newContext({
      viewport: { width: 1440, height: 900 },
      locale: "en-US",
      ...options,
    });
    const page = await context.newPage();
    watch(page);
    await page.goto(dev.url);
    return { context, page };
  }
  const send = async (page: Page, text: string) => {
    await page.getByLabel("Message").fill(text);
    await page.keyboard.press("Enter");
  };
  const status = (page: Page, word: string) =>
    page.locator(`[data-testid=status][data-status=${word}]`).waitFor();

  it("shows plan, steps, tool output and the final message of a task", async () => {
    const { context, page } = await open();
    await send(page, "say hello `echo hello dormouse`");
    await status(page, "completed");
    await page.locator("[data-kind=final]").getByText("hello dormouse").first().waitFor();
    await page.getByTestId("plan").getByText("1 / 1").waitFor();
    await page.getByTestId("step").first().click();
    await page.getByTestId("tool-row").first().click();
    await page.getByTestId("output").getByText("hello dormouse").waitFor();
    await page.screenshot({ path: "test-results/one-step.png" });
    await context.close();
  });

  it("asks, keeps the question over a reload and a second tab, and goes on with the answer", async () => {
    const { context, page } = await open({ colorScheme: "dark" });
    await send(page, "Which colour (red/green/blue)?\nuse it `cat answers.md`");
    await page.getByTestId("question").waitFor();
    await status(page, "waiting");
    assert.match(await page.title(), /waiting for you/);
    await page.reload();
    await page.getByTestId("question").getByText("Which colour").first().waitFor();
    await page.screenshot({ path: "test-results/question-dark.png" });
    const second = await context.newPage();
    watch(second);
    await second.goto(page.url());
    await second.getByLabel("Your answer").fill("a warm hazel");
    await second.getByRole("button", { name: "Answer" }).click();
    await status(page, "completed");
    await page.locator("[data-kind=final]").getByText("a warm hazel").first().waitFor();
    assert.equal(await page.getByTestId("question").count(), 0);
    assert.equal(await page.locator("[data-kind=final]").count(), 1);
    await context.close();
  });

  it("stops a running command, and the next message works", async () => {
    const { context, page } = await open();
    await send(page, "wait `sleep 60`");
    await page.getByTestId("tool-row").first().waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await status(page, "stopped");
    await send(page, "say `echo again`");
    await status(page, "completed");
    await page.locator("[data-kind=final]").getByText("again").first().waitFor();
    await context.close();
  });

  it("shows markup in any text as text, and fetches nothing from elsewhere", async () => {
    const { context, page } = await open();
    const foreign: string[] = [];
    page.on("request", (r) => {
      if (!r.url().startsWith(dev.url)) foreign.push(r.url());
    });
    const evil = '<img src=x onerror="document.title=1"> ![a](https://example.invalid/?q=1)';
    await send(page, `${evil} \`printf '%s' '<script>document.title=2</script>'\``);
    await status(page, "completed");
    await page.getByTestId("step").first().click();
    await page.getByTestId("tool-row").first().click();
    assert.equal(await page.locator("#app img[onerror], #app img[src=x], #app script").count(), 0);
    assert.doesNotMatch(await page.title(), /^[12]$/);
    assert.deepEqual(foreign, []);
    await context.close();
  });

  it("has had no error or warning in its console", () => {
    assert.deepEqual(problems, []);
  });
});
