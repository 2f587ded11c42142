/** The page over sockets that break: nothing is missing, nothing twice, and what is not so is said. */
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import type { Page, WebSocketRoute } from "playwright-core";
import { type Chromium, say, status, WITH_CHROMIUM } from "../../support/chromium.ts";
import { until } from "../../support/client-node.ts";
import {
  call,
  events,
  greeting,
  ID,
  live,
  now,
  prose,
  script,
  send,
  snapshot,
  user,
  waits,
} from "../../support/scripted-session.ts";
import { bareStage } from "../../support/stage.ts";

const TEXT = "one two three four five six seven eight nine ten";
const WORDS = TEXT.split(/(?<= )/);

describe("the page over a socket that breaks", WITH_CHROMIUM, () => {
  let url: string;
  let chromium: Chromium;
  before(async () => {
    ({ url, chromium } = await bareStage());
  });

  type Connect = (socket: WebSocketRoute, after: number, times: number) => void;
  async function open(connect: Connect) {
    const opened = await chromium.open();
    let times = 0;
    await script(opened.page, { socket: (socket, after_) => connect(socket, after_, ++times) });
    await opened.page.goto(`${url}/#/s/${ID}`);
    return opened;
  }
  const shown = (page: Page, text: string) => page.getByText(text, { exact: true });
  /** As a browser does when its network is back, until the page has connected so often. */
  const back = (page: Page, connections: () => number, wanted: number) =>
    until(`connection ${wanted}`, async () => {
      await page.evaluate(() => dispatchEvent(new Event("online")));
      return connections() >= wanted;
    });
  /** Connected again, and nothing said yet: until then the page is offline. */
  const gate = () => {
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    return { opened, open: () => open() };
  };
  const hello = (socket: WebSocketRoute, after_: number, log = events([])) => {
    for (const frame of greeting(snapshot({ last_seq: log.length }), after_, log))
      send(socket, frame);
  };

  const begun = events([user("u", "go"), now("running", "answering")]);
  const ended = [
    ...begun,
    ...events(
      [
        prose("a", TEXT, "answer"),
        { event: "done", data: { outcome: "completed", run: 1 } },
        now("completed", "completed"),
      ],
      3,
    ),
  ];

  it("A07: a text that streamed half before the socket fell is there once, whole", async () => {
    const cursors: number[] = [];
    let held: WebSocketRoute | undefined;
    const { context, page } = await open((socket, after_, times) => {
      cursors.push(after_);
      held = socket;
      if (times === 1) {
        hello(socket, after_, begun);
        for (const text of WORDS.slice(0, 5))
          send(socket, live("message_delta", { message_id: "a", text }));
        return;
      }
      hello(socket, after_, begun);
      // Who joins in the middle gets all text so far; and once more, as a doubled resume would bring it.
      send(socket, live("message_delta", { message_id: "a", text: WORDS.slice(0, 8).join("") }));
      for (const text of WORDS.slice(8))
        send(socket, live("message_delta", { message_id: "a", text }));
      if (times < 3) return;
      for (const frame of ended.slice(2)) send(socket, frame);
      for (const frame of ended) send(socket, frame);
    });
    await shown(page, "one two three four five").waitFor();
    for (const wanted of [2, 3]) {
      await held?.close();
      await back(page, () => cursors.length, wanted);
      await shown(page, TEXT).waitFor();
      assert.equal(await shown(page, TEXT).count(), 1);
    }
    await status(page, "completed");
    assert.equal(await page.getByText("one two").count(), 1);
    assert.deepEqual(cursors, [0, 2, 2]);
    await context.close();
  });

  it("A06: a hole in what arrives is fetched again, so that a question is never missed", async () => {
    const log = events([
      user("u", "go"),
      now("running", "planning"),
      prose("q", "Which colour?", "question"),
      { event: "wait", data: waits({ text: "Which colour?" }) },
      now("waiting", "waiting"),
    ]);
    const cursors: number[] = [];
    const again = gate();
    const { context, page } = await open((socket, after_, times) => {
      cursors.push(after_);
      if (times > 1) return void again.opened.then(() => hello(socket, after_, log));
      hello(socket, after_, log.slice(0, 2));
      send(socket, log[4] as (typeof log)[number]);
    });
    await page.getByText("No connection").waitFor();
    await back(page, () => cursors.length, 2);
    again.open();
    await page.getByTestId("question").getByText("Which colour?").waitFor();
    assert.deepEqual(cursors, [0, 2]);
    assert.equal(await page.getByTestId("question").count(), 1);
    await context.close();
  });

  it("says that it is offline, keeps what is written meanwhile, and sends it once when it is back", async () => {
    const got: { id: string; text: string }[] = [];
    const again = gate();
    let connections = 0;
    const { context, page } = await open((socket, after_, times) => {
      connections = times;
      if (times === 1) hello(socket, after_);
      else void again.opened.then(() => hello(socket, after_));
      socket.onMessage((text) => {
        const frame = JSON.parse(String(text)) as { type: string; id: string; text: string };
        if (frame.type !== "message") return;
        got.push(frame);
        // The first time the answer is lost on the way.
        if (times === 1) return void socket.close();
        send(socket, { type: "ack", id: frame.id, seq: 1, duplicate: false });
        const message = user("m", frame.text);
        Object.assign(message.data, { client_id: frame.id });
        for (const event of events([message])) send(socket, event);
      });
    });
    await status(page, "idle");
    await say(page, "written in a tunnel");
    await page.getByTestId("offline").waitFor();
    await page.getByText("sending …").waitFor();
    await back(page, () => connections, 2);
    again.open();
    await page.getByTestId("user").getByText("written in a tunnel").waitFor();
    assert.equal(await page.getByText("written in a tunnel").count(), 1);
    assert.equal(got.length, 2);
    assert.equal(got[0]?.id, got[1]?.id);
    await context.close();
  });

  it("says at once that the network is gone, and comes back with it", async () => {
    const again = gate();
    let connections = 0;
    const { context, page } = await open((socket, after_, times) => {
      connections = times;
      if (times === 1) hello(socket, after_);
      else void again.opened.then(() => hello(socket, after_));
    });
    await status(page, "idle");
    // The socket itself stays open: it would not say anything for half a minute.
    await context.setOffline(true);
    await page.getByTestId("offline").waitFor();
    await context.setOffline(false);
    await back(page, () => connections, 2);
    again.open();
    await page.getByTestId("offline").waitFor({ state: "detached" });
    await context.close();
  });

  it("shows the new history, and says so, when the server begins the log anew", async () => {
    let held: WebSocketRoute | undefined;
    let connections = 0;
    const { context, page } = await open((socket, after_, times) => {
      connections = times;
      held = socket;
      if (times === 1) return hello(socket, after_, events([user("u", "the old one")]));
      const session = snapshot({ epoch: "e2", last_seq: 1 });
      send(socket, { type: "reset", epoch: "e2", last_seq: 1, session });
      for (const event of events([user("v", "the new one")])) send(socket, event);
    });
    await page.getByText("the old one").waitFor();
    await held?.close();
    await back(page, () => connections, 2);
    await page.getByText("the new one").waitFor();
    await page.getByText("The history was built anew").waitFor();
    assert.equal(await page.getByText("the old one").count(), 0);
    await context.close();
  });

  it("does not move what is read while new things arrive, and counts them", async () => {
    const old = Array.from({ length: 30 }, (_, i) => prose(`p${i}`, `note ${i}`, "notice"));
    const log = events([user("u", "go"), now("running", "executing"), ...old]);
    let held: WebSocketRoute | undefined;
    const { context, page } = await open((socket, after_) => {
      held = socket;
      hello(socket, after_, log);
    });
    await page.getByText("note 29").waitFor();
    const timeline = page.locator(".timeline");
    await timeline.hover();
    await page.mouse.wheel(0, -500);
    await page.getByRole("button", { name: "Jump to live" }).waitFor();
    const place = () => page.getByText("note 15").boundingBox();
    const seen = await place();
    const more = events(
      Array.from({ length: 3 }, (_, i) => prose(`n${i}`, `new ${i}`, "notice")),
      log.length + 1,
    );
    for (const event of more) send(held as WebSocketRoute, event);
    const pill = page.getByRole("button", { name: /Jump to live.*3 new/ });
    await pill.waitFor();
    assert.deepEqual(await place(), seen);
    await pill.click();
    await page.getByText("new 2").waitFor();
    await pill.waitFor({ state: "detached" });
    await context.close();
  });

  /** A hundred turns, whose answers are of different lengths. */
  const longLog = (answer: (i: number) => string) =>
    events(
      Array.from({ length: 100 }, (_, i) => [
        user(`u${i}`, `question ${i}`),
        now("running", "answering"),
        ...call(
          `c${i}`,
          { name: "shell", function: "shell_exec", args: { command: `echo ${i}` } },
          { output: `${i}`, exit_code: 0 },
        ),
        prose(`a${i}`, answer(i), "answer"),
        { event: "done", data: { outcome: "completed", run: i + 1 } } as const,
        now("completed", "completed"),
      ]).flat(),
    );

  it("moves what is read by as much as is scrolled, up through what was never drawn and down again", async () => {
    const log = longLog((i) => `answer ${i}${"\n\nmore of it".repeat(i % 7)}`);
    const { context, page } = await open((socket, after_) => hello(socket, after_, log));
    await shown(page, "answer 99").waitFor();
    const scroll = (by: number) =>
      page.locator(".timeline").evaluate(async (box, by_) => {
        // Not every browser puts such a thing right by itself.
        (box as HTMLElement).style.overflowAnchor = "none";
        const frames = () =>
          new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
        const wrong: number[] = [];
        for (let i = 0; i < 40; i++) {
          const { left, top, width, height } = box.getBoundingClientRect();
          const middle = document.elementFromPoint(left + width / 2, top + height / 2);
          const read = middle?.closest(".group > *") ?? null;
          const before = read?.getBoundingClientRect().top ?? 0;
          box.scrollTop += by_;
          await frames();
          const moved = before - (read?.getBoundingClientRect().top ?? before - by_);
          if (Math.abs(moved - by_) > 1) wrong.push(moved);
        }
        return wrong;
      }, by);
    const drawn = await page.locator(".group > *").count();
    assert.deepEqual(await scroll(-250), []);
    assert.ok((await page.locator(".group > *").count()) > drawn);
    assert.deepEqual(await scroll(200), []);
    await context.close();
  });

  it("carries a reader at the bottom along, with no more below them than before", async () => {
    let held: WebSocketRoute | undefined;
    const { context, page } = await open((socket, after_) => {
      held = socket;
      hello(socket, after_);
    });
    await page.getByLabel("Message", { exact: true }).waitFor();
    await until("it is connected", async () => held !== undefined);
    const log = longLog((i) => `answer ${i}${"\n\nmore of it".repeat(i % 7)}`);
    for (const event of log) send(held as WebSocketRoute, event);
    await shown(page, "answer 99").waitFor();
    assert.ok((await page.locator(".group > *").count()) < 120);
    assert.equal(await page.getByRole("button", { name: "Jump to live" }).count(), 0);
    await context.close();
  });

  it("draws a long history from its end, and what came before when somebody goes there", async () => {
    const log = longLog((i) => `answer ${i}`);
    const { context, page } = await open((socket, after_) => hello(socket, after_, log));
    await shown(page, "answer 99").waitFor();
    assert.ok((await page.locator(".group > *").count()) < 120);
    const earlier = page.getByRole("button", { name: /earlier/ });
    for (let i = 0; i < 60 && (await earlier.count()) > 0; i++) {
      await earlier.click().catch(() => undefined);
    }
    await shown(page, "question 0").waitFor();
    await page.getByRole("button", { name: "Jump to live" }).click();
    await until(
      "the window is small again",
      async () => (await page.locator(".group > *").count()) < 120,
    );
    await context.close();
  });

  it("shows a changed plan as one line that opens to what was and what is", async () => {
    const step = (id: string, description: string) =>
      ({ id, description, status: "pending" }) as const;
    const log = events([
      user("u", "go"),
      now("running", "planning"),
      { event: "plan", data: { op: "created", steps: [step("1", "walk"), step("2", "rest")] } },
      { event: "plan", data: { op: "updated", steps: [step("1", "walk"), step("3", "run")] } },
    ]);
    const { context, page } = await open((socket, after_) => hello(socket, after_, log));
    const changed = page.locator(".replan");
    await changed.getByText("Plan changed").click();
    await changed.getByText("rest").waitFor();
    await changed.getByText("run").waitFor();
    await page.getByTestId("plan").getByText("0 / 2").waitFor();
    await context.close();
  });

  it("has had no error in its console", () => {
    assert.deepEqual(chromium.problems, []);
  });
});
