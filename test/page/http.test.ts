import { describe, expect, it } from "vitest";
import { ApiError, createClient } from "../../src/client/index.ts";

interface Seen {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: unknown;
}
function clientThat(reply: () => Response | Promise<Response>) {
  const seen: Seen[] = [];
  const fake = (async (url: string, init: RequestInit) => {
    const headers = init.headers as Record<string, string>;
    seen.push({ url, method: init.method ?? "", headers, body: init.body });
    return reply();
  }) as typeof fetch;
  return { seen, client: createClient({ baseUrl: "https://m.test", token: "t0k", fetch: fake }) };
}
const caught = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => null,
    (error: unknown) => error,
  );

describe("the HTTP client", () => {
  it("H2: carries the token in a header, never in the address", async () => {
    const { client, seen } = clientThat(() => Response.json({ sessions: [], next_cursor: null }));
    await client.listSessions({ q: "a b", cursor: "" });
    expect(seen[0]?.url).toBe("https://m.test/api/sessions?q=a+b");
    expect(seen[0]?.headers.authorization).toBe("Bearer t0k");
  });

  it("H1: throws what the server said", async () => {
    const error = { code: "busy", message: "It is busy", details: { run: 2 } };
    const { client } = clientThat(() => Response.json({ error }, { status: 409 }));
    const thrown = await caught(client.sendMessage("s", { text: "hi" }));
    expect(thrown).toBeInstanceOf(ApiError);
    expect(thrown).toMatchObject({ status: 409, ...error });
  });

  it("H1: throws the same for a reply that is not ours, and for none", async () => {
    const page = clientThat(() => new Response("<h1>Bad gateway</h1>", { status: 502 }));
    expect(await caught(page.client.config())).toMatchObject({ status: 502, code: "http_error" });
    const down = clientThat(() => Promise.reject(new TypeError("fetch failed")));
    expect(await caught(down.client.config())).toMatchObject({ status: 0, code: "network" });
  });

  it("waits for a turn, and says null when it takes longer", async () => {
    const turn = { outcome: "completed", message: "ok" };
    const done = clientThat(() => Response.json(turn));
    expect(await done.client.sendAndWait("s", { text: "hi" }, 5)).toEqual(turn);
    expect(done.seen[0]?.headers.prefer).toBe("wait=5");
    const late = clientThat(() => Response.json({ id: "x" }, { status: 202 }));
    expect(await late.client.sendAndWait("s", { text: "hi" }, 5)).toBeNull();
  });

  it("names a waiting message by any id, a client's own too", async () => {
    const { client, seen } = clientThat(() => Response.json({}));
    await client.editQueued("s1", "a/b ü", { text: "x" });
    await client.removeQueued("s1", "m1n2");
    expect(seen.map((s) => [s.method, s.url.replace("https://m.test", ""), s.body])).toEqual([
      ["PATCH", "/api/sessions/s1/queue/a%2Fb%20%C3%BC", '{"text":"x"}'],
      ["DELETE", "/api/sessions/s1/queue/m1n2", undefined],
    ]);
  });

  it("writes file paths part by part, with or without their root", async () => {
    const { client, seen } = clientThat(() => Response.json({}, { status: 201 }));
    const url = "https://m.test/api/sessions/s1/files/a%20b/%23c.txt";
    expect(client.fileUrl("s1", "/workspace/a b/#c.txt")).toBe(url);
    await client.uploadFile("s1", "a b/#c.txt", "bytes", "text/plain");
    expect(seen[0]).toMatchObject({ url, method: "PUT", body: "bytes" });
    expect(seen[0]?.headers["content-type"]).toBe("text/plain");
  });
});

describe("the routes of a session's life", () => {
  const seenOf = async (act: (client: ReturnType<typeof createClient>) => Promise<unknown>) => {
    const { client, seen } = clientThat(() => Response.json({ sessions: [] }));
    await act(client);
    const { method, url, body } = seen[0] as Seen;
    return [method, url.replace("https://m.test/api/", ""), body];
  };

  it("have the address and the body of the contract", async () => {
    const calls: [ReturnType<typeof seenOf>, unknown[]][] = [
      [seenOf((c) => c.forkSession("s")), ["POST", "sessions/s/fork", "{}"]],
      [seenOf((c) => c.forkSession("s", 4)), ["POST", "sessions/s/fork", '{"after_seq":4}']],
      [seenOf((c) => c.rotateSession("s")), ["POST", "sessions/s/rotate", undefined]],
      [seenOf((c) => c.exportSession("s")), ["GET", "sessions/s/export", undefined]],
      [seenOf((c) => c.importSession("x")), ["POST", "sessions/import", "x"]],
      [seenOf((c) => c.shareSession("s")), ["POST", "sessions/s/share", undefined]],
      [seenOf((c) => c.unshareSession("s")), ["DELETE", "sessions/s/share", undefined]],
      [seenOf((c) => c.getShared("l")), ["GET", "shared/l", undefined]],
      [
        seenOf((c) => c.sharedEvents("l", { after: 2 })),
        ["GET", "shared/l/events?after=2", undefined],
      ],
      [seenOf((c) => c.readSharedFile("l", "a b")), ["GET", "shared/l/files/a%20b", undefined]],
      [seenOf((c) => c.getSettings()), ["GET", "settings", undefined]],
      [seenOf((c) => c.getOwnSettings()), ["GET", "settings/own", undefined]],
      [seenOf((c) => c.patchSettings({ locale: "zh" })), ["PATCH", "settings", '{"locale":"zh"}']],
      [seenOf((c) => c.usage({ from: "2026-01-01" })), ["GET", "usage?from=2026-01-01", undefined]],
    ];
    for (const [seen, wanted] of calls) expect(await seen).toEqual(wanted);
  });

  it("resolve the beginning of an id to the one session that has it", async () => {
    const found = async (ids: string[]) => {
      const sessions = ids.map((id) => ({ id }));
      const { client } = clientThat(() => Response.json({ sessions, next_cursor: null }));
      return (await client.resolveSession("ab"))?.id ?? null;
    };
    expect([await found(["abc"]), await found([]), await found(["abc", "abd"])]).toEqual([
      "abc",
      null,
      null,
    ]);
  });
});
