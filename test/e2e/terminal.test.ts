/** The terminal client against a real `wrangler dev` with the practice model: what scripts and pipes see of it. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { until } from "../support/client-node.ts";
import { type DevServer, freePort, startDev } from "../support/dev-server.ts";

const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
const TOKEN = "a-token-of-the-tests";
let dir: string;
let port: number;
let dev: DevServer;

const serve = () =>
  startDev({
    port,
    persistTo: join(dir, "state"),
    vars: { PROVIDER: "practice", AUTH_TOKENS: JSON.stringify({ [TOKEN]: "me" }) },
  });
before(async () => {
  dir = await mkdtemp(join(tmpdir(), "dormouse-terminal-"));
  port = await freePort();
  dev = await serve();
});
after(async () => {
  await dev?.stop("SIGKILL");
  await rm(dir, { recursive: true, force: true });
});

interface Run {
  child: ChildProcess;
  out(): string;
  err(): string;
  code: Promise<number | null>;
}
function chat(args: string[], input: string | null = "", more: Record<string, string> = {}): Run {
  const env = {
    ...process.env,
    XDG_CONFIG_HOME: join(dir, "config"),
    DORMOUSE_URL: dev.url,
    DORMOUSE_TOKEN: TOKEN,
    LANG: "C.UTF-8",
    LC_ALL: "",
    ...more,
  };
  const child = spawn(process.execPath, ["--no-warnings", MAIN, ...args], { env, stdio: "pipe" });
  let out = "";
  let err = "";
  child.stdout.on("data", (part) => {
    out += part;
  });
  child.stderr.on("data", (part) => {
    err += part;
  });
  if (input !== null) child.stdin.end(input);
  const code = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { child, out: () => out, err: () => err, code };
}
const ended = async (run: Run) => ({ code: await run.code, out: run.out(), err: run.err() });
/** `-p` in JSON: the events, and the result that comes last. */
const jsonOf = (text: string) =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const newest = async (): Promise<{ id: string; status: string }> => {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const page = await fetch(`${dev.url}/api/sessions`, { headers });
  return ((await page.json()) as { sessions: { id: string; status: string }[] })
    .sessions[0] as never;
};

void test("-p: the answer alone on standard output, the way there on the other, and 0", async () => {
  const { code, out, err } = await ended(chat(["-p", "say `echo marker-$((40+2))`"]));
  assert.equal(code, 0);
  assert.match(out, /marker-42/);
  assert.doesNotMatch(out, /Plan|│/);
  assert.match(err, /Plan[\s\S]*● [\s\S]*│ marker-42[\s\S]*✓[\s\S]*Done · 3 model calls/);
  assert.ok(!`${out}${err}`.includes("\u001b"));
});

void test("-p: a question without an answer is 3; it is answered later, by the beginning of the id", async () => {
  const asked = await ended(chat(["-p", "Which colour (red/green)?"]));
  assert.equal(asked.code, 3);
  assert.match(asked.err, /\? Which colour[\s\S]*1\. red[\s\S]*2\. green/);
  const { id } = await newest();
  const answered = await ended(chat(["--session", id.slice(0, 10)], "/plan\n2\n"));
  assert.equal(answered.code, 0);
  assert.match(answered.err, /\? Which colour[\s\S]*▸ Which colour/);
  assert.match(answered.out, /green/);
});

void test("-p: a question is answered from standard input; a command line of one's own is run", async () => {
  assert.match((await ended(chat(["-p", "Which name?"], "Ada\n"))).out, /"Ada"/);
  const own = await ended(chat(["-p", "!echo out; exit 3"]));
  assert.equal(own.code, 0);
  assert.match(own.out, /out[\s\S]*exit code 3/);
});

void test("--json: every event as a line, in order, and the result last; nothing else", async () => {
  const { code, out, err } = await ended(chat(["--json", "-p", "say `echo hi`"]));
  assert.equal(code, 0);
  const lines = jsonOf(out);
  const result = lines.pop();
  assert.deepEqual(
    lines.map((l) => l.seq),
    lines.map((_, i) => i + 1),
  );
  assert.equal(lines.at(-1)?.event, "status_update");
  assert.deepEqual([result?.type, result?.outcome], ["result", "completed"]);
  assert.equal(err, "");
});

