/**
 * No secret leaves: each is planted with a mark of its own, where it belongs; then everything that comes out of the
 * product is searched for all of them. Only the endpoint that a secret is for may see it.
 */
import { runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { describe, expect, vi } from "vitest";
import type { Event } from "../../src/core/events.ts";
import { failed, McpScript, text as said } from "../support/mcp-script.ts";
import { api, Client, it, until, useVars } from "./support/client.ts";
import { exported, MEMORY } from "./support/copies.ts";
import { ring } from "./support/crash.ts";
import { call, complete, plan, shell, text, write } from "./support/replies.ts";
import { scripted, serveAt, serveMcp } from "./support/upstream.ts";
// Loaded before the first test, not within it.
import "@modelcontextprotocol/client";
import "just-bash/browser";

const SITE = "https://dormouse.example";
const HOOK = "https://hooks.test.example/dormouse";
/** What each secret holds; short enough to be found whole wherever it is cut. */
const SECRET = {
  token: "SECRET-bearer-token",
  cookie: "SECRET-cookie-key",
  openai: "SECRET-openai-key",
  anthropic: "SECRET-anthropic-key",
  gemini: "SECRET-gemini-key",
  custom: "SECRET-custom-key",
  workersAi: "SECRET-workers-ai-key",
  search: "SECRET-search-key",
  server: "SECRET-mcp-header",
  ownServer: "SECRET-own-mcp-header",
  webhook: "SECRET-webhook",
};
const MARK = "SECRET-";
const VARS = {
  AUTH_TOKENS: JSON.stringify({ [SECRET.token]: "keeper" }),
  COOKIE_SECRET: SECRET.cookie,
  OPENAI_API_KEY: SECRET.openai,
  ANTHROPIC_API_KEY: SECRET.anthropic,
  GEMINI_API_KEY: SECRET.gemini,
  CUSTOM_API_KEY: SECRET.custom,
  WORKERS_AI_ACCOUNT_ID: "account",
  WORKERS_AI_API_KEY: SECRET.workersAi,
  SEARCH_PROVIDER: "brave",
  SEARCH_API_KEY: SECRET.search,
};
const ANN = { authorization: `Bearer ${SECRET.token}` };

/** Everything that a program of ours writes to its console from now on. */
function listening(): { lines: string[]; stop(): void } {
  const lines: string[] = [];
  const spies = (["log", "info", "warn", "error", "debug"] as const).map((level) =>
    vi.spyOn(console, level).mockImplementation((...parts: unknown[]) => {
      for (const part of parts) {
        lines.push(part instanceof Error ? `${part.message} ${part.stack}` : JSON.stringify(part));
      }
    }),
  );
  return { lines, stop: () => spies.forEach((spy) => void spy.mockRestore()) };
}

/** What left for the model, and what was told to the webhook: bodies and headers. */
function outgoing() {
  const sent: { url: string; headers: string; body: string }[] = [];
  const before = vi.mocked(globalThis.fetch).getMockImplementation();
  vi.mocked(globalThis.fetch).mockImplementation(async (input, init) => {
    const url = String(input instanceof Request ? input.url : input);
    const headers = JSON.stringify([...new Headers(init?.headers)]);
    sent.push({ url, headers, body: String(init?.body ?? "") });
    return before?.(input, init) as Promise<Response>;
  });
  return { sent, stop: () => before && vi.mocked(globalThis.fetch).mockImplementation(before) };
}

/** An MCP server that says back what it was sent: in a result, in a failure and in a description. */
function talkative(): string {
  const script = new McpScript();
  const look = (headers: Record<string, string>) => `got ${JSON.stringify(headers)}`;
  const tool = { inputSchema: { type: "object", properties: {} } };
  script.tools = [
    { ...tool, name: "echo", run: (_, { headers }) => said(look(headers)) },
    { ...tool, name: "fail", run: (_, { headers }) => failed(look(headers)) },
  ];
  return serveMcp(script);
}

const servers = (url: string, value: string) => ({
  mcp: { servers: { tools: { url, headers: { "x-api-key": value } } } },
});

async function stream(c: Client): Promise<string> {
  const response = await c.fetch("/events", { headers: { accept: "text/event-stream" } });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let heard = "";
  while (!heard.includes("event: done")) heard += decoder.decode((await reader.read()).value);
  await reader.cancel();
  return heard;
}
const read = async (path: string, headers: Record<string, string> = ANN, init = {}) => {
  const response = await exports.default.fetch(`${SITE}${path}`, { headers, ...init });
  return JSON.stringify([...response.headers]) + (await response.text());
};

/** Everything that can be read of a session and of its owner. */
async function everything(c: Client): Promise<Record<string, string>> {
  const { share_id } = await c.post<{ share_id: string }>("/share", {}, 201);
  const socket = await c.socket();
  const { last_seq } = await c.view();
  await until(() => expect(socket.seqs.at(-1)).toBe(last_seq));
  const found: Record<string, string> = {
    snapshot: JSON.stringify(await c.view()),
    events: JSON.stringify(await c.events()),
    "event stream": await stream(c),
    socket: JSON.stringify(socket.texts),
    export: await exported(c),
    "the link's view": await read(`/api/shared/${share_id}`, {}),
    "the link's events": await read(`/api/shared/${share_id}/events`, {}),
    fork: JSON.stringify(await (await c.fetch("/fork", { json: {} })).json()),
    rotated: JSON.stringify(await (await c.fetch("/rotate", { json: {} })).json()),
  };
  for (const path of ["sessions?limit=200", "settings", "usage", "config", "health"]) {
    found[path] = await read(`/api/${path}`);
  }
  found.models = await read("/v1/models");
  return found;
}
function clean(found: Record<string, string>): void {
  const leaks = Object.entries(found).flatMap(([where, text]) =>
    Object.entries(SECRET)
      .filter(([, secret]) => text.includes(secret))
      .map(([name]) => `${name} in ${where}`),
  );
  expect(leaks).toEqual([]);
}

/** A session that holds every secret there is, at work with whatever could give one away. */
async function worked(script: Parameters<typeof Client.create>[0]): Promise<Client> {
  useVars(VARS);
  serveAt(HOOK, () => new Response(null));
  await api("/api/settings", {
    method: "PATCH",
    json: servers(talkative(), SECRET.ownServer),
    headers: ANN,
  });
  return Client.create(script, {
    headers: ANN,
    settings: {
      ...servers(talkative(), SECRET.server),
      webhook: { url: HOOK, secret: SECRET.webhook },
    },
  });
}

describe("a secret that is planted", () => {
  it("is in nothing that comes out of a session, whatever it does, and not in its sandbox", async () => {
    const console_ = listening();
    const c = await worked([
      plan("look around"),
      shell("env; printenv; set; export -p; cat /proc/self/environ; cat /etc/* | head -c 20000"),
      call(["mcp_tools_echo", { brief: "ask" }]),
      call(["mcp_tools_fail", { brief: "ask" }]),
      write("a.txt", "words"),
      complete(true, "It is done."),
    ]);
    const { sent, stop } = outgoing();
    try {
      await c.say("Do it");
      const view = await c.status("completed");
      await until(() => ring(c).then(() => expect(sent.map((s) => s.url)).toContain(HOOK)));
      const found = await everything(c);
      expect(view.status).toBe("completed");
      const printed = (await c.of("tool")).filter((t) => t.status === "called");
      expect(printed.map((t) => t.function)).toEqual([
        "shell_exec",
        "mcp_tools_echo",
        "mcp_tools_fail",
        "file_write",
      ]);
      // The servers did repeat what they were sent, and it was taken out.
      expect(found.events).toContain("got {");
      for (const { url, body } of sent.filter((s) => !s.url.includes("mcp"))) {
        found[`the body to ${url}`] = body;
      }
      found["the webhook's headers"] = sent.find((s) => s.url === HOOK)?.headers ?? "";
      found.console = console_.lines.join("\n");
      clean(found);
      // The sensor works: the endpoints have had what is for them.
      expect(sent.some((s) => s.headers.includes(SECRET.custom))).toBe(true);
      expect(sent.some((s) => s.headers.includes(SECRET.server))).toBe(true);
      expect(found.settings).toContain("***");
    } finally {
      stop();
      console_.stop();
    }
  });

  it("is not in a failure, though the provider repeats it, nor in the console", async () => {
    const console_ = listening();
    const c = await worked([
      { status: 401, text: `Incorrect API key provided: ${SECRET.custom}` },
      { status: 400, text: `No such header: Bearer ${SECRET.custom}` },
    ]);
    try {
      await c.say("Do it");
      await c.status("failed");
      await c.say("Again");
      await until(async () => expect((await c.view()).run).toBe(2));
      await c.status("failed");
      const found = await everything(c);
      const proxied = scripted([{ status: 401, text: `Bad key ${SECRET.custom}` }]);
      useVars({ SETTINGS: '{"provider":"custom"}' });
      const messages = [{ role: "user", content: "hi" }];
      found.proxy = await read("/v1/chat/completions", ANN, {
        method: "POST",
        body: JSON.stringify({ model: proxied.name, messages }),
      });
      expect(found.proxy).toContain("provider_auth");
      found.console = console_.lines.join("\n");
      clean(found);
    } finally {
      console_.stop();
    }
  });

  it("is in no refusal, whatever is sent with it", async () => {
    useVars(VARS);
    const console_ = listening();
    const c = await Client.create([text("hi")], { headers: ANN, mode: "chat" });
    const found: Record<string, string> = {};
    const json = (body: unknown) => ({ method: "POST", body: JSON.stringify(body) });
    found.login = await read("/api/login", {}, json({ token: `${SECRET.token}x` }));
    found.signedIn = await read("/api/login", {}, json({ token: SECRET.token }));
    found.url = await read(`/api/sessions?token=${SECRET.token}`);
    found.bearer = await read("/api/sessions", { authorization: `Bearer ${SECRET.token}x` });
    found.wrongType = await read("/api/sessions", ANN, json({ mode: SECRET.token }));
    const bad = servers("ftp://x", SECRET.server);
    found.address = await read("/api/sessions", ANN, json({ settings: bad }));
    found.header = await read(
      "/api/sessions",
      ANN,
      json({
        settings: { mcp: { servers: { t: { url: "https://x", headers: [SECRET.server] } } } },
      }),
    );
    // The cookie that signing in gives is the client's own; the token is not in it.
    clean(found);
    useVars({ AUTH_TOKENS: `{"${SECRET.token}"` });
    clean({ broken: await read("/api/sessions"), console: console_.lines.join("\n") });
    useVars({ ...VARS, SETTINGS: `{"webhook": {"secret": "${SECRET.webhook}"` });
    clean({ settings: await read("/api/config"), console: console_.lines.join("\n") });
    useVars(VARS);
    console_.stop();
    expect(c.id).toMatch(/^[a-z2-7]{26}$/);
  });

  it("is stored in no row of a session's log or memory", async () => {
    const c = await worked([
      plan("look around"),
      call(["mcp_tools_echo", { brief: "ask" }]),
      complete(true, "It is done."),
    ]);
    const { stop } = outgoing();
    await c.say("Do it");
    await c.status("completed");
    stop();
    const rows = await runInDurableObject(env.SESSION.getByName(c.id), (_, { storage }) =>
      ["SELECT json FROM log", `SELECT json FROM (${MEMORY})`].flatMap((query) =>
        storage.sql.exec<{ json: string }>(query).toArray(),
      ),
    );
    expect(rows.length).toBeGreaterThan(5);
    expect(rows.filter(({ json }) => json.includes(MARK))).toEqual([]);
    const events = JSON.parse(`[${rows[0]?.json}]`) as Event[];
    expect(events[0]?.event).toBe("message");
  });
});
