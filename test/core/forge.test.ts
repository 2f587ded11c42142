/** FG-S1 … FG-S12 and the Forge scenarios: the guarded loop of workflow and chat sessions, by their names. */
import { describe, expect, it } from "vitest";
import type { SettingsLayer } from "../../src/core/settings.ts";
import {
  call,
  complete,
  deliver,
  Harness,
  type Options,
  plan,
  type Scripted,
  succeed,
  text,
  update,
  work,
} from "../fakes.ts";

const sound = (h: Harness) => expect(h.faults()).toEqual([]);
const read = (path: string): Scripted => call(["file_read", { path }]);
const respond = (t: string): Scripted => call(["agent_response", { text: t }]);
const flow = async (
  script: Scripted[],
  harness: SettingsLayer["harness"] = {},
  more: Options = {},
) => {
  const h = new Harness({ mode: "workflow", script, settings: { harness }, ...more });
  return h.run("q");
};
const results = (h: Harness, n: number) =>
  (h.requests[n - 1]?.messages ?? []).filter((m) => m.role === "tool").map((m) => m.content ?? "");
const answer = (h: Harness) => h.of("message").at(-1)?.content;

it("FG-S1, FG-66 basic two steps: work, then agent_response; the answer is its text", async () => {
  const h = await flow([read("a"), respond("done")]);
  expect(h.requests).toHaveLength(2);
  expect(h.offered(1).at(-1)).toBe("agent_response");
  expect(h.log).toEqual([
    "message(user)",
    "status(running)",
    "tool(calling)",
    "tool(called)",
    "message(answer)",
    "done(completed)",
    "status(completed)",
  ]);
  expect(answer(h)).toBe("done");
  sound(h);
});

it("FG-67 three steps in sequence: four model calls", async () => {
  const h = await flow([read("a"), read("b"), read("c"), respond("done")]);
  expect(h.requests).toHaveLength(4);
  sound(h);
});

it("FG-S2, FG-68 a terminal tool before its required step is refused, once, and comes later", async () => {
  const h = await flow([respond("early"), read("a"), respond("done")], {
    requiredSteps: ["file_read"],
  });
  expect(h.requests).toHaveLength(3);
  expect(h.last(2)).toContain("cannot be called yet");
  expect(h.of("nudge").map((n) => n.reason)).toEqual(["required_step_missing"]);
  expect(h.of("message").filter((m) => m.role === "assistant")).toHaveLength(1);
  sound(h);
});

it("FG-S3, FG-69 a prerequisite matches by the deep value of an argument of an earlier success", async () => {
  const prerequisites = { file_write: [{ tool: "file_read", matchArg: "path" }] };
  const h = await flow([work("a"), read("b"), work("a"), read("a"), work("a"), respond("done")], {
    toolPrerequisites: prerequisites,
  });
  expect(h.requests).toHaveLength(6);
  expect(h.tools.dispatched.filter((r) => r.name === "file_write")).toHaveLength(1);
  expect(h.of("nudge").map((n) => n.reason)).toEqual([
    "prerequisite_missing",
    "prerequisite_missing",
  ]);
  expect(h.last(2)).toContain('First call "file_read" successfully with the same "path" argument');
  sound(h);
});

it("a failed call meets no prerequisite", async () => {
  const h = new Harness({
    mode: "workflow",
    settings: { harness: { toolPrerequisites: { file_write: [{ tool: "file_read" }] } } },
    script: [read("bad"), work("a"), read("ok"), work("a"), respond("done")],
  });
  h.tools.behaviour = (run) => (run.args.path === "bad" ? { ok: false, text: "no" } : succeed());
  await h.run("q");
  expect(h.of("nudge").map((n) => n.reason)).toEqual(["tool_failed", "prerequisite_missing"]);
  sound(h);
});

it("FG-S4 a batch is judged on the state before it: nothing of it runs, every call is answered", async () => {
  const both = call(["file_read", { path: "a" }], ["file_write", { path: "a", content: "" }]);
  const h = await flow([both, read("a"), work("a"), respond("done")], {
    toolPrerequisites: { file_write: [{ tool: "file_read", matchArg: "path" }] },
  });
  expect(h.of("tool")).toHaveLength(4);
  expect(results(h, 2)).toEqual([
    expect.stringContaining("Not run: another call"),
    expect.stringContaining("cannot be called yet"),
  ]);
  sound(h);
});

