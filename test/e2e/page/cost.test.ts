/** Tokens and money in the page: of a turn, and of the session, as people of each language write them. */
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import type { Page } from "playwright-core";
import { type Chromium, WITH_CHROMIUM } from "../../support/chromium.ts";
import type { MockModel } from "../../support/mock-model.ts";
import { SCRIPTED, scriptedStage } from "../../support/stage.ts";

/** Dollars for a million tokens. */
const prices = { scripted: { input: 2.5, cached: 0.5, output: 10 } };
const usage = (input: number, cached: number, output: number) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  prompt_tokens_details: { cached_tokens: cached },
});

describe("money in the page", WITH_CHROMIUM, () => {
  let url: string;
  let chromium: Chromium;
  let model: MockModel;
  before(async () => {
    ({ url, chromium, model } = await scriptedStage());
  });

  async function session(settings: object): Promise<string> {
    const response = await fetch(`${url}/api/sessions`, {
      method: "POST",
      body: JSON.stringify({ mode: "chat", settings: { ...SCRIPTED, ...settings } }),
    });
    return ((await response.json()) as { id: string }).id;
  }
  async function turn(id: string, text: string): Promise<void> {
    const response = await fetch(`${url}/api/sessions/${id}/messages`, {
      method: "POST",
      headers: { prefer: "wait=60" },
      body: JSON.stringify({ text }),
    });
    assert.equal(response.status, 200);
  }
  /** The table beside the timeline, row by row. */
  const table = async (page: Page): Promise<string[][]> => {
    await page.locator("table.usage tbody tr").first().waitFor();
    const rows = await page.locator("table.usage tbody tr").all();
    return Promise.all(rows.map((row) => row.locator("th, td").allTextContents()));
  };

  it("stands at the end of each turn, and of both in the table, while they come and after a reload", async () => {
    const id = await session({ prices });
    model.script([
      {
        tool_calls: [{ name: "shell_exec", arguments: { command: "echo hi", brief: "Say hi" } }],
        usage: usage(100_000, 20_000, 1_000),
      },
      { text: "It said hi.", usage: usage(101_000, 100_000, 500) },
      { text: "Bye.", usage: usage(900, 0, 10) },
    ]);
    const { context, page } = await chromium.open();
    await page.goto(`${url}/#/s/${id}`);
    await page.getByLabel("Message", { exact: true }).waitFor();
    await turn(id, "say hi");
    // 0.2 + 0.01 + 0.01, and 0.0025 + 0.05 + 0.005.
    await page.getByText("2 model calls · 202,500 tokens · $0.2775").waitFor();
    await turn(id, "bye");
    await page.getByText("1 model call · 910 tokens · $0.0024").waitFor();
    const all = [
      ["Model calls", "1", "3"],
      ["Tool calls", "0", "1"],
      ["Tokens in", "900", "201,900"],
      ["Tokens out", "10", "1,510"],
      ["From cache", "0", "120,000"],
      ["Cost", "$0.0024", "$0.2799"],
    ];
    await page.getByTitle("Files and usage").click();
    assert.deepEqual(await table(page), all);
    await page.reload();
    await page.getByTitle("Files and usage").click();
    assert.deepEqual(await table(page), all);
    await page.screenshot({ path: "test-results/cost.png" });
    await context.close();

    const zh = await chromium.open({ locale: "zh-CN", colorScheme: "dark" });
    await zh.page.goto(`${url}/#/s/${id}`);
    await zh.page.getByText("202,500 个 token · US$0.2775").waitFor();
    await zh.page.getByTitle("文件与用量").click();
    assert.deepEqual((await table(zh.page)).at(-1), ["费用", "US$0.0024", "US$0.2799"]);
    await zh.page.screenshot({ path: "test-results/cost-zh.png" });
    await zh.context.close();
  });

  it("is not made up where a model has no price", async () => {
    const id = await session({});
    model.script([{ text: "Hello.", usage: usage(1_000, 0, 10) }]);
    await turn(id, "hello");
    const { context, page } = await chromium.open();
    await page.goto(`${url}/#/s/${id}`);
    await page.getByText("1,010 tokens").waitFor();
    assert.doesNotMatch((await page.getByTestId("sum").textContent()) ?? "", /\$/);
    await page.getByTitle("Files and usage").click();
    assert.deepEqual(
      (await table(page)).map(([name]) => name),
      ["Model calls", "Tool calls", "Tokens in", "Tokens out", "From cache"],
    );
    await context.close();
  });

  it("has caused no error in the console", () => {
    assert.deepEqual(chromium.problems, []);
  });
});
