/** Files in the page over `wrangler dev`: in, looked at, out, and gone. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { unzipSync } from "fflate";
import type { Page } from "playwright-core";
import { type Chromium, say, status, WITH_CHROMIUM } from "../../support/chromium.ts";
import { practiceStage } from "../../support/stage.ts";

const CSV = 'region,units\nnorth,12\n"east, far",100\n';
const csv = (name: string, text = CSV) => ({
  name,
  mimeType: "text/csv",
  buffer: Buffer.from(text),
});

describe("files in the page", WITH_CHROMIUM, () => {
  let url: string;
  let chromium: Chromium;
  let dir: string;
  before(async () => {
    ({ url, chromium } = await practiceStage());
    dir = await mkdtemp(join(tmpdir(), "dormouse-"));
  });
  after(() => rm(dir, { recursive: true, force: true }));

  const uploads = (page: Page, state: string) =>
    page.locator(`[data-testid=upload][data-state=${state}]`);

  it("go in with the first message, under a name of their own, and the task finds them", async () => {
    const { context, page } = await chromium.open();
    await page.goto(url);
    await page.getByTestId("pick").setInputFiles([csv("a.csv"), csv("a.csv", "other\n1\n")]);
    await uploads(page, "done").nth(1).waitFor();
    assert.deepEqual(await uploads(page, "done").locator(".file-name").allTextContents(), [
      "a.csv",
      "a-2.csv",
    ]);
    assert.ok(await page.getByRole("button", { name: "Send" }).isDisabled());
    await say(page, "count `cat upload/a.csv upload/a-2.csv`");
    await status(page, "completed");
    const link = page.getByTestId("user").getByRole("link", { name: "a-2.csv" });
    assert.match((await link.textContent()) ?? "", /8 B/);
    await link.click();
    await page.getByTestId("preview").getByRole("cell", { name: "1" }).waitFor();
    await context.close();
  });

  it("are refused with words when they are too large, and the rest goes on", async () => {
    const { context, page } = await chromium.open();
    await page.goto(url);
    const [large, small] = [join(dir, "large.bin"), join(dir, "small.csv")];
    await writeFile(large, "");
    await truncate(large, 25 * 1024 * 1024 + 1);
    await writeFile(small, CSV);
    await page.getByTestId("pick").setInputFiles([large, small]);
    await uploads(page, "failed").getByText("Larger than 25 MiB").waitFor();
    await uploads(page, "done").waitFor();
    await page.getByRole("button", { name: "Remove large.bin" }).click();
    await page.getByRole("button", { name: "Remove small.csv" }).click();
    await page.getByTestId("upload").waitFor({ state: "detached" });
    await context.close();
  });

  it("can be dropped and pasted", async () => {
    const { context, page } = await chromium.open();
    await page.goto(url);
    const data = await page.evaluateHandle(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File(["dropped"], "dropped.txt", { type: "text/plain" }));
      return transfer;
    });
    await page.locator("#main").dispatchEvent("dragenter", { dataTransfer: data });
    await page.getByText("Drop files here").waitFor();
    await page.locator("#main").dispatchEvent("drop", { dataTransfer: data });
    await uploads(page, "done").getByText("dropped.txt", { exact: true }).waitFor();
    await page.getByLabel("Message", { exact: true }).evaluate((box) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File(["pasted"], "pasted.txt", { type: "text/plain" }));
      const paste = new ClipboardEvent("paste", { clipboardData: transfer, bubbles: true });
      box.dispatchEvent(paste);
    });
    await uploads(page, "done").getByText("pasted.txt", { exact: true }).waitFor();
    await context.close();
  });

  it("are listed, looked at, saved one by one and together, and deleted", async () => {
    const { context, page } = await chromium.open();
    await page.goto(url);
    await page.getByTestId("pick").setInputFiles([csv("t.csv")]);
    await uploads(page, "done").waitFor();
    await say(page, "make `printf '# Title\\n\\n**strong**\\n' > out.md && printf 'PK' > p.zip`");
    await status(page, "completed");
    await page.getByTitle("Files and usage").click();
    const file = (name: string) => page.getByTestId("file").filter({ hasText: name });
    await file("t.csv").getByRole("button").first().click();
    await page.getByRole("cell", { name: "east, far" }).waitFor();
    await page.getByTitle("Back to the files").click();
    await file("out.md").getByRole("button").first().click();
    await page.getByTestId("preview").locator("strong", { hasText: "strong" }).waitFor();
    await page.getByTitle("Back to the files").click();
    await file("p.zip").getByRole("button").first().click();
    await page.getByText("No preview for this type").waitFor();
    await page.getByTitle("Back to the files").click();

    const saving = page.waitForEvent("download");
    await file("t.csv").getByRole("link").click();
    assert.equal(await readFile(await (await saving).path(), "utf8"), CSV);
    const zipping = page.waitForEvent("download");
    await page.getByRole("button", { name: /Download all/ }).click();
    const zip = unzipSync(await readFile(await (await zipping).path()));
    assert.deepEqual(Object.keys(zip).sort(), ["out.md", "p.zip", "upload/t.csv"]);
    assert.equal(new TextDecoder().decode(zip["upload/t.csv"]), CSV);

    await page.screenshot({ path: "test-results/files.png" });
    await file("p.zip").getByTitle("Delete p.zip").click();
    await file("p.zip").getByRole("button", { name: "Really delete?" }).click();
    await file("p.zip").waitFor({ state: "detached" });
    assert.equal(await page.getByTestId("file").count(), 2);
    await context.close();
  });

  it("have caused no error in the console", () => {
    assert.deepEqual(chromium.problems, []);
  });
});
