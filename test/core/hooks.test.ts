/** Hooks, one by one, and what one that throws does: OS-S1, OS-S6, OS-S7, OS-8, OS-9, OS-10, OS-13, OS-20 … OS-22. */
import { describe, expect, it } from "vitest";
import { exampleHooks } from "../../examples/04-hooks.ts";
import type { Conclusion, Hooks } from "../../src/core/hooks.ts";
import type { JsonObject } from "../../src/core/tool.ts";
import type { Stage } from "../../src/core/trace.ts";
import { call, complete, fail, Harness, plan, type Scripted, text, work } from "../fakes.ts";

const sound = (h: Harness) => expect(h.faults()).toEqual([]);
const read = (path = "a"): Scripted => call(["file_read", { path }]);
const chat = (hooks: Hooks, script: Scripted[]) =>
  new Harness({ mode: "chat", hooks, script }).run("q");
const boom = (): never => {
  throw new Error("boom");
};
const results = (h: Harness) =>
  h.disk.rows
    .filter((r) => r.kind === "result")
    .map((r) => (JSON.parse(r.json) as { content: string }).content);

it("OS-S1: the stages of one tool and an answer come in exactly this order", async () => {
  const stages: Stage[] = [];
  const h = await chat({ trace: (stage) => void stages.push(stage) }, [read(), text("It says x.")]);
  expect(stages.map((s) => s.stage)).toEqual([
    "turn_start",
    "lap_start",
    "request_start",
    "request_end",
    "reply",
    "tool_start",
    "tool_end",
    "lap_end",
    "lap_start",
    "request_start",
    "request_end",
    "reply",
    "text",
    "lap_end",
    "turn_end",
  ]);
  expect(stages[4]).toEqual({ stage: "reply", calls: ["file_read"] });
  expect(stages.at(-1)).toEqual({ stage: "turn_end", status: "completed" });
  sound(h);
});

describe("the trace", () => {
  it("shows a refused reply, a failed call and its next try", async () => {
    const stages: Stage[] = [];
    const script = [text("no"), fail("provider_error", true), plan("a"), work(), complete(true)];
    const h = new Harness({ script, hooks: { trace: (s) => void stages.push(s) } });
    await h.run("Do");
    const laps = stages.filter((s) => s.stage === "lap_end").map((s) => s.accepted);
    expect(laps).toEqual([false, true, true, true]);
    const tries = stages.filter((s) => s.stage === "request_start").map((s) => s.attempt);
    expect(tries).toEqual([1, 1, 2, 1, 1]);
    sound(h);
  });

  it("ends with the turn when it is stopped", async () => {
    const stages: Stage[] = [];
    const h = new Harness({ script: [], hooks: { trace: (s) => void stages.push(s) } });
    await h.run("Do");
    h.stop();
    expect(stages.slice(-2)).toEqual([
      { stage: "lap_end", accepted: false },
      { stage: "turn_end", status: "stopped" },
    ]);
  });

  it("OS-20: that throws disturbs nothing", async () => {
    const h = await chat({ trace: boom }, [read(), text("ok")]);
    expect(h.head.status).toBe("completed");
    sound(h);
  });
});