it("FG-72e a batch with the required step and the terminal tool is refused whole", async () => {
  const both = call(["file_read", { path: "a" }], ["agent_response", { text: "done" }]);
  const h = await flow([both, read("a"), respond("done")], { requiredSteps: ["file_read"] });
  expect(h.requests).toHaveLength(3);
  expect(h.tools.dispatched).toHaveLength(1);
  sound(h);
});

it("FG-S5, FG-70 an unknown tool refuses its whole batch; the list of tools is given", async () => {
  const both = call(["file_read", { path: "a" }], ["nope", {}]);
  const h = await flow([both, read("a"), respond("done")]);
  expect(h.of("tool")).toHaveLength(2);
  expect(results(h, 2)[1]).toMatch(/^Unknown tool: nope\..*file_read/);
  sound(h);
});

describe("FG-S6 bare text", () => {
  it("four times in a row ends in retry_exhausted", async () => {
    const h = await flow(Array(4).fill(text("Sure, here")));
    expect(h.requests).toHaveLength(4);
    expect(h.of("error")[0]).toMatchObject({ code: "retry_exhausted" });
    expect(h.of("error")[0]?.message).toContain("4");
    sound(h);
  });
  it("is forgiven after a good reply: the count starts again", async () => {
    const script = [
      text("a"),
      text("b"),
      read("1"),
      text("c"),
      text("d"),
      text("e"),
      respond("done"),
    ];
    const h = await flow(script);
    expect(h.of("nudge").map((n) => n.attempt)).toEqual([1, 2, 1, 2, 3]);
    expect(answer(h)).toBe("done");
    sound(h);
  });
});

describe("FG-S7, FG-71 a tool that fails", () => {
  const flaky = async (script: Scripted[], mode: Options["mode"] = "workflow") => {
    const h = new Harness({ mode, script });
    h.tools.behaviour = (run) =>
      run.args.path === "bad" ? { ok: false, text: "bad value" } : succeed();
    return h.run("q");
  };
  it("once is told and tried again", async () => {
    const h = await flaky([work("bad"), work("good"), respond("done")]);
    expect(h.last(2)).toContain("failed: bad value");
    expect(answer(h)).toBe("done");
    sound(h);
  });
  it("twice in a row ends the run, typed, with the tool and the count", async () => {
    const h = await flaky([work("bad"), work("bad")]);
    expect(h.requests).toHaveLength(2);
    expect(h.of("error")[0]).toMatchObject({ code: "tool_errors_exhausted" });
    expect(h.of("error")[0]?.message).toMatch(/file_write.*2.*bad value/);
    sound(h);
  });
  it("in Plan-Act ends the step, and the planner is asked", async () => {
    const h = await flaky([plan("a"), work("bad"), work("bad"), update(), deliver("F")], "agent");
    expect(h.of("step").at(-1)).toMatchObject({ status: "failed" });
    expect(h.of("error")).toEqual([]);
    sound(h);
  });
});

describe("FG-S9 rescue", () => {
  const fenced = text('```json\n{"name":"file_read","arguments":{"path":"x"}}\n```');
  it("runs a call that was written as text, and the text is not kept beside it", async () => {
    const h = await flow([fenced, respond("done")]);
    expect(h.tools.dispatched.map((r) => r.args.path)).toEqual(["x"]);
    expect(h.requests[1]?.messages[2]).toMatchObject({ content: null });
    sound(h);
  });
  it("leaves an answer alone that merely looks like one", async () => {
    const h = await flow([text('{"name":"Alice"}'), respond("done")]);
    expect(h.of("nudge").map((n) => n.reason)).toEqual(["bare_text"]);
    sound(h);
  });
  it("does nothing when it is switched off", async () => {
    const h = await flow([fenced, respond("done")], { rescueEnabled: false });
    expect(h.tools.dispatched).toEqual([]);
    sound(h);
  });
  it("takes no call from thinking, and none from a reply that was cut", async () => {
    const thought = text('<think>{"name":"file_read","arguments":{"path":"x"}}</think>');
    const h = await flow([thought, { ...fenced, finish: "length" }, respond("done")]);
    expect(h.tools.dispatched).toEqual([]);
    sound(h);
  });
  it("works for the planner's and executor's own tools", async () => {
    const asText = (name: string, args: unknown) =>
      text(`<tool_call>${JSON.stringify({ name, arguments: args })}</tool_call>`);
    const planned = asText("create_plan", {
      message: "ok",
      language: "en",
      title: "T",
      goal: "G",
      steps: [{ id: "1", description: "a" }],
    });
    const h = new Harness({
      script: [planned, work(), asText("complete_step", { success: true, result: "r" })],
    });
    await h.run("Do");
    expect(h.head.status).toBe("completed");
    sound(h);
  });
});

