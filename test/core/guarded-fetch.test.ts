/** A31: the guarded fetch. Requests are counted where they would leave. */
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { AddressRules } from "../../src/adapters/web/address.ts";
import { type Ask, FETCH_MARK, guardedFetch } from "../../src/adapters/web/fetch.ts";
import { REFUSED } from "../support/bad-addresses.ts";

interface Sent {
  url: string;
  method: string;
  headers: Headers;
  body: unknown;
  signal: AbortSignal;
}
type Answer = (sent: Sent) => Response | Promise<Response>;

/** What leaves goes to `answer`; gives back the list of it. */
function wire(answer: Answer): Sent[] {
  const sent: Sent[] = [];
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    expect(init?.redirect).toBe("manual");
    const request = {
      url: String(input),
      method: init?.method ?? "GET",
      headers: new Headers(init?.headers),
      body: init?.body,
      signal: init?.signal as AbortSignal,
    };
    sent.push(request);
    return answer(request);
  });
  return sent;
}
afterEach(() => {
  vi.restoreAllMocks();
});

const go = (url: string, more: Partial<Ask> = {}, rules: AddressRules = {}) =>
  guardedFetch({ url, signal: new AbortController().signal, maxBytes: 1_000, ...more }, rules);
const to = (location: string, status = 302): Response =>
  new Response("moved", { status, headers: { location } });
const text = (fetched: Awaited<ReturnType<typeof go>>): string =>
  fetched.type === "got"
    ? new TextDecoder().decode(fetched.bytes)
    : `${fetched.type}: ${fetched.why}`;

describe("A31: no request leaves", () => {
  it("for any refused spelling", async () => {
    const sent = wire(() => new Response("leaked"));
    for (const url of REFUSED) {
      expect([url, await go(url)]).toEqual([url, { type: "refused", why: expect.any(String) }]);
    }
    expect(sent).toEqual([]);
  });

  it("for a redirect to any of them, whatever the status", async () => {
    // A relative target means the public host that sent it; those are no addresses of their own.
    const absolute = REFUSED.filter(
      (url) => /^\s*[a-z]+:/i.test(url) && !/^http:\/?[^/\\]/.test(url),
    );
    expect(absolute.length).toBeGreaterThan(80);
    for (const [i, location] of absolute.entries()) {
      // A header cannot carry wider characters; servers encode them.
      const carried = encodeURI(decodeURI(location.trim()))
        .replaceAll("%255", "%5")
        .replaceAll("%5B", "[")
        .replaceAll("%5D", "]");
      const sent = wire(() => to(carried, [301, 302, 303, 307, 308][i % 5]));
      const fetched = await go("https://example.com/start");
      expect([carried, fetched.type]).toEqual([carried, "refused"]);
      expect(text(fetched)).toContain("A redirect");
      expect(sent.map((s) => s.url)).toEqual(["https://example.com/start"]);
      vi.restoreAllMocks();
    }
  });

  it("beyond the second hop, when that one leads to a private address", async () => {
    const sent = wire(({ url }) =>
      url.endsWith("/b") ? to("http://169.254.169.254/") : to("https://other.example.net/b"),
    );
    expect(await go("https://example.com/a")).toMatchObject({ type: "refused" });
    expect(sent.map((s) => s.url)).toEqual([
      "https://example.com/a",
      "https://other.example.net/b",
    ]);
  });

  it("to the product itself", async () => {
    const sent = wire(() => to("https://agent.example.com/api/sessions"));
    const own = ["agent.example.com"];
    expect(text(await go("https://agent.example.com/", {}, { own }))).toContain("very product");
    expect(text(await go("https://example.com/", {}, { own }))).toContain("very product");
    expect(sent).toHaveLength(1);
  });
});

describe("redirects", () => {
  it("are followed to the end, and the last address is told", async () => {
    wire(({ url }) => (url.endsWith("/2") ? new Response("here") : to("2")));
    const fetched = await go("https://example.com/a/1");
    expect(fetched).toMatchObject({ type: "got", status: 200, url: "https://example.com/a/2" });
    expect(text(fetched)).toBe("here");
  });

  it("end after so many", async () => {
    const sent = wire(() => to("/again"));
    expect(text(await go("https://example.com/"))).toContain("Too many redirects");
    expect(sent).toHaveLength(6);
    expect(text(await go("https://example.com/", { maxHops: 0 }))).toContain("Too many redirects");
    expect(sent).toHaveLength(7);
  });

  it("keep credentials on their origin", async () => {
    const sent = wire(({ url }) => {
      if (url === "https://example.com/") return to("/same");
      return url === "https://example.com/same" ? to("https://example.net/") : new Response("end");
    });
    const headers = {
      Authorization: "Bearer s3cret",
      Cookie: "a=b",
      "X-Api-Key": "k",
      Accept: "a/b",
    };
    await go("https://example.com/", { headers });
    const names = sent.map((s) => [...s.headers.keys()].filter((n) => n !== FETCH_MARK));
    expect(names[1]).toEqual(names[0]);
    expect(names[1]).toContain("authorization");
    expect(names[2]).toEqual(["accept", "user-agent"]);
    // A lower scheme of the same host is another origin.
    const down = wire(({ url }) =>
      url.startsWith("https") ? to("http://example.com/") : new Response(""),
    );
    await go("https://example.com/", { headers });
    expect(down.at(-1)?.headers.has("authorization")).toBe(false);
  });

  it.each([
    [301, "POST", "GET", undefined],
    [302, "POST", "GET", undefined],
    [303, "PUT", "GET", undefined],
    [307, "POST", "POST", "form"],
    [308, "PUT", "PUT", "form"],
    [302, "PUT", "PUT", "form"],
  ])("after a %i make of a %s a %s", async (status, method, then, body) => {
    const sent = wire(({ url }) => (url.endsWith("/to") ? new Response("") : to("/to", status)));
    await go("https://example.com/", { method, body: "form" });
    expect(sent[1]).toMatchObject({ method: then, body });
  });

  it("without a target are an answer like any other", async () => {
    wire(() => new Response("nowhere", { status: 302 }));
    expect(await go("https://example.com/")).toMatchObject({ type: "got", status: 302 });
  });
});

