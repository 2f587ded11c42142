/**
 * Commands and a person's own command lines: answered without a model, at rest as a turn of their own, beside a
 * running turn without disturbing it. OS-45.
 */
import { describe, expect, it } from "vitest";
import { COMMANDS } from "../../src/core/route.ts";
import type { SettingsLayer } from "../../src/core/settings.ts";
import { askUser, call, complete, Harness, plan, type Scripted, text, work } from "../fakes.ts";

const sound = (h: Harness) => expect(h.faults()).toEqual([]);
const last = (h: Harness) => h.of("message").at(-1);
const TURN = ["message(user)", "status(running)", "message(answer)", "done(completed)"];
const HANG: Scripted = { hang: true };
const at = async (message: string, options: ConstructorParameters<typeof Harness>[0] = {}) =>
  new Harness(options).run(message);

describe("a command at rest", () => {
  it("is a turn without a model call: the exact events", async () => {
    const h = await at("/help");
    expect(h.log).toEqual([...TURN, "status(completed)"]);
    expect(h.model.bodies).toEqual([]);
    expect(h.disk.rows).toEqual([]);
    expect(h.disk.commits).toBe(1);
    sound(h);
  });

  it("help names every command", async () => {
    const h = await at("/help");
    for (const name of COMMANDS) expect(last(h)?.content).toContain(`/${name}`);
    expect(last(h)?.content).toContain("!");
  });

  it("speaks the session's language", async () => {
    const zh = await at("/help", { settings: { locale: "zh" } });
    expect(last(zh)?.content).toMatch(/\p{Script=Han}/u);
    const guessed = new Harness({ script: [text("好")], mode: "chat" });
    await guessed.run("你好");
    await guessed.run("/usage");
    expect(last(guessed)?.content).toMatch(/\p{Script=Han}/u);
  });

  it("leaves title and preview alone, and takes one client id once", async () => {
    const h = new Harness({ mode: "chat", script: [text("Hello.")] });
    await h.run("/help");
    expect([h.head.title, h.head.preview]).toEqual(["", ""]);
    await h.run("Hi there");
    expect(h.head.title).toBe("Hi there");
    await h.run("/plan");
    expect(h.head.preview).toBe("Hello.");
    expect(h.head.run).toBe(3);
    sound(h);
  });

  it("a slip is told, and not sent to a model", async () => {
    const h = await at("/hlep");
    expect(last(h)?.content).toContain("/hlep");
    expect(last(h)?.content).toContain("/help");
    expect(h.model.bodies).toEqual([]);
  });

  it("an escaped one is a task with its text", async () => {
    const h = await at("\\/help", { mode: "chat", script: [text("It helps.")] });
    expect(h.of("message")[0]?.content).toBe("/help");
    expect(h.last(1)).toBe("/help");
    sound(h);
  });

  it("taken as it is, when its sender says so", async () => {
    const h = new Harness({ mode: "chat", script: [text("It helps.")] });
    h.say("/help", "steer", "a", true);
    await h.settle();
    expect(h.last(1)).toBe("/help");
    expect(h.of("tool")).toEqual([]);
    sound(h);
  });

  it("survives a crash before and after its commit, and is then told as taken in", async () => {
    const h = new Harness();
    h.disk.failAt.add(1);
    expect(() => h.say("/help", "steer", "a")).toThrow();
    h.crash();
    h.say("/help", "steer", "a");
    h.crash();
    await h.settle();
    expect(h.log).toEqual([...TURN, "status(completed)"]);
    sound(h);
  });
});

