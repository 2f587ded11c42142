/**
 * The API's description held against the product: every route of the app is described, every described operation is
 * there, and what it answers is what the description says (support/contract.ts looks at every reply).
 */
import { describe, expect } from "vitest";
// Loaded before the first test, not within it.
import "@modelcontextprotocol/server";
import { app } from "../../src/worker/app.ts";
import { api, Client, it, openSocket, useVars } from "./support/client.ts";
import { frameFaults, OPERATIONS, operationFor, replyFaults } from "./support/contract.ts";
import { askUser, call, complete, plan, text, write } from "./support/replies.ts";
import { Held, scripted } from "./support/upstream.ts";

/** A route as the description writes it. */
const described = (path: string): string =>
  path
    .replace(/:(\w+)(\{[^}]*\})?/g, "{$1}")
    .replace(/\/\*$/, "/{path}")
    .replace(/(.)\/$/, "$1");

describe("the description", () => {
  it("has every route of the app, and no other", async () => {
    // What stands before routes (every method, a star at the end) is no route; nor are the words for a wrong address.
    const routes = app.routes
      .filter(({ method, path }) => method !== "ALL" || path === "/mcp")
      .map(({ method, path }) => `${method === "ALL" ? "POST" : method} ${described(path)}`);
    const known = OPERATIONS.map((o) => `${o.method} ${o.path}`);
    expect([...new Set(routes)].sort()).toEqual(known.sort());
  });

  it("tells apart what two addresses mean", async () => {
    expect(operationFor("POST", "/api/sessions/import")?.id).toBe("importSession");
    expect(operationFor("GET", "/api/sessions/abc/files/a/b.txt")?.id).toBe("download");
    expect(operationFor("GET", "/v1/models/a/b")).toBeUndefined();
  });

  it("finds a field too many, one too few, and a status that it does not know", async () => {
    const faults = (body: unknown, status = 200) =>
      replyFaults("GET", "http://x/api/health", Response.json(body, { status }));
    expect(await faults({ ok: true, version: "1" })).toEqual([]);
    expect(await faults({ ok: true, version: "1", more: 1 })).not.toEqual([]);
    expect(await faults({ ok: true })).not.toEqual([]);
    expect(await faults({ ok: true, version: 1 })).not.toEqual([]);
    expect(await faults({}, 418)).toEqual(["GET /api/health 418 is not described"]);
    expect(frameFaults({ type: "pong" })).toEqual([]);
    expect(frameFaults({ type: "pong", more: 1 })).not.toEqual([]);
    expect(frameFaults({ type: "event", event: "title", data: { title: "x" } })).not.toEqual([]);
  });
});

/** Calls an operation; that the reply is as described, `api` and the end of the test see to. */
class Walk {
  readonly seen = new Set<string>();
  async ask(path: string, init: RequestInit & { json?: unknown } = {}): Promise<Response> {
    const response = await api(path, init);
    const method = init.method ?? (init.json === undefined ? "GET" : "POST");
    const operation = operationFor(method, path.split("?")[0] ?? "");
    if (operation) this.seen.add(`${operation.id} ${response.status}`);
    return response;
  }
  async json<T>(path: string, init: RequestInit & { json?: unknown } = {}): Promise<T> {
    return (await this.ask(path, init)).json<T>();
  }
}
/** Every reply that is described as a success. */
const successes = OPERATIONS.flatMap((o) =>
  Object.keys(o.responses)
    .filter((status) => status < "300")
    .map((status) => `${o.id} ${status}`),
).sort();

async function sessions(walk: Walk, c: Client): Promise<void> {
  const at = `/api/sessions/${c.id}`;
  for (let n = 0; n < 2; n++) await walk.ask("/api/sessions", { json: { key: `walk ${c.id}` } });
  await walk.ask("/api/sessions?limit=5&q=&prefix=a");
  await walk.ask(at);
  await walk.ask(at, { method: "PATCH", json: { title: "Walk", pinned: true } });
  const copy = await walk.json<{ id: string }>(`${at}/fork`, { json: {} });
  await walk.ask(`${at}/rotate`, { method: "POST" });
  const lines = await (await walk.ask(`${at}/export`)).text();
  await walk.ask("/api/sessions/import", { method: "POST", body: lines });
  await walk.ask(`/api/sessions/${copy.id}`, { method: "DELETE" });
}

