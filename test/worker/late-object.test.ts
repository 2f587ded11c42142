/** A Durable Object whose class is loaded when an object wakes. Over RPC, it stands before the fake container's. */
import { runInDurableObject } from "cloudflare:test";
import { DurableObject, env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { lateObject } from "../../src/worker/late-object.ts";

class Base extends DurableObject {
  inherited(word: string) {
    return `${word} of ${this.constructor.name}`;
  }
}
class Slow extends Base {
  #read = "nothing";
  constructor(ctx: DurableObjectState, bindings: Cloudflare.Env) {
    super(ctx, bindings);
    void ctx.blockConcurrencyWhile(async () => {
      await scheduler.wait(20);
      this.#read = (await ctx.storage.get<string>("word")) ?? "nothing";
    });
  }
  get word() {
    return this.#read;
  }
  override async fetch(request: Request) {
    return new Response(`${this.#read} for ${new URL(request.url).pathname}`);
  }
  override async alarm() {
    await this.ctx.storage.put("rung", true);
  }
}

const withLate = (
  load: () => Promise<typeof Slow>,
  test: (late: Slow, ctx: DurableObjectState) => Promise<void>,
) =>
  runInDurableObject(env.SESSION.get(env.SESSION.newUniqueId()), async (_, ctx) => {
    await ctx.storage.put("word", "kept");
    const late = new (lateObject(load))(ctx, env);
    await ctx.blockConcurrencyWhile(() => Promise.resolve());
    await test(late, ctx);
  });

it("L1: it serves when the class is loaded and its constructor has read what it reads", async () => {
  const load = async () => {
    await scheduler.wait(20);
    return Slow;
  };
  await withLate(load, async (late) => expect(late.word).toBe("kept"));
});

it("L2: it has the methods of the class, inherited ones too, and hands on requests and alarms", async () => {
  await withLate(
    () => Promise.resolve(Slow),
    async (late, ctx) => {
      expect(late.inherited("child")).toBe("child of Slow");
      await late.alarm();
      expect(await ctx.storage.get("rung")).toBe(true);
      const answer = await late.fetch(new Request("http://object/door"));
      expect(await answer.text()).toBe("kept for /door");
    },
  );
});

it("L2: `fetch` and `alarm` are there before anything is loaded", () => {
  const { prototype } = lateObject(() => Promise.resolve(Slow));
  expect(Object.getOwnPropertyNames(prototype)).toEqual(expect.arrayContaining(["fetch", "alarm"]));
});