describe("OS-S7: hooks around the model", () => {
  it("that all throw leave the run as it is, and are reported", async () => {
    const reported: string[] = [];
    const hooks: Hooks = {
      transformMessages: boom,
      beforeRequest: async () => boom(),
      afterResponse: boom,
      report: (hook) => void reported.push(hook),
    };
    const script = [read(), text("ok")];
    const h = await chat(hooks, [...script]);
    const bare = await chat({}, script);
    expect(h.model.bodies).toEqual(bare.model.bodies);
    expect(h.of("message").at(-1)?.content).toBe("ok");
    expect(reported).toEqual([
      "transformMessages",
      "beforeRequest",
      "afterResponse",
      "transformMessages",
      "beforeRequest",
      "afterResponse",
    ]);
    sound(h);
  });

  it("change the messages, the request and the reply, and know what it is about", async () => {
    const seen: unknown[] = [];
    const hooks: Hooks = {
      transformMessages: (messages, about) => {
        seen.push(about);
        return [...messages, { role: "user", content: "P.S." }];
      },
      beforeRequest: async (request) => ({ user: "u1", ...request }),
      afterResponse: (r) => ("text" in r ? { ...r, text: r.text.toUpperCase() } : undefined),
    };
    const h = await chat(hooks, [text("loud")]);
    const request = h.requests[0] as unknown as JsonObject & { messages: { content: string }[] };
    expect(request.user).toBe("u1");
    expect(Object.keys(request).at(-1)).toBe("messages");
    expect(request.messages.at(-1)?.content).toBe("P.S.");
    expect(seen).toEqual([
      { session: "s1", run: 1, role: "assistant", phase: "answering", iteration: 0 },
    ]);
    expect(h.of("message").at(-1)?.content).toBe("LOUD");
    // Nothing of it is remembered: the next request begins from what the session knows.
    expect(h.disk.rows.some((r) => r.json.includes("P.S."))).toBe(false);
  });

  it("hear of a failure, and cannot turn it into a reply", async () => {
    const heard: unknown[] = [];
    const hooks: Hooks = {
      afterResponse: (r) => {
        heard.push("code" in r ? r.code : "reply");
        return { text: "fake", thinking: "", calls: [], finish: "stop", model: "", usage: null };
      },
    };
    const h = await chat(hooks, [fail("provider_auth", false)]);
    expect(heard).toEqual(["provider_auth"]);
    expect(h.log.at(-1)).toBe("status(failed)");
  });

  it("that are slow when the user stops never let the request out", async () => {
    let go: () => void = () => {};
    const slow = new Promise<undefined>((resolve) => {
      go = () => resolve(undefined);
    });
    const h = new Harness({
      mode: "chat",
      hooks: { beforeRequest: () => slow },
      script: [text("a")],
    });
    await h.run("q");
    h.stop();
    go();
    await h.settle();
    expect(h.requests).toHaveLength(0);
    expect(h.log.at(-1)).toBe("status(stopped)");
  });

  it("are not there by default: the request's bytes are the core's own", async () => {
    const plain = await chat({}, [text("a")]);
    const idle = await chat({ transformMessages: () => undefined }, [text("a")]);
    expect(idle.model.bodies).toEqual(plain.model.bodies);
  });
});

describe("OS-S7, OS-21: beforeToolCall", () => {
  it("that throws fails closed: the call gets an error result and is not run", async () => {
    const h = await chat({ beforeToolCall: boom }, [read(), text("ok")]);
    expect(h.tools.dispatched).toEqual([]);
    expect(results(h)[0]).toContain("Blocked, not run");
    expect(h.of("tool").map((t) => [t.status, t.ok])).toEqual([
      ["calling", undefined],
      ["called", false],
    ]);
    expect(h.head.status).toBe("completed");
    sound(h);
  });

  it("blocks one call with its reason; the others run", async () => {
    const hooks: Hooks = {
      beforeToolCall: async ({ args }) =>
        args.path === "x" ? { block: "x is off limits" } : undefined,
    };
    const batch = call(["file_read", { path: "x" }], ["file_read", { path: "y" }]);
    const h = await chat(hooks, [batch, text("ok")]);
    expect(h.tools.dispatched.map((r) => r.args.path)).toEqual(["y"]);
    expect(results(h)[0]).toContain("x is off limits");
    sound(h);
  });

  it("is asked again before a call is run again after a crash", async () => {
    let asked = 0;
    const hooks: Hooks = {
      beforeToolCall: () => {
        asked += 1;
        return undefined;
      },
    };
    const h = new Harness({ mode: "chat", hooks, script: [read(), text("ok")] });
    h.tools.behaviour = () => "hang";
    await h.run("q");
    h.tools.behaviour = () => ({ ok: true, text: "x" });
    h.crash();
    await h.settle();
    expect(asked).toBe(2);
    sound(h);
  });
});

describe("OS-S7, OS-22: afterToolCall", () => {
  it("that throws leaves the result as it is", async () => {
    const h = await chat({ afterToolCall: boom }, [read(), text("ok")]);
    expect(results(h)).toEqual(["ok"]);
    sound(h);
  });

  it("may patch the text and whether it succeeded", async () => {
    const hooks: Hooks = { afterToolCall: (_, r) => ({ ...r, ok: false, text: "redacted" }) };
    const h = await chat(hooks, [read(), text("ok")]);
    expect(results(h)[0]).toContain("redacted");
    expect(h.of("tool")[1]?.ok).toBe(false);
    sound(h);
  });
});