async function turns(walk: Walk, c: Client): Promise<void> {
  const at = `/api/sessions/${c.id}`;
  await walk.ask(`${at}/messages`, { json: { text: "Do it" } });
  const { wait } = await c.status("waiting");
  await walk.ask(`${at}/answers`, { json: { wait_id: wait?.wait_id, text: "blue" } });
  await c.status("running");
  for (const id of ["later", "never"]) {
    await walk.ask(`${at}/messages`, { json: { id, text: "then", delivery: "follow_up" } });
  }
  await walk.ask(`${at}/queue/later`, { method: "PATCH", json: { text: "then that" } });
  await walk.ask(`${at}/queue/never`, { method: "DELETE" });
  await walk.ask(`${at}/stop`, { method: "POST" });
  const headers = { prefer: "wait=30" };
  await walk.ask(`${at}/messages`, { json: { text: "/help" }, headers });
  await walk.ask(`${at}/events?after=0&limit=50`);
  await walk.ask(`${at}/settings`);
  const stream = await walk.ask(`${at}/events`, { headers: { accept: "text/event-stream" } });
  await stream.body?.cancel();
  const upgraded = await walk.ask(`${at}/ws?after=0`, { headers: { upgrade: "websocket" } });
  upgraded.webSocket?.accept();
  upgraded.webSocket?.close(1000, "done");
}

async function files(walk: Walk, c: Client): Promise<void> {
  const at = `/api/sessions/${c.id}`;
  for (let n = 0; n < 2; n++)
    await walk.ask(`${at}/files/d/b.txt`, { method: "PUT", body: "bytes" });
  await walk.ask(`${at}/files`);
  const range = { headers: { range: "bytes=0-2" } };
  for (const init of [{}, range]) await walk.ask(`${at}/files/d/b.txt`, init);
  const { share_id } = await walk.json<{ share_id: string }>(`${at}/share`, { method: "POST" });
  const shared = `/api/shared/${share_id}`;
  await walk.ask(shared);
  await walk.ask(`${shared}/events?limit=10`);
  for (const init of [{}, range]) await walk.ask(`${shared}/files/a.txt`, init);
  await walk.ask(`${at}/share`, { method: "DELETE" });
  await walk.ask(`${at}/files/d/b.txt`, { method: "DELETE" });
}

async function others(walk: Walk): Promise<void> {
  await walk.ask("/api/settings");
  await walk.ask("/api/settings", { method: "PATCH", json: { locale: "auto" } });
  await walk.ask("/api/settings/own");
  await walk.ask("/api/usage");
  for (const query of ["", "?deep=1"]) await walk.ask(`/api/health${query}`);
  await walk.ask("/api/config");
  await walk.ask("/api/login", { json: { token: "any" } });
  await walk.ask("/api/logout", { method: "POST" });
  const model = scripted([text("hi"), text("hi")]);
  const messages = [{ role: "user", content: "q" }];
  for (const stream of [false, true]) {
    const reply = await walk.ask("/v1/chat/completions", {
      json: { model: model.name, messages, stream },
    });
    await reply.text();
  }
  const { data } = await walk.json<{ data: { id: string }[] }>("/v1/models");
  await walk.ask(`/v1/models/${data[0]?.id ?? "none"}`);
  const rpc = { jsonrpc: "2.0", id: 1, method: "ping" };
  const headers = {
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
  };
  await (await walk.ask("/mcp", { json: rpc, headers })).text();
  const told = { jsonrpc: "2.0", method: "notifications/initialized" };
  await walk.ask("/mcp", { json: told, headers });
}

describe("every operation", () => {
  it("answers as described, each kind of success included", async () => {
    const walk = new Walk();
    // The endpoint of the tests has no model of its own.
    useVars({ CUSTOM_MODEL_NAME: "m" });
    const script = [plan("a"), write("a.txt"), askUser("Which?", ["red", "blue"]), new Held()];
    const c = await Client.create(script);
    await turns(walk, c);
    await files(walk, c);
    await sessions(walk, c);
    await others(walk);
    expect([...walk.seen].filter((s) => (s.split(" ")[1] ?? "") < "300").sort()).toEqual(successes);
  });

  it("shows events and frames of every kind as described", async () => {
    const script = [plan("a"), call(["message_notify_user", { text: "n" }]), write(), complete()];
    const c = await Client.create(script);
    const socket = await openSocket(`/api/sessions/${c.id}/ws`);
    socket.send({ type: "message", id: "m1", text: "Do it" });
    socket.send({ type: "nonsense" });
    socket.send({ type: "ping" });
    await socket.ended();
    const late = await openSocket(`/api/sessions/${c.id}/ws?after=999`);
    await late.has("reset");
    const kinds = new Set([...socket.frames, ...late.frames].map((f) => f.type));
    for (const kind of ["hello", "event", "ack", "stream_end", "error", "pong", "reset"]) {
      expect(kinds).toContain(kind);
    }
  });
});
