/** /api/health: H1 … H3 of src/worker/health.ts. */
import { describe, expect } from "vitest";
import type { HealthCheck } from "../../src/core/wire.ts";
import { api, it, useVars } from "./support/client.ts";
import { BASE_URL, serveAt } from "./support/upstream.ts";

interface Deep {
  ok: boolean;
  version: string;
  checks: HealthCheck[];
}
const TOKENS = { AUTH_TOKENS: JSON.stringify({ "owner-token": "ann" }) };
/** The endpoint of the tests has no model of its own. */
const MODEL = { CUSTOM_MODEL_NAME: "m" };
const OWNER = { authorization: "Bearer owner-token" };

async function deep(query = "deep=1", headers: Record<string, string> = {}) {
  const response = await api(`/api/health?${query}`, { headers });
  const body = await response.json<Deep>();
  const of = (name: string) => body.checks.find((check) => check.name === name);
  return { status: response.status, body, of };
}

describe("health", () => {
  it("tells anyone that it is up, and its version", async () => {
    useVars(TOKENS);
    const response = await api("/api/health");
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ ok: true, version: expect.stringMatching(/^\d+\./) });
  });

  it("H1: tells whoever is no owner nothing more, whatever they ask", async () => {
    useVars(TOKENS);
    const plain = await (await api("/api/health")).json();
    const wrong = { authorization: "Bearer wrong" };
    for (const headers of [{}, wrong, { cookie: "dormouse=x" }] as Record<string, string>[]) {
      const response = await api("/api/health?deep=1&reach=1", { headers });
      expect([response.status, await response.json()]).toEqual([200, plain]);
    }
    const inUrl = await api("/api/health?deep=1&token=owner-token");
    expect(await inUrl.json()).toEqual(plain);
  });

  it("H1: lets nobody guess tokens faster than elsewhere", async () => {
    useVars({ ...TOKENS, RATE_LIMIT: { limit: async () => ({ success: false }) } });
    const { body } = await deep("deep=1", OWNER);
    // An owner who asks too often is told what anyone is told.
    expect(body).not.toHaveProperty("checks");
  });
});

describe("the deep check", () => {
  it("looks at everything there is, and all is well here", async () => {
    useVars({ ...TOKENS, ...MODEL });
    const { status, body, of } = await deep("deep=1", OWNER);
    expect(body.checks.filter((check) => !check.ok)).toEqual([]);
    expect([status, body.ok]).toEqual([200, true]);
    expect(body.checks.map((check) => check.name)).toEqual([
      ...["access", "bindings", "storage", "clock", "settings", "provider", "sandbox", "search"],
      ...["browser", "mcp", "log", "traces", "counters"],
    ]);
    for (const check of body.checks) expect(check.detail).not.toBe("");
    expect(of("sandbox")?.detail).toContain("embedded");
    expect(of("provider")?.detail).toContain("custom");
  });

  it("leaves nothing behind in storage", async () => {
    useVars(TOKENS);
    await deep("deep=1", OWNER);
    const settings = await (await api("/api/settings", { headers: OWNER })).json();
    await deep("deep=1", OWNER);
    expect(await (await api("/api/settings", { headers: OWNER })).json()).toEqual(settings);
  });

  it("is there on loopback without tokens", async () => {
    useVars(MODEL);
    const { body, of } = await deep();
    expect(body.ok).toBe(true);
    expect(of("access")?.detail).toContain("loopback");
  });

  it("says what is wrong with a variable and what to do, with 503", async () => {
    const cases: [string, Record<string, unknown>, RegExp][] = [
      ["settings", { SETTINGS: "{" }, /SETTINGS is not valid JSON/],
      ["settings", { PROFILES: '{"a":{"model":1}}' }, /PROFILES is wrong at a.model/],
      ["provider", { PROVIDER: "openai" }, /set OPENAI_API_KEY/],
      ["provider", { PROVIDER: "nobody" }, /no model provider/],
      ["sandbox", { SANDBOX: "docker" }, /may be auto, embedded or container/],
      ["search", { SEARCH_PROVIDER: "brave" }, /needs SEARCH_API_KEY/],
      ["log", { LOG_LEVEL: "loud" }, /debug, info, warn, error or off/],
      ["traces", { OTEL_EXPORTER_OTLP_ENDPOINT: "nonsense" }, /OTEL_EXPORTER_OTLP_ENDPOINT/],
    ];
    for (const [name, vars, fix] of cases) {
      const undo = useVars({ ...MODEL, ...vars });
      const { status, body, of } = await deep();
      undo();
      expect([status, body.ok, of(name)?.ok], name).toEqual([503, false, false]);
      expect(of(name)?.fix, name).toMatch(fix);
    }
  });

  it("says that storage failed, and that the rest is well", async () => {
    const stub = {
      settings: async () => ({}),
      probe: async () => {
        throw new Error("disk-words");
      },
    };
    useVars({ ...MODEL, DIRECTORY: { getByName: () => stub }, LOG_LEVEL: "off" });
    const response = await api("/api/health?deep=1");
    const text = await response.text();
    expect(response.status).toBe(503);
    expect(text).not.toContain("disk-words");
    const failed = (JSON.parse(text) as Deep).checks.filter((check) => !check.ok);
    expect(failed.map((check) => check.name)).toEqual(["storage", "clock"]);
  });

  it("H3: shows no secret", async () => {
    useVars({
      ...TOKENS,
      CUSTOM_API_KEY: "key-secret",
      CUSTOM_MODEL_NAME: "m",
      SEARCH_PROVIDER: "brave",
      SEARCH_API_KEY: "search-secret",
      COOKIE_SECRET: "cookie-secret",
      OTEL_EXPORTER_OTLP_ENDPOINT: "https://otel.example.com/path-secret",
      OTEL_EXPORTER_OTLP_HEADERS: "a=header-secret",
      SETTINGS: JSON.stringify({
        mcp: {
          servers: {
            crm: { url: "https://x.example.com/url-secret", headers: { a: "mcp-secret" } },
          },
        },
      }),
    });
    const { body, of } = await deep("deep=1", OWNER);
    const text = JSON.stringify(body);
    expect(body.ok).toBe(true);
    expect(text).not.toMatch(/-secret|owner-token/);
    expect(of("mcp")?.detail).toContain(": 1.");
    expect(of("traces")?.detail).toContain("otel.example.com");
  });
});

