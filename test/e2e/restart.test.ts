/**
 * The whole server dies: SIGKILL of `wrangler dev` with six sessions at six different points, a start on what was
 * durable, and nobody connected. Then SIGTERM.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  call,
  complete,
  HANG,
  pause,
  plan,
  Remote,
  type Scripts,
  until,
  write,
} from "../support/client-node.ts";
import { ScriptedDev } from "../support/scripted-dev.ts";

let dev: ScriptedDev;
let scripts: Scripts;
let asks: Remote;
let calling: Remote;
let running: Remote;
let planning: Remote;
let resting: Remote;
let delegating: Remote;

const tester = {
  provider: "custom",
  model: "tester",
  tools: { approval: { file_write: "ask" } },
};
const ASK = call("message_ask_user", { text: "Which colour?", options: ["red", "blue"] });

/** Each session is brought to its point: waiting, in a model call, in a command, in the planner, asleep, its specialist waiting. */
async function prepare(): Promise<void> {
  scripts.set("asks", plan("a"), ASK);
  scripts.set("calling", plan("a"), HANG);
  const command = "echo paid >> ledger.txt; sleep 60";
  scripts.set("running", plan("a"), call("shell_exec", { command, brief: "pay" }));
  scripts.set("planning", HANG);
  scripts.set("resting", { status: 429, headers: { "retry-after": "20" } });
  const task = { profile: "tester", task: "Test it", brief: "tests" };
  scripts.set("delegating", plan("a"), call("delegate_task", task));
  scripts.set("tester", write("made.txt"));
  asks = await Remote.create(dev.url, "asks");
  calling = await Remote.create(dev.url, "calling");
  running = await Remote.create(dev.url, "running");
  planning = await Remote.create(dev.url, "planning");
  resting = await Remote.create(dev.url, "resting");
  delegating = await Remote.create(dev.url, "delegating");
  for (const session of [asks, calling, running, planning, resting, delegating])
    await session.say("Do it");
  await asks.status("waiting");
  await delegating.status("waiting");
  await until("the model call", () => scripts.asked("calling").length === 2);
  await until("the planner's call", () => scripts.asked("planning").length === 1);
  await until("the sleep", async () => (await resting.of("notice")).length === 1);
  // What can be read is durable.
  await until("the command", async () => (await fetch(`${running.at}/files/ledger.txt`)).ok);
}

before(async () => {
  dev = await ScriptedDev.start({ vars: { PROFILES: JSON.stringify({ tester }) } });
  scripts = dev.scripts;
  await prepare();
  await dev.stop("SIGKILL");
  scripts.set("calling", write("a.txt"), complete());
  scripts.set("running", write("a.txt"), complete());
  scripts.set("planning", plan("a"), write("a.txt"), complete());
  scripts.set("resting", plan("a"), write("a.txt"), complete());
  scripts.set("delegating", complete());
  scripts.set("tester", call("agent_response", { text: "Tested." }));
  await dev.again(asks, calling, running, planning, resting, delegating);
});
after(() => dev?.close());

void test("a question is shown to late clients, answered byte for byte, and goes on once", async () => {
  const [bare, zero] = [await asks.connect(), await asks.connect("?after=0")];
  for (const wire of [bare, zero]) {
    const hello = await wire.has("hello", (f) => f.type === "hello");
    const { status, wait } = hello.session as { status: string; wait: Record<string, unknown> };
    assert.equal(status, "waiting");
    assert.equal(wait.text, "Which colour?");
    assert.deepEqual(wait.options, ["red", "blue"]);
    const asked = await wire.event("wait");
    assert.equal((asked.data as { wait_id: string }).wait_id, wait.wait_id);
  }
  const wait_id = (await asks.view()).wait?.wait_id;
  const words = '  "blau"\n\tñ🚀 ';
  scripts.set("asks", write("a.txt"), complete());
  zero.send({ type: "answer", id: "z1", wait_id, text: words });
  bare.send({ type: "answer", id: "b1", wait_id, text: "red" });
  await zero.has("an answer to z1", (f) => f.id === "z1");
  await bare.has("an answer to b1", (f) => f.id === "b1");
  await Promise.all([bare.event("done"), zero.event("done")]);
  const kinds = [zero.frames.find((f) => f.id === "z1"), bare.frames.find((f) => f.id === "b1")];
  assert.deepEqual(kinds.map((f) => f?.type).sort(), ["ack", "error"]);
  assert.equal(kinds.find((f) => f?.type === "error")?.code, "already_answered");
  const won = kinds[0]?.type === "ack" ? words : "red";
  const result = scripts.asked("asks")[2]?.body.messages.find((m) => m.role === "tool");
  assert.equal(result?.content, won);
  assert.equal(scripts.asked("asks").length, 4);
  for (const wire of [bare, zero]) {
    await wire.has("the end", (f) => f.type === "stream_end" && wire.events.length > 9);
    wire.whole(0);
    wire.close();
  }
  await asks.check();
});

