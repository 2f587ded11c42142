/** The flow as clients see it: waiting messages, budgets, reviews, and a stop in every phase with the calls counted. */
import { abortAllDurableObjects, evictDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect } from "vitest";
import type { SessionView, TurnResult } from "../../src/core/wire.ts";
import { Client, failureOf, it, type Options, until } from "./support/client.ts";
import { atRest, pending, ring } from "./support/crash.ts";
import {
  askUser,
  call,
  complete,
  deliver,
  plan,
  review,
  shell,
  text,
  update,
  write,
} from "./support/replies.ts";
import { Held, type Scripted } from "./support/upstream.ts";

// The first command loads a whole shell; an object that dies while it does would leave the import hanging.
beforeAll(async () => {
  await import("just-bash/browser");
}, 120_000);

const read = (path: string) => call(["file_read", { path, brief: "look" }]);

describe("a waiting message over HTTP", () => {
  const busy = async () => {
    const held = new Held();
    const c = await Client.create([held, text("second"), text("third")], { mode: "chat" });
    await c.say("first");
    await c.say("second?", { id: "c/2 ü", delivery: "follow_up" });
    await c.say("third?", { id: "c3", delivery: "follow_up" });
    const go = () => {
      held.say("one");
      held.end();
    };
    return { c, go };
  };
  const path = (id: string) => `/queue/${encodeURIComponent(id)}`;
  const change = (c: Client, id: string, json: unknown) =>
    c.fetch(path(id), { method: "PATCH", json });

  it("is in the snapshot, is changed by the client's id and taken back by the log's", async () => {
    const { c, go } = await busy();
    const users = (await c.of("message")).filter((m) => m.role === "user");
    expect((await c.view()).queue).toEqual([
      { id: "c/2 ü", message_id: users[1]?.message_id, text: "second?", delivery: "follow_up" },
      { id: "c3", message_id: users[2]?.message_id, text: "third?", delivery: "follow_up" },
    ]);
    const edited = await change(c, "c/2 ü", { text: "zwei?" });
    expect(edited.status).toBe(200);
    expect((await edited.json<SessionView>()).queue[0]?.text).toBe("zwei?");
    const removed = await c.fetch(path(users[2]?.message_id ?? ""), { method: "DELETE" });
    expect([removed.status, await removed.text()]).toEqual([204, ""]);
    go();
    await c.status("completed");
    const asked = c.model.asked.map((a) => a.raw).join();
    expect(asked).toContain("zwei?");
    expect(asked).not.toMatch(/second\?|third\?/);
    expect((await c.of("queue")).map((q) => [q.op, q.client_id])).toEqual([
      ["edited", "c/2 ü"],
      ["removed", "c3"],
    ]);
    // What the log says of it as it was said stays.
    expect((await c.of("message")).map((m) => m.content)).toContain("second?");
    c.model.drop();
  });

  it("is as it was changed after an eviction and after a crash", async () => {
    const { c, go } = await busy();
    await change(c, "c3", { delivery: "steer", text: "drei?" });
    await abortAllDurableObjects();
    expect((await c.view()).queue[1]).toMatchObject({ text: "drei?", delivery: "steer" });
    go();
    await c.status("completed");
  });

  it("that was read, or never was, is 404; what is no change is 400", async () => {
    const { c, go } = await busy();
    for (const bad of [{}, { text: " " }, { text: 7 }, { delivery: "reject" }, { delivery: "x" }]) {
      const response = await change(c, "c3", bad);
      expect([response.status, (await failureOf(response)).code]).toEqual([400, "invalid_request"]);
    }
    const large = await change(c, "c3", { text: "x".repeat(256 * 1024 + 1) });
    expect(large.status).toBe(413);
    go();
    await c.status("completed");
    for (const id of ["c3", "nobody"]) {
      const gone = await change(c, id, { text: "late" });
      expect([gone.status, (await failureOf(gone)).code]).toEqual([404, "message_not_found"]);
      expect((await c.fetch(path(id), { method: "DELETE" })).status).toBe(404);
    }
    expect(await c.of("queue")).toEqual([]);
  });

  it("of somebody else is not there", async () => {
    const { c, go } = await busy();
    const other = new Client({ ...(await c.view()), id: "a".repeat(26) }, c.model, {});
    other.deleted = true;
    expect((await change(other, "c3", { text: "x" })).status).toBe(404);
    go();
    await c.status("completed");
  });
});

