import { describe, expect, it } from "vitest";
import * as z from "zod";
import type { ToolResult } from "../../src/core/tool.ts";
import { BoxUnavailable } from "../../src/tools/box.ts";
import { defineTool, type ToolContext } from "../../src/tools/define.ts";
import { messageNotifyUser } from "../../src/tools/message.ts";
import { FakeBox } from "../support/fake-box.ts";
import { call } from "../support/run-tool.ts";

const does = (run: (ctx: ToolContext) => Promise<ToolResult>) =>
  defineTool({
    name: "demo",
    toolkit: "file",
    description: "",
    args: () => z.object({}),
    run: (_, ctx) => run(ctx),
  });
const says = (text: string, content?: ToolResult["content"]) =>
  does(async () => ({ ok: true, text, content }));
const box = new FakeBox();

describe("R1: running never rejects", () => {
  it("makes a failure of a bug", async () => {
    const tool = does(async () => {
      throw new TypeError("x is not a function");
    });
    expect(await call(tool, box, {})).toEqual({
      ok: false,
      unknown: true,
      text: "demo failed: x is not a function",
    });
  });

  it("makes a failure of something thrown that is no error", async () => {
    const tool = does(() => Promise.reject("plain"));
    expect(await call(tool, box, {})).toEqual({
      ok: false,
      unknown: true,
      text: "demo failed: plain",
    });
  });

  it("hands on what an unavailable sandbox says", async () => {
    const broken = new FakeBox();
    broken.unavailable = "The sandbox is not configured: set SANDBOX.";
    const tool = does(async (ctx) => {
      await ctx.box.read("/workspace/a");
      return { ok: true, text: "" };
    });
    expect(await call(tool, broken, {})).toEqual({
      ok: false,
      text: "The sandbox is not configured: set SANDBOX.",
    });
  });

  it("refuses to run what the conversation performs itself", async () => {
    expect((await call(messageNotifyUser, box, { text: "hi" })).ok).toBe(false);
  });
});

describe("A23, R2: our own clock", () => {
  it("ends a call that hangs, with what it has shown so far", async () => {
    const tool = does((ctx) => {
      ctx.live("half way");
      return new Promise(() => {});
    });
    const result = await call(tool, box, {}, { timeoutMs: 20, graceMs: 20 });
    expect(result.ok).toBe(false);
    expect(result.text).toMatch(/^half way\n\[demo timed out: .* may still be running\]$/);
  });

  it("ends a tool at its own shorter time, and never later than the settings allow", async () => {
    const hangs = (ms: number) =>
      defineTool({
        name: "demo",
        toolkit: "file",
        description: "",
        args: () => z.object({}),
        timeoutMs: ms,
        run: (_, { timeoutMs }) => Promise.resolve({ ok: true, text: String(timeoutMs) }),
      });
    expect((await call(hangs(40), box, {}, { timeoutMs: 500 })).text).toBe("40");
    expect((await call(hangs(900), box, {}, { timeoutMs: 500 })).text).toBe("500");
  });

  it("lets a tool that reacts to the signal give its own ending", async () => {
    const tool = does(
      (ctx) =>
        new Promise((resolve) => {
          ctx.signal.addEventListener("abort", () => resolve({ ok: false, text: "mine" }));
        }),
    );
    const result = await call(tool, box, {}, { timeoutMs: 10, graceMs: 50 });
    expect(result).toEqual({ ok: false, text: "mine" });
  });

  it("ends a call that ignores a stop", async () => {
    const stop = new AbortController();
    const hanging = call(
      does(() => new Promise(() => {})),
      box,
      {},
      { signal: stop.signal, graceMs: 20 },
    );
    stop.abort();
    expect(await hanging).toEqual({
      ok: false,
      unknown: true,
      text: "[demo was stopped before it ended]",
    });
  });

  it("ends a call that was stopped before it began", async () => {
    const result = await call(
      does(() => new Promise(() => {})),
      box,
      {},
      { signal: AbortSignal.abort(), graceMs: 20 },
    );
    expect(result.ok).toBe(false);
  });

  it("survives a late rejection", async () => {
    const tool = does(
      () => new Promise((_, reject) => setTimeout(() => reject(new Error("late")), 60)),
    );
    const result = await call(tool, box, {}, { timeoutMs: 10, graceMs: 10 });
    expect(result.ok).toBe(false);
    await new Promise((resolve) => setTimeout(resolve, 80));
  });
});