it("FG-S10 text of a refused attempt never reaches a client", async () => {
  const h = await flow([text("Sure, here"), respond("ok")]);
  expect(JSON.stringify([h.live, h.events])).not.toContain("Sure, here");
  expect(answer(h)).toBe("ok");
  sound(h);
});

describe("FG-S11 modes of a chat", () => {
  const chat = (script: Scripted[], harness: SettingsLayer["harness"]) =>
    new Harness({ mode: "chat", script, settings: { harness } }).run("q");
  it("guarded_chat takes plain text as the answer, and refuses an unknown tool with its batch", async () => {
    const both = call(["file_read", { path: "a" }], ["nope", {}]);
    const h = await chat([both, text("hello")], { enabled: true });
    expect(h.tools.dispatched).toEqual([]);
    expect(h.of("nudge").map((n) => n.reason)).toEqual(["unknown_tool"]);
    expect(answer(h)).toBe("hello");
    expect(h.live.filter((f) => f.event === "message_delta")).toEqual([]);
    sound(h);
  });
  it("legacy, and the harness switched off, let its mates run and stream live", async () => {
    for (const harness of [{ enabled: true, mode: "legacy" as const }, { enabled: false }]) {
      const h = await chat(
        [call(["file_read", { path: "a" }], ["nope", {}]), text("hello")],
        harness,
      );
      expect(h.tools.dispatched).toHaveLength(1);
      expect(h.of("nudge")).toEqual([]);
      expect(h.live.map((f) => f.event)).toContain("message_delta");
      sound(h);
    }
  });
  it("workflow refuses bare text in a chat too", async () => {
    const h = await chat([text("hello"), respond("ok")], { enabled: true, mode: "workflow" });
    expect(h.of("nudge").map((n) => n.reason)).toEqual(["bare_text"]);
    expect(answer(h)).toBe("ok");
    sound(h);
  });
});

it("FG-34 a work tool may be the terminal one: its success ends the run with its text", async () => {
  const h = new Harness({
    mode: "workflow",
    settings: { harness: { terminalTools: ["file_write"] } },
    script: [
      read("a"),
      call(["file_write", { path: "out", content: "x" }], ["file_read", { path: "b" }]),
    ],
  });
  h.tools.behaviour = (run) => succeed(run.name === "file_write" ? '{"text":"written"}' : "ok");
  await h.run("q");
  expect(h.offered(1)).not.toContain("agent_response");
  // It goes last, after its mate.
  expect(h.tools.dispatched.map((r) => r.args.path)).toEqual(["a", "b", "out"]);
  expect(answer(h)).toBe("written");
  sound(h);
});

it("a role's own harness is laid over the session's, field by field", async () => {
  const settings: SettingsLayer = {
    harness: { maxRetriesPerStep: 0, requiredSteps: ["file_read"] },
    roles: { executor: { harness: { maxRetriesPerStep: 2 } } },
  };
  const h = new Harness({
    settings,
    script: [plan("a"), work(), complete(true), text("x"), read("r"), complete(true)],
  });
  await h.run("Do");
  expect(h.of("nudge").map((n) => `${n.reason} ${n.attempt}`)).toEqual([
    "required_step_missing 1",
    "bare_text 2",
  ]);
  expect(h.head.status).toBe("completed");
  sound(h);
});

it("a direct session answers without any tool, streamed", async () => {
  const h = new Harness({ mode: "direct", script: [text("42")] });
  await h.run("q");
  expect(h.requests[0]).not.toHaveProperty("tools");
  expect(h.log).toEqual([
    "message(user)",
    "status(running)",
    "message(answer)",
    "done(completed)",
    "status(completed)",
  ]);
  expect(h.live.map((f) => f.event)).toEqual(["message_delta"]);
  sound(h);
});

