/** A24: a stop in every phase, core side: nothing runs after it, not across a wake either, and the next message works. */
import { describe, expect, it } from "vitest";
import {
  askUser,
  call,
  complete,
  deliver,
  fail,
  Harness,
  type Options,
  plan,
  review,
  type Scripted,
  succeed,
  text,
  update,
  work,
} from "../fakes.ts";

const HANG: Scripted = { hang: true };
const read = (path: string): [string, unknown] => ["file_read", { path }];
interface Place extends Options {
  status?: "waiting";
  /** Calls that must have been cancelled by the stop: models', tools'. */
  models?: number;
  tools?: number;
}
const PLACES: Record<string, Place> = {
  planning: { script: [HANG], models: 1 },
  "the executor thinks": { script: [plan("a"), HANG], models: 1 },
  "a tool runs": { script: [plan("a"), call(read("slow"))], tools: 1 },
  "between two tools": {
    script: [plan("a"), call(["file_write", { path: "1", content: "" }], read("slow"), read("3"))],
    tools: 1,
  },
  updating: { script: [plan("a"), complete(false), HANG], models: 1 },
  reviewing: {
    settings: { reviewer: { enabled: true } },
    script: [plan("a"), work(), complete(true), HANG],
    models: 1,
  },
  summarizing: {
    settings: { summarize: "always" },
    script: [plan("a"), work(), complete(true), HANG],
    models: 1,
  },
  "a long history was just compacted": {
    settings: { limits: { maxContextTokens: 2_600 }, harness: { compact: { keepRecentSteps: 1 } } },
    script: [plan("a"), ...["1", "2", "3"].map((p) => ({ ...call(read(p)), usage: null })), HANG],
    models: 1,
  },
  "it waits for an answer": { status: "waiting", script: [plan("a"), askUser("?")] },
  "it waits for an approval": {
    status: "waiting",
    settings: { tools: { approval: { file_write: "ask" } } },
    script: [plan("a"), work()],
  },
  "it waits for more of a budget": {
    status: "waiting",
    settings: { budget: { maxTokens: 1 } },
    script: [plan("a")],
  },
  "a chat speaks": { mode: "chat", script: [HANG], models: 1 },
  "evidence is gathered": {
    mode: "direct",
    settings: {
      evidence: { enabled: true, seeds: [{ tool: "file_read", args: { path: "slow" } }] },
    },
    script: [],
    tools: 1,
  },
};

const spent = (h: Harness) => [h.model.bodies.length, h.tools.dispatched.length];

describe.each(Object.entries(PLACES))("A24: a stop while %s", (_, place) => {
  it.each(["at once", "right after an eviction"])(
    "%s ends everything, and the next message works",
    async (when) => {
      const h = new Harness(place);
      h.tools.behaviour = (run) =>
        run.args.path === "slow" ? "hang" : { ok: true, text: "r".repeat(1_500) };
      await h.run("Do");
      expect(h.head.status).toBe(place.status ?? "running");
      if (when !== "at once") {
        h.crash();
        await h.settle();
      }
      const before = spent(h);
      const cancelled = { models: h.model.cancelled, tools: h.tools.cancelled.length };
      h.stop();
      // Synchronous: a stop waits for nothing.
      expect(h.log.slice(-2)).toEqual(["done(stopped)", "status(stopped)"]);
      expect(h.model.cancelled - cancelled.models).toBe(place.models ?? 0);
      expect(h.tools.cancelled.length - cancelled.tools).toBe(place.tools ?? 0);
      await h.settle();
      h.crash();
      await h.settle();
      expect(spent(h)).toEqual(before);
      expect(h.head).toMatchObject({ batch: null, wait: null, retry: null, queue: [] });
      expect(h.events.filter((e) => e.event === "done")).toHaveLength(1);

      h.tools.behaviour = () => succeed();
      h.model.fallback = (r) => {
        const tools = new Set(r.tools?.map((t) => t.function.name));
        if (tools.has("create_plan")) return plan("z");
        if (tools.has("submit_review")) return review("pass");
        if (!tools.has("complete_step")) return text("z");
        if (r.tool_choice !== "auto") return deliver("Z");
        return r.messages.at(-1)?.role === "tool" ? complete(true) : work("z");
      };
      await h.run("next");
      // A session that asks for everything asks again; it is alive all the same.
      for (let i = 0; i < 5 && h.head.status === "waiting"; i++) {
        h.decide(true);
        await h.settle();
      }
      expect(h.head).toMatchObject({ status: "completed", run: 2 });
      expect(h.faults()).toEqual([]);
    },
  );
});

it("A24: a stop during the sleep after a 429 ends the sleep, and no alarm wakes the model", async () => {
  const h = new Harness({ script: [fail("rate_limited", true, 60_000), update()] });
  h.say("Do");
  await new Promise((r) => setImmediate(r));
  h.stop();
  expect(h.wakeAt).toBe(null);
  h.now += 120_000;
  h.kick();
  await h.settle();
  expect(h.requests).toHaveLength(1);
  expect(h.log.slice(-2)).toEqual(["done(stopped)", "status(stopped)"]);
});

it("A01: after a stop in the middle of two calls both are answered, neither runs again, and the next message works", async () => {
  const two = call(
    ["shell_exec", { command: "sleep 60" }],
    ["shell_exec", { command: "echo two" }],
  );
  const h = new Harness({ script: [plan("look"), two] });
  h.tools.behaviour = () => "hang";
  await h.run("list files");
  h.stop();
  h.tools.behaviour = () => succeed();
  h.model.add(plan("hi"), work(), complete(true, "hi"));
  await h.run("never mind, say hi");
  const results = h.requests[3]?.messages.filter((m) => m.role === "tool").map((m) => m.content);
  expect(results).toEqual([
    expect.stringMatching(/^Stopped by the user.*may have run in part/),
    expect.stringMatching(/^Not run/),
  ]);
  expect(h.tools.effects.filter((e) => e.startsWith("shell"))).toHaveLength(1);
  expect(h.log.filter((l) => l === "done(stopped)")).toHaveLength(1);
  expect(h.faults()).toEqual([]);
});
