/** Waiting costs nothing, and nothing is lost by it: evictions, alarms, jobs, stored times. */
import {
  abortAllDurableObjects,
  evictDurableObject,
  runDurableObjectAlarm,
  runInDurableObject,
} from "cloudflare:test";
import { describe, expect } from "vitest";
import { Client, it, until } from "./support/client.ts";
import { atRest, peek, pending, ring } from "./support/crash.ts";
import { askUser, complete, plan, text, write } from "./support/replies.ts";
import { Held } from "./support/upstream.ts";

const waiting = async () => {
  const c = await Client.create([plan("a"), askUser("Which?", ["red", "blue"])]);
  await c.say("Do it");
  const { wait } = await c.status("waiting");
  return { c, wait_id: wait?.wait_id ?? "" };
};

describe("A04, A09: a question over an eviction", () => {
  it("reaches late clients, and is answered over a socket that was open before", async () => {
    const { c, wait_id } = await waiting();
    const before = await c.socket();
    await before.has("hello");
    await evictDurableObject(c.stub);
    const [zero, bare] = [await c.socket("?after=0"), await c.socket()];
    for (const s of [zero, bare]) {
      const [hello] = await s.has("hello");
      expect(hello?.session).toMatchObject({
        status: "waiting",
        phase: "waiting",
        wait: { wait_id, kind: "question", text: "Which?", options: ["red", "blue"] },
      });
      await until(() => expect(s.events.map((e) => e.event)).toContain("wait"));
    }
    await evictDurableObject(c.stub);
    const words = '  "blue" \n\té🚀 ';
    c.model.add(write(), complete());
    before.send({ type: "answer", id: "a1", wait_id, text: words });
    expect(await before.ack("a1")).toMatchObject({ duplicate: false });
    for (const s of [before, zero, bare]) {
      await s.status("completed");
      expect(s.events.find((e) => e.event === "answer")?.data).toMatchObject({ text: words });
    }
    const result = c.model.asked[2]?.body.messages.find((m) => m.role === "tool");
    expect(result?.content).toBe(words);
    expect(c.model.asked).toHaveLength(4);
  });

  it("is answered once when the object dies between the answer and the model call", async () => {
    const { c, wait_id } = await waiting();
    const lost = new Held();
    c.model.add(lost);
    await c.post("/answers", { id: "a1", wait_id, text: "blue" });
    await until(() => expect(c.model.asked).toHaveLength(3));
    await abortAllDurableObjects();
    expect((await peek(c)).status).toBe("running");
    lost.call("file_write", { path: "a", content: "x", brief: "b" });
    c.model.add(complete());
    expect(await ring(c)).toBe(true);
    await until(async () => expect((await peek(c)).status).toBe("completed"));
    expect(c.model.asked[3]?.raw).toBe(c.model.asked[2]?.raw);
    expect(await c.of("answer")).toHaveLength(1);
    expect(await c.post("/answers", { id: "a1", wait_id, text: "blue" })).toMatchObject({
      duplicate: true,
    });
  });

  it("survives a crash that closes every socket", async () => {
    const { c } = await waiting();
    const s = await c.socket();
    await s.has("hello");
    await abortAllDurableObjects();
    await until(() => expect(s.closed).not.toBe(null));
    c.model.add(write(), complete());
    const again = await c.socket(`?after=${s.seqs.at(-1)}`);
    again.send({ type: "message", id: "m2", text: "red" });
    await again.status("completed");
  });
});

describe("at rest", () => {
  it("a waiting, completed, failed or stopped session has no alarm and no job", async () => {
    const { c: asks } = await waiting();
    const done = await Client.create([plan("a"), write(), complete()]);
    const failed = await Client.create([{ status: 401 }]);
    const stopped = await Client.create([new Held()]);
    for (const c of [done, failed, stopped]) await c.say("Do it");
    await stopped.stop();
    const statuses = ["waiting", "completed", "failed", "stopped"];
    const sessions = [asks, done, failed, stopped];
    for (const [i, c] of sessions.entries()) {
      await c.status(statuses[i] as string);
      await atRest(c);
    }
  });

  it("a session that was only looked at, renamed or told to stop has none either", async () => {
    const c = await Client.create([]);
    await c.view();
    await c.fetch("", { method: "PATCH", json: { title: "T" } });
    await c.stop();
    await c.fetch("/files/a", { method: "PUT", body: "x" });
    expect(await pending(c)).toEqual({ alarm: null, jobs: [] });
  });

  it("an open stream of events does not keep the session awake, and goes on when it wakes", async () => {
    const { c } = await waiting();
    const response = await c.fetch("/events", { headers: { accept: "text/event-stream" } });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let got = "";
    const read = async () => {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        got += new TextDecoder().decode(value);
      }
    };
    read().catch(() => undefined);
    await until(() => expect(got).toContain("event: wait\n"));
    await atRest(c);
    await evictDurableObject(c.stub);
    c.model.add(write(), complete());
    await c.say("blue");
    await until(() => expect(got).toContain("event: done\n"));
    const seqs = [...got.matchAll(/^id: (\d+)$/gm)].map((m) => Number(m[1]));
    expect(seqs).toEqual(seqs.map((_, i) => i + 1));
    await reader.cancel();
  });
});