describe("duplicates", () => {
  const brief = (path: string, b: string): Scripted => call(["file_read", { path, brief: b }]);

  it("OS-S9, N1: the same read again in a step is not run; its result and a note answer it", async () => {
    const h = new Harness({
      script: [plan("a"), brief("x", "look"), brief("x", "look again"), work(), complete(true)],
    });
    h.tools.behaviour = (run) => succeed(`content of ${String(run.args.path)}`);
    await h.run("Do");
    expect(h.tools.dispatched.map((r) => r.name)).toEqual(["file_read", "file_write"]);
    expect(h.last(4)).toMatch(/not run again.*content of x/s);
    expect(h.of("tool").filter((t) => t.function === "file_read")).toHaveLength(2);
    expect(h.of("nudge").map((n) => n.reason)).toEqual(["duplicate_call"]);
    sound(h);
  });

  it("a read after an effect, and in another step, is no duplicate", async () => {
    const script = [
      plan("a", "b"),
      read("x"),
      work("x"),
      read("x"),
      complete(true),
      read("x"),
      complete(true),
      deliver("F"),
    ];
    const h = await new Harness({ script }).run("Do");
    expect(h.tools.dispatched.filter((r) => r.name === "file_read")).toHaveLength(3);
    sound(h);
  });

  it("N2: the same effect with the same result is nudged at the third time, and still runs", async () => {
    const h = await new Harness({
      script: [plan("a"), work("x"), work("x"), work("x"), complete(true)],
    }).run("Do");
    expect(h.tools.dispatched).toHaveLength(3);
    expect(h.last(5)).toContain("several times in a row");
    expect(h.of("nudge").map((n) => n.reason)).toEqual(["duplicate_call"]);
    sound(h);
  });

  it("running the tests again after an edit is no duplicate", async () => {
    const test: Scripted = call(["shell_exec", { command: "npm test" }]);
    const h = await new Harness({
      script: [plan("a"), test, work("1"), test, work("2"), test, complete(true)],
    }).run("Do");
    expect(h.of("nudge")).toEqual([]);
    sound(h);
  });

  it("N3, A26: laps of nothing else withdraw the tools, and the step ends instead of going in circles", async () => {
    const again = Array.from({ length: 8 }, () => work("x"));
    const h = new Harness({
      script: [plan("a"), ...again.slice(0, 4), ...again.slice(0, 4), update(), deliver("F")],
    });
    await h.run("Do");
    expect(h.offered(6)).toEqual(["complete_step"]);
    expect(h.tools.dispatched).toHaveLength(4);
    expect(h.of("step").at(-1)).toMatchObject({ status: "failed" });
    sound(h);
  });

  it("N3: in a chat no tool may be called any more, and the model answers", async () => {
    const h = new Harness({
      mode: "chat",
      script: [read("x"), read("x"), read("x"), text("fine")],
    });
    await h.run("q");
    expect(h.requests[3]?.tool_choice).toBe("none");
    expect(h.tools.dispatched).toHaveLength(1);
    expect(answer(h)).toBe("fine");
    sound(h);
  });

  it("identical twins in one reply run once", async () => {
    const twins = call(
      ["file_write", { path: "x", content: "1" }],
      ["file_write", { content: "1", path: "x" }],
    );
    const h = await new Harness({ script: [plan("a"), twins, complete(true)] }).run("Do");
    expect(h.tools.dispatched).toHaveLength(1);
    expect(results(h, 3)[1]).toContain("the same call stands earlier");
    sound(h);
  });

  it("a repeated read survives a crash before its result is kept", async () => {
    const h = new Harness({ script: [plan("a"), read("x"), read("x"), work(), complete(true)] });
    h.disk.failAt.add(5);
    await h.run("Do");
    expect(h.head.status).toBe("completed");
    expect(h.tools.dispatched.filter((r) => r.name === "file_read").length).toBeLessThanOrEqual(2);
    sound(h);
  });

  it("can be switched off", async () => {
    const h = new Harness({
      script: [plan("a"), read("x"), read("x"), complete(true)],
      settings: { duplicates: { enabled: false } },
    });
    await h.run("Do");
    expect(h.tools.dispatched).toHaveLength(2);
    sound(h);
  });
});

