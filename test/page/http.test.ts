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