describe("A20, A21, R3: what comes back is clean and bounded", () => {
  it("cuts to head and tail within the limit, never through a character", async () => {
    for (let lead = 0; lead < 4; lead++) {
      const text = "a".repeat(lead) + "🚀".repeat(2_000);
      const result = await call(says(text), box, {}, { maxChars: 500 });
      expect(result.text.isWellFormed()).toBe(true);
      expect([...result.text].length).toBeLessThanOrEqual(500);
      expect(result.text).toContain("characters left out");
      expect(result.text.endsWith("🚀")).toBe(true);
    }
  });

  it("leaves a text of exactly the limit alone", async () => {
    const text = "🚀".repeat(500);
    expect((await call(says(text), box, {}, { maxChars: 500 })).text).toBe(text);
  });

  it("takes NULs and lone halves out of the text and out of every string of the content", async () => {
    const result = await call(says("a\0b\ud83d", { list: [{ x: "c\0\udc00" }], n: 1 }), box, {});
    expect(result.text).toBe("ab\ufffd");
    expect(result.content).toEqual({ list: [{ x: "c\ufffd" }], n: 1 });
  });

  it("cleans what goes to people live", async () => {
    const seen: string[] = [];
    const tool = does(async (ctx) => {
      ctx.live("a\0\ud83d");
      return { ok: true, text: "" };
    });
    await call(tool, box, {}, { live: (text) => seen.push(text) });
    expect(seen).toEqual(["a\ufffd"]);
  });
});

describe("R4: what failed on its way is made again", () => {
  const flaky = (results: ToolResult[], over: { effect?: boolean; repeatable?: true } = {}) => {
    const keys: (string | undefined)[] = [];
    const tool = defineTool({
      ...{ name: "demo", toolkit: "search", description: "", args: () => z.object({}), ...over },
      run: async (_, ctx) => {
        keys.push(ctx.idempotencyKey);
        return results[keys.length - 1] ?? { ok: true, text: "done" };
      },
    });
    return { tool, keys };
  };
  const BUSY: ToolResult = { ok: false, retryable: true, text: "busy" };
  const LOST: ToolResult = { ...BUSY, unknown: true, text: "lost" };
  const options = { retries: 2, idempotencyKey: "k" };

  it("until it succeeds, with the same key", async () => {
    const { tool, keys } = flaky([BUSY, BUSY]);
    expect(await call(tool, box, {}, options)).toEqual({ ok: true, text: "done" });
    expect(keys).toEqual(["k", "k", "k"]);
  });

  it("as often as the settings allow, and how often is told", async () => {
    const { tool, keys } = flaky([BUSY, BUSY, BUSY, BUSY]);
    const result = await call(tool, box, {}, options);
    expect(result).toEqual({ ok: false, text: "busy (tried 3 times)" });
    expect(keys).toHaveLength(3);
    const never = flaky([BUSY]);
    expect(await call(never.tool, box, {})).toEqual({ ok: false, text: "busy" });
  });

  it("but not a failure of its own, nor an observation", async () => {
    for (const result of [
      { ok: false, text: "quota" },
      { ...BUSY, ok: true },
    ]) {
      const { tool, keys } = flaky([result]);
      await call(tool, box, {}, options);
      expect(keys).toHaveLength(1);
    }
  });

  it("an effect whose outcome is unknown only where repeating is harmless", async () => {
    const careful = flaky([LOST]);
    expect(await call(careful.tool, box, {}, options)).toMatchObject({ unknown: true });
    expect(careful.keys).toHaveLength(1);
    for (const over of [{ repeatable: true as const }, { effect: false }]) {
      const harmless = flaky([LOST], over);
      expect(await call(harmless.tool, box, {}, options)).toEqual({ ok: true, text: "done" });
    }
  });

  it("never beyond the call's time, and not after a stop", async () => {
    const short = flaky([BUSY, BUSY]);
    await call(short.tool, box, {}, { ...options, timeoutMs: 100 });
    expect(short.keys).toHaveLength(1);
    const stop = new AbortController();
    const stopped = flaky([BUSY, BUSY]);
    const running = call(stopped.tool, box, {}, { ...options, signal: stop.signal });
    stop.abort();
    expect(await running).toMatchObject({ ok: false });
    expect(stopped.keys).toHaveLength(1);
  });

  it("a sandbox that is starting is waited for", async () => {
    let tries = 0;
    const tool = does(async () => {
      tries += 1;
      if (tries > 1) return { ok: true, text: "up" };
      throw Object.assign(new BoxUnavailable("it is starting"), { retryable: true });
    });
    expect(await call(tool, box, {}, options)).toEqual({ ok: true, text: "up" });
  });
});

describe("R1: the platform's own failures are nobody's result", () => {
  const throws = (error: unknown) =>
    call(
      does(() => Promise.reject(error)),
      box,
      {},
    );

  it("are thrown on, so that the object dies under the call", async () => {
    for (const message of [
      "Durable Object reset because its code was updated.",
      "This script has been upgraded. Please send a new request to connect to the new version.",
      "Durable Object's isolate exceeded its memory limit and was reset.",
      "Internal error in Durable Object storage write caused object to be reset.",
      "Network connection lost.",
    ]) {
      await expect(throws(new Error(message))).rejects.toThrow(message);
    }
  });

  it("a connection lost to the outside is the tool's own failure", async () => {
    const outside = Object.assign(new Error("Network connection lost."), { remote: true });
    expect(await throws(outside)).toMatchObject({ ok: false, unknown: true });
  });
});