describe("hygiene", () => {
  it.each([
    ["fenced", '```json\n{"path":"x"}\n```'],
    ["double-encoded", JSON.stringify('{"path":"x"}')],
    ["with a trailing comma", '{"path":"x",}'],
    ["with an unknown key and a poisoned one", '{"path":"x","nonsense":1,"__proto__":{"a":1}}'],
  ])("arguments %s are the arguments", async (_, args) => {
    const h = await flow([call(["file_read", args]), respond("done")]);
    expect(h.tools.dispatched.map((r) => r.args)).toEqual([{ path: "x" }]);
    const kept = h.requests[1]?.messages[2]?.tool_calls?.[0]?.function.arguments ?? "";
    expect(JSON.parse(kept)).toEqual({ path: "x" });
    sound(h);
  });
  it.each(["functions.file_read", "File_Read", "file_read()", "<|channel|>file_read"])(
    "the name %s is file_read",
    async (name) => {
      const h = await flow([call([name, { path: "x" }]), respond("done")]);
      expect(h.tools.dispatched.map((r) => r.name)).toEqual(["file_read"]);
      sound(h);
    },
  );
  it("40 calls in one reply all run and are all answered", async () => {
    const many = call(
      ...Array.from({ length: 40 }, (_, i): [string, unknown] => ["file_read", { path: `f${i}` }]),
    );
    const h = await flow([many, respond("done")]);
    expect(h.tools.dispatched).toHaveLength(40);
    expect(results(h, 2)).toHaveLength(40);
    sound(h);
  });
  it("reasoning is kept with its message and shown as thinking, never as the answer", async () => {
    const h = new Harness({ mode: "chat", script: [text("<think>hm, 6*7</think>42")] });
    await h.run("q");
    expect(h.of("message").at(-1)).toMatchObject({ content: "42", thinking: "hm, 6*7" });
    sound(h);
  });
});

describe("duplicates and change", () => {
  /** A tiny file: a read gives what was written last. */
  const withFile = (h: Harness) => {
    let content = "OLD";
    h.tools.behaviour = (run) => {
      if (run.name === "file_write") content = String(run.args.content);
      return succeed(run.name === "file_read" ? content : "ok");
    };
    return {
      put: (text: string) => {
        content = text;
      },
    };
  };

  it("a read behind a write in the same reply reads what was written", async () => {
    const both = call(["file_write", { path: "x", content: "NEW" }], ["file_read", { path: "x" }]);
    const h = new Harness({ script: [plan("a"), read("x"), both, complete(true)] });
    withFile(h);
    await h.run("Do");
    expect(results(h, 4).at(-1)).toBe("NEW");
    sound(h);
  });

  it("after an answer, a steer or an upload what was read before is read again", async () => {
    const ask = call(["message_ask_user", { text: "Done?" }]);
    const h = new Harness({ script: [plan("a"), read("x"), ask, read("x"), complete(true)] });
    const file = withFile(h);
    await h.run("Do");
    file.put("CORRECTED");
    h.answer("I uploaded a corrected one");
    await h.settle();
    expect(results(h, 5).at(-1)).toBe("CORRECTED");
    sound(h);

    const g = new Harness({
      mode: "chat",
      script: [read("x"), { ...read("x"), held: true }, text("ok")],
    });
    const other = withFile(g);
    await g.run("q");
    other.put("UPLOADED");
    g.keep({ type: "touched" });
    g.model.release();
    await g.settle();
    expect(results(g, 3).at(-1)).toBe("UPLOADED");
    sound(g);
  });

  it("a person's words give the tools back to a model that went in circles", async () => {
    const h = new Harness({
      script: [plan("a"), read("x"), read("x"), { ...read("x"), held: true }],
    });
    await h.run("Do");
    h.say("read y instead");
    h.model.add(read("y"), complete(true));
    h.model.release();
    await h.settle();
    expect(h.offered(5)).toContain("file_read");
    expect(h.head.status).toBe("completed");
    sound(h);
  });

  it("another call in between makes it no row of the same", async () => {
    const test: Scripted = call(["shell_exec", { command: "npm test" }]);
    const h = await new Harness({
      script: [plan("a"), test, read("1"), test, read("2"), test, complete(true)],
    }).run("Do");
    expect(h.of("nudge")).toEqual([]);
    sound(h);
  });

  it("a read whose result is only shown shortened is made again", async () => {
    const script = [
      plan("a"),
      read("x"),
      ...Array.from({ length: 6 }, (_, i) => work(`f${i}`)),
      read("x"),
      complete(true),
    ];
    const h = new Harness({
      script: script.map((r) => ({ ...r, usage: null })),
      settings: {
        limits: { maxContextTokens: 4_000 },
        harness: { compact: { keepRecentSteps: 1 } },
      },
    });
    h.tools.behaviour = () => succeed("r".repeat(3_000));
    await h.run("Do");
    expect(h.tools.dispatched.filter((r) => r.name === "file_read")).toHaveLength(2);
    sound(h);
  });
});