describe("OS-8: filterTools", () => {
  it("takes tools away for the whole turn, and a call of one is refused", async () => {
    let asked = 0;
    const hooks: Hooks = {
      filterTools: (tools) => {
        asked += 1;
        return tools.filter((t) => t.name !== "shell_exec");
      },
    };
    const script = [plan("a"), call(["shell_exec", { command: "x" }]), work(), complete(true)];
    const h = await new Harness({ hooks, script }).run("Do");
    expect(h.offered(2)).not.toContain("shell_exec");
    expect(h.requests[0]?.messages[0]?.content).not.toContain("shell_exec");
    expect(h.of("nudge").map((n) => n.reason)).toEqual(["unknown_tool"]);
    expect(asked).toBe(1);
    sound(h);
  });

  it("cannot bring back what the settings deny", async () => {
    const all: { current: unknown } = { current: null };
    const hooks: Hooks = {
      filterTools: (tools) => {
        all.current ??= tools;
        return all.current as typeof tools;
      },
    };
    const settings = { tools: { approval: { shell_exec: "deny" as const } } };
    const h = await new Harness({ mode: "chat", hooks, settings, script: [text("a")] }).run("q");
    expect(h.offered(1)).not.toContain("shell_exec");
  });

  it("that throws offers nothing", async () => {
    const h = await chat({ filterTools: boom }, [text("a")]);
    expect(h.offered(1)).toEqual([]);
    expect(h.head.status).toBe("completed");
  });
});

describe("OS-S6: shouldAcceptConclusion", () => {
  const needsWork: Hooks = {
    shouldAcceptConclusion: ({ work: done }) =>
      done > 0 ? { accept: true } : { accept: false, nudge: "Look first." },
  };

  it("refuses a text with its nudge, and accepts after a tool", async () => {
    const h = await chat(needsWork, [text("I think x"), read(), text("It is y")]);
    expect(h.roles(2)).toBe("suau");
    expect(h.last(2)).toBe("Look first.");
    expect(
      h
        .of("message")
        .filter((m) => m.role === "assistant")
        .map((m) => m.content),
    ).toEqual(["It is y"]);
    // What had streamed of the refused answer is taken back.
    expect(h.live.map((f) => f.event)).toEqual(["message_delta", "delta_reset", "message_delta"]);
    sound(h);
  });

  it("is asked about the end of a step, with what it says and the work behind it", async () => {
    const asked: Conclusion[] = [];
    const hooks: Hooks = {
      shouldAcceptConclusion: (c) => {
        asked.push(c);
        return asked.length === 1 ? { accept: false, nudge: "Test it." } : { accept: true };
      },
    };
    const script = [plan("a"), work(), complete(true, "r1"), work("t"), complete(true, "r2")];
    const h = await new Harness({ hooks, script }).run("Do");
    expect(asked.map((c) => [c.tool, c.text, c.work, c.iteration])).toEqual([
      ["complete_step", "r1", 1, 2],
      ["complete_step", "r2", 2, 4],
    ]);
    sound(h);
  });

  it("OS-13: a refusal without words gets some, or the model would loop on the same request", async () => {
    let times = 0;
    const hooks: Hooks = {
      shouldAcceptConclusion: () =>
        times++ === 0 ? { accept: false, nudge: " " } : { accept: true },
    };
    const h = await chat(hooks, [text("a"), text("b")]);
    expect(h.last(2).trim()).not.toBe("");
    expect(h.model.bodies[1]).not.toBe(h.model.bodies[0]);
    sound(h);
  });

  it("that refuses for ever is capped", async () => {
    const hooks: Hooks = { shouldAcceptConclusion: () => ({ accept: false, nudge: "no" }) };
    const h = await chat(hooks, Array<Scripted>(4).fill(text("a")));
    expect(h.log.slice(-3)).toEqual(["error(retry_exhausted)", "done(failed)", "status(failed)"]);
    sound(h);
  });

  it("that throws lets the conclusion stand", async () => {
    const h = await chat({ shouldAcceptConclusion: boom }, [text("a")]);
    expect(h.head.status).toBe("completed");
  });
});

it("the example works as it says", async () => {
  const quiet = { ...exampleHooks, trace: () => {} };
  const secret = "key sk-abcdefghijklmnopqrst";
  const h = new Harness({
    mode: "chat",
    hooks: quiet,
    script: [
      text("I guess"),
      call(["file_read", { path: "/workspace/secrets/a" }], ["file_read", { path: "b" }]),
      text("Done"),
    ],
  });
  h.tools.behaviour = () => ({ ok: true, text: secret });
  await h.run("q");
  expect(h.offered(1)).not.toContain("file_write");
  expect(h.last(2)).toContain("Look it up");
  expect(results(h)[0]).toContain("is locked");
  expect(results(h)[1]).toBe("key ***");
  expect(h.of("message").at(-1)?.content).toBe("Done");
  sound(h);
});
