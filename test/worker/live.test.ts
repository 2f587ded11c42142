/** Contract 3: clients that join, leave and speak in the middle of things. */
import { describe, expect } from "vitest";
import { EMPTY_VIEW, type Frame, reduceAll, type View } from "../../src/client/index.ts";
import { Client, it, until } from "./support/client.ts";
import { askUser, call, complete, deliver, plan, write } from "./support/replies.ts";
import type { Socket } from "./support/socket.ts";
import { Held, type Scripted } from "./support/upstream.ts";

const waiting = async () => {
  const c = await Client.create([plan("a"), askUser("Which?")]);
  await c.say("Do it");
  const { wait } = await c.status("waiting");
  return { c, wait_id: wait?.wait_id ?? "" };
};

describe("joining in the middle of a stream", () => {
  const streaming = async (...pieces: string[]) => {
    const held = new Held();
    const c = await Client.create([held], { mode: "chat" });
    const first = await c.socket();
    await c.say("Hi");
    held.say(...pieces);
    await until(() => expect([...first.live.values()]).toEqual([pieces.join("")]));
    return { c, held, first };
  };

  it("gives one delta with all the text so far", async () => {
    const { c, held } = await streaming("Once ", "upon ", "a ");
    const s = await c.socket();
    await s.has("live");
    expect(s.all("live").map((f) => f.data)).toMatchObject([{ text: "Once upon a " }]);
    held.say("time");
    await until(() => expect([...s.live.values()]).toEqual(["Once upon a time"]));
    held.end();
    await s.ended();
  });

  it("gives no piece twice, though some are just about to be sent", async () => {
    const { c, held, first } = await streaming("0 ");
    let whole = "0 ";
    for (let i = 1; i <= 30; i++) {
      held.say(`${i} `);
      whole += `${i} `;
      await c.socket();
    }
    const last = await c.socket();
    held.end();
    await Promise.all([first.ended(), last.ended()]);
    for (const s of c.sockets) {
      for (const got of s.live.values()) expect(got).toBe(whole);
    }
  });

  it("A07: a client that comes back with or without a cursor has the text exactly once", async () => {
    const { c, held, first } = await streaming("1 2 3 4 5 ");
    const cursor = first.seqs.at(-1);
    first.close();
    const [back, twice, bare] = [
      await c.socket(`?after=${cursor}`),
      await c.socket(`?after=${cursor}`),
      await c.socket(),
    ];
    held.say("6 7 8 9 10");
    held.end();
    for (const s of [back, twice, bare]) {
      await s.ended();
      expect([...s.live.values()]).toEqual(["1 2 3 4 5 6 7 8 9 10"]);
    }
  });

  it("an attempt that failed is forgotten: the client holds the second text only", async () => {
    const held = new Held();
    const c = await Client.create([{ text: "Half of", finish: null }, held], { mode: "chat" });
    const s = await c.socket();
    await c.say("Hi");
    await until(() => expect(c.model.asked).toHaveLength(2));
    held.say("The whole");
    held.end();
    await s.ended();
    expect([...s.live.values()]).toEqual(["The whole"]);
    expect(s.all("live").map((f) => f.event)).toContain("delta_reset");
  });
});

describe("text that comes to nothing", () => {
  it("is taken back: no client holds it, early or late", async () => {
    const cut = { text: "Let me look", finish: "length", ...call(["file_read", { path: "a" }]) };
    const held = new Held();
    const c = await Client.create([cut, held], { mode: "chat" });
    const s = await c.socket();
    await c.say("Hi");
    await until(() => expect(c.model.asked).toHaveLength(2));
    const late = await c.socket();
    held.say("The answer");
    held.end();
    await Promise.all([s.ended(), late.ended()]);
    expect([...s.live.values()]).toEqual(["The answer"]);
    expect([...late.live.values()]).toEqual(["The answer"]);
  });
});

describe("A05: two answers in the same tick", () => {
  it("the first wins, the other hears that it is late, a resend is idempotent", async () => {
    const { c, wait_id } = await waiting();
    c.model.add(write(), complete());
    const [a, b] = [await c.socket(), await c.socket()];
    a.send({ type: "answer", id: "a1", wait_id, text: "red" });
    b.send({ type: "answer", id: "b1", wait_id, text: "blue" });
    expect(await a.ack("a1")).toMatchObject({ duplicate: false });
    const [late] = await b.has("error");
    expect(late).toMatchObject({ id: "b1", code: "already_answered" });
    await a.ended();
    a.send({ type: "answer", id: "a1", wait_id, text: "red" });
    await a.has("ack", 2);
    expect(a.all("ack")[1]).toMatchObject({ duplicate: true });
    expect(await c.of("answer")).toMatchObject([{ text: "red" }]);
    expect(await c.of("done")).toHaveLength(1);
    expect(c.model.asked).toHaveLength(4);
  });
});

describe("A06: between replay and live", () => {
  it("nothing falls, when clients connect at every moment of a run", async () => {
    const c = await Client.create([plan("a"), write(), write("b.txt"), askUser("Which?")]);
    const joining: Promise<unknown>[] = [];
    const saying = c.say("Do it");
    for (let i = 0; i < 40; i++) {
      joining.push(c.socket());
      await new Promise((resolve) => setTimeout(resolve, i % 4));
    }
    await Promise.all([saying, ...joining]);
    const { last_seq } = await c.status("waiting");
    for (const s of c.sockets) {
      await until(() => expect(s.seqs.at(-1)).toBe(last_seq));
      expect(s.events.map((e) => e.event)).toContain("wait");
    }
  });
});

describe("E2: the view that a client builds", () => {
  const viewOf = (s: Socket): View => {
    const {
      snapshot: _,
      titleSeq: __,
      ...view
    } = reduceAll(EMPTY_VIEW, s.frames as Frame[]) as View;
    return view as View;
  };
  const scenarios: Record<string, Scripted[]> = {
    completed: [plan("a", "b"), write(), complete(), write("b"), complete(), deliver("Both.")],
    waiting: [plan("a"), write(), askUser("Which?", ["A", "B"])],
    failed: [plan("a"), { status: 401, text: "no" }],
    stopped: [plan("a"), write(), new Held()],
  };
  for (const [status, script] of Object.entries(scenarios)) {
    it(`is the same from the start, from the middle and afterwards, and agrees with the snapshot (${status})`, async () => {
      const c = await Client.create(script);
      const first = await c.socket();
      first.send({ type: "message", id: "m1", text: "Do it" });
      if (status === "stopped") {
        await until(() => expect(c.model.asked).toHaveLength(3));
        await c.stop();
      }
      await first.ended();
      const { length } = first.events;
      const back = await c.socket(`?after=${Math.floor(length / 2)}`);
      back.frames.unshift(...first.events.slice(0, Math.floor(length / 2)));
      const late = await c.socket();
      await until(() => expect([back.seqs.at(-1), late.seqs.at(-1)]).toEqual([length, length]));
      const view = viewOf(first);
      expect(viewOf(back)).toEqual(view);
      expect(viewOf(late)).toEqual(view);
      back.frames.splice(0, Math.floor(length / 2));
      const snapshot = await c.view();
      const { cost_usd: _, ...usage } = snapshot.usage;
      expect({ ...view, steps: view.plan?.steps }).toMatchObject({
        status,
        phase: snapshot.phase,
        run: snapshot.run,
        title: snapshot.title,
        wait: snapshot.wait,
        steps: snapshot.plan?.steps,
        lastSeq: snapshot.last_seq,
        queue: [],
        live: [],
        usage,
      });
    });
  }
});