describe("reach=1", () => {
  const reached = async (answer: () => Response | Promise<Response>) => {
    const heard: RequestInit[] = [];
    const down = serveAt(`${BASE_URL}/models`, (init) => {
      heard.push(init);
      return answer();
    });
    useVars({ CUSTOM_API_KEY: "key-secret", CUSTOM_MODEL_NAME: "m" });
    const { of } = await deep("deep=1&reach=1");
    down();
    return { check: of("provider"), heard };
  };

  it("H2: asks for the list of models, with the key, and for nothing that costs", async () => {
    const { check, heard } = await reached(() => Response.json({ data: [] }));
    expect(check).toMatchObject({ ok: true, detail: expect.stringContaining("llm.test") });
    expect(heard).toHaveLength(1);
    expect(new Headers(heard[0]?.headers).get("authorization")).toBe("Bearer key-secret");
    expect(heard[0]?.body).toBeUndefined();
  });
  it("is content with an endpoint that has no such list", async () => {
    const { check } = await reached(() => new Response("no", { status: 404 }));
    expect(check?.ok).toBe(true);
  });
  it("says when the key is refused, the provider is broken, elsewhere, or not there", async () => {
    const away = { status: 302, headers: { location: "https://elsewhere.example.com" } };
    const cases: [() => Response, RegExp][] = [
      [() => new Response("no", { status: 401 }), /refused the key/],
      [() => new Response("no", { status: 502 }), /fault of its own/],
      [() => new Response(null, away), /sends elsewhere/],
      [
        () => {
          throw new Error("Network connection lost.");
        },
        /cannot be reached/,
      ],
    ];
    for (const [answer, detail] of cases) {
      const { check } = await reached(answer);
      expect(check).toMatchObject({ ok: false, detail: expect.stringMatching(detail) });
      expect(check?.fix).toBeTruthy();
    }
  });
  it("is not needed for the practice model", async () => {
    useVars({ PROVIDER: "practice" });
    const { of } = await deep("deep=1&reach=1");
    expect(of("provider")).toMatchObject({ ok: true, detail: expect.stringContaining("no AI") });
  });
});
