/**
 * The modules that a deployment uploads, served as they are: index.mjs, and each part that is loaded when it is first
 * needed. Everywhere else in the tests the Worker is one bundle, or is not bundled at all.
 */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { build } from "esbuild";
import { workerBuild } from "../../scripts/worker-build.ts";
import { call, complete, HANG, plan, Remote, until, write } from "../support/client-node.ts";
import { ScriptedDev } from "../support/scripted-dev.ts";
import { Site } from "../support/site.ts";

const dist = fileURLToPath(new URL("../../dist", import.meta.url));
const site = new Site();
let out: string;
let dev: ScriptedDev;

before(async () => {
  await mkdir(dist, { recursive: true });
  out = await mkdtemp(join(dist, "deployed-"));
  await Promise.all([build(workerBuild("src/index.ts", out)), site.start()]);
  dev = await ScriptedDev.start({
    entry: join(out, "index.mjs"),
    args: ["--no-bundle", "--env="],
    vars: { CUSTOM_MODEL_NAME: "inner", FETCH_ALLOW_PRIVATE: site.host },
  });
});
after(async () => {
  await dev?.close();
  await site.stop();
  await rm(out, { recursive: true, force: true });
});

const shell = (command: string) => call("shell_exec", { command, brief: "run" });
const fetches = (url: string) => call("web_fetch", { url, brief: "look" });
/** What each call came to, in order. */
const called = async (session: Remote) =>
  (await session.of("tool")).filter((t) => t.status === "called");

void test("there are parts, and the start does without them", async () => {
  assert.ok((await readdir(join(out, "parts"))).length > 1);
  assert.equal((await fetch(`${dev.url}/api/health`)).status, 200);
});

void test("a task in the embedded shell, over a socket: every event once, the file kept", async () => {
  const command =
    "printf '30\\n4\\n21\\n' | sort -n | tee sorted.txt; seq 3 | awk '{ s += $1 } END { print s }'";
  dev.scripts.set("shell", plan("a"), shell(command), complete());
  const session = await Remote.create(dev.url, "shell");
  const wire = await session.connect();
  wire.send({ type: "message", id: "m1", text: "Sort them" });
  await wire.event("done");
  await until("the last event", () => wire.events.at(-1)?.event === "status_update");
  wire.whole(0);
  wire.close();
  const [run] = await called(session);
  assert.equal(run?.ok, true);
  assert.match(JSON.stringify(run?.content), /4\\n21\\n30\\n6\\n/);
  assert.equal(await (await fetch(`${session.at}/files/sorted.txt`)).text(), "4\n21\n30\n");
  await session.check();
});

void test("a page is read, and a private address is refused with nothing asked of it", async () => {
  const closed = "http://169.254.169.254/latest/meta-data";
  dev.scripts.set("web", plan("a"), fetches(site.url("/second")), fetches(closed), complete());
  const session = await Remote.create(dev.url, "web");
  await session.say("Look there");
  await session.status("completed");
  const [read, refused] = await called(session);
  assert.match(JSON.stringify(read?.content), /You came here/);
  assert.match(JSON.stringify(refused?.content), /is not an address of the public web/);
  await session.check();
});

void test("a turn that dies with the server is finished by its alarm, in a shell that is loaded anew", async () => {
  dev.scripts.set("dies", plan("a"), shell("echo before > kept.txt"), HANG);
  const session = await Remote.create(dev.url, "dies");
  await session.say("Do it");
  await until("the call that is lost", () => dev.scripts.asked("dies").length === 3);
  await dev.stop("SIGKILL");
  dev.scripts.set("dies", shell("cat kept.txt; echo after"), write("a.txt"), complete());
  await dev.again(session);
  // Not a request to it until its model has been asked for the last time.
  await until("its last call", () => dev.scripts.asked("dies").length === 6);
  await session.status("completed");
  const [, , lost, again] = dev.scripts.asked("dies");
  assert.equal(again?.raw, lost?.raw);
  const [, second] = await called(session);
  assert.match(JSON.stringify(second?.content), /before\\nafter\\n/);
  await session.check();
});

void test("over /mcp: another agent's task, and one that Dormouse gives to itself", async () => {
  dev.scripts.set("inner", { text: "Here you are." });
  const client = new Client({ name: "agent", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${dev.url}/mcp`)));
  const args = { task: "Say it", mode: "chat" };
  const result = await client.callTool({ name: "run_task", arguments: args });
  assert.match(JSON.stringify(result.content), /Here you are\./);
  await client.close();
  dev.scripts.set("inner", { text: "The inner one answers." });
  const task = call("mcp_far_run_task", { ...args, brief: "asks" });
  dev.scripts.set("outer", plan("a"), task, complete());
  const session = await Remote.create(dev.url, "outer");
  const settings = { mcp: { servers: { far: { url: `${dev.url}/mcp` } } } };
  const body = JSON.stringify({ settings });
  assert.equal((await fetch(session.at, { method: "PATCH", body })).status, 200);
  await session.say("Ask the other one");
  await session.status("completed");
  assert.match(JSON.stringify((await called(session))[0]?.content), /The inner one answers\./);
});

void test("every request that the model got was sound", () => {
  assert.deepEqual(dev.mock.violations, []);
});
