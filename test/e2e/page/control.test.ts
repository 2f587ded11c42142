/** What a person can do with a session besides writing, over the real server: again, elsewhere, otherwise. */
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import type { Page } from "playwright-core";
import type { SessionView, SettingsLayers } from "../../../src/core/wire.ts";
import { type Chromium, say, status, WITH_CHROMIUM } from "../../support/chromium.ts";
import { until } from "../../support/client-node.ts";
import { practiceStage } from "../../support/stage.ts";

describe("control of a session in the page", WITH_CHROMIUM, () => {
  let url: string;
  let chromium: Chromium;
  before(async () => {
    ({ url, chromium } = await practiceStage());
  });

  async function open() {
    const opened = await chromium.open();
    await opened.page.goto(url);
    return opened;
  }
  const idOf = (page: Page) => new URL(page.url()).hash.replace("#/s/", "");
  const api = async <T>(path: string): Promise<T> =>
    (await (await fetch(`${url}/api${path}`)).json()) as T;
  const choose = async (page: Page, name: string) => {
    await page
      .locator(".head")
      .getByTitle(/Actions for/)
      .click();
    await page.getByRole("menuitem", { name }).click();
  };
  const saved = async (page: Page) => {
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
  };

  it("a turn that was stopped is tried again with one button", async () => {
    const { context, page } = await open();
    await say(page, "wait `sleep 60`");
    await page.getByTestId("tool-row").first().waitFor();
    await say(page, "and be quick");
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await status(page, "stopped");
    await page.locator("[data-testid=tool-row][data-state=stopped]").waitFor();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByTestId("user").nth(2).getByText("sleep 60").waitFor();
    await status(page, "running");
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await status(page, "stopped");
    await context.close();
  });

  it("another way is gone from any message, and the session it came from stays as it was", async () => {
    const { context, page } = await open();
    await say(page, "say `echo first-turn`");
    await status(page, "completed");
    await say(page, "say `echo second-turn`");
    await page.locator("[data-kind=final]").nth(1).waitFor();
    await status(page, "completed");
    const from = idOf(page);
    await page.locator("[data-kind=final]").first().hover();
    await page.locator("[data-kind=final]").first().getByTitle("Go another way from here").click();
    await page.waitForURL((at) => !at.hash.includes(from));
    await page.locator("[data-kind=final]").getByText("first-turn").first().waitFor();
    assert.equal(await page.getByText("second-turn").count(), 0);
    await say(page, "say `echo other-turn`");
    await page.locator("[data-kind=final]").nth(1).getByText("other-turn").first().waitFor();
    // From one's own message: before it, with its words in the box.
    await page.getByTestId("user").nth(1).hover();
    await page.getByTestId("user").nth(1).getByTitle("Go another way from here").click();
    await page.waitForFunction(() => document.querySelectorAll("[data-kind=final]").length === 1);
    const words = page.getByLabel("Message", { exact: true });
    await until("its words", async () => (await words.inputValue()) === "say `echo other-turn`");
    const log = await api<{ events: { event: string }[] }>(`/sessions/${from}/events`);
    assert.equal(log.events.filter((e) => e.event === "done").length, 2);
    await context.close();
  });

  it("a new session takes the mode and the profile that were chosen, and tells what it took", async () => {
    const { context, page } = await open();
    await page.getByRole("combobox", { name: /^Mode/ }).selectOption("chat");
    await page.getByRole("combobox", { name: /^Profile/ }).selectOption("careful");
    await say(page, "say `echo hello`");
    await status(page, "completed");
    const view = await api<SessionView>(`/sessions/${idOf(page)}`);
    assert.deepEqual([view.mode, view.settings.profile], ["chat", "careful"]);
    assert.equal(view.settings.instructions, "Be careful.");
    await page.getByTitle("Files and usage").click();
    const row = page.getByRole("row", { name: /^Tokens in/i });
    const cells = (await row.getByRole("cell").allTextContents()).map((text) =>
      Number(text.replace(/\D/g, "")),
    );
    const { input_tokens } = view.usage;
    assert.deepEqual(cells, [input_tokens, input_tokens]);
    assert.ok(input_tokens > 0);
    await context.close();
  });

  it("settings show what is inherited, are stated and taken back, servers included", async () => {
    const { context, page } = await open();
    await say(page, "say `echo hello`");
    await status(page, "completed");
    const own = async () =>
      (await api<SettingsLayers>(`/sessions/${idOf(page)}/settings`)).own as Record<
        string,
        unknown
      >;
    await choose(page, "Session settings");
    await page.getByLabel("Instructions").fill("Be brief");
    await page.getByLabel("Review the result").selectOption("off");
    await page.getByRole("button", { name: "Add a server" }).click();
    await page.getByLabel("Name", { exact: true }).fill("far");
    await page.getByLabel("Address").fill("https://mcp.example/");
    await page.getByLabel("In use").uncheck();
    await page.getByRole("button", { name: "Add a price" }).click();
    await page.getByLabel("Name of the model").fill("dear");
    await page.getByLabel("In", { exact: true }).fill("2.5");
    await page.getByLabel("Out", { exact: true }).fill("10");
    await saved(page);
    assert.deepEqual(await own(), {
      instructions: "Be brief",
      reviewer: { enabled: false },
      prices: { dear: { input: 2.5, output: 10 } },
      mcp: {
        servers: { far: { url: "https://mcp.example/", enabled: false, approval: "allow" } },
      },
    });
    await choose(page, "Session settings");
    assert.equal(await page.getByLabel("Instructions").inputValue(), "Be brief");
    await page.getByLabel("Instructions").fill("");
    await page.getByLabel("Review the result").selectOption({ label: "inherited (off)" });
    await page.getByRole("button", { name: "Remove far" }).click();
    await page.getByRole("button", { name: "Remove dear" }).click();
    await saved(page);
    assert.deepEqual(await own(), {});
    await context.close();
  });

  it("a file that is attached when a question opens goes with the answer", async () => {
    const { context, page } = await open();
    await say(page, "wait `sleep 2`\nWhich colour?\nlook `ls upload`");
    await page.getByTestId("tool-row").first().waitFor();
    const buffer = Buffer.from("hazel");
    await page
      .getByTestId("pick")
      .setInputFiles([{ name: "colour.txt", mimeType: "text/plain", buffer }]);
    const chip = page.getByTestId("upload").getByText("colour.txt", { exact: true });
    await chip.waitFor();
    await page.getByTestId("question").waitFor();
    await chip.waitFor();
    await page.getByLabel("Your answer").fill("as in the file");
    await page.getByRole("button", { name: "Answer" }).click();
    await status(page, "completed");
    const asked = page.locator(".asked");
    await asked.getByText("as in the file").waitFor();
    await asked.getByText("colour.txt").waitFor();
    await context.close();
  });

  it("a question is answered by keys: a digit for an option, Enter for words", async () => {
    const { context, page } = await open();
    await say(page, "Which colour (red/green/blue)?");
    const question = page.getByTestId("question");
    await until("the focus", () =>
      question.evaluate((box) => box.contains(document.activeElement)),
    );
    // A digit counts only some time after another key; it is pressed until it does.
    await until("the digit is taken", async () => {
      await page.keyboard.press("2");
      await page.waitForTimeout(700);
      return (await question.count()) === 0;
    });
    await status(page, "completed");
    await page.locator(".asked").getByText("green", { exact: true }).waitFor();
    await say(page, "Which name?");
    await page.getByLabel("Your answer").fill("Ada");
    await page.keyboard.press("Enter");
    await page.locator(".asked").getByText("Ada", { exact: true }).waitFor();
    await status(page, "completed");
    await context.close();
  });

  it("a session elsewhere that begins to wait is told to who wants it and does not look", async () => {
    const { context, page } = await chromium.open();
    await context.addInitScript(() => {
      localStorage.setItem("notify", "yes");
      const told: string[] = [];
      class Told {
        static permission = "granted";
        onclick: (() => void) | null = null;
        constructor(title: string) {
          told.push(title);
          Object.assign(globalThis, { told, choose: () => this.onclick?.() });
        }
        close(): void {}
      }
      Object.assign(globalThis, { told, Notification: Told });
      Object.defineProperty(document, "visibilityState", { get: () => "hidden" });
    });
    await page.goto(url);
    await page.getByTestId("session").first().waitFor();
    const created = await fetch(`${url}/api/sessions`, {
      method: "POST",
      body: JSON.stringify({ title: "Far away" }),
    });
    const { id } = (await created.json()) as { id: string };
    await fetch(`${url}/api/sessions/${id}/messages`, {
      method: "POST",
      headers: { prefer: "wait=60" },
      body: JSON.stringify({ text: "Which colour?" }),
    });
    const told = () =>
      page.evaluate(() => (globalThis as unknown as { told: string[] }).told.join("|"));
    await until("it is told", async () => {
      const list = page.waitForResponse(/\/api\/sessions\?/);
      await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
      await list;
      return /waiting for you · Far away/i.test(await told());
    });
    assert.equal((await told()).split("Far away").length, 2);
    await page.evaluate(() => (globalThis as unknown as { choose(): void }).choose());
    await page.getByTestId("question").getByText("Which colour?").first().waitFor();
    assert.equal(idOf(page), id);
    await context.close();
  });

  it("has had no error or warning in its console", () => {
    assert.deepEqual(chromium.problems, []);
  });
});