describe("a request", () => {
  it("asks exactly what was judged, and says nothing of its own but the mark", async () => {
    const sent = wire(() => new Response(""));
    const headers = {
      Host: "evil",
      "CF-Connecting-IP": "1.2.3.4",
      "X-Forwarded-For": "10.0.0.1",
      B: "c",
    };
    await go(" HTTPS://EXAMPLE.com:443/a/../b?q=é#part ", { headers });
    expect(sent[0]?.url).toBe("https://example.com/b?q=%C3%A9#part");
    expect([...(sent[0]?.headers.keys() ?? [])]).toEqual(["accept", "b", "user-agent", FETCH_MARK]);
  });
});

describe("W2: an answer", () => {
  /** A byte each few milliseconds. */
  const drip = (): Response => {
    const pull = async (controller: ReadableStreamDefaultController) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      controller.enqueue(new Uint8Array(1));
    };
    return new Response(new ReadableStream({ pull }));
  };

  it("that never ends is cut at its cap, and not read any further", async () => {
    let read = 0;
    const stream = new ReadableStream({
      pull(controller) {
        read += 1;
        controller.enqueue(new Uint8Array(600));
      },
    });
    wire(() => new Response(stream));
    const fetched = await go("https://example.com/");
    expect(fetched).toMatchObject({ type: "got", whole: false });
    if (fetched.type === "got") expect(fetched.bytes.byteLength).toBe(1_000);
    expect(read).toBeLessThan(5);
  });

  it("of exactly the cap is whole", async () => {
    wire(() => new Response(new Uint8Array(1_000)));
    expect(await go("https://example.com/")).toMatchObject({ type: "got", whole: true });
  });

  it("that never begins, falls silent or drips for ever ends in time", async () => {
    wire(() => new Promise(() => undefined));
    expect(text(await go("https://example.com/", { idleMs: 30 }))).toContain("nothing came for");
    wire(() => new Response(new ReadableStream({ start: (c) => c.enqueue(new Uint8Array(1)) })));
    expect(text(await go("https://example.com/", { idleMs: 30 }))).toContain("nothing came for");
    wire(() => drip());
    const limits = { timeoutMs: 60, idleMs: 5_000 };
    expect(text(await go("https://example.com/", limits))).toContain("took longer than");
  });

  it("is given up when the caller stops", async () => {
    const stop = new AbortController();
    const sent = wire(() => {
      stop.abort();
      return new Promise(() => undefined);
    });
    expect(text(await go("https://example.com/", { signal: stop.signal }))).toContain("aborted");
    expect(sent[0]?.signal.aborted).toBe(true);
    expect(text(await go("https://example.com/", { signal: stop.signal }))).toContain("aborted");
  });

  it("W4: that fails in the network is data", async () => {
    wire(() => Promise.reject(new TypeError("getaddrinfo ENOTFOUND")));
    expect(text(await go("https://example.com/"))).toMatch(/^failed: .*ENOTFOUND/);
  });
});

describe("over a real server", () => {
  async function serving(listener: RequestListener, test: (host: string) => Promise<void>) {
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      await test(`127.0.0.1:${(server.address() as AddressInfo).port}`);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }

  it("a gzip bomb is cut by what comes out of it", () => {
    const bomb = gzipSync(new Uint8Array(50_000_000));
    expect(bomb.byteLength).toBeLessThan(100_000);
    const headers = { "content-encoding": "gzip", "content-type": "text/plain" };
    return serving(
      (_, response) => response.writeHead(200, headers).end(bomb),
      async (host) => {
        const fetched = await go(`http://${host}/`, { maxBytes: 100_000 }, { allow: [host] });
        expect(fetched).toMatchObject({ type: "got", whole: false });
        if (fetched.type === "got") expect(fetched.bytes.byteLength).toBe(100_000);
      },
    );
  });

  it("an allowed host may not lead to one that is not", () => {
    const paths: string[] = [];
    return serving(
      ({ url }, response) => {
        paths.push(url ?? "");
        response.writeHead(302, { location: "http://localhost:1/" }).end();
      },
      async (host) => {
        expect(await go(`http://${host}/a`, {}, { allow: [host] })).toMatchObject({
          type: "refused",
        });
        expect(paths).toEqual(["/a"]);
      },
    );
  });
});