describe("a budget over HTTP", () => {
  // The scripted model measures 15 tokens a call.
  const settings = { budget: { maxTokens: 30 } };
  const answer = (c: Client, json: unknown) => c.fetch("/answers", { json });

  it("waits with a TurnResult, survives an eviction without an alarm, and goes on after a yes", async () => {
    const c = await Client.create([plan("a"), write(), complete()], { settings });
    const response = await c.fetch("/messages", {
      json: { text: "Do it" },
      headers: { prefer: "wait=30" },
    });
    const result = await response.json<TurnResult>();
    expect(result).toMatchObject({
      outcome: "waiting",
      wait: { kind: "budget" },
      usage: { model_calls: 2, tool_calls: 1, input_tokens: 20, output_tokens: 10 },
    });
    await atRest(c);
    await evictDurableObject(c.stub);
    const wait_id = result.wait?.wait_id ?? "";
    const wrong = await answer(c, { wait_id, text: "sure" });
    expect(wrong.status).toBe(400);
    expect((await c.say("be quick", { id: "m2" })).delivery).toBe("steer");
    expect((await c.view()).queue).toHaveLength(1);
    expect((await answer(c, { wait_id, approved: true })).status).toBe(202);
    await c.status("completed");
    expect(c.model.asked).toHaveLength(3);
    expect((await answer(c, { wait_id, approved: true })).status).toBe(409);
  });

  it("stops after a no, and nothing is asked any more", async () => {
    const c = await Client.create([plan("a"), write()], { settings });
    await c.say("Do it");
    const { wait } = await c.status("waiting");
    await answer(c, { wait_id: wait?.wait_id, approved: false });
    await c.status("stopped");
    await atRest(c);
    expect(c.model.asked).toHaveLength(2);
    expect((await c.log()).slice(-4)).toEqual([
      "answer",
      "plan(updated)",
      "done(stopped)",
      "status_update(stopped)",
    ]);
  });

  it("tells what each call, the turn and the session cost", async () => {
    const c = await Client.create([text("one"), text("two")], { mode: "chat" });
    const prices = { [c.model.name]: { input: 1, output: 2 } };
    await c.fetch("", { method: "PATCH", json: { settings: { prices } } });
    await c.say("Hi");
    await c.status("completed");
    const response = await c.fetch("/messages", {
      json: { text: "Again" },
      headers: { prefer: "wait=30" },
    });
    expect((await response.json<TurnResult>()).usage).toMatchObject({
      model_calls: 1,
      cost_usd: 0.00002,
    });
    expect((await c.of("usage")).map((u) => u.cost_usd)).toEqual([0.00002, 0.00002]);
    expect((await c.view()).usage.cost_usd).toBe(0.00004);
  });
});

it("HS-S3: a review sends the work back and passes it in the end, over HTTP", async () => {
  const c = await Client.create(
    [
      plan("a"),
      write(),
      complete(),
      review("fail", "retry_actor", "no title"),
      write("b.txt"),
      complete(),
      review("pass"),
      deliver("Good now."),
    ],
    { settings: { reviewer: { enabled: true } } },
  );
  await c.say("Do it");
  await c.status("completed");
  expect((await c.of("review")).map((r) => [r.verdict, r.next_action, r.round])).toEqual([
    ["fail", "retry_actor", 1],
    ["pass", "none", 2],
  ]);
  expect(c.model.asked[3]?.body.messages[0]?.content).toContain("You are the reviewer");
  expect((await c.of("usage")).map((u) => u.role).filter((r) => r === "reviewer")).toHaveLength(2);
});