describe("what each says and does", () => {
  it("plan: the steps with their states, and that there is none", async () => {
    const h = new Harness({ script: [plan("first", "second"), work(), complete(true), HANG] });
    await h.run("/plan");
    const none = last(h)?.content;
    h.say("Do");
    await h.settle();
    h.say("/plan");
    expect(none).not.toContain("first");
    expect(last(h)?.content).toMatch(/first[\s\S]*second/);
    expect(last(h)?.kind).toBe("notice");
  });

  it("usage: calls and tokens of the session", async () => {
    const usage = { input_tokens: 1234, output_tokens: 56, cached_tokens: 7 };
    const h = new Harness({ mode: "chat", script: [{ text: "Hi", usage }] });
    await h.run("Hello");
    await h.run("/usage");
    for (const part of ["1,234", "56", "7"]) expect(last(h)?.content).toContain(part);
  });

  it("model: shows it, sets it for the next turn, and goes back to the default", async () => {
    const h = new Harness({ mode: "chat" });
    await h.run("/model");
    expect(last(h)?.content).toContain("fake-1");
    await h.run("/model big-2");
    expect(h.head.settings.model).toBe("big-2");
    expect(last(h)?.content).toContain("big-2");
    await h.run("/model two words");
    expect(h.head.settings.model).toBe("big-2");
    await h.run(`/model ${"x".repeat(201)}`);
    expect(h.head.settings.model).toBe("big-2");
    await h.run("/model default");
    expect(h.head.settings.model).toBe("");
    sound(h);
  });

  it("lang and review set what they name, and say what they take", async () => {
    const h = new Harness();
    await h.run("/lang zh");
    expect(h.head.settings.locale).toBe("zh");
    // Already in the language that was chosen.
    expect(last(h)?.content).toMatch(/\p{Script=Han}/u);
    await h.run("/lang en");
    await h.run("/lang fr");
    expect(h.head.settings.locale).toBe("en");
    expect(last(h)?.content).toContain("zh");
    await h.run("/review on");
    expect(h.head.settings.reviewer?.enabled).toBe(true);
    await h.run("/review OFF");
    expect(h.head.settings.reviewer?.enabled).toBe(false);
    await h.run("/review maybe");
    expect(h.head.settings.reviewer?.enabled).toBe(false);
    expect(last(h)?.content).toContain("on");
    sound(h);
  });

  it("mode: shows it, and changes it at rest; the new mode is told what was said before", async () => {
    const h = new Harness({ script: [text("Blue it is.")], mode: "chat" });
    await h.run("My colour is blue");
    await h.run("/mode");
    expect(last(h)?.content).toContain("chat");
    h.say("/mode agent", "steer", "m", false, "user: My colour is blue");
    expect(h.head.mode).toBe("agent");
    h.model.add(plan());
    await h.run("Which colour?");
    expect(h.model.bodies.at(-1)).toContain("My colour is blue");
    await h.run("/mode nonsense");
    expect(h.head.mode).toBe("agent");
    expect(last(h)?.content).toContain("workflow");
    sound(h);
  });

  it("compact: the next request of each memory is shortened once, and only if that gains something", async () => {
    const long = call(["file_read", { path: "a", brief: "read" }]);
    const many = Array.from({ length: 8 }, (_, i) =>
      call(["file_read", { path: `${i}.txt`, brief: "read" }]),
    );
    const h = new Harness({ mode: "chat", script: [...many, long, text("Read.")] });
    h.tools.behaviour = () => ({ ok: true, text: "lorem ipsum ".repeat(400) });
    await h.run("Read them");
    const before = h.model.bodies.at(-1)?.length ?? 0;
    await h.run("/compact");
    h.model.add(text("Yes."), text("Again."));
    await h.run("And?");
    expect(h.of("compaction")).toHaveLength(1);
    expect(h.model.bodies.at(-1)?.length ?? 0).toBeLessThan(before / 2);
    await h.run("And now?");
    expect(h.of("compaction")).toHaveLength(1);
    await h.run("/compact");
    h.model.add(text("Short."));
    await h.run("Nothing is left to shorten");
    expect(h.head.status).toBe("completed");
    sound(h);
  });

  it("export says where", async () => {
    const h = await at("/export");
    expect(last(h)?.content).toContain("/api/sessions/s1/export");
    await h.run("/stop");
    expect(h.head.status).toBe("completed");
    sound(h);
  });
});

