/** Parts of the browser's adapter that need no browser. What needs one: test/e2e/browser-tools.test.ts. */
import { describe, expect, it } from "vitest";
import { acquire, close, connect } from "../../src/adapters/browser/binding.ts";
import { Cdp, CdpError, CdpGone, CdpSilent } from "../../src/adapters/browser/cdp.ts";
import { keyOf } from "../../src/adapters/browser/keys.ts";
import { keepShot } from "../../src/adapters/browser/shots.ts";
import { LIMITS } from "../../src/core/limits.ts";
import { BrowserUnavailable } from "../../src/tools/browser-port.ts";

class Files {
  readonly held = new Map<string, Uint8Array>();
  full = false;
  list(folder: string) {
    return [...this.held.keys()]
      .filter((path) => path.startsWith(`${folder}/`))
      .sort()
      .map((path) => ({ path }));
  }
  write(path: string, bytes: Uint8Array) {
    if (!this.full) this.held.set(path, bytes);
    return { ok: !this.full };
  }
  remove(path: string) {
    return this.held.delete(path);
  }
}

describe("screenshots", () => {
  const picture = new Uint8Array([1]);

  it("are numbered, and only the newest are kept", () => {
    const files = new Files();
    const made = Array.from({ length: LIMITS.browserShots + 2 }, () => keepShot(files, picture));
    expect(made[0]).toBe("/workspace/browser/001.jpg");
    expect(files.held.size).toBe(LIMITS.browserShots);
    expect(files.held.has("/workspace/browser/002.jpg")).toBe(false);
    expect(files.held.has(made.at(-1) as string)).toBe(true);
  });

  it("leave other files in their folder alone, and count on after a thousand", () => {
    const files = new Files();
    files.write("/workspace/browser/notes.md", picture);
    files.write("/workspace/browser/999.jpg", picture);
    expect(keepShot(files, picture)).toBe("/workspace/browser/1000.jpg");
    expect(keepShot(files, picture)).toBe("/workspace/browser/1001.jpg");
    for (let i = 0; i < LIMITS.browserShots; i++) keepShot(files, picture);
    expect(files.held.has("/workspace/browser/999.jpg")).toBe(false);
    expect(files.held.has("/workspace/browser/notes.md")).toBe(true);
  });

  it("that are empty, too large, or find no room are not kept, and nothing fails", () => {
    const files = new Files();
    expect(keepShot(files, new Uint8Array())).toBeNull();
    expect(keepShot(files, new Uint8Array(LIMITS.browserShotBytes + 1))).toBeNull();
    files.full = true;
    expect(keepShot(files, picture)).toBeNull();
    expect(files.held.size).toBe(0);
  });
});

describe("keys", () => {
  it("have the names of the web, short ones and modifiers, in any case", () => {
    expect(keyOf("Enter")).toMatchObject({ key: "Enter", text: "\r", modifiers: 0 });
    expect(keyOf("esc")).toMatchObject({ key: "Escape", windowsVirtualKeyCode: 27 });
    expect(keyOf("ctrl+a")).toEqual({
      key: "a",
      code: "KeyA",
      windowsVirtualKeyCode: 65,
      modifiers: 2,
    });
    expect(keyOf("Control+Shift+ArrowDown")).toMatchObject({ key: "ArrowDown", modifiers: 10 });
    expect(keyOf("F12")).toMatchObject({ key: "F12", windowsVirtualKeyCode: 123 });
    expect(keyOf("+")).toMatchObject({ key: "+", text: "+" });
    expect(keyOf("Control++")).toMatchObject({ key: "+", modifiers: 2 });
    expect(keyOf("字")).toMatchObject({ key: "字", text: "字" });
    expect(keyOf(" ")).toMatchObject({ key: " ", text: " " });
  });

  it("that do not exist are none", () => {
    for (const name of ["", "Banana", "Hyper+a", "F13", "constructor", "ab"]) {
      expect(keyOf(name), name).toBeNull();
    }
  });
});