/** Where a stop comes: what hangs there is a model that never ends, a command, or a person. */
interface Place extends Options {
  script: () => Scripted[];
  phase: string;
  status?: "waiting";
}
const PLACES: Record<string, Place> = {
  "the plan streams": { phase: "planning", script: () => [new Held()] },
  "the executor streams": { phase: "executing", script: () => [plan("a"), new Held()] },
  "a tool runs": { phase: "executing", script: () => [plan("a"), shell("sleep 30")] },
  "between two tools": {
    phase: "executing",
    script: () => [
      plan("a"),
      call(["shell_exec", { command: "sleep 30" }], ["shell_exec", { command: "echo 2 > 2.txt" }]),
    ],
  },
  "it sleeps after a 429": {
    phase: "planning",
    script: () => [{ status: 429, headers: { "retry-after": "60" } }],
  },
  "a history was just compacted": {
    phase: "executing",
    settings: { limits: { maxContextTokens: 3_500 }, harness: { compact: { keepRecentSteps: 1 } } },
    // Nothing is measured: the estimate of four characters a token holds.
    script: () => [
      plan("a"),
      ...[write("long.txt", "line of text\n".repeat(500)), read("long.txt"), read("a")].map(
        (reply) => ({ ...reply, usage: null }),
      ),
      new Held(),
    ],
  },
  "it waits for an answer": {
    phase: "waiting",
    status: "waiting",
    script: () => [plan("a"), askUser("Which?")],
  },
  "it sums up": {
    phase: "summarizing",
    settings: { summarize: "always" },
    script: () => [plan("a"), write(), complete(), new Held()],
  },
  "it reviews": {
    phase: "reviewing",
    settings: { reviewer: { enabled: true } },
    script: () => [plan("a"), write(), complete(), new Held()],
  },
  "the plan is changed": {
    phase: "updating",
    script: () => [plan("a"), complete(false), new Held()],
  },
};

for (const [name, place] of Object.entries(PLACES)) {
  describe(`A24: a stop while ${name}`, () => {
    for (const evicted of [false, true]) {
      it(`${evicted ? "and right after the object died, " : ""}ends it at once: nothing is called afterwards, over an alarm neither`, async () => {
        const script = place.script();
        const c = await Client.create(script, place);
        await c.say("Do it");
        await until(async () => {
          expect(c.model.left).toBe(0);
          expect(await c.view()).toMatchObject({
            phase: place.phase,
            status: place.status ?? "running",
          });
        });
        if (place.phase === "executing" && name.includes("tool")) {
          await until(async () => expect(await c.of("tool")).not.toEqual([]));
        }
        if (name.includes("compacted")) expect(await c.of("compaction")).not.toEqual([]);
        if (evicted) await abortAllDurableObjects();
        await c.stop();
        // At once: the reply to the stop comes when it is done.
        const view = await c.view();
        expect(view).toMatchObject({ status: "stopped", wait: null, queue: [] });
        const calls = c.model.asked.length;
        const tools = (await c.of("tool")).length;
        const last = (await c.page()).last_seq;
        await atRest(c);
        await ring(c);
        expect((await pending(c)).jobs).toEqual([]);
        expect([c.model.asked.length, (await c.of("tool")).length]).toEqual([calls, tools]);
        expect((await c.page()).last_seq).toBe(last);
        // An object that died aborts nothing; its successor, if it asked again, does.
        const streams = evicted ? [] : c.model.asked.filter((a) => a.hung);
        await until(() => expect(streams.every((a) => a.aborted)).toBe(true));
        expect((await c.fetch("/files/2.txt")).status).toBe(404);

        c.model.add(plan("b"), write(), complete(), review("pass"), deliver("Z"));
        await c.say("Something else");
        await c.status("completed");
        c.model.drop();
      });
    }
  });
}

it("a replan over HTTP cancels the model's call and asks the planner with both messages", async () => {
  const c = await Client.create([plan("a", "b"), write(), complete(), new Held()]);
  await c.say("first");
  await until(() => expect(c.model.asked).toHaveLength(4));
  c.model.add(update(["3", "c"]), write("c"), complete(), deliver("F"));
  expect((await c.say("rather c", { delivery: "replan" })).delivery).toBe("replan");
  await c.status("completed");
  await until(() => expect(c.model.asked[3]?.aborted).toBe(true));
  expect(c.model.asked[4]?.raw).toContain("rather c");
  expect(c.model.asked[4]?.raw).toContain("first");
});

it("OS-S12: headless: one call is one answer, counted once, and the next call knows of it", async () => {
  const c = await Client.create([text("Ada."), text("You are Ada.")], { mode: "direct" });
  const ask = async (words: string) => {
    const init = { json: { text: words }, headers: { prefer: "wait=30" } };
    return (await c.fetch("/messages", init)).json<TurnResult>();
  };
  const first = await ask("I am Ada.");
  expect(first).toMatchObject({
    outcome: "completed",
    message: "Ada.",
    usage: { model_calls: 1, tool_calls: 0 },
  });
  const second = await ask("Who am I?");
  expect(second).toMatchObject({ message: "You are Ada.", usage: { model_calls: 1 } });
  expect(c.model.asked[1]?.body.messages.map((m) => m.content).slice(1)).toEqual([
    "I am Ada.",
    "Ada.",
    "Who am I?",
  ]);
  expect((await c.view()).usage.model_calls).toBe(2);
});