describe("a command beside a turn", () => {
  it("is answered by a notice, and the turn goes on untouched", async () => {
    const h = new Harness({ script: [plan("a"), HANG] });
    await h.run("Do");
    const { era, asks, queue } = h.head;
    const bodies = h.model.bodies.length;
    for (const message of ["/help", "/usage", "/plan", "/model x", "/lang en", "/nope"]) {
      expect(h.say(message).client?.as).toBe("command");
    }
    await h.settle();
    expect(h.log.slice(-2)).toEqual(["message(user)", "message(notice)"]);
    expect({ era: h.head.era, asks: h.head.asks, queue: h.head.queue }).toEqual({
      era,
      asks,
      queue,
    });
    expect([h.model.bodies.length, h.model.cancelled]).toEqual([bodies, 0]);
    expect(h.disk.rows.filter((r) => r.json.includes("/help"))).toEqual([]);
    sound(h);
  });

  it("compact holds for the request after the one that is out", async () => {
    const reads = Array.from({ length: 8 }, (_, i) =>
      call(["file_read", { path: `${i}.txt`, brief: "read" }]),
    );
    const more = {
      ...call(["file_read", { path: "more.txt", brief: "read" }]),
      held: true as const,
    };
    const h = new Harness({ mode: "chat", script: [...reads, more, text("Done.")] });
    h.tools.behaviour = () => ({ ok: true, text: "lorem ipsum ".repeat(400) });
    await h.run("Read them");
    const before = h.model.bodies.at(-1)?.length ?? 0;
    h.say("/compact");
    h.model.release();
    await h.settle();
    expect(h.of("compaction")).toHaveLength(1);
    expect(h.model.bodies.at(-1)?.length ?? 0).toBeLessThan(before);
    sound(h);
  });

  it("a change of plan during a line of one's own is a new task, with a new plan", async () => {
    const h = new Harness({
      script: [plan("old"), work("w"), complete(true, "done"), plan("new"), HANG],
    });
    await h.run("First");
    h.tools.behaviour = () => "hang";
    h.say("!sleep 30");
    await h.settle();
    h.say("Write a poem", "replan");
    await h.settle();
    const created = h.of("plan").filter((p) => p.op === "created");
    expect(created).toHaveLength(2);
    expect(created.at(-1)?.steps.map((s) => s.description)).toEqual(["new"]);
    sound(h);
  });

  it("stop stops it, as its own button does", async () => {
    const h = new Harness({ script: [plan("a"), HANG] });
    await h.run("Do");
    expect(h.say("/stop").client?.as).toBe("stop");
    await h.settle();
    expect(h.log.slice(-4)).toEqual([
      "message(user)",
      "plan(updated)",
      "done(stopped)",
      "status(stopped)",
    ]);
    sound(h);
  });

  it("what would disturb it says what to do instead", async () => {
    const h = new Harness({ script: [plan("a"), HANG] });
    await h.run("Do");
    for (const message of ["/mode chat", "!ls"]) {
      h.say(message);
      expect(last(h)?.content).toContain("/stop");
    }
    expect(h.head.mode).toBe("agent");
    expect(h.tools.dispatched).toEqual([]);
    sound(h);
  });

  it("while a question waits commands are commands, and everything else answers", async () => {
    const h = new Harness({ script: [plan("a"), askUser("Which?"), HANG] });
    await h.run("Do");
    h.say("/help");
    h.say("!ls");
    expect(h.head.status).toBe("waiting");
    expect(h.of("answer")).toEqual([]);
    h.say("\\!ls");
    expect(h.of("answer")[0]?.text).toBe("!ls");
    sound(h);
  });

  it("an answer to the question itself is never a command", async () => {
    const h = new Harness({ script: [plan("a"), askUser("Which?"), HANG] });
    await h.run("Do");
    h.answer("/help");
    expect(h.of("answer")[0]?.text).toBe("/help");
    sound(h);
  });
});

