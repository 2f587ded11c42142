/**
 * Waiting costs nothing: in the real runtime, a session that waits with a socket and a stream open is gone from
 * memory after its ten idle seconds, and comes back for its answer over the same socket.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { createTestHarness } from "wrangler";
import {
  call,
  complete,
  pause,
  plan,
  Remote,
  Scripts,
  until,
  write,
} from "../support/client-node.ts";
import { type MockModel, startMockModel } from "../support/mock-model.ts";

/** The runtime lets an idle object with hibernatable sockets go after ten seconds; to look would wake it. */
const IDLE_MS = 15_000;
const root = fileURLToPath(new URL("../../", import.meta.url));
let mock: MockModel;
let scripts: Scripts;
let server: ReturnType<typeof createTestHarness>;
let url: string;

before(async () => {
  mock = await startMockModel();
  scripts = new Scripts(mock);
  const vars = { PROVIDER: "custom", CUSTOM_BASE_URL: mock.url };
  server = createTestHarness({ root, workers: [{ configPath: "./wrangler.toml", vars }] });
  url = (await server.listen()).url.origin;
});
after(async () => {
  await server?.close();
  await mock?.close();
});

void test("a session that waits with its socket open sleeps, and wakes for the answer", async () => {
  const question = call("message_ask_user", { text: "Which?" });
  scripts.set("sleep", plan("a"), question, write("a.txt"), complete());
  const session = await Remote.create(url, "sleep");
  const wire = await session.connect();
  const leaving = new AbortController();
  const stream = await fetch(`${session.at}/events`, {
    headers: { accept: "text/event-stream" },
    signal: leaving.signal,
  });
  assert.equal(stream.status, 200);
  wire.send({ type: "message", id: "m1", text: "Do it" });
  const asked = await wire.event("wait");
  await pause(IDLE_MS);
  wire.send({ type: "ping" });
  await wire.has("pong", (f) => f.type === "pong");
  const evicting = server.getWorker().evictDurableObject("SESSION", { name: session.id });
  await assert.rejects(evicting, /not currently running/);
  const { wait_id } = asked.data as { wait_id: string };
  wire.send({ type: "answer", id: "a1", wait_id, text: "red" });
  await wire.event("done");
  wire.whole(0);
  await until("the last event", () => wire.events.at(-1)?.event === "status_update");
  wire.close();
  leaving.abort();
  await session.check();
  assert.deepEqual(mock.violations, []);
});
