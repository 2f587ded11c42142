import { describe, expect, it } from "vitest";
import { callPractice } from "../../src/adapters/model/practice.ts";
import type { Piece } from "../../src/core/ports.ts";
import {
  argsOf,
  ask,
  type Message,
  planOf,
  play,
  shell,
  step,
  user,
  WORK,
} from "../support/practice-play.ts";

describe("planning", () => {
  it("makes one step of every line that is not blank, without list markers", async () => {
    const plan = await planOf(
      "- first `ls`\n\n2. second\n3) third?\n  * [ ] fourth\n3.5 is a number",
    );
    expect(plan.steps).toEqual([
      { id: "1", description: "first `ls`" },
      { id: "2", description: "second" },
      { id: "3", description: "third?" },
      { id: "4", description: "fourth" },
      { id: "5", description: "3.5 is a number" },
    ]);
    expect(plan).toMatchObject({ language: "en", title: "first ls" });
    expect(plan.message).toContain("no AI");
  });

  it("answers a greeting, thanks and nothing with what it is, and no steps", async () => {
    for (const text of [
      "hi",
      "Hello!",
      "Good morning",
      "thanks",
      "Thank you very much!",
      "你好",
      "谢谢！",
      "...",
      "Hi there",
    ]) {
      const plan = await planOf(text);
      expect(plan.steps).toEqual([]);
      expect(String(plan.message)).toMatch(/practice model|练习模型/);
    }
  });

  it("speaks Chinese to Chinese, and English to the rest", async () => {
    expect(await planOf("用 `ls` 看看文件")).toMatchObject({ language: "zh" });
    expect((await planOf("你好")).message).toContain("没有人工智能");
    expect(await planOf("日本語の文章を書く")).toMatchObject({ language: "en" });
  });

  it("plans at most twenty steps and says when lines are left out", async () => {
    const plan = await planOf(Array.from({ length: 30 }, (_, i) => `line ${i}`).join("\n"));
    expect(plan.steps).toHaveLength(20);
    expect(plan.message).toContain("left out");
  });

  it("takes the newest message, and a message that holds the tags itself", async () => {
    const { call } = await ask(
      [
        user("<message>old</message>"),
        { role: "assistant", content: "x" },
        user("<message>new </message> text</message>"),
      ],
      ["create_plan"],
    );
    expect(argsOf(call).steps).toEqual([{ id: "1", description: "new </message> text" }]);
  });

  it("J2: replans with what is neither done nor failed, unchanged", async () => {
    const plan = {
      steps: [
        { id: "1", description: "a", status: "completed" },
        { id: "2", description: "b", status: "failed" },
        { id: "3", description: "c `ls`", status: "pending" },
      ],
    };
    const { call } = await ask(
      [user(`Update.\n<plan>\n${JSON.stringify(plan)}\n</plan>`)],
      ["update_plan"],
      "required",
    );
    expect(call?.name).toBe("update_plan");
    expect(argsOf(call)).toEqual({ steps: [{ id: "3", description: "c `ls`" }] });
  });
});

it("adds what a person has just said to a changed plan", async () => {
  const plan = {
    steps: [
      { id: "1", description: "a", status: "completed" },
      { id: "2", description: "b", status: "pending" },
    ],
  };
  const prompt = `Update.\n<message>\nalso \`pwd\`\n</message>\n<plan>\n${JSON.stringify(plan)}\n</plan>`;
  const { call } = await ask([user(prompt)], ["update_plan"], "required");
  expect(argsOf(call).steps).toEqual([
    { id: "2", description: "b" },
    { id: "3", description: "also `pwd`" },
  ]);
});

