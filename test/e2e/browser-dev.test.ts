/**
 * The browser tools in the real runtime: Worker, object and adapter in workerd, over the browser binding of
 * `wrangler dev` and Chromium, driven by a scripted model.
 */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { CHROMIUM, WITH_CHROMIUM } from "../support/chromium-program.ts";
import { call, complete, plan, Remote, Scripts, until } from "../support/client-node.ts";
import { type DevBrowser, devBrowser, isAlive } from "../support/dev-browser.ts";
import { type DevServer, startDev } from "../support/dev-server.ts";
import { type MockModel, startMockModel } from "../support/mock-model.ts";
import { Site } from "../support/site.ts";

describe("the browser tools in wrangler dev", WITH_CHROMIUM, () => {
  const site = new Site();
  let dir: string;
  let browser: DevBrowser;
  let mock: MockModel;
  let scripts: Scripts;
  let dev: DevServer;

  const start = () =>
    startDev({
      persistTo: join(dir, "state"),
      vars: { PROVIDER: "custom", CUSTOM_BASE_URL: mock.url, FETCH_ALLOW_PRIVATE: site.host },
      ...browser,
    });
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "dormouse-"));
    [browser, mock] = await Promise.all([devBrowser(dir, CHROMIUM ?? ""), startMockModel()]);
    await site.start();
    scripts = new Scripts(mock);
    dev = await start();
  });
  after(async () => {
    await dev?.stop();
    for (const pid of await browser.pids()) if (isAlive(pid)) process.kill(-pid, "SIGKILL");
    await Promise.all([mock?.close(), site.stop()]);
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  });

  const go = (path: string) => call("browser_navigate", { url: site.url(path) });
  const allClosed = () =>
    until("no browser runs", async () => !(await browser.pids()).some(isAlive));
  /** What the tools told the model, in order. */
  const results = (model: string): string[] => {
    const messages = scripts.asked(model).at(-1)?.body.messages ?? [];
    return messages.filter((m) => m.role === "tool").map((m) => String(m.content));
  };

  it("browses, shows a picture, is closed when it asks, and again at the end", async () => {
    const question = call("message_ask_user", { text: "Go on?" });
    const click = call("browser_click", { index: 1 });
    scripts.set(
      "browse",
      plan("look"),
      go("/"),
      click,
      question,
      call("browser_view", {}),
      go("/second"),
      complete(),
    );
    const session = await Remote.create(dev.url, "browse");
    await session.say("Look at it");
    await session.status("waiting", 90_000);
    await allClosed();
    const { wait } = await session.view();
    await session.post("/answers", { wait_id: wait?.wait_id, text: "yes" });
    await session.status("completed", 90_000);
    await allClosed();
    assert.equal((await browser.pids()).length, 2);
    const [home, second, , view, again] = results("browse");
    assert.match(home ?? "", /Title: Home 汉字 🚀/);
    assert.match(second ?? "", /Title: Second/);
    assert.equal(view, "No page is open. Open one with browser_navigate.");
    assert.match(again ?? "", /Title: Second/);
    const called = (await session.of("tool")).filter((e) => e.status === "called");
    const shown = called[1]?.content as { url: string; title: string; screenshot: string };
    assert.deepEqual([shown.url, shown.title], [site.url("/second?x=1"), "Second"]);
    const picture = await fetch(`${dev.url}${shown.screenshot}?inline`);
    assert.equal(picture.headers.get("content-type"), "image/jpeg");
    assert.match(picture.headers.get("content-disposition") ?? "", /^inline/);
    await session.check();
    assert.deepEqual(mock.violations, []);
  });

  it("is replaced, and the model told, after a crash of everything", async () => {
    scripts.set("crash", plan("look"), go("/second"));
    const session = await Remote.create(dev.url, "crash");
    await session.say("Look at it");
    await until("the page was seen", () => results("crash").length === 1, 90_000);
    await dev.stop("SIGKILL");
    for (const pid of await browser.pids()) if (isAlive(pid)) process.kill(-pid, "SIGKILL");
    scripts.set("crash", call("browser_view", {}), complete());
    dev = await start();
    session.url = dev.url;
    await session.status("completed", 90_000);
    assert.match(results("crash").at(-1) ?? "", /has ended, and with it its pages/);
    await allClosed();
    await session.check();
  });

  it("is closed when its user stops it in the middle of a call", async () => {
    scripts.set("stop", plan("look"), go("/never"));
    const session = await Remote.create(dev.url, "stop");
    await session.say("Look at it");
    await until("it is asked", () => site.asked.includes("/never"), 90_000);
    await session.post("/stop", {});
    await session.status("stopped");
    await allClosed();
    await session.check();
  });

  it("is closed when the session is deleted under it", async () => {
    scripts.set("delete", plan("look"), go("/second"));
    const session = await Remote.create(dev.url, "delete");
    await session.say("Look at it");
    await until("the page was seen", () => results("delete").length === 1, 90_000);
    assert.equal((await browser.pids()).some(isAlive), true);
    assert.equal((await fetch(session.at, { method: "DELETE" })).status, 204);
    await allClosed();
  });
});