describe("a command line of the person's own", () => {
  const ran = ["message(user)", "status(running)", "tool(calling)", "tool(called)"];
  const TWO: SettingsLayer = { tools: { approval: { "shell_*": "ask" } } };

  it("runs in the sandbox without a model, and is shown: the exact events", async () => {
    const h = new Harness();
    h.tools.behaviour = () => ({
      ok: true,
      text: "a.txt\n[exit code 0]",
      content: { command: "ls", output: "a.txt\n", exit_code: 0 },
    });
    await h.run("!ls");
    expect(h.log).toEqual([...ran, "message(answer)", "done(completed)", "status(completed)"]);
    expect(h.of("tool")[0]).toMatchObject({ function: "shell_exec", args: { command: "ls" } });
    expect(h.of("tool")[1]).toMatchObject({ ok: true, content: { output: "a.txt\n" } });
    expect(last(h)?.content).toContain("a.txt");
    expect(h.model.bodies).toEqual([]);
    sound(h);
  });

  it("is known to the next request of each role", async () => {
    const script = [plan("a"), work(), complete(true)];
    const h = new Harness({ script });
    h.tools.behaviour = () => ({ ok: true, text: "secret-output\n[exit code 0]" });
    await h.run("!cat note.txt");
    await h.run("What did it say?");
    for (const n of [0, 1]) {
      expect(h.model.bodies[n]).toContain("cat note.txt");
      expect(h.model.bodies[n]).toContain("secret-output");
    }
    sound(h);
    const chat = new Harness({ mode: "chat", script: [text("It said so.")] });
    await chat.run("!pwd");
    await chat.run("Where?");
    expect(chat.model.bodies[0]).toContain("pwd");
    sound(chat);
  });

  it("needs no approval, and does not run where the shell is denied", async () => {
    const asked = await at("!ls", { settings: TWO });
    expect(asked.head.status).toBe("completed");
    expect(asked.tools.dispatched).toHaveLength(1);
    for (const tools of [{ approval: { "shell_*": "deny" as const } }, { enabled: ["file_*"] }]) {
      const h = await at("!ls", { settings: { tools } });
      expect(h.tools.dispatched).toEqual([]);
      expect(h.log).toEqual([...TURN, "status(completed)"]);
      sound(h);
    }
  });

  it("one that fails to run fails its turn, with what it said", async () => {
    const h = new Harness();
    h.tools.behaviour = () => ({ ok: false, text: "timed out" });
    await h.run("!sleep 999");
    expect(h.log.slice(-3)).toEqual(["message(answer)", "done(failed)", "status(failed)"]);
    expect(last(h)?.content).toContain("timed out");
    sound(h);
  });

  it("a long one runs whole, and its event shows a part", async () => {
    const h = new Harness();
    const line = `echo ${"x".repeat(9_000)}`;
    await h.run(`!${line}`);
    expect(h.tools.dispatched[0]?.args).toEqual({ command: line });
    expect(String(h.of("tool")[0]?.args.command).length).toBeLessThan(3_000);
    sound(h);
  });

  it("output with fences of its own is shown whole", async () => {
    const h = new Harness();
    h.tools.behaviour = () => ({ ok: true, text: "````\ncode\n````" });
    await h.run("!cat a.md");
    expect(last(h)?.content).toMatch(/^`{5,}\n````\ncode\n````\n`{5,}$/);
  });

  it("is stopped like any turn, and messages that came meanwhile are worked on after it", async () => {
    const h = new Harness({ mode: "chat", script: [text("Later.")] });
    h.tools.behaviour = () => "hang";
    await h.run("!sleep 99");
    h.stop();
    await h.settle();
    expect(h.log.slice(-3)).toEqual(["tool(called)", "done(stopped)", "status(stopped)"]);
    expect(h.tools.cancelled).toHaveLength(1);
    await h.run("!sleep 98");
    h.say("And then?");
    h.tools.release(h.tools.dispatched.at(-1)?.id ?? "");
    await h.settle();
    expect(h.log.slice(-4)).toEqual([
      "message(answer)",
      "message(answer)",
      "done(completed)",
      "status(completed)",
    ]);
    expect(h.model.bodies[0]).toContain("sleep 98");
    sound(h);
  });

  it("interrupted by a crash it is not run again; its turn says so and ends", async () => {
    for (const kind of ["failAt", "dieAfter"] as const) {
      for (const n of [1, 2]) {
        const h = new Harness();
        h.disk[kind].add(n);
        try {
          h.say("!pay", "steer", "a");
        } catch {
          // Not stored, or stored and not told: sent again below.
        }
        await h.settle();
        if (h.head.run === 0) h.say("!pay", "steer", "b");
        await h.settle();
        expect([kind, n, h.tools.effects.length]).toEqual([
          kind,
          n,
          kind === "dieAfter" && n === 1 ? 0 : 1,
        ]);
        expect(["completed", "failed"]).toContain(h.head.status);
        expect(h.of("done")).toHaveLength(1);
        expect(last(h)?.kind).toBe("answer");
        sound(h);
      }
    }
  });
});
