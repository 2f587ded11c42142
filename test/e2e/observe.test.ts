/**
 * What whoever runs a deployment sees: `wrangler dev` killed in the middle of a turn, a collector on 127.0.0.1, and
 * the log on the console.
 */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { call, complete, HANG, plan, Remote, until, write } from "../support/client-node.ts";
import { type Collector, startCollector } from "../support/otlp.ts";
import { ScriptedDev } from "../support/scripted-dev.ts";

let collector: Collector;
let dev: ScriptedDev;
let session: Remote;
let output = "";

before(async () => {
  collector = await startCollector();
  dev = await ScriptedDev.start({ vars: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
  const { scripts } = dev;
  const ask = call("message_ask_user", { text: "Which colour?" });
  scripts.set("m1", plan("a"), write("private-name.txt"), ask, HANG);
  session = await Remote.create(dev.url, "m1");
  await session.say("said-words");
  await session.status("waiting");
  // What came before is told; the model call that is out when the server dies is not.
  await until("the spans before the wait", () => collector.spans.length === 4);
  const { wait } = await session.view();
  assert.equal(
    (await session.post("/answers", { wait_id: wait?.wait_id, text: "blue" })).status,
    202,
  );
  await until("the call after it", () => scripts.asked("m1").length === 4);
  await until("the wait's span", () => collector.spans.some((s) => s.name === "wait question"));
  output += dev.output();
  await dev.stop("SIGKILL");
  scripts.set("m1", complete());
  await dev.again(session);
  await session.status("completed");
  await until("the turn's span", () =>
    collector.spans.some((s) => s.name.startsWith("invoke_agent")),
  );
  await until("the end in the log", () => dev.output().includes("turn_ended"));
  output += dev.output();
});
after(async () => {
  await dev?.close();
  await collector?.close();
});

void test("a turn that outlives the server is one trace, each span once", () => {
  assert.deepEqual(collector.faults, []);
  assert.equal(new Set(collector.spans.map((s) => s.trace)).size, 1);
  assert.equal(new Set(collector.spans.map((s) => s.id)).size, collector.spans.length);
  const [root] = collector.spans.filter((s) => s.parent === null);
  assert.deepEqual(collector.spans.map((s) => s.name).sort(), [
    "chat m1",
    "chat m1",
    "chat m1",
    "chat m1",
    "execute_tool file_write",
    "invoke_agent dormouse",
    "wait question",
  ]);
  for (const span of collector.spans.filter((s) => s !== root)) {
    assert.equal(span.parent, root?.id);
    assert.ok(span.from >= (root?.from ?? 0) && span.to <= (root?.to ?? 0), span.name);
  }
  assert.equal(root?.attributes["dormouse.outcome"], "completed");
});

void test("the requests to the model carried the ids of their spans, the repeated one the same", () => {
  const sent = dev.mock.requests.map((r) => String(r.headers.traceparent).split("-")[2]);
  const told = collector.spans.filter((s) => s.name === "chat m1").map((s) => s.id);
  assert.equal(sent.length, 5);
  assert.equal(sent[3], sent[4]);
  assert.deepEqual(new Set(sent), new Set(told));
});

void test("the description of the API is served as a file, to anyone, without the Worker", async () => {
  for (const name of ["openapi.json", "frames.schema.json"]) {
    const response = await fetch(`${dev.url}/api/${name}`);
    assert.equal(response.status, 200);
    assert.match(response.headers.get("content-type") ?? "", /^application\/json/);
    assert.equal(response.headers.get("x-content-type-options"), "nosniff");
    const stored = await readFile(new URL(`../../docs/${name}`, import.meta.url), "utf8");
    assert.equal(await response.text(), stored);
  }
  const unknown = await fetch(`${dev.url}/api/nothing.json`);
  assert.equal(unknown.status, 404);
  assert.match(await unknown.text(), /"not_found"/);
});

void test("the deep check finds all well", async () => {
  const { ok, checks } = (await (await fetch(`${dev.url}/api/health?deep=1`)).json()) as {
    ok: boolean;
    checks: { name: string; ok: boolean; detail: string }[];
  };
  const wrong = checks.filter((check) => !check.ok && check.name !== "provider");
  assert.deepEqual(wrong, []);
  // The endpoint here has no model of its own, and that is said.
  assert.equal(ok, false);
  assert.ok(checks.find((check) => check.name === "traces")?.detail.includes("127.0.0.1"));
});

void test("the console has a JSON line for each thing worth knowing, and nothing that was said", () => {
  const lines = [...output.matchAll(/\{"message":.*\}/g)].map(
    ([text]) => JSON.parse(text) as Record<string, unknown>,
  );
  const told = lines.filter((l) => l.session === session.id).map((l) => l.message);
  for (const what of ["turn_started", "tool_call_ended", "wait_began", "wait_ended", "woken"]) {
    assert.ok(told.includes(what), what);
  }
  assert.equal(told.filter((m) => m === "turn_ended").length, 1);
  const routes = lines.filter((l) => l.message === "request").map((l) => l.route);
  assert.ok(routes.includes("/api/sessions/:id/messages"));
  for (const secret of ["said-words", "private-name", "Which colour", "blue"]) {
    assert.ok(!lines.some((l) => JSON.stringify(l).includes(secret)), secret);
  }
});
