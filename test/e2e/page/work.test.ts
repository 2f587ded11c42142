/** The page as a person uses it, in Chromium, over `wrangler dev`: a task, a question, a stop, a second tab. */
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import type { BrowserContextOptions } from "playwright-core";
import { type Chromium, say, status, WITH_CHROMIUM } from "../../support/chromium.ts";
import { practiceStage } from "../../support/stage.ts";

describe("the page", WITH_CHROMIUM, () => {
  let url: string;
  let chromium: Chromium;
  before(async () => {
    ({ url, chromium } = await practiceStage());
  });

  async function open(options: BrowserContextOptions = {}) {
    const opened = await chromium.open(options);
    await opened.page.goto(url);
    return opened;
  }

  it("shows plan, steps, tool output and the final message of a task", async () => {
    const { context, page } = await open();
    await say(page, "say hello `echo hello dormouse`");
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
    await say(page, "Which colour (red/green/blue)?\nuse it `cat answers.md`");
    await page.getByTestId("question").waitFor();
    await status(page, "waiting");
    assert.match(await page.title(), /waiting for you/);
    await page.reload();
    await page.getByTestId("question").getByText("Which colour").first().waitFor();
    await page.screenshot({ path: "test-results/question-dark.png" });
    const second = await context.newPage();
    chromium.watch(second);
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
    await say(page, "wait `sleep 60`");
    await page.getByTestId("tool-row").first().waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await status(page, "stopped");
    await say(page, "say `echo again`");
    await status(page, "completed");
    await page.locator("[data-kind=final]").getByText("again").first().waitFor();
    await context.close();
  });

  it("takes a message while it works, says what will happen to it, and has read it in the end", async () => {
    const { context, page } = await open();
    await say(page, "first `sleep 2`\nthen `echo second`");
    await page.getByTestId("tool-row").first().waitFor();
    const box = page.getByLabel("Message", { exact: true });
    await box.fill("also `echo third`");
    await page.getByText("Will be read before the next step.").waitFor();
    await page.getByRole("button", { name: "Stop" }).waitFor();
    await box.press("Enter");
    await page.getByTestId("user").getByText("echo third").waitFor();
    await status(page, "completed");
    assert.equal(await page.getByTestId("queued").count(), 0);
    assert.equal(await page.getByTestId("user").count(), 2);
    await page.getByTestId("sum").getByText("model calls").waitFor();
    await context.close();
  });

  it("asks before a command when it is told to, shows exactly what will run, and runs it on a yes", async () => {
    const { context, page } = await open();
    await say(page, "look `ls`");
    await status(page, "completed");
    await page
      .locator(".head")
      .getByTitle(/Actions for/)
      .click();
    await page.getByRole("menuitem", { name: "Session settings" }).click();
    await page.getByLabel("Commands in the sandbox").selectOption("ask");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await say(page, "carefully `echo approved > yes.txt && cat yes.txt`");
    const approval = page.getByTestId("question");
    await approval.getByText("echo approved > yes.txt && cat yes.txt").waitFor();
    assert.doesNotMatch((await page.locator(":focus").textContent()) ?? "", /^ ?Approve$/);
    await approval.getByRole("button", { name: "Approve" }).click();
    await status(page, "completed");
    await page.locator("[data-kind=final]").last().getByText("approved").first().waitFor();
    await context.close();
  });

  it("makes no second session of a /new that is the first message", async () => {
    const count = async () => {
      const response = await fetch(`${url}/api/sessions?limit=100`);
      return ((await response.json()) as { sessions: unknown[] }).sessions.length;
    };
    const before_ = await count();
    const { context, page } = await open();
    const home = page.url();
    await say(page, "/new");
    await page.getByText("This is a new session already").waitFor();
    assert.equal(page.url(), home);
    assert.equal(await count(), before_);
    await say(page, "/new say `echo once`");
    await status(page, "completed");
    await page.locator("[data-kind=final]").getByText("once").first().waitFor();
    assert.equal(await page.getByRole("link", { name: "Go to the new session" }).count(), 0);
    assert.equal(await count(), before_ + 1);
    await context.close();
  });

  it("follows /new to the new session, where its text is worked on; another tab stays, and is shown the way", async () => {
    const { context, page } = await open();
    await say(page, "say `echo old`");
    await status(page, "completed");
    const old = page.url();
    const second = await context.newPage();
    chromium.watch(second);
    await second.goto(old);
    await status(second, "completed");
    await say(page, "/new say `echo fresh`");
    await page.waitForURL((url) => url.href !== old);
    await page.getByTestId("user").getByText("echo fresh").waitFor();
    await status(page, "completed");
    await page.locator("[data-kind=final]").getByText("fresh").first().waitFor();
    const link = second.getByRole("link", { name: "Go to the new session" });
    await link.waitFor();
    assert.equal(second.url(), old);
    await link.click();
    await second.waitForURL(page.url());
    await context.close();
  });

  it("puts the last message back into the box to be sent again, changed", async () => {
    const { context, page } = await open();
    await say(page, "say `echo one`");
    await status(page, "completed");
    await page.getByTestId("user").hover();
    await page.getByTestId("user").getByTitle("Edit and send again").click();
    const box = page.getByLabel("Message", { exact: true });
    assert.equal(await box.inputValue(), "say `echo one`");
    await box.fill("say `echo two`");
    await box.press("Enter");
    await page.locator("[data-kind=final]").nth(1).getByText("two").first().waitFor();
    await context.close();
  });

  it("works in Chinese, on a phone, in the dark", async () => {
    const { context, page } = await open({
      locale: "zh-CN",
      colorScheme: "dark",
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
    });
    await page.getByLabel("消息", { exact: true }).fill("打个招呼 `echo 你好`\n你喜欢哪个季节?");
    await page.getByRole("button", { name: "发送" }).click();
    await page.getByTestId("question").getByText("睡着了").waitFor();
    assert.match(await page.title(), /等待你的回答/);
    await page.screenshot({ path: "test-results/phone-question.png" });
    await page.getByLabel("你的回答").fill("秋天");
    await page.getByRole("button", { name: "回答" }).click();
    await status(page, "completed");
    await context.close();
  });

  it("has had no error or warning in its console", () => {
    assert.deepEqual(chromium.problems, []);
  });
});
