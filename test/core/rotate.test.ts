/** `/new`: an errand of its own turn at rest, and beside any other turn; one message makes one session. */
import { describe, expect, it } from "vitest";
import { askUser, complete, Harness, plan, type Scripted, text, work } from "../fakes.ts";

const sound = (h: Harness) => expect(h.faults()).toEqual([]);
const last = (h: Harness) => h.of("message").at(-1);
const HANG: Scripted = { hang: true };

describe("/new at rest", () => {
  it("is a turn without a model call, and says where it goes on: the exact events", async () => {
    const h = new Harness();
    h.say("/new", "steer", "n1");
    await h.settle();
    expect(h.log).toEqual([
      "message(user)",
      "status(running)",
      "moved",
      "message(answer)",
      "done(completed)",
      "status(completed)",
    ]);
    expect(h.of("moved")).toEqual([{ to: "new1", client_id: "n1" }]);
    expect(last(h)?.content).toContain("new1");
    expect(h.model.bodies).toEqual([]);
    expect(h.disk.rows).toEqual([]);
    expect(h.head.errands).toEqual([]);
    sound(h);
  });

  it("takes a text along, byte for byte", async () => {
    const h = await new Harness().run("/new Write a poem\nabout `rain`");
    expect(h.errands.ran).toMatchObject([{ type: "rotate", text: "Write a poem\nabout `rain`" }]);
    sound(h);
  });

  it("leaves the session as it was: the next message is worked on in it", async () => {
    const h = await new Harness({
      mode: "chat",
      script: [text("Hello."), text("Still here.")],
    }).run("Hi");
    await h.run("/new");
    expect([h.head.title, h.head.preview]).toEqual(["Hi", "Hello."]);
    await h.run("And?");
    expect(h.head.preview).toBe("Still here.");
    expect(h.requests.at(-1)?.messages.some((m) => m.content?.includes("/new"))).toBe(false);
    sound(h);
  });

  it("that cannot be done says so, and another one may work", async () => {
    const h = new Harness();
    h.errands.broken = true;
    await h.run("/new");
    expect(h.of("moved")).toEqual([]);
    expect(last(h)?.content).toContain("/new");
    h.errands.broken = false;
    await h.run("/new");
    expect(h.of("moved")).toHaveLength(1);
    sound(h);
  });

  it("speaks the language of the conversation", async () => {
    const h = await new Harness({ mode: "chat", script: [text("好")] }).run("你好");
    await h.run("/new");
    expect(last(h)?.content).toMatch(/\p{Script=Han}/u);
  });

  it("twice before the first has come makes one session", async () => {
    const h = new Harness();
    h.errands.held = [];
    await h.run("/new");
    await h.run("/new");
    h.errands.release();
    await h.settle();
    expect(h.errands.made.size).toBe(1);
    expect(h.of("moved")).toHaveLength(1);
    expect(h.log.filter((l) => l.startsWith("done"))).toEqual(["done(completed)"]);
    sound(h);
  });

  it("with a message behind it answers that here, when the new one is there", async () => {
    const h = new Harness({ mode: "chat", script: [text("Here.")] });
    h.errands.held = [];
    await h.run("/new");
    await h.run("And you?");
    expect(h.model.bodies).toEqual([]);
    h.errands.release();
    await h.settle();
    expect(h.log.slice(-4)).toEqual([
      "message(answer)",
      "message(answer)",
      "done(completed)",
      "status(completed)",
    ]);
    sound(h);
  });

  it("that is stopped before it is there is still told, once, without a word after the end", async () => {
    const h = new Harness();
    h.errands.held = [];
    await h.run("/new");
    h.stop();
    h.errands.release();
    await h.settle();
    expect(h.log.slice(-3)).toEqual(["done(stopped)", "status(stopped)", "moved"]);
    expect(h.head.errands).toEqual([]);
    sound(h);
  });
});

describe("/new beside a turn", () => {
  it("that runs leaves it running, and is answered by a notice", async () => {
    const h = await new Harness({ script: [plan("a"), HANG] }).run("Do");
    const { era, asks } = h.head;
    expect(h.say("/new").client?.as).toBe("command");
    await h.settle();
    expect(h.log.slice(-3)).toEqual(["message(user)", "moved", "message(notice)"]);
    expect({ era: h.head.era, asks: h.head.asks, status: h.head.status }).toEqual({
      era,
      asks,
      status: "running",
    });
    expect(h.model.cancelled).toBe(0);
    sound(h);
  });

  it("that waits leaves it waiting, and the answer is still taken", async () => {
    const script = [plan("a"), askUser("Which?"), work(), complete(true)];
    const h = await new Harness({ script }).run("Do");
    await h.run("/new");
    expect(h.log.slice(-2)).toEqual(["moved", "message(notice)"]);
    expect(h.head).toMatchObject({ status: "waiting", errands: [] });
    h.answer("B");
    await h.settle();
    expect(h.head.status).toBe("completed");
    sound(h);
  });

  it("is not called back by a stop, and its session is made once over crashes at every commit", async () => {
    const play = async (failAt: number, dieAfter: number) => {
      const h = new Harness({ script: [plan("a"), askUser("Which?")] });
      await h.run("Do");
      const from = h.disk.commits;
      if (failAt) h.disk.failAt.add(from + failAt);
      if (dieAfter) h.disk.dieAfter.add(from + dieAfter);
      const act = async (does: () => unknown) => {
        try {
          does();
        } catch {
          await h.settle();
          const known = h.events.some((e) => "client_id" in e.data && e.data.client_id === "n");
          if (!known) h.say("/new", "steer", "n");
        }
        await h.settle();
      };
      await act(() => h.say("/new", "steer", "n"));
      return h;
    };
    const calm = await play(0, 0);
    const commits = calm.disk.commits;
    expect(commits).toBeGreaterThan(3);
    for (let n = 1; n <= 3; n++) {
      for (const h of [await play(n, 0), await play(0, n)]) {
        expect({ n, made: h.errands.made.size, log: h.log }).toEqual({ n, made: 1, log: calm.log });
        sound(h);
      }
    }
  });
});
