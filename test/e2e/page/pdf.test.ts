/** A PDF is looked at in place; what only calls itself one is not, and the page's policy lets nothing else in. */
import assert from "node:assert/strict";
import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { Page } from "playwright-core";
import { type Chromium, say, status, WITH_WHOLE_CHROMIUM } from "../../support/chromium.ts";
import { until } from "../../support/client-node.ts";
import { viewerStage } from "../../support/stage.ts";

const HTML = "<!doctype html><h1>In a frame</h1><script>parent.document.title = 'taken'</script>";
const file = (name: string, content: string | Buffer) => ({
  name,
  mimeType: "application/pdf",
  buffer: Buffer.from(content),
});

/** One page, red all over. */
function redPdf(): string {
  const paint = "1 0 0 rg 0 0 300 300 re f";
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents 4 0 R >>",
    `<< /Length ${paint.length} >>\nstream\n${paint}\nendstream`,
  ];
  let text = "%PDF-1.4\n";
  const at: string[] = [];
  for (const [i, object] of objects.entries()) {
    at.push(`${String(text.length).padStart(10, "0")} 00000 n \n`);
    text += `${i + 1} 0 obj\n${object}\nendobj\n`;
  }
  const size = objects.length + 1;
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${at.join("")}`;
  return `${text}${table}trailer << /Size ${size} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF`;
}

/** What is painted in the middle of the frame, as red, green, blue. */
async function middle(page: Page): Promise<number[]> {
  const png = await page.locator("iframe").screenshot();
  return page.evaluate(async (base64) => {
    const image = new Image();
    image.src = `data:image/png;base64,${base64}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.width;
    canvas.height = image.height;
    const at = canvas.getContext("2d");
    at?.drawImage(image, 0, 0);
    return [...(at?.getImageData(image.width / 2, image.height / 2, 1, 1).data ?? [])].slice(0, 3);
  }, png.toString("base64"));
}

describe("a PDF in the page", WITH_WHOLE_CHROMIUM, () => {
  let url: string;
  let chromium: Chromium;
  let dir: string;
  before(async () => {
    ({ url, chromium } = await viewerStage());
    dir = await mkdtemp(join(tmpdir(), "dormouse-"));
  });
  after(() => rm(dir, { recursive: true, force: true }));

  /** A session with these files, their list beside it. */
  async function withFiles(files: ReturnType<typeof file>[] | string[]) {
    const opened = await chromium.open();
    const { page } = opened;
    await page.addInitScript(() => {
      const made = new Set<string>();
      const { createObjectURL, revokeObjectURL } = URL;
      URL.createObjectURL = (of) => {
        const address = createObjectURL.call(URL, of);
        made.add(address);
        return address;
      };
      URL.revokeObjectURL = (address) => {
        made.delete(address);
        revokeObjectURL.call(URL, address);
      };
      Object.assign(globalThis, { held: () => made.size });
    });
    await page.goto(url);
    await page.getByTestId("pick").setInputFiles(files);
    await page
      .locator("[data-testid=upload][data-state=done]")
      .nth(files.length - 1)
      .waitFor();
    await say(page, "look `ls upload`");
    await status(page, "completed");
    return opened;
  }
  const look = (page: Page, name: string) =>
    page.getByTestId("user").getByRole("link", { name }).click();
  const held = (page: Page) =>
    page.evaluate(() => (globalThis as unknown as { held(): number }).held());

  it("is shown by the browser's own viewer, and let go of when it closes", async () => {
    const { context, page } = await withFiles([file("red.pdf", redPdf())]);
    await look(page, "red.pdf");
    await page.getByTitle("red.pdf, as PDF").waitFor();
    await until("the page is red", async () => {
      const [red = 0, green = 255, blue = 255] = await middle(page);
      return red > 240 && green < 20 && blue < 20;
    });
    assert.equal(await held(page), 1);
    await page.screenshot({ path: "test-results/pdf.png" });
    await page.locator(".detail").getByTitle("Close").click();
    await page.locator("iframe").waitFor({ state: "detached" });
    assert.equal(await held(page), 0);
    await context.close();
  });

  it("is not what only bears its name: neither HTML nor HTML behind its first letters runs", async () => {
    const { context, page } = await withFiles([
      file("page.pdf", HTML),
      file("mixed.pdf", `%PDF-1.4\n${HTML}`),
    ]);
    await look(page, "page.pdf");
    await page.getByText("This is no PDF, whatever its name says.").waitFor();
    assert.equal(await page.locator("iframe").count(), 0);
    await look(page, "mixed.pdf");
    // The viewer has it, as a PDF that it cannot read.
    await until("the viewer is there", async () =>
      page.frames().some((frame) => frame.url().startsWith("chrome-extension:")),
    );
    const texts = await Promise.all(
      page.frames().map((frame) => frame.getByText("In a frame").count()),
    );
    assert.deepEqual(new Set(texts), new Set([0]));
    assert.doesNotMatch(await page.title(), /taken/);
    await context.close();
  });

  it("is only saved when it is too large, or where there is no viewer", async () => {
    const large = join(dir, "large.pdf");
    await writeFile(large, "%PDF-1.4\n");
    await truncate(large, 20 * 1024 * 1024 + 1);
    const { context, page } = await withFiles([large]);
    await look(page, "large.pdf");
    await page.getByText("Larger than 20 MiB").waitFor();
    await page.getByTestId("preview").getByRole("link", { name: "Download" }).waitFor();
    await context.close();
    const other = await withFiles([file("red.pdf", redPdf())]);
    await other.page.evaluate(() =>
      Object.defineProperty(navigator, "pdfViewerEnabled", { value: false }),
    );
    await look(other.page, "red.pdf");
    await other.page.getByText("This browser does not show PDF inside a page.").waitFor();
    await other.page.getByTestId("preview").getByRole("link", { name: "Download" }).waitFor();
    assert.equal(await other.page.locator("iframe").count(), 0);
    await other.context.close();
  });

  it("has opened the policy for nothing else: no other frame, and no script in such a frame", async () => {
    // Not watched: what it is refused is what is looked for.
    const page = await (await chromium.open()).context.newPage();
    await page.goto(url);
    const refused: string[] = [];
    await page.exposeFunction("heard", (directive: string) => refused.push(directive));
    await page.evaluate(async (html) => {
      const { heard } = globalThis as unknown as { heard(directive: string): void };
      addEventListener("securitypolicyviolation", (e) => heard(e.effectiveDirective));
      const frame = (src: string) => {
        const element = document.createElement("iframe");
        const over = new Promise((resolve) => element.addEventListener("load", resolve));
        element.src = src;
        document.body.append(element);
        return over;
      };
      await Promise.all(
        ["/", "/api/health", "https://example.invalid/", `data:text/html,${html}`].map(frame),
      );
      const script = "<script>parent.document.title = 'taken'</script>";
      await frame(URL.createObjectURL(new Blob([script], { type: "text/html" })));
      const object = document.createElement("object");
      object.type = "application/pdf";
      object.data = URL.createObjectURL(new Blob(["%PDF-1.4"], { type: "application/pdf" }));
      document.body.append(object);
    }, HTML);
    await until("five things are refused", async () => refused.length >= 5);
    assert.deepEqual(refused, [...Array(4).fill("frame-src"), "object-src"]);
    assert.doesNotMatch(await page.title(), /taken/);
    await page.context().close();
  });

  it("has caused no error in the console", () => {
    assert.deepEqual(chromium.problems, []);
  });
});
