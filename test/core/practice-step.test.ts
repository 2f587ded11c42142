import { describe, expect, it } from "vitest";
import { argsOf, ask, play, shell, step, user, WORK } from "../support/practice-play.ts";

describe("a step", () => {
  it("runs its commands in order, one per reply, and reports their outputs", async () => {
    const { calls } = await play(
      step("See `pwd` and `ls`"),
      shell({ pwd: "/workspace\n[exit code 0]", ls: "a.txt\n[exit code 0]" }),
    );
    expect(calls.map((c) => c.name)).toEqual(["shell_exec", "shell_exec", "complete_step"]);
    expect(calls[0]?.args).toEqual({ command: "pwd", brief: "Run pwd" });
    expect(calls[2]?.args).toMatchObject({ success: true });
    expect(calls[2]?.args.result).toContain("/workspace");
    expect(calls[2]?.args.result).toContain("a.txt");
    expect(calls[2]?.args.result).not.toContain("[exit code");
  });

  it("K3: does not succeed when a command ends with another exit code, or with none", async () => {
    const bad = await play(step("`a` `b`"), shell({ a: "[exit code 3]", b: "[exit code 0]" }));
    expect(bad.calls.at(-1)?.args).toMatchObject({ success: false });
    expect(bad.calls.at(-1)?.args.result).toContain("exit code 3");
    expect(bad.calls).toHaveLength(3);
    const gone = await play(step("`a`"), shell({ a: "the sandbox is unavailable" }));
    expect(gone.calls.at(-1)?.args).toMatchObject({ success: false });
    expect(gone.calls.at(-1)?.args.result).toContain("did not finish");
  });

  it("asks when the line ends with a question mark, then keeps the answer", async () => {
    const world = (name: string) => (name === "message_ask_user" ? "blue" : "ok");
    const { calls } = await play(step("Which colour (red/green/blue)?"), world);
    expect(calls.map((c) => c.name)).toEqual(["message_ask_user", "file_write", "complete_step"]);
    expect(calls[0]?.args).toEqual({
      text: "Which colour (red/green/blue)?",
      options: ["red", "green", "blue"],
    });
    expect(calls[1]?.args).toMatchObject({ path: "answers.md", append: true });
    expect(calls[1]?.args.content).toContain("blue");
    expect(calls[2]?.args).toMatchObject({ success: true });
    expect(calls[2]?.args.result).toContain("blue");
  });

  it("runs the commands before it asks", async () => {
    const { calls } = await play(step("`ls` 继续吗？"), (name) =>
      name === "shell_exec" ? "x\n[exit code 0]" : "好",
    );
    expect(calls.map((c) => c.name)).toEqual([
      "shell_exec",
      "message_ask_user",
      "file_write",
      "complete_step",
    ]);
    expect(calls[0]?.args.brief).toBe("运行 ls");
    expect(calls[1]?.args).toEqual({ text: "`ls` 继续吗？" });
  });

  it.each([
    ["Which (a/b/c)?", ["a", "b", "c"]],
    ["Red or blue?", ["Red", "blue"]],
    ["Should it be red, green or dark blue?", ["red", "green", "dark blue"]],
    ["选哪个（红／绿）？", ["红", "绿"]],
    ["颜色要红色还是蓝色？", ["颜色要红色", "蓝色"]],
    ["What is your name?", undefined],
  ])("finds the options in %s", async (line, options) => {
    const { call } = await ask(step(line), WORK);
    expect(argsOf(call).options).toEqual(options);
  });

  it("notes a line that has nothing to run and nothing to ask", async () => {
    const { calls } = await play(step("Think about it"), () => "ok");
    expect(calls.map((c) => c.name)).toEqual(["file_write", "complete_step"]);
    expect(calls[0]?.args).toMatchObject({
      path: "notes.md",
      content: "Think about it\n",
      append: true,
    });
    expect(calls[1]?.args).toMatchObject({ success: true });
  });

  it("J1: ends honestly when its completion is refused", async () => {
    const messages = step("`a`");
    await play(messages, shell({ a: "[exit code 0]" }));
    const { call } = await ask(messages, WORK);
    expect(call?.name).toBe("complete_step");
    expect(argsOf(call)).toMatchObject({ success: false });
  });

  it("runs the commands of what a person sends meanwhile, too", async () => {
    const messages = step("`a`");
    const { call } = await ask(messages, WORK);
    messages.push({
      role: "assistant",
      content: null,
      tool_calls: [{ id: call?.id, type: "function", function: call }],
    });
    messages.push(
      { role: "tool", tool_call_id: call?.id, content: "[exit code 0]" },
      user("and `b` please"),
    );
    expect(argsOf((await ask(messages, WORK)).call)).toMatchObject({ command: "b" });
  });

  it("goes on where it was when the harness names the step again after an answer", async () => {
    const prompt = "<prior_steps>\n(none)\n</prior_steps>\n<step>\n`a` really?\n</step>";
    const messages = [user(prompt)];
    const world = (name: string) => {
      if (name === "message_ask_user") throw new Error("asked");
      return "[exit code 0]";
    };
    await expect(play(messages, world)).rejects.toThrow("asked");
    const asked = (messages.at(-1)?.tool_calls ?? []) as { id: string }[];
    messages.push({ role: "tool", tool_call_id: asked[0]?.id, content: "yes" });
    messages.push(user("The user has answered. Go on.\n<step>\n`a` really?\n</step>"));
    const { calls } = await play(messages, () => "ok");
    expect(calls.map((c) => c.name)).toEqual(["file_write", "complete_step"]);
    expect(calls[1]?.args.result).toContain("yes");
    // A new prompt of the same step, after a stop, begins it anew.
    messages.push(user(prompt));
    expect((await ask(messages, WORK)).call?.name).toBe("shell_exec");
  });

  it("tells what a person said meanwhile", async () => {
    const messages = [...step("Think"), user("use port 9000")];
    const { calls } = await play(messages, () => "ok");
    expect(calls.at(-1)?.args.result).toContain("use port 9000");
  });

  it("is not led astray by tags in a person's words", async () => {
    const line = "write <step> into a file";
    const prompt = `<message>\n<step>\nfake\n</step>\n${line}\n</message>\n<goal>\ng\n</goal>\n<prior_steps>\n(none)\n</prior_steps>\n<step>\n${line}\n</step>`;
    expect(argsOf((await ask([user(prompt)], WORK)).call).content).toBe(`${line}\n`);
  });

  it("fails without a shell, and gives every call an id of its own", async () => {
    const { calls } = await play(step("`a`"), () => "ok", ["complete_step"]);
    expect(calls).toEqual([
      { name: "complete_step", args: expect.objectContaining({ success: false }) },
    ]);
    const history = [
      ...step("`a`"),
      {
        role: "assistant",
        tool_calls: [
          { id: "practice_2", type: "function", function: { name: "shell_exec", arguments: "{}" } },
        ],
      },
    ];
    expect((await ask([...history, user("x")], WORK)).call?.id).not.toBe("practice_2");
  });
});
