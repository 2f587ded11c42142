/** The list of sessions, and what can be done with one. Routes of other hands are played by the test. */
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import type { EventBody } from "../../../src/core/events.ts";
import { DEFAULTS } from "../../../src/core/settings.ts";
import { type Chromium, status, WITH_CHROMIUM } from "../../support/chromium.ts";
import { until } from "../../support/client-node.ts";
import {
  call,
  events,
  greeting,
  ID,
  now,
  prose,
  script,
  send,
  snapshot,
  user,
} from "../../support/scripted-session.ts";
import { bareStage } from "../../support/stage.ts";

interface Asked {
  method: string;
  path: string;
  body: unknown;
}
const RUN = events([
  user("u", "say hello"),
  now("running", "executing"),
  ...call(
    "c",
    { name: "shell", function: "shell_exec", args: { command: "echo hello" } },
    { output: "hello", exit_code: 0 },
  ),
  prose("a", "It said hello", "final"),
  { event: "done", data: { outcome: "completed", run: 1 } },
  now("completed", "completed"),
]);
const LAYERS = { own: {}, inherited: DEFAULTS };
const BUSY = events([user("u", "work"), now("running", "executing"), user("m", "and this too")]);

describe("sessions in the page", WITH_CHROMIUM, () => {
  let url: string;
  let chromium: Chromium;
  before(async () => {
    ({ url, chromium } = await bareStage());
  });

  async function open(log = RUN, session: Parameters<typeof snapshot>[0] = {}) {
    const opened = await chromium.open({ acceptDownloads: true });
    const { page } = opened;
    const asked: Asked[] = [];
    let last = log.length;
    let tell: (body: EventBody) => void = () => {};
    const over = { title: "Hello", last_seq: log.length, ...session };
    await script(page, {
      session: over,
      socket: (socket, after_) => {
        for (const frame of greeting(snapshot(over), after_, log)) send(socket, frame);
        tell = (body) => {
          last += 1;
          for (const event of events([body], last)) send(socket, event);
        };
      },
    });
    page.on("request", (request) => {
      const { pathname, search } = new URL(request.url());
      if (!pathname.startsWith("/api/")) return;
      let body: unknown = null;
      try {
        body = request.postDataJSON();
      } catch {
        body = request.postData();
      }
      asked.push({ method: request.method(), path: pathname + search, body });
    });
    await page.goto(`${url}/#/s/${ID}`);
    await page.getByTestId("status").waitFor();
    const choose = async (name: string) => {
      await page
        .locator(".head")
        .getByTitle(/Actions for/)
        .click();
      await page.getByRole("menuitem", { name }).click();
    };
    const wasAsked = (method: string, path: RegExp) =>
      until(`${method} ${path}`, () => asked.some((a) => a.method === method && path.test(a.path)));
    const find = (method: string, path: string) =>
      asked.find((a) => a.method === method && a.path === path);
    return { ...opened, asked, choose, wasAsked, find, tell: (body: EventBody) => tell(body) };
  }

  it("are renamed, pinned and searched", async () => {
    const { context, page, asked, choose, wasAsked, find } = await open();
    await choose("Rename");
    await page.getByLabel("Title").fill("Another name");
    await page.keyboard.press("Enter");
    await wasAsked("PATCH", /scripted$/);
    assert.deepEqual(find("PATCH", `/api/sessions/${ID}`)?.body, { title: "Another name" });
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByPlaceholder("Search sessions").fill("hel");
    await wasAsked("GET", /q=hel/);
    await choose("Pin to the top");
    const patched = () => asked.filter((a) => a.method === "PATCH").map((a) => a.body);
    await until("a second PATCH", () => patched().length === 2);
    assert.deepEqual(patched()[1], { pinned: true });
    await context.close();
  });

  it("leave the list at once when deleted, come back with Undo, and go for good after it", async () => {
    const { context, page, asked, choose, wasAsked } = await open();
    const row = page.getByTestId("session");
    await page.clock.install();
    await choose("Delete session");
    await row.waitFor({ state: "detached" });
    await page.getByText("What should be done?").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await row.waitFor();
    await page.clock.runFor(20_000);
    assert.ok(!asked.some((a) => a.method === "DELETE"));
    await row.hover();
    await row.getByTitle(/Actions for/).click();
    await page.getByRole("menuitem", { name: "Delete session" }).click();
    await row.waitFor({ state: "detached" });
    await page.clock.runFor(20_000);
    await wasAsked("DELETE", /scripted$/);
    await context.close();
  });

  it("are copied from any message, exported and imported", async () => {
    const { context, page, choose, wasAsked, find } = await open();
    await page.route("**/fork", (r) => r.fulfill({ status: 201, json: snapshot({ id: "copy" }) }));
    await page.route("**/export", (r) => r.fulfill({ body: '{"v":1}\n' }));
    await page.route("**/import", (r) =>
      r.fulfill({ status: 201, json: snapshot({ id: "brought" }) }),
    );
    await page.route(/\/api\/sessions\/(?:copy|brought)$/, (r) => r.fulfill({ json: snapshot() }));
    const downloading = page.waitForEvent("download");
    await choose("Export");
    assert.equal((await downloading).suggestedFilename(), "Hello.jsonl");
    await page.locator("[data-kind=final]").hover();
    await page.locator("[data-kind=final]").getByTitle("Go another way from here").click();
    await page.waitForURL("**/#/s/copy");
    assert.deepEqual(find("POST", `/api/sessions/${ID}/fork`)?.body, { after_seq: 6 });
    await page
      .getByTestId("import-file")
      .setInputFiles({ name: "x.jsonl", mimeType: "", buffer: Buffer.from('{"v":1}\n') });
    await page.waitForURL("**/#/s/brought");
    await wasAsked("POST", /import$/);
    await context.close();
  });

  it("are shared by a link, and a share plays what happened again", async () => {
    const { context, page, choose } = await open();
    const share = { share_id: "sh1", url: `${url}/shared/sh1`, upto_seq: RUN.length };
    await page.route("**/share", (r) =>
      r.request().method() === "DELETE"
        ? r.fulfill({ status: 204 })
        : r.fulfill({ status: 201, json: share }),
    );
    await choose("Share");
    await page.getByRole("button", { name: "Create a link" }).click();
    const link = await page.getByLabel("Link").inputValue();
    assert.equal(link, share.url);
    await page.getByRole("button", { name: "Stop sharing" }).click();
    await page.getByText("It is no longer shared").waitFor();

    await page.route("**/api/shared/sh1", (r) => r.fulfill({ json: snapshot({ title: "Hello" }) }));
    await page.route("**/api/shared/sh1/events*", (r) =>
      r.fulfill({ json: { events: RUN, last_seq: RUN.length, epoch: "e1" } }),
    );
    await page.goto(link);
    await page.getByText("It said hello").waitFor();
    assert.equal(await page.getByLabel("Message", { exact: true }).count(), 0);
    const position = page.getByLabel("Position");
    await position.fill("3");
    await status(page, "running");
    assert.equal(await page.getByText("It said hello").count(), 0);
    await page.getByTestId("tool-row").waitFor();
    await page.getByLabel("Speed").selectOption("16");
    await page.getByRole("button", { name: "Play" }).click();
    await page.getByText("It said hello").waitFor();
    await status(page, "completed");
    await page.screenshot({ path: "test-results/share.png" });
    await context.close();
  });

  it("have settings of their own, of which only what was changed is sent", async () => {
    const { context, page, choose, wasAsked, find } = await open();
    await page.route(`**/api/sessions/${ID}/settings`, (r) => r.fulfill({ json: LAYERS }));
    await choose("Session settings");
    await page.getByLabel("Instructions").fill("Be brief");
    await page.getByLabel("Tool calls").fill("20");
    await page.getByLabel("Commands in the sandbox").selectOption("ask");
    await page.getByRole("button", { name: "Save" }).click();
    await wasAsked("PATCH", /scripted$/);
    assert.deepEqual(find("PATCH", `/api/sessions/${ID}`)?.body, {
      settings: {
        instructions: "Be brief",
        budget: { maxToolCalls: 20 },
        tools: { approval: { "shell_*": "ask" } },
      },
    });
    await context.close();
  });

  it("show the owner's settings, whose headers can be written and never read", async () => {
    const { context, page, wasAsked, find } = await open();
    const mcp = {
      servers: { tracker: { url: "https://example.com/mcp", headers: { authorization: "***" } } },
    };
    await page.route("**/api/settings/own", (r) =>
      r.fulfill({ json: { ...LAYERS, own: { mcp } } }),
    );
    await page.getByRole("button", { name: "Settings", exact: true }).click();
    const value = page.getByLabel("Value");
    assert.equal(await value.inputValue(), "");
    assert.equal(await value.getAttribute("placeholder"), "kept, not shown");
    await page.getByLabel("Address").fill("https://example.com/v2");
    await page.route("**/api/settings", (r) => r.fulfill({ json: DEFAULTS }));
    await page.getByRole("button", { name: "Save" }).click();
    await wasAsked("PATCH", /settings$/);
    assert.deepEqual(find("PATCH", "/api/settings")?.body, {
      mcp: {
        servers: { tracker: { url: "https://example.com/v2", enabled: true, approval: "allow" } },
      },
    });
    await context.close();
  });

  it("let a message that was not read yet be changed and taken back", async () => {
    const { context, page, wasAsked, find, tell } = await open(BUSY, {
      status: "running",
      queue: [{ id: "c1", message_id: "m", text: "and this too", delivery: "steer" }],
    });
    await page.route("**/queue/m", (r) =>
      r.request().method() === "DELETE" ? r.fulfill({ status: 204 }) : r.fulfill({ json: {} }),
    );
    const queued = page.getByTestId("queued");
    await queued.getByText("Will be read before the next step.").waitFor();
    await queued.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("Edit the message").fill("and that");
    await page.keyboard.press("Enter");
    await wasAsked("PATCH", /queue\/m$/);
    assert.deepEqual(find("PATCH", `/api/sessions/${ID}/queue/m`)?.body, { text: "and that" });
    const of = { message_id: "m", client_id: "c1" };
    tell({ event: "queue", data: { op: "edited", ...of, text: "and that" } });
    await page.getByTestId("user").getByText("and that").waitFor();
    await queued.getByRole("button", { name: "Take back" }).click();
    await wasAsked("DELETE", /queue\/m$/);
    tell({ event: "queue", data: { op: "removed", ...of } });
    await page.getByText("taken back before it was read").waitFor();
    await context.close();
  });

  it("have had no error in the console", () => {
    assert.deepEqual(chromium.problems, []);
  });
});