void test("what a specialist asks is still asked, and the answer reaches it once", async () => {
  const { wait } = await delegating.view();
  assert.deepEqual([wait?.kind, wait?.specialist], ["approval", "tester"]);
  const answer = { wait_id: wait?.wait_id, approved: true };
  assert.equal((await delegating.post("/answers", { id: "a1", ...answer })).status, 202);
  assert.equal((await delegating.post("/answers", { id: "a2", ...answer })).status, 409);
  await delegating.status("completed");
  assert.equal(scripts.asked("tester").length, 2);
  assert.equal(await (await fetch(`${delegating.at}/files/made.txt`)).text(), "x");
  await delegating.check();
});

void test("what was under way is finished by the alarm, with nobody connected", async () => {
  // Not a request to these sessions until their models have been asked for the last time.
  const finished = (model: string, requests: number) =>
    until(model, () => scripts.asked(model).length === requests, 60_000);
  await Promise.all([
    finished("calling", 4),
    finished("running", 4),
    finished("planning", 4),
    finished("resting", 4),
  ]);
  for (const session of [calling, running, planning, resting]) {
    await session.status("completed");
    assert.equal((await session.of("done")).length, 1);
    await session.check();
  }
});

void test("a lost model call was asked again byte for byte", () => {
  const [, lost, again] = scripts.asked("calling");
  assert.equal(again?.raw, lost?.raw);
  const [first, second] = scripts.asked("planning");
  assert.equal(second?.raw, first?.raw);
  const [limited, later] = scripts.asked("resting");
  assert.equal(later?.raw, limited?.raw);
});

void test("a command that was under way has an unknown outcome, once, and did not run again", async () => {
  const commands = (await running.of("tool")).filter((t) => t.function === "shell_exec");
  assert.deepEqual(
    commands.map((t) => [t.status, t.ok]),
    [
      ["calling", undefined],
      ["called", false],
    ],
  );
  const told = scripts.asked("running")[2]?.body.messages.filter((m) => m.role === "tool");
  assert.equal(told?.length, 1);
  assert.match(String(told?.[0]?.content), /unknown/i);
  const ledger = await fetch(`${running.at}/files/ledger.txt`);
  assert.equal(ledger.status, 200);
  assert.equal(await ledger.text(), "paid\n");
});

void test("SIGTERM keeps a waiting session and what a client had seen of it", async () => {
  scripts.set("term", plan("a"), ASK);
  const session = await Remote.create(dev.url, "term");
  const wire = await session.connect();
  wire.send({ type: "message", id: "m1", text: "Do it" });
  await wire.event("wait");
  await wire.has("the pause", (f) => f.type === "stream_end");
  const seen = wire.events.at(-1)?.seq ?? 0;
  await dev.stop("SIGTERM");
  await until("the socket's end", () => wire.closed !== null);
  await dev.again(session);
  const again = await session.connect(`?after=${seen}`);
  scripts.set("term", write("a.txt"), complete());
  again.send({ type: "message", id: "m2", text: "blue" });
  await again.event("done");
  again.whole(seen);
  again.close();
  assert.equal((await session.of("answer"))[0]?.text, "blue");
  await session.check();
});

void test("a stop reaches the model's server, and nothing is asked afterwards", async () => {
  scripts.set("stopped", plan("a"), { ...HANG, text: "I am thinking about it" });
  const session = await Remote.create(dev.url, "stopped");
  await session.say("Do it");
  await until("the call", () => scripts.asked("stopped").length === 2);
  assert.equal(scripts.asked("stopped")[1]?.aborted, false);
  assert.equal((await session.post("/stop", {})).status, 202);
  await until("the abort", () => scripts.asked("stopped")[1]?.aborted);
  await session.status("stopped");
  await pause(1_500);
  assert.equal(scripts.asked("stopped").length, 2);
  await session.check();
});

void test("every request that a model got was sound", () => {
  assert.deepEqual(dev.mock.violations, []);
});
