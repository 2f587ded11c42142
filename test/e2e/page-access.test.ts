/** For everyone: axe on each view in both themes, the keyboard, and composing in Chinese. */
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import axeCore from "axe-core";
import type { Locator, Page } from "playwright-core";
import type { EventBody } from "../../src/core/events.ts";
import { DEFAULTS } from "../../src/core/settings.ts";
import { type Chromium, status, WITH_CHROMIUM } from "../support/chromium.ts";
import { until } from "../support/client-node.ts";
import {
  CONFIG,
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
} from "../support/scripted-session.ts";
import { bareStage } from "../support/stage.ts";

type Axe = {
  run(
    within: string,
    options: object,
  ): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
};
const PRICE = { input: 1, output: 2 };
const DIFF = {
  path: "/workspace/a.js",
  content: "const a = 2;\nb();\n",
  old_content: "const a = 1;\nb();\n",
};
const plan = (status: "running" | "completed"): EventBody => ({
  event: "plan",
  data: {
    op: "created",
    steps: [
      { id: "1", description: "Look at `package.json`", status: "completed", success: true },
      { id: "2", description: "Run the tests", status },
    ],
  },
});
const WORK: EventBody[] = [
  user("u", "Install and run the tests", [file("upload/data.csv", "text/csv", 4096)]),
  now("running", "planning"),
  prose("p", "I will look, then run.", "plan"),
  plan("running"),
  { event: "step", data: { id: "1", description: "Look at `package.json`", status: "running" } },
  ...call(
    "c1",
    {
      name: "shell",
      function: "shell_exec",
      args: { command: "npm test" },
      brief: "Run the tests",
    },
    {
      command: "npm test",
      output: "\u001b[31mfailed\u001b[0m \u001b[90mgrey\u001b[0m\n",
      exit_code: 1,
    },
  ),
  ...call("c2", { name: "file", function: "file_write", args: { path: "a.js" } }, DIFF),
  ...call(
    "c3",
    { name: "search", function: "info_search_web", args: { query: "dormouse" } },
    {
      results: [{ title: "Hazel dormouse", link: "https://example.com/a", snippet: "It sleeps." }],
    },
  ),
  ...call(
    "c4",
    { name: "mcp", function: "mcp_a_b" },
    { result: { rows: [1, { deep: true }], none: null } },
  ),
  {
    event: "review",
    data: {
      verdict: "fail",
      score: 6,
      issues: ["No test for `b`"],
      next_action: "replan",
      round: 1,
    },
  },
  {
    event: "step",
    data: { id: "1", description: "Look at `package.json`", status: "completed", success: true },
  },
  {
    event: "plan",
    data: { op: "updated", steps: [{ id: "3", description: "Fix it", status: "running" }] },
  },
  { event: "step", data: { id: "3", description: "Fix it", status: "running" } },
  { event: "nudge", data: { role: "executor", reason: "bare_text", attempt: 1 } },
  prose("n", "Nearly there.\n\n> quoted\n\n1. one\n2. two", "notice"),
];
const DONE: EventBody[] = [
  ...WORK,
  {
    event: "step",
    data: { id: "3", description: "Fix it", status: "failed", error: "It does not build" },
  },
  prose(
    "f",
    '## Result\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```js\n// note\nconst a = "x";\n```\n\n[link](https://example.com)',
    "final",
    [file("out.md", "text/markdown")],
  ),
  {
    event: "usage",
    data: {
      role: "executor",
      model: "m",
      input_tokens: 100,
      output_tokens: 10,
      cached_tokens: 0,
      measured: true,
    },
  },
  { event: "done", data: { outcome: "failed", run: 1 } },
  now("failed", "completed"),
];
const WAITING: EventBody[] = [
  ...WORK,
  prose("q", "Which database?", "question"),
  { event: "wait", data: waits({ text: "Which database?", options: ["SQLite", "Postgres"] }) },
  now("waiting", "waiting"),
];
const APPROVAL: EventBody[] = [
  ...WORK,
  {
    event: "wait",
    data: waits({
      kind: "approval",
      text: "Run it?",
      tool: { function: "shell_exec", args: { command: "rm -rf build" } },
    }),
  },
  now("waiting", "waiting"),
];