/** A binding that answers each request with the next of these. */
const answering = (...answers: { status: number; body?: string; webSocket?: Socket }[]) => {
  const asked: string[] = [];
  return {
    asked,
    async fetch(url: string, ask: { method?: string } = {}) {
      asked.push(`${ask.method ?? "GET"} ${new URL(url).pathname}`);
      const next = answers.shift();
      if (!next) throw new Error("no route to the service");
      return { ...next, text: async () => next.body ?? "" };
    },
  };
};

class Socket {
  readonly sent: { id: number; method: string }[] = [];
  readonly #takers = new Map<string, ((event: { data: unknown }) => void)[]>();
  accept() {}
  close() {}
  send(text: string) {
    this.sent.push(JSON.parse(text) as { id: number; method: string });
  }
  addEventListener(type: string, take: (event: { data: unknown }) => void) {
    this.#takers.set(type, [...(this.#takers.get(type) ?? []), take]);
  }
  emit(type: string, data?: unknown) {
    for (const take of this.#takers.get(type) ?? []) take({ data });
  }
}

describe("the binding's wire", () => {
  it("K1: makes a sentence of whatever is no browser", async () => {
    const cases = [
      [answering({ status: 429 }), /limit of browsers is reached/],
      [answering({ status: 500, body: "oh no" }), /the service answered 500 oh no/],
      [answering({ status: 200, body: "{}" }), /the service answered 200/],
      [answering(), /could not be reached: no route/],
    ] as const;
    for (const [binding, why] of cases) {
      const failing = acquire(binding);
      await expect(failing).rejects.toBeInstanceOf(BrowserUnavailable);
      await expect(failing).rejects.toThrow(why);
    }
  });

  it("K2: a browser that has gone is null, and closing one never rejects", async () => {
    expect(await connect(answering({ status: 404 }), "a")).toBeNull();
    expect(await connect(answering(), "a")).toBeNull();
    const binding = answering({ status: 500 });
    await close(binding, "a/b");
    expect(binding.asked).toEqual(["DELETE /v1/devtools/browser/a%2Fb"]);
    await close(answering(), "a");
  });
});

describe("the DevTools protocol", () => {
  it("P1: ends every command: answered, refused, in silence, by a target or a socket that goes", async () => {
    const socket = new Socket();
    const cdp = new Cdp(socket, () => {});
    const done = cdp.send("A");
    const refused = cdp.send("B");
    const silent = cdp.send("C", {}, "s1", 10);
    const left = cdp.send("D", {}, "s2");
    const gone = cdp.send("E", {}, "s1");
    socket.emit("message", '{"id":1,"result":{"x":1}}');
    socket.emit("message", '{"id":2,"error":{"message":"no such thing"}}');
    expect(await done).toEqual({ x: 1 });
    await expect(refused).rejects.toThrow(new CdpError("no such thing"));
    await expect(silent).rejects.toBeInstanceOf(CdpSilent);
    cdp.left("s2", new CdpError("the tab was closed"));
    await expect(left).rejects.toThrow("the tab was closed");
    socket.emit("close");
    await expect(gone).rejects.toBeInstanceOf(CdpGone);
    await expect(cdp.send("F")).rejects.toBeInstanceOf(CdpGone);
    expect(cdp.open).toBe(false);
  });

  it("P2: goes on after what it cannot read, text or bytes, and hands events on", async () => {
    const socket = new Socket();
    const events: unknown[] = [];
    const cdp = new Cdp(socket, (event) => events.push(event));
    const asked = cdp.send("A");
    for (const strange of ["{", "null", "[]", '"x"', '{"id":99,"result":{}}', "{}"]) {
      socket.emit("message", strange);
    }
    socket.emit("message", new TextEncoder().encode('{"method":"M","sessionId":"s"}').buffer);
    socket.emit("message", '{"id":1}');
    expect(await asked).toEqual({});
    expect(events).toEqual([{ method: "M", params: {}, session: "s" }]);
  });
});