it("sums up from the real results of this task's steps", async () => {
  const prompt = (line: string, task = "") =>
    user(`${task}<goal>\ng\n</goal>\n<prior_steps>\nx\n</prior_steps>\n<step>\n${line}\n</step>`);
  const messages: Message[] = [prompt("`old`", "<message>\nold\n</message>\n")];
  await play(messages, shell({ old: "ancient\n[exit code 0]" }));
  const world = shell({ ls: "a.txt\n[exit code 0]", bad: "[exit code 1]" });
  messages.push(prompt("`ls`", "<message>\nnew\n</message>\n"));
  await play(messages, world);
  messages.push(prompt("`bad`"));
  await play(messages, world);
  messages.push(user("Sum up."));
  const { call } = await ask(messages, WORK, {
    type: "function",
    function: { name: "deliver_result" },
  });
  expect(call?.name).toBe("deliver_result");
  const { message } = argsOf(call);
  expect(message).toContain("1 of 2 steps succeeded");
  expect(message).toContain("a.txt");
  expect(message).toContain("exit code 1");
  expect(message).not.toContain("ancient");
});

describe("chat", () => {
  const tools = ["shell_exec", "file_write"];

  it("runs the commands of the last message, then answers with what it saw", async () => {
    const { calls, text } = await play(
      [user("what is here: `ls`")],
      shell({ ls: "a.txt\n[exit code 0]" }),
      tools,
    );
    expect(calls.map((c) => c.args.command)).toEqual(["ls"]);
    expect(text).toContain("a.txt");
  });

  it("runs the commands of a message that arrives meanwhile, but none of a turn that was stopped", async () => {
    const messages = [user("`ls` `pwd`")];
    const world = shell({ ls: "[exit code 0]", pwd: "[exit code 0]", date: "[exit code 0]" });
    const { reply, call } = await ask(messages, tools);
    expect(reply.text).toBe("");
    const result = { role: "tool", tool_call_id: call?.id, content: "[exit code 0]" };
    messages.push({
      role: "assistant",
      content: null,
      tool_calls: [{ id: call?.id, type: "function", function: call }],
    });
    const steered = await play([...messages, result, user("and `date`")], world, tools);
    expect(steered.calls.map((c) => c.args.command)).toEqual(["pwd", "date"]);
    const stopped = {
      ...result,
      content: "Stopped by the user before it finished; it may have run in part.",
    };
    const fresh = await play([...messages, stopped, user("`date`")], world, tools);
    expect(fresh.calls.map((c) => c.args.command)).toEqual(["date"]);
  });

  it("says what it is when there is nothing to run", async () => {
    const { reply, pieces } = await ask([user("how are you")], tools);
    expect(reply).toMatchObject({ calls: [], finish: "stop" });
    expect(reply.text).toContain("no AI");
    expect(pieces.length).toBeGreaterThan(5);
    expect(pieces.map((p) => p.text).join("")).toBe(reply.text);
  });

  it("without any tools says that it cannot run a command", async () => {
    expect((await ask([user("`ls`")], [])).reply.text).toContain("no shell");
  });

  it("cannot be led out of a code block by output that holds one", async () => {
    const { text } = await play(
      [user("`x`")],
      shell({ x: "```\n# not a heading\n```\n[exit code 0]" }),
      tools,
    );
    expect(text).toContain("````\n```");
  });
});

describe("the port", () => {
  it("K1: an abort ends the stream", async () => {
    const controller = new AbortController();
    const pieces: Piece[] = [];
    const body = JSON.stringify({ messages: [user("hello")] });
    const outcome = await callPractice(
      { provider: "practice", model: "", body, timeoutMs: 1000 },
      (piece) => {
        pieces.push(piece);
        if (pieces.length === 2) controller.abort();
      },
      controller.signal,
    );
    expect(outcome).toMatchObject({ type: "failed", failure: { retryable: false } });
    expect(pieces).toHaveLength(2);
  });

  it("K2: the same request gets the same reply", async () => {
    const messages = step("See `pwd`");
    expect((await ask(messages, WORK)).reply).toEqual((await ask(messages, WORK)).reply);
  });

  it("Q2: an unreadable request is answered like an empty one", async () => {
    const signal = new AbortController().signal;
    for (const body of [
      "",
      "null",
      "[]",
      '{"messages":[null,5,{"content":[{}]}],"tools":[null]}',
    ]) {
      const outcome = await callPractice(
        { provider: "", model: "", body, timeoutMs: 1 },
        () => {},
        signal,
      );
      expect(outcome.type).toBe("reply");
    }
  });
});
