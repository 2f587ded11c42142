/** Contract 1: who may do what, by tokens and cookies. Cloudflare Access is tested in access.test.ts. */
import { runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { describe, expect } from "vitest";
import type { SessionView } from "../../src/core/wire.ts";
import { Client, failureOf, it as guarded, useVars } from "./support/client.ts";
import { text } from "./support/replies.ts";

const TOKENS = { "token-of-ann": "ann", "token-of-bob": "bob" };
const ann = { authorization: "Bearer token-of-ann" };
const bob = { authorization: "Bearer token-of-bob" };
const SITE = "https://dormouse.example";

/** Sends to any host; an upgrade when asked. */
function send(url: string, init: RequestInit & { json?: unknown } = {}): Promise<Response> {
  const { json, ...rest } = init;
  const body = json === undefined ? {} : { method: "POST", body: JSON.stringify(json) };
  return exports.default.fetch(url, { ...body, ...rest });
}

/** A test under the given variables, whatever comes of it. */
function it(name: string, vars: Record<string, string>, body: () => Promise<void>): void {
  guarded(name, () => {
    useVars(vars);
    return body();
  });
}
const withTokens = { AUTH_TOKENS: JSON.stringify(TOKENS) };
const refusal = async (response: Response) => [response.status, (await failureOf(response)).code];

describe("with nothing configured", () => {
  for (const host of ["localhost", "127.0.0.1:8787", "[::1]:8787", "127.1.2.3"]) {
    it(`loopback is served: ${host}`, {}, async () => {
      expect((await send(`http://${host}/api/sessions`)).status).toBe(200);
    });
  }
  for (const host of [
    "dormouse.example",
    "10.0.0.1",
    "localhost.evil.example",
    "127.0.0.1.nip.io",
  ]) {
    it(`any other host is not: ${host}`, {}, async () => {
      const response = await send(`https://${host}/api/sessions`);
      expect(await refusal(response)).toEqual([503, "auth_not_configured"]);
      const login = await send(`https://${host}/api/login`, { json: { token: "x" } });
      expect(login.status).toBe(503);
    });
  }

  it("health is open to everyone", {}, async () => {
    expect((await send(`${SITE}/api/health`)).status).toBe(200);
  });

  it("a page of another site cannot act on loopback", {}, async () => {
    const response = await send("http://localhost/api/sessions", {
      json: {},
      headers: { origin: "https://evil.example" },
    });
    expect(await refusal(response)).toEqual([403, "bad_origin"]);
  });
});

describe("with Access wanted and not reachable", () => {
  it("nobody is served, loopback included", { ACCESS_AUD: "aud" }, async () => {
    expect((await send("http://localhost/api/sessions")).status).toBe(503);
  });
});

describe("tokens", () => {
  it("name their owner; each sees the own sessions alone", withTokens, async () => {
    const made = await send(`${SITE}/api/sessions`, { json: { title: "Ann's" }, headers: ann });
    const { id } = await made.json<SessionView>();
    const list = async (headers: Record<string, string>) =>
      (await (await send(`${SITE}/api/sessions`, { headers })).json<{ sessions: SessionView[] }>())
        .sessions;
    expect((await list(ann)).map((s) => s.id)).toContain(id);
    expect((await list(bob)).map((s) => s.id)).not.toContain(id);
  });

  it("that nobody gave are refused, and are in no reply", withTokens, async () => {
    for (const authorization of ["Bearer secret-guess", "Bearer token-of-an", "Bearer  "]) {
      const response = await send(`${SITE}/api/sessions`, { headers: { authorization } });
      const body = await response.text();
      expect(response.status).toBe(401);
      for (const secret of ["secret-guess", ...Object.keys(TOKENS)]) {
        expect(body).not.toContain(secret);
      }
    }
    expect((await send(`${SITE}/api/sessions`)).status).toBe(401);
    expect((await send("http://localhost/api/sessions")).status).toBe(401);
  });

  it("AUTH_TOKEN alone means one owner", { AUTH_TOKEN: "only-one" }, async () => {
    const headers = { authorization: "bearer only-one" };
    expect((await send(`${SITE}/api/sessions`, { headers })).status).toBe(200);
    const login = await send(`${SITE}/api/login`, { json: { token: "only-one" } });
    expect(await login.json()).toEqual({ owner: "default" });
  });

  it("that are no JSON object close the house", { AUTH_TOKENS: "ann:hidden-value" }, async () => {
    const response = await send("http://localhost/api/sessions");
    const body = await response.text();
    expect(response.status).toBe(503);
    expect(body).not.toContain("hidden-value");
  });

  for (const name of ["token", "access_token", "api_key"]) {
    it(`A30: in a URL are refused: ?${name}=`, withTokens, async () => {
      const at = `${SITE}/api/sessions?${name}=token-of-ann`;
      const response = await send(at, { headers: ann });
      const body = await response.text();
      expect(response.status).toBe(401);
      expect(body).not.toContain("token-of-ann");
      const id = "a".repeat(26);
      const upgrade = await send(`${SITE}/api/sessions/${id}/ws?${name}=token-of-ann`, {
        headers: { upgrade: "websocket" },
      });
      expect([upgrade.status, upgrade.webSocket]).toEqual([401, null]);
      const login = await send(`${SITE}/api/login?${name}=token-of-ann`, {
        json: { token: "token-of-ann" },
      });
      expect(login.status).toBe(401);
    });
  }
});

describe("a session of another owner", () => {
  it("is not there, in no way and by no hint", withTokens, async () => {
    const c = await Client.create([text("hello")], { mode: "chat", headers: ann });
    await c.say("Hi");
    await c.status("completed");
    await c.fetch("/files/a.txt", { method: "PUT", body: "mine" });
    const before = await c.view();
    const attempts: [path: string, init?: RequestInit & { json?: unknown }][] = [
      [""],
      ["", { method: "PATCH", json: { title: "Bob's" } }],
      ["", { method: "DELETE" }],
      ["/messages", { json: { text: "hi" } }],
      ["/answers", { json: { wait_id: "w1n1", text: "x" } }],
      ["/stop", { method: "POST" }],
      ["/events"],
      ["/events", { headers: { accept: "text/event-stream" } }],
      ["/ws", { headers: { upgrade: "websocket" } }],
      ["/files"],
      ["/files/a.txt"],
      ["/files/a.txt", { method: "PUT", body: "his" }],
      ["/files/a.txt", { method: "DELETE" }],
    ];
    const nowhere = "b".repeat(26);
    for (const [path, init] of attempts) {
      const ask = (id: string) =>
        send(`http://localhost/api/sessions/${id}${path}`, {
          ...init,
          ...(init?.json === undefined ? {} : { method: init.method ?? "POST" }),
          headers: { ...bob, ...(init?.headers as Record<string, string>) },
        });
      const [foreign, unknown] = [await ask(c.id), await ask(nowhere)];
      expect([path, foreign.status]).toEqual([path, 404]);
      expect(await foreign.json()).toEqual(await unknown.json());
    }
    expect(await c.view()).toEqual(before);
    expect(await (await c.fetch("/files/a.txt")).text()).toBe("mine");
  });

  it("keeps its key to itself", withTokens, async () => {
    const key = crypto.randomUUID();
    const make = async (headers: Record<string, string>) =>
      (await send(`${SITE}/api/sessions`, { json: { key }, headers })).json<SessionView>();
    expect((await make(ann)).id).not.toBe((await make(bob)).id);
  });
});

describe("an unknown id", () => {
  it("writes nothing anywhere", withTokens, async () => {
    const id = "c".repeat(26);
    const at = `${SITE}/api/sessions/${id}`;
    const stranger = { authorization: "Bearer token-of-bob" };
    await send(at, { headers: stranger });
    await send(at, { method: "DELETE", headers: stranger });
    await send(`${at}/messages`, { json: { text: "hi" }, headers: stranger });
    await send(`${at}/events`, { headers: stranger });
    await send(`${at}/ws`, { headers: { upgrade: "websocket", ...stranger } });
    await send(`${at}/files/a`, { method: "PUT", body: "x", headers: stranger });
    await runInDurableObject(env.SESSION.getByName(id), async (_, state) => {
      const tables = state.storage.sql
        .exec<{ name: string }>(
          "SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'",
        )
        .toArray();
      expect(tables).toEqual([]);
      expect(await state.storage.getAlarm()).toBe(null);
      expect([...(await state.storage.list()).keys()]).toEqual([]);
    });
  });
});

describe("the cookie of a browser", () => {
  const signIn = (url = SITE, origin = url) =>
    send(`${url}/api/login`, { json: { token: "token-of-ann" }, headers: { origin } });
  const cookieOf = (response: Response) =>
    (response.headers.get("set-cookie") ?? "").split(";")[0] as string;

  it(
    "is HttpOnly, SameSite=Strict, Secure off loopback, and holds no token",
    withTokens,
    async () => {
      const response = await signIn();
      expect(await response.json()).toEqual({ owner: "ann" });
      const cookie = response.headers.get("set-cookie") ?? "";
      for (const flag of [/; HttpOnly/i, /; SameSite=Strict/i, /; Secure/i, /; Path=\//i]) {
        expect(cookie).toMatch(flag);
      }
      expect(cookie).not.toContain("token-of-ann");
      const local = await signIn("http://localhost");
      expect(local.headers.get("set-cookie")).not.toMatch(/; Secure/i);
    },
  );

  it("reads without an Origin and acts only with the own one", withTokens, async () => {
    const cookie = cookieOf(await signIn());
    const make = (headers: Record<string, string>) =>
      send(`${SITE}/api/sessions`, { json: {}, headers: { cookie, ...headers } });
    expect((await send(`${SITE}/api/sessions`, { headers: { cookie } })).status).toBe(200);
    expect((await make({ origin: SITE })).status).toBe(201);
    expect((await make({})).status).toBe(403);
    for (const origin of ["https://evil.example", "null", `${SITE}.evil.example`]) {
      expect(await refusal(await make({ origin }))).toEqual([403, "bad_origin"]);
    }
  });

  it("opens a socket only with the own Origin", withTokens, async () => {
    const cookie = cookieOf(await signIn());
    const c = await Client.create([], { headers: ann });
    const upgrade = (headers: Record<string, string>) =>
      send(`${SITE}/api/sessions/${c.id}/ws`, { headers: { upgrade: "websocket", ...headers } });
    expect((await upgrade({ cookie })).status).toBe(403);
    expect((await upgrade({ cookie, origin: "https://evil.example" })).status).toBe(403);
    expect((await upgrade({ ...ann, origin: "https://evil.example" })).status).toBe(403);
    for (const headers of [{ cookie, origin: SITE }, ann, { ...ann, origin: SITE }]) {
      const { status, webSocket } = await upgrade(headers as Record<string, string>);
      expect(status).toBe(101);
      webSocket?.accept();
      webSocket?.close(1000);
    }
  });

  it("ends with sign-out", withTokens, async () => {
    const out = await send(`${SITE}/api/logout`, { method: "POST", headers: { origin: SITE } });
    expect(out.status).toBe(204);
    expect(out.headers.get("set-cookie")).toMatch(/^dormouse=; /);
  });

  it("that was tampered with, or is of other tokens, counts for nothing", withTokens, async () => {
    const cookie = cookieOf(await signIn());
    const bobs = cookie.replace("ann", "bob");
    expect(bobs).not.toBe(cookie);
    for (const bad of [bobs, `${cookie}x`, "dormouse=1.ann", "dormouse="]) {
      expect((await send(`${SITE}/api/sessions`, { headers: { cookie: bad } })).status).toBe(401);
    }
    useVars({ AUTH_TOKENS: JSON.stringify({ another: "ann" }) });
    expect((await send(`${SITE}/api/sessions`, { headers: { cookie } })).status).toBe(401);
  });

  it("is not given for a wrong token, nor to a page of another site", withTokens, async () => {
    const wrong = await send(`${SITE}/api/login`, { json: { token: "guess" } });
    expect(await refusal(wrong)).toEqual([401, "bad_token"]);
    expect(wrong.headers.get("set-cookie")).toBe(null);
    const foreign = await signIn(SITE, "https://evil.example");
    expect(foreign.status).toBe(403);
    expect(foreign.headers.get("set-cookie")).toBe(null);
    expect((await signIn(SITE, "https://evil.example")).status).toBe(403);
  });
});

describe("the Origin of a request that acts", () => {
  it("is checked with a token too, and may be listed", withTokens, async () => {
    const make = async (origin: string) =>
      (await send(`${SITE}/api/sessions`, { json: {}, headers: { ...ann, origin } })).status;
    expect(await make(SITE)).toBe(201);
    expect(await make("https://app.example")).toBe(403);
    useVars({ ALLOWED_ORIGINS: "https://other.example, https://app.example" });
    expect(await make("https://app.example")).toBe(201);
    expect(await make("https://evil.example")).toBe(403);
  });

  it("is not needed with a token, and does not matter for a look", withTokens, async () => {
    const evil = { ...ann, origin: "https://evil.example" };
    expect((await send(`${SITE}/api/sessions`, { json: {}, headers: ann })).status).toBe(201);
    expect((await send(`${SITE}/api/sessions`, { headers: evil })).status).toBe(200);
  });
});

describe("a browser on another origin", () => {
  const origin = "https://app.example";
  const vars = { ALLOWED_ORIGINS: origin, ...withTokens };
  const preflight = (from: string) =>
    send(`${SITE}/api/sessions`, {
      method: "OPTIONS",
      headers: {
        origin: from,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type",
      },
    });

  it("may ask when its origin is allowed, and is told what it may send", vars, async () => {
    const response = await preflight(origin);
    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-origin")).toBe(origin);
    expect(response.headers.get("access-control-allow-headers")).toContain("authorization");
    const made = await send(`${SITE}/api/sessions`, { json: {}, headers: { origin, ...ann } });
    expect(made.status).toBe(201);
    expect(made.headers.get("access-control-allow-origin")).toBe(origin);
  });

  it("gets no such headers otherwise", vars, async () => {
    const response = await preflight("https://evil.example");
    expect(response.headers.get("access-control-allow-origin")).toBe(null);
  });
});