void test("piped text: one task a line, in one session; Chinese where that is spoken", async () => {
  const { code, out, err } = await ended(
    chat([], "写入 `echo 一 > a.txt`\n\n看 `cat a.txt`\n", { LANG: "zh_CN.UTF-8" }),
  );
  assert.equal(code, 0);
  assert.match(out, /一/);
  assert.equal(err.match(/已完成 · 模型调用/g)?.length, 2);
});

void test("piped text: what stands after /new goes to the session that it made, and its name with it", async () => {
  const lines = "!echo one > a.txt\n/new\n!ls a.txt || echo nothing here\n";
  const { code, out } = await ended(chat(["--key", "moves", "--json"], lines));
  assert.equal(code, 0);
  const results = jsonOf(out).filter((l) => l.type === "result");
  const [first, second, third] = results.map((r) => r.session_id);
  assert.equal(first, second);
  assert.notEqual(second, third);
  assert.equal(results[1]?.moved_to, third);
  assert.match(String(results[2]?.message), /nothing here/);
  const after = await ended(chat(["--key", "moves", "--json", "-p", "/usage"]));
  assert.equal(jsonOf(after.out).at(-1)?.session_id, third);
});

void test("--key gives the same session each time", async () => {
  const first = await ended(chat(["--key", "k1", "--mode", "chat", "-p", "/usage"]));
  const { id } = await newest();
  const second = await ended(chat(["--key", "k1", "--json", "-p", "/usage"]));
  assert.deepEqual([first.code, second.code], [0, 0]);
  assert.equal(jsonOf(second.out).at(-1)?.session_id, id);
});

void test("Ctrl-C stops the turn: 130, and the session is stopped", async () => {
  const run = chat(["-p", "!sleep 60"], null);
  await until("the command runs", () => /● .*sleep 60/.test(run.err()));
  run.child.kill("SIGINT");
  assert.equal(await run.code, 130);
  assert.match(run.err(), /Stopped/);
  assert.equal((await newest()).status, "stopped");
});

void test("a second Ctrl-C leaves at once", async () => {
  const run = chat(["-p", "!sleep 60"], null);
  await until("the command runs", () => /● .*sleep 60/.test(run.err()));
  await dev.stop("SIGKILL");
  run.child.kill("SIGINT");
  await until("it says so", () => run.err().includes("Stopping"));
  run.child.kill("SIGINT");
  assert.equal(await run.code, 130);
  dev = await serve();
});

void test("a server that dies and comes back is waited for; nothing is lost or told twice", async () => {
  const run = chat(["--json", "-p", "first `sleep 2; echo one`\nthen `echo two`"], null);
  await until("it works", () => run.out().includes('"calling"'));
  await dev.stop("SIGKILL");
  await until("it noticed", () => run.err().includes("Connection lost"));
  dev = await serve();
  assert.ok([0, 1].includes((await run.code) ?? -1));
  const lines = jsonOf(run.out());
  assert.equal(lines.pop()?.type, "result");
  assert.deepEqual(
    lines.map((l) => l.seq),
    lines.map((_, i) => i + 1),
  );
  assert.equal(lines.at(-1)?.event, "status_update");
});

void test("wrong use is 2, and says what to do", async () => {
  const cases: [string[], Record<string, string>, RegExp][] = [
    [["--token", "x"], {}, /DORMOUSE_TOKEN/],
    [["--mode", "nonsense"], {}, /agent/],
    [["-p", "x", "--url", "http://127.0.0.1:9"], {}, /npm start/],
    [["-p", "x", "--url", "https://me:pass@h"], {}, /without a token/],
    [["-p", "x"], { DORMOUSE_TOKEN: "wrong" }, /DORMOUSE_TOKEN/],
    [["-p", "x", "--session", "zzzz"], {}, /no session zzzz/],
    [["-p", "x", "--session", ""], {}, /several/],
  ];
  for (const [args, env, said] of cases) {
    const { code, out, err } = await ended(chat(args, "", env));
    assert.deepEqual([args, code, out], [args, 2, ""]);
    assert.match(err, said);
    assert.doesNotMatch(err, /at .*\.ts:\d|pass@/);
  }
  assert.equal((await ended(chat(["--help"]))).code, 0);
});
