/**
 * `npm run screenshot`: the pictures of the page in the README, light and dark, taken in Chromium. A server must run
 * with the practice model (`npm start`).
 *
 *   --url URL   where it runs, default http://localhost:8787
 *   --out DIR   where the pictures go, default docs
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Page } from "playwright-core";
import { launchChromium, status, watchedChromium } from "../test/support/chromium.ts";

const DOCS = fileURLToPath(new URL("../docs", import.meta.url));
const { values } = parseArgs({
  options: {
    url: { type: "string", default: "http://localhost:8787" },
    out: { type: "string", default: DOCS },
  },
});
const { url, out } = values;
const VIEW = { width: 1280, height: 800 };
const QUALITY = 0.82;
const TASK = [
  "Write down the numbers `printf '%s\\n' 30 4 21 > numbers.txt`",
  "Sort them `sort -n numbers.txt | tee sorted.txt`",
  "How do you want them (as a list/as a table/as a chart)?",
].join("\n");

/** Chromium writes PNG and JPEG; its canvas writes WebP, a third of the size. */
async function webp(page: Page, png: Buffer): Promise<Buffer> {
  const data = await page.evaluate(
    async ({ source, quality }) => {
      const bytes = Uint8Array.from(atob(source), (c) => c.charCodeAt(0));
      const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
      const canvas = new OffscreenCanvas(image.width, image.height);
      canvas.getContext("2d")?.drawImage(image, 0, 0);
      const blob = await canvas.convertToBlob({ type: "image/webp", quality });
      const made = new Uint8Array(await blob.arrayBuffer());
      return btoa(Array.from(made, (byte) => String.fromCharCode(byte)).join(""));
    },
    { source: png.toString("base64"), quality: QUALITY },
  );
  return Buffer.from(data, "base64");
}

const browser = await launchChromium();
const chromium = watchedChromium(browser, () => url);
try {
  const made = await fetch(`${url}/api/sessions`, {
    method: "POST",
    body: '{"title":"Three numbers"}',
  });
  const { id } = (await made.json()) as { id: string };
  const body = JSON.stringify({ text: TASK });
  await fetch(`${url}/api/sessions/${id}/messages`, {
    ...{ method: "POST", body },
    headers: { prefer: "wait=60" },
  });
  for (const colorScheme of ["light", "dark"] as const) {
    const { context, page } = await chromium.open({
      viewport: VIEW,
      deviceScaleFactor: 1.5,
      colorScheme,
    });
    await page.goto(`${url}/#/s/${id}`);
    await status(page, "waiting");
    await page.getByRole("button", { name: "as a table" }).first().waitFor();
    const file = `page-${colorScheme}.webp`;
    const bytes = await webp(page, await page.screenshot());
    await writeFile(join(out, file), bytes);
    console.log(`${file}: ${Math.round(bytes.length / 1024)} KiB`);
    await context.close();
  }
} finally {
  await browser.close();
}
