/** The typed client inside workerd, through the Worker's own fetch: runs, answers, stops, over evictions and crashes. */
import { abortAllDurableObjects } from "cloudflare:test";
import { exports } from "cloudflare:workers";
import { describe, expect } from "vitest";
import type { ApiError } from "../../src/client/index.ts";
import { createClient, openByFetch, type Talk, talk } from "../../src/client/index.ts";
import { Client, it, ORIGIN, until } from "./support/client.ts";
import { askUser, complete, plan, write } from "./support/replies.ts";
import type { Scripted } from "./support/upstream.ts";

const send = ((url: string, init?: RequestInit) =>
  exports.default.fetch(url, init)) as typeof fetch;
const options = { baseUrl: ORIGIN, fetch: send, open: openByFetch(send) };
const client = createClient(options);

async function talking(
  script: Scripted[],
  settings = {},
): Promise<{ c: Client; t: Talk; gone: ApiError[] }> {
  const c = await Client.create(script, { settings });
  const gone: ApiError[] = [];
  const onGone = (error: ApiError) => void gone.push(error);
  return { c, gone, t: talk({ ...options, session: await client.getSession(c.id), onGone }) };
}
const failed = (promise: Promise<unknown>): Promise<ApiError> =>
  promise.then(
    () => expect.fail("it should have been refused"),
    (error: unknown) => error as ApiError,
  );

describe("a run", () => {
  it("tells each event as it comes, and ends with the result", async () => {
    const { t } = await talking([plan("a"), write(), complete(true, "All done")]);
    const names: string[] = [];
    const result = await t.run("Do it", { onEvent: (e) => names.push(e.event) });
    expect(result).toMatchObject({ outcome: "completed", message: "All done", wait: null });
    expect(result.usage).toMatchObject({ model_calls: 3, tool_calls: 1 });
    expect(names[0]).toBe("message");
    expect(names.at(-1)).toBe("status_update");
    t.close();
  });

  it("pauses at a question, goes on with the answer, and a second run sees the same session", async () => {
    const { c, t } = await talking([
      plan("a"),
      askUser("Which?", ["red", "blue"]),
      write(),
      complete(true, "Blue it is"),
      plan(),
    ]);
    const asked = await t.run("Paint");
    expect(asked).toMatchObject({ outcome: "waiting", wait: { options: ["red", "blue"] } });
    const wait_id = asked.wait?.wait_id ?? "";
    expect(await failed(t.answer({ wait_id: "nothing", text: "blue" }))).toMatchObject({
      code: "wait_not_found",
    });
    expect(await t.answer({ wait_id, text: "blue" })).toMatchObject({
      outcome: "completed",
      message: "Blue it is",
    });
    expect(await t.run("And?")).toMatchObject({ outcome: "completed" });
    expect((await c.view()).run).toBe(2);
    t.close();
  });

  it("is stopped by its signal, and says so", async () => {
    const { c, t } = await talking([plan("a"), { hang: true }]);
    const abort = new AbortController();
    const run = t.run("Do it", { signal: abort.signal });
    await until(async () => expect(await c.log()).toContain("step(running)"));
    abort.abort();
    expect(await run).toMatchObject({ outcome: "stopped" });
    expect(await t.run("/usage")).toMatchObject({ outcome: "completed" });
    t.close();
  });

  it("whose signal was aborted before it began stops as well", async () => {
    const { t } = await talking([{ hang: true }]);
    expect(await t.run("Do it", { signal: AbortSignal.abort() })).toMatchObject({
      outcome: "stopped",
    });
    t.close();
  });

  it("survives the death of the session under it", async () => {
    const { c, t } = await talking([plan("a"), write(), complete(true, "Survived")]);
    let died = false;
    const run = t.run("Do it", {
      onEvent(e) {
        if (e.event !== "plan" || died) return;
        died = true;
        void abortAllDurableObjects();
      },
    });
    await until(async () => {
      await c.view();
      expect(died).toBe(true);
    });
    expect(await run).toMatchObject({ outcome: "completed", message: "Survived" });
    t.close();
  }, 30_000);

  it("is refused with the server's reason, and ends when the session is gone", async () => {
    const { c, t, gone } = await talking([{ hang: true }]);
    expect(await failed(t.run("  "))).toMatchObject({ code: "invalid_request" });
    const run = failed(t.run("Do it"));
    await c.status("running");
    expect(await failed(t.run({ text: "And", delivery: "reject" }))).toMatchObject({
      code: "busy",
    });
    await client.deleteSession(c.id);
    c.deleted = true;
    expect(await run).toMatchObject({ status: 404 });
    expect(gone.map((e) => e.status)).toEqual([404]);
    t.close();
    expect(await failed(t.run("more"))).toMatchObject({ code: "closed" });
  });
});

it("files go up and down", async () => {
  const { c, t } = await talking([plan()]);
  await client.uploadFile(c.id, "notes/a b.txt", "hello");
  expect((await client.listFiles(c.id)).map((f) => f.path)).toEqual(["/workspace/notes/a b.txt"]);
  expect(await (await client.readFile(c.id, "/workspace/notes/a b.txt")).text()).toBe("hello");
  await t.run({ text: "Look", attachments: ["notes/a b.txt"] });
  expect((await c.of("message"))[0]?.attachments[0]?.name).toBe("a b.txt");
  t.close();
});
