/** Sessions whose sandbox is a container: turns, crashes, rests, uploads and endings through the whole Worker. */
import { runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
// Loaded here, where it is no test's time.
import "@cloudflare/sandbox";
import "just-bash/browser";
import { describe, expect } from "vitest";
import { api, Client, it, until, useVars } from "./support/client.ts";
import { atRest, peek, ring } from "./support/crash.ts";
import { type Control, control, sdkError } from "./support/fake-sandbox.ts";
import { askUser, call, complete, plan, shell, text } from "./support/replies.ts";
import { Held, type Scripted } from "./support/upstream.ts";

async function start(script: Scripted[], mode: "agent" | "chat" = "chat") {
  useVars({ SANDBOX: "container" });
  const c = await Client.create(script, { mode });
  return { c, fake: control(c.id) };
}
const background = (command: string) =>
  call(["shell_exec", { command, background: true, brief: "serve" }]);
const results = (c: Client, n: number): string[] =>
  (c.model.asked[n]?.body.messages ?? [])
    .filter((m) => m.role === "tool")
    .map((m) => m.content ?? "");
const idle = (fake: Control) => until(() => expect(fake.destroyed).toBeGreaterThan(0));

describe("a turn in a container", () => {
  it("runs its command there, keeps its files, and leaves nothing running", async () => {
    const { c, fake } = await start([shell("echo hi | tee a.txt"), text("Done.")]);
    await c.say("Do it");
    await c.status("completed");
    expect(results(c, 1)).toEqual(["hi\n[exit code 0]"]);
    await idle(fake);
    await atRest(c);
    expect(await (await c.fetch("/files/a.txt")).text()).toBe("hi\n");
    expect(fake.destroyed).toBe(1);
  });

  it("waits at no cost: the container ends at a question, and its files are back after the answer", async () => {
    const script = [plan("a"), shell("echo 1 > a"), askUser("Which?")];
    const { c, fake } = await start(script, "agent");
    await c.say("Do it");
    await c.status("waiting");
    await idle(fake);
    await atRest(c);
    c.model.add(shell("cat a"), complete());
    await c.answer("this");
    await c.status("completed");
    const notices = await c.of("notice");
    expect(notices.map((n) => n.code)).toEqual(["sandbox_restored"]);
    const [first = ""] = results(c, 4).slice(-1);
    expect(first).toMatch(/^\[The sandbox was started anew.*\n1\n\[exit code 0\]$/s);
  });

  it("says what is wrong when there is no container, and the talk goes on", async () => {
    const { c, fake } = await start([shell("echo hi"), text("It cannot be done.")]);
    fake.always = () => Promise.reject(sdkError("CONTAINER_UNAVAILABLE", { reason: "x" }));
    await c.say("Do it");
    await c.status("completed");
    expect(results(c, 1)[0]).toMatch(/cannot be used.*Nothing was run in its place/);
    const called = (await c.of("tool")).find((t) => t.status === "called");
    expect(called?.ok).toBe(false);
    fake.always = null;
  });

  it("gives an upload to a running container before the next command", async () => {
    const held = new Held();
    const { c } = await start([shell("echo 1 > a"), held, text("Done.")]);
    await c.say("Do it");
    await until(() => expect(c.model.asked).toHaveLength(2));
    const put = await c.fetch("/files/upload/n.txt", { method: "PUT", body: "new" });
    expect(put.status).toBe(201);
    expect((await c.fetch("/files/a", { method: "DELETE" })).status).toBe(204);
    held.call("shell_exec", { command: "ls; cat upload/n.txt", brief: "look" });
    await c.status("completed");
    expect(results(c, 2)[1]).toBe("upload\nnew\n[exit code 0]");
  });

  it("a deleted session takes its container along", async () => {
    const { c, fake } = await start([shell("echo 1 > a")]);
    await c.say("Do it");
    await until(() => expect(c.model.asked).toHaveLength(2));
    expect((await c.fetch("", { method: "DELETE" })).status).toBe(204);
    c.deleted = true;
    expect(fake.destroyed).toBe(1);
  });
});

describe("background commands", () => {
  it("are started, looked at, typed into and ended", async () => {
    let id = "";
    const then = (name: string, args: object) => () => call([name, { id, ...args, brief: "b" }]);
    const { c, fake } = await start([
      background("echo up; sleep 100"),
      ({ raw }) => {
        id = /with the id (\w+)/.exec(raw)?.[1] ?? "";
        return call(["shell_view", { id, brief: "b" }]);
      },
      then("shell_wait", { seconds: 0.2 }),
      then("shell_write_to_process", { input: "yes" }),
      then("shell_kill_process", {}),
      then("shell_write_to_process", { input: "more" }),
      () => call(["shell_view", { id: "nobody", brief: "b" }]),
      text("Done."),
    ]);
    await c.say("Serve");
    await c.status("completed");
    const [started, view, waited, typed, killed, late, nobody] = results(c, 7);
    expect(started).toBe(
      `Started in the background with the id ${id}; look at it with shell_view, wait for it with shell_wait.\nup\n[${id} is running]`,
    );
    expect([view, waited]).toEqual([`up\n[${id} is running]`, `up\n[${id} is running]`]);
    expect(typed).toContain("Written.");
    expect(killed).toBe(`up\n[${id}: exit code 143]`);
    expect(late).toContain("has ended");
    expect(nobody).toContain("There is no background command nobody");
    const shown = (await c.of("tool")).filter((t) => t.status === "called");
    expect(shown.map((t) => t.ok)).toEqual(shown.map(() => true));
    await idle(fake);
  });

  it("are offered with a container and not without", async () => {
    const names = async () => {
      const { tools, sandbox } = await (await api("/api/config")).json<{
        sandbox: string;
        tools: { name: string }[];
      }>();
      return [sandbox, ...tools.map((t) => t.name).filter((n) => n.startsWith("shell"))];
    };
    expect(await names()).toEqual(["embedded", "shell_exec"]);
    useVars({ SANDBOX: "container" });
    expect(await names()).toEqual([
      "container",
      "shell_exec",
      "shell_view",
      "shell_wait",
      "shell_write_to_process",
      "shell_kill_process",
    ]);
  });
});

describe("which sandbox serves", () => {
  const config = async (host: string) => {
    const headers = { authorization: "Bearer t", host };
    return (await exports.default.fetch(`http://${host}/api/config`, { headers })).json<{
      sandbox?: string;
      error?: { code: string; message: string };
    }>();
  };
  const made = async (host: string) => {
    const headers = { authorization: "Bearer t" };
    const response = await exports.default.fetch(`http://${host}/api/sessions`, {
      method: "POST",
      body: "{}",
      headers,
    });
    const { id } = await response.json<{ id: string }>();
    return runInDurableObject(env.SESSION.getByName(id), (_, state) => {
      const query = "SELECT json FROM head WHERE part = 'state'";
      const { json } = state.storage.sql.exec<{ json: string }>(query).one();
      return (JSON.parse(json) as { host: string }).host;
    });
  };

  it("auto: the embedded one on loopback, a container elsewhere, and a session remembers which", async () => {
    useVars({ AUTH_TOKEN: "t" });
    expect((await config("localhost")).sandbox).toBe("embedded");
    expect((await config("dormouse.example")).sandbox).toBe("container");
    for (const host of ["127.0.0.1", "dormouse.example"]) expect(await made(host)).toBe(host);
  });

  it("by name: that one everywhere; nonsense is told, not guessed", async () => {
    useVars({ AUTH_TOKEN: "t", SANDBOX: "embedded" });
    expect((await config("dormouse.example")).sandbox).toBe("embedded");
    useVars({ SANDBOX: "container" });
    expect((await config("localhost")).sandbox).toBe("container");
    useVars({ SANDBOX: "docker" });
    const { error } = await config("localhost");
    expect([error?.code, error?.message]).toEqual([
      "bad_configuration",
      expect.stringContaining("auto, embedded or container"),
    ]);
  });
});

describe("a crash of the object", () => {
  it("during a long command: it is found again and runs once", async () => {
    const command = "echo paid >> ledger; sleep 0.5; echo end; cat ledger";
    const { c, fake } = await start([shell(command), text("Done.")]);
    await c.say("Do it");
    await until(() => expect(fake.container.jobs.size).toBe(1));
    await runInDurableObject(c.stub, (_, state) => state.abort("the session is restarted")).catch(
      () => undefined,
    );
    expect((await peek(c)).status).toBe("running");
    expect(await ring(c)).toBe(true);
    await until(async () => expect((await peek(c)).status).toBe("completed"));
    expect(results(c, 1)).toEqual(["end\npaid\n[exit code 0]"]);
    expect(fake.commands).toEqual([command]);
    const states = (await c.of("tool")).map((t) => [t.status, t.ok]);
    expect(states).toEqual([
      ["calling", undefined],
      ["called", true],
    ]);
    expect(await (await c.fetch("/files/ledger")).text()).toBe("paid\n");
    await idle(fake);
  });

  it("together with its container: the outcome is unknown, it is said so, and nothing runs twice", async () => {
    const { c, fake } = await start([shell("echo paid >> ledger; sleep 100"), text("I see.")]);
    await c.say("Do it");
    await until(() => expect(fake.container.jobs.size).toBe(1));
    fake.container.installed = false;
    await runInDurableObject(c.stub, (_, state) => state.abort("the session is restarted")).catch(
      () => undefined,
    );
    await ring(c);
    await until(async () => expect((await peek(c)).status).toBe("completed"));
    expect(results(c, 1)[0]).toContain("Outcome unknown");
    expect(fake.commands).toHaveLength(1);
  });

  it("after the turn: the container that it left is ended by the wake job", async () => {
    const { c, fake } = await start([shell("echo 1 > a"), text("Done.")]);
    fake.always = (line, run) => (line === "destroy" ? new Promise(() => {}) : run());
    await c.say("Do it");
    await c.status("completed");
    await until(() => expect(fake.lines.at(-1)).toContain("'scan'"));
    await runInDurableObject(c.stub, (_, state) => state.abort("the session is restarted")).catch(
      () => undefined,
    );
    fake.always = null;
    await ring(c);
    await idle(fake);
    await atRest(c);
  });
});