describe("ends", () => {
  it("several in one reply: the last valid one counts, and every call is answered", async () => {
    const harness = { terminalTools: ["file_write", "agent_response"] };
    const many = call(
      ["file_write", { path: "1", content: "" }],
      ["file_write", { path: "2", content: "" }],
      ["agent_response", { text: "done" }],
    );
    const h = await flow([many], harness);
    h.model.add(read("a"), respond("again"));
    await h.run("More");
    expect(h.tools.dispatched.map((r) => r.name)).toEqual(["file_read"]);
    expect(answer(h)).toBe("again");
    sound(h);
  });

  it("required steps do not hold back the summary of a plan that failed", async () => {
    const h = new Harness({
      settings: { harness: { requiredSteps: ["file_read"] } },
      script: [plan("a"), complete(false, "no"), update(), deliver("It did not work.")],
    });
    await h.run("Do");
    expect(answer(h)).toBe("It did not work.");
    sound(h);
  });

  it("a question that was answered meets a prerequisite", async () => {
    const harness = { toolPrerequisites: { shell_exec: [{ tool: "message_ask_user" }] } };
    const h = await flow([call(["message_ask_user", { text: "May I?" }])], harness);
    h.model.add(call(["shell_exec", { command: "x" }]), respond("done"));
    h.answer("yes");
    await h.settle();
    expect(h.tools.dispatched).toHaveLength(1);
    sound(h);
  });

  it("that come too early are counted though other work stands between them", async () => {
    const script = Array.from({ length: 4 }, (_, i) => [respond("early"), read(`f${i}`)]).flat();
    const h = await flow(script.slice(0, 7), { requiredSteps: ["file_write"] });
    expect(h.of("error")[0]).toMatchObject({ code: "retry_exhausted" });
    sound(h);
  });
});

describe("what is not said is not run", () => {
  const guarded: Options = { mode: "chat", settings: { harness: { enabled: true } } };
  const inline = '{"name":"shell_exec","arguments":{"command":"rm -rf build"}}';

  it.each([
    ["prose around it", `The line ${inline} asks the shell to delete build. Be careful with it.`],
    [
      "a fence and a warning",
      `\`\`\`json\n${inline}\n\`\`\`\nI will not run it unless you say so.`,
    ],
    ["inline code", `It says \`<tool_call>${inline}</tool_call>\` there.`],
  ])("a quoted call in an answer: %s", async (_, said) => {
    const h = new Harness({ ...guarded, script: [text(said)] });
    await h.run("what does this line mean?");
    expect(h.tools.dispatched).toEqual([]);
    expect(answer(h)).toBe(said);
    sound(h);
  });

  it("calls of a reply that the provider filtered", async () => {
    const h = await flow([{ ...read("x"), finish: "content_filter" }, respond("ok")]);
    expect(h.tools.dispatched).toEqual([]);
    sound(h);
  });

  it("a refusal is nudged once, then it is the answer", async () => {
    const no = { ...text("I cannot."), finish: "refusal" };
    const h = new Harness({ ...guarded, script: [no, no] });
    await h.run("q");
    expect(h.of("nudge").map((n) => n.reason)).toEqual(["empty_reply"]);
    expect(answer(h)).toBe("I cannot.");
    sound(h);
  });

  it("a call that was written as text and cannot be read is no answer", async () => {
    const h = new Harness({
      ...guarded,
      script: [text('<tool_call>{"name":"file_read", "argu'), text("fine")],
    });
    await h.run("q");
    expect(answer(h)).toBe("fine");
    sound(h);
  });
});

describe("an end that says nothing", () => {
  it("a blank agent_response is no answer", async () => {
    const h = await flow([respond("  \n"), respond("done")]);
    expect(h.of("nudge").map((n) => n.reason)).toEqual(["invalid_arguments"]);
    expect(answer(h)).toBe("done");
    sound(h);
  });
  it("a token that ends a turn inside a model is not text", async () => {
    const h = new Harness({ mode: "chat", script: [text(" \n</s>\n"), text("42<|im_end|>")] });
    await h.run("q");
    expect(h.of("nudge").map((n) => n.reason)).toEqual(["empty_reply"]);
    expect(answer(h)).toBe("42");
    sound(h);
  });
});