describe("A08: while it works", () => {
  it("the wake job and its alarm are stored before the model is asked", async () => {
    const order: string[] = [];
    const asked = () => {
      order.push("model");
      return text("hello");
    };
    const c = await Client.create([asked], { mode: "chat" });
    await runInDurableObject(c.stub, (_, { storage }) => {
      const real = storage.setAlarm.bind(storage);
      const noted: typeof real = async (at, options) => {
        await real(at, options);
        order.push("alarm");
      };
      Object.defineProperty(storage, "setAlarm", { value: noted, configurable: true });
    });
    await c.say("Hi");
    await c.status("completed");
    expect(order).toEqual(["alarm", "model"]);
  });

  it("a lost stream is asked again by the alarm, and its text is replaced, not doubled", async () => {
    const held = new Held();
    const c = await Client.create([held], { mode: "chat" });
    const s = await c.socket();
    await c.say("Hi");
    held.say("Half of ");
    await until(() => expect([...s.live.values()]).toEqual(["Half of "]));
    const { alarm, jobs } = await pending(c);
    expect([alarm !== null, jobs.length]).toEqual([true, 1]);
    await abortAllDurableObjects();
    held.say("The whole");
    held.end();
    expect(await ring(c)).toBe(true);
    await until(async () => expect((await peek(c)).status).toBe("completed"));
    expect(c.model.asked[1]?.raw).toBe(c.model.asked[0]?.raw);
    expect((await c.of("message")).map((m) => m.content)).toEqual(["Hi", "The whole"]);
    await atRest(c);
  });

  it("a look after it writes no job, and the next one revives what died meanwhile", async () => {
    const held = new Held();
    const c = await Client.create([held], { mode: "chat" });
    await c.say("Hi");
    await until(() => expect(c.model.asked).toHaveLength(1));
    expect(await ring(c)).toBe(true);
    const { alarm, jobs } = await pending(c);
    expect(alarm).toBeGreaterThan(Date.now());
    // As overdue as it was before.
    expect(jobs).toEqual([0]);
    expect(c.model.asked).toHaveLength(1);
    await abortAllDurableObjects();
    held.say("The whole");
    held.end();
    expect(await runDurableObjectAlarm(c.stub)).toBe(true);
    await until(async () => expect((await peek(c)).status).toBe("completed"));
    expect(c.model.asked).toHaveLength(2);
    await atRest(c);
  });

  it("another job that is due meanwhile is not put off by a look", async () => {
    const held = new Held();
    const c = await Client.create([held], { mode: "chat" });
    await c.say("Hi");
    await until(() => expect(c.model.asked).toHaveLength(1));
    await runInDurableObject(c.stub, (o) =>
      o.lifecycle.jobs.push({ id: "expire", fn: "expire", time: Date.now() + 60_000 }),
    );
    expect(await ring(c)).toBe(true);
    // Both were run: one that is not to expire is gone, the wake job has its next time.
    const { jobs } = await pending(c);
    expect(jobs).toHaveLength(1);
    expect(jobs[0]).toBeGreaterThan(Date.now());
    held.say("Hello");
    held.end();
    await c.status("completed");
  });

  it("restarts without progress are capped, and the next message works", async () => {
    const c = await Client.create([], { mode: "chat" });
    await c.say("Hi");
    for (let n = 1; n <= 6; n++) {
      await until(() => expect(c.model.asked.length).toBeGreaterThanOrEqual(n));
      await abortAllDurableObjects();
      await ring(c);
    }
    await c.status("failed");
    expect(await c.of("error")).toMatchObject([{ code: "restart_limit" }]);
    await atRest(c);
    c.model.add(text("hello"));
    await c.say("Again");
    await c.status("completed");
  });
});

describe("a wait that the provider asked for", () => {
  const limited = async () => {
    const c = await Client.create([{ status: 429, headers: { "retry-after": "30" } }], {
      mode: "chat",
    });
    await c.say("Hi");
    await until(async () => expect((await peek(c)).retry).not.toBe(null));
    return c;
  };
  const setRetry = (c: Client, at: number) =>
    runInDurableObject(c.stub, (_, { storage }) => {
      const path = "UPDATE head SET json = json_set(json, '$.retry.at', ?) WHERE part = 'state'";
      storage.sql.exec(path, at);
    });

  it("is slept by the alarm at its stored time, over an eviction", async () => {
    const c = await limited();
    const { retry, status } = await peek(c);
    expect(status).toBe("running");
    await until(async () => expect((await pending(c)).jobs).toEqual([retry?.at]));
    expect(await c.of("notice")).toMatchObject([{ code: "retry_wait" }]);
    await evictDurableObject(c.stub);
    await setRetry(c, Date.now() - 1);
    c.model.add(text("hello"));
    expect(await ring(c)).toBe(true);
    await until(async () => expect((await peek(c)).status).toBe("completed"));
    expect(c.model.asked).toHaveLength(2);
    await atRest(c);
  });

  it("is not cut short by a client that looks or connects", async () => {
    const c = await limited();
    await evictDurableObject(c.stub);
    const s = await c.socket();
    await s.has("hello");
    await c.view();
    const { retry } = await peek(c);
    await until(async () => expect((await pending(c)).jobs).toEqual([retry?.at]));
    expect(c.model.asked).toHaveLength(1);
    expect((await peek(c)).restarts).toBe(0);
  });

  it("A24: is ended by a stop, and nothing is asked afterwards", async () => {
    const c = await limited();
    await c.stop();
    await c.status("stopped");
    await atRest(c);
    await ring(c);
    expect(c.model.asked).toHaveLength(1);
  });

  it("a stop straight after an eviction is the end", async () => {
    const c = await limited();
    await evictDurableObject(c.stub);
    await c.stop();
    await c.status("stopped");
    await atRest(c);
    expect(c.model.asked).toHaveLength(1);
  });
});