describe("the page for everyone", WITH_CHROMIUM, () => {
  let url: string;
  let chromium: Chromium;
  before(async () => {
    ({ url, chromium } = await bareStage());
  });

  type Options = Parameters<Chromium["open"]>[0];
  async function open(bodies: EventBody[], options: Options = {}, at = `#/s/${ID}`) {
    const opened = await chromium.open(options);
    const { page } = opened;
    const log = events(bodies);
    const wait = log.findLast((e) => e.event === "wait")?.data ?? null;
    const said = log.findLast((e) => e.event === "status_update")?.data;
    const session = {
      title: "Install and run",
      last_seq: log.length,
      wait,
      status: said?.status ?? "idle",
    };
    await script(page, {
      session,
      files: [
        file("upload/data.csv", "text/csv"),
        file("out.md", "text/markdown"),
        file("paper.pdf", "application/pdf"),
      ],
      socket: (socket, after_) => {
        for (const frame of greeting(snapshot(session), after_, log)) send(socket, frame);
      },
    });
    await page.route("**/files/upload/**", (route) => route.fulfill({ body: "a,b\n1,2\n" }));
    await page.route("**/files/paper.pdf", (route) => route.fulfill({ body: "%PDF-1.4" }));
    await page.route("**/api/shared/sh", (route) => route.fulfill({ json: snapshot(session) }));
    await page.route("**/api/shared/sh/events*", (route) =>
      route.fulfill({ json: { events: log, last_seq: log.length, epoch: "e1" } }),
    );
    const server = { url: "https://example.com/mcp", headers: { authorization: "***" } };
    await page.route("**/api/settings/own", (route) =>
      route.fulfill({
        json: {
          own: { mcp: { servers: { tracker: server } }, prices: { near: PRICE } },
          inherited: { ...DEFAULTS, mcp: { servers: { far: server } }, prices: { far: PRICE } },
        },
      }),
    );
    await page.goto(`${url}/${at}`);
    return opened;
  }

  /** Every rule in the light theme; in the dark one, what can be another there: the colours. */
  async function axe(page: Page, where: string, within = "html"): Promise<void> {
    if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axeCore.source);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      const options = colorScheme === "dark" ? { runOnly: ["color-contrast"] } : {};
      const found = await page.evaluate(
        async ([part, how]) => {
          const { violations } = await (globalThis as unknown as { axe: Axe }).axe.run(part, how);
          return violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).join(" | ")}`);
        },
        [within, options] as const,
      );
      assert.deepEqual(found, [], `${where}, ${colorScheme}`);
    }
  }
  const STILL = { reducedMotion: "reduce", bypassCSP: true } as const;

  it("axe finds nothing in a session, its viewers and its files", async () => {
    const { context, page } = await open(DONE, STILL);
    // The frame is there in a Chromium that has nothing to fill it with, too.
    await page.addInitScript(() =>
      Object.defineProperty(navigator, "pdfViewerEnabled", { value: true }),
    );
    await page.reload();
    await status(page, "failed");
    await page.locator(".hljs-keyword").first().waitFor();
    await page.getByTestId("plan").getByRole("button").click();
    for (const head of await page.getByTestId("step").all()) {
      const button = head.getByRole("button").first();
      if ((await button.getAttribute("aria-expanded")) === "false") await button.click();
    }
    await axe(page, "timeline");
    const rows = page.locator("[data-testid=tool-row], .review-row");
    for (let i = 0; i < (await rows.count()); i++) {
      await rows.nth(i).click();
      await page.locator(".detail").waitFor();
      for (const raw of await page.locator(".detail .raw > summary").all()) await raw.click();
      await axe(page, `viewer ${i}`, ".detail");
    }
    await page.getByTitle("Files and usage").click();
    await page.getByTestId("file").first().waitFor();
    await axe(page, "files", ".detail");
    await page.getByTestId("file").first().getByRole("button").first().click();
    await page.getByTestId("preview").getByRole("table").waitFor();
    await axe(page, "preview", ".detail");
    await page.getByTitle("Back to the files").click();
    await page.getByTestId("file").last().getByRole("button").first().click();
    await page.getByTitle("paper.pdf, as PDF").waitFor();
    await axe(page, "a PDF", ".detail");
    await page.locator(".detail").getByTitle("Close").click();
    await page.screenshot({ path: "test-results/session.png" });
    await context.close();
  });

  it("axe finds nothing in a question, an approval, a run and the empty page", async () => {
    for (const [bodies, wanted] of [
      [WAITING, "waiting"],
      [APPROVAL, "waiting"],
      [WORK, "running"],
    ] as const) {
      const { context, page } = await open(bodies, STILL);
      await status(page, wanted);
      await page.locator(".markdown").first().waitFor();
      await axe(page, wanted, "main");
      await context.close();
    }
    const { context, page } = await open([], STILL, "");
    await page.getByText("What should be done?").waitFor();
    await axe(page, "empty page");
    await context.close();
  });

  it("axe finds nothing in dialogs, menus, a share and the sign-in", async () => {
    const { context, page } = await open(DONE, STILL);
    await status(page, "failed");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").waitFor();
    await axe(page, "palette", "dialog");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Settings", exact: true }).click();
    await page.getByRole("button", { name: "Add a header" }).waitFor();
    await page.getByRole("button", { name: "Add a price" }).click();
    await axe(page, "settings", "dialog");
    await page.keyboard.press("Escape");
    for (const name of ["Rename", "Share"]) {
      await page
        .locator(".head")
        .getByTitle(/Actions for/)
        .click();
      await page.getByRole("menuitem", { name }).waitFor();
      if (name === "Rename") await axe(page, "menu", ".menu:popover-open");
      await page.getByRole("menuitem", { name }).click();
      await page.getByRole("dialog").waitFor();
      await axe(page, name, "dialog");
      await page.keyboard.press("Escape");
    }
    await page.getByTitle("Keyboard").click();
    await page.getByRole("dialog").waitFor();
    await axe(page, "help", "dialog");
    await page.keyboard.press("Escape");
    await page.goto(`${url}/shared/sh`);
    await page.getByRole("button", { name: "Play" }).waitFor();
    await axe(page, "share");
    await page.route(/\/api\/sessions(?:\?.*)?$/, (route) =>
      route.fulfill({ status: 401, json: { error: { code: "unauthorized", message: "" } } }),
    );
    await page.goto(`${url}/`);
    await page.getByLabel("Access token").waitFor();
    await axe(page, "sign-in");
    await context.close();
  });

  it("knows after the sign-in what it could not know before: profiles, and that a model is only practice", async () => {
    const { context, page } = await chromium.open();
    await script(page, {});
    let signedIn = false;
    const guarded = (path: RegExp, json: () => Promise<object>) =>
      page.route(path, async (route) => {
        if (signedIn) await route.fulfill({ json: await json() });
        else await route.fulfill({ status: 401, json: { error: { code: "unauthorized" } } });
      });
    await guarded(/\/api\/sessions(?:\?.*)?$/, async () => ({ sessions: [], next_cursor: null }));
    await guarded(/\/api\/config$/, async () => ({ ...CONFIG, practice: true }));
    await page.route("**/api/login", (route) => {
      signedIn = true;
      return route.fulfill({ status: 204 });
    });
    await page.goto(`${url}/`);
    await page.getByLabel("Access token").fill("sesame");
    await page.keyboard.press("Enter");
    await page.getByRole("complementary", { name: "Practice model" }).waitFor();
    await page.getByLabel("Profile").waitFor();
    await context.close();
  });

  /** Focus comes with the next paint, so it is waited for: a key that is pressed before goes elsewhere. */
  const focused = (where: Locator) =>
    until("the focus", () => where.evaluate((element) => element === document.activeElement));

  it("can be worked by keys alone: find, menu, dialog, question, and back to where one was", async () => {
    const answers: string[] = [];
    const { context, page } = await open(WAITING);
    await page.routeWebSocket(/\/ws\?/, (socket) => {
      const session = snapshot({
        wait: waits({ text: "Which database?", options: ["SQLite", "Postgres"] }),
        status: "waiting",
      });
      for (const frame of greeting(session, 0, events(WAITING))) send(socket, frame);
      socket.onMessage((text) => void answers.push(String(text)));
    });
    await page.reload();
    const question = page.getByTestId("question");
    await focused(question);
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await focused(question);
    await page.keyboard.press("Control+k");
    await focused(page.locator(".palette-box input"));
    await page.keyboard.type("settings");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Settings" }).waitFor();
    await page.keyboard.press("Escape");
    const more = page.locator(".head").getByTitle(/Actions for/);
    await more.focus();
    await page.keyboard.press("Enter");
    await focused(page.getByRole("menuitem", { name: "Rename" }));
    await page.keyboard.press("ArrowDown");
    await focused(page.getByRole("menuitem", { name: "Pin to the top" }));
    await page.keyboard.press("Escape");
    await focused(more);
    await question.focus();
    // A digit right after another key would be a slip.
    await page.waitForTimeout(700);
    await page.keyboard.press("2");
    await page.waitForFunction(() => document.querySelector(".option:disabled") !== null);
    assert.match(answers[0] ?? "", /"text":"Postgres"/);
    await context.close();
  });

  it("A34: an Enter that ends a word sends nothing, in every box", async () => {
    const { context, page } = await open([user("u", "go"), now("running", "executing")]);
    const sent: string[] = [];
    await page.routeWebSocket(/\/ws\?/, (socket) => {
      for (const frame of greeting(
        snapshot({ status: "running" }),
        0,
        events([user("u", "go"), now("running", "executing")]),
      ))
        send(socket, frame);
      socket.onMessage((text) => void sent.push(String(text)));
    });
    await page.reload();
    const box = page.getByLabel("Message", { exact: true });
    await box.fill("你好");
    const press = (over: object) =>
      box.evaluate((element, init) => {
        element.dispatchEvent(
          new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true, ...init }),
        );
      }, over);
    await press({ isComposing: true });
    await press({ keyCode: 229 });
    await press({ shiftKey: true });
    assert.equal(await box.inputValue(), "你好");
    assert.deepEqual(sent, []);
    await press({ keyCode: 13 });
    assert.equal(await box.inputValue(), "");
    await context.close();
  });

  it("speaks Chinese, fits a phone, and lets right-to-left text run its own way", async () => {
    const { context, page } = await open(
      [
        user("u", "مرحبا بالعالم"),
        now("running", "answering"),
        prose("a", `${"x".repeat(300)}\n\nشكرا`, "answer"),
      ],
      {
        locale: "zh-CN",
        viewport: { width: 390, height: 844 },
        hasTouch: true,
        isMobile: true,
        colorScheme: "dark",
      },
    );
    await page.locator("[data-testid=status][data-status=running]").getByText("进行中").waitFor();
    await page.locator(".markdown").waitFor();
    assert.equal(await page.locator("html").getAttribute("lang"), "zh");
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.equal(wide, 0);
    const direction = (text: string) =>
      page.getByText(text).evaluate((e) => getComputedStyle(e.closest("[dir]") ?? e).direction);
    assert.equal(await direction("مرحبا"), "rtl");
    await page.screenshot({ path: "test-results/phone-zh.png" });
    await page.getByRole("button", { name: "显示会话列表" }).click();
    await page.getByRole("button", { name: "新会话" }).waitFor();
    await context.close();
  });

  it("has had no error in its console", () => {
    const own = chromium.problems.filter((text) => !text.includes("401"));
    assert.deepEqual(own, []);
  });
});
