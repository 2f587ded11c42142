/**
 * Every route of the app, and who it is for. A row is a route as hono knows it; `matrix.test.ts` fails when the app has
 * one that is not here.
 */
import { expect } from "vitest";
import { Client, until } from "./client.ts";
import { exported } from "./copies.ts";
import { askUser, complete, plan, text, write } from "./replies.ts";
import { Held, scripted } from "./upstream.ts";

/**
 * open: no sign-in. owner: whoever is signed in, for themselves. session: the owner of the session alone. link: whoever
 * holds a link.
 */
export type For = "open" | "owner" | "session" | "link";
export type Stage = "rested" | "asking" | "working";

/** What stands for Ann's things in a row's address and body. */
export interface Names {
  /** The session. */
  id: string;
  /** The link to it, and its secret. */
  link: string;
  wait: string;
  /** A client's id of a message that waits. */
  queued: string;
  /** An export of the session. */
  lines: string;
  /** A model that answers. */
  model: string;
}
export interface Ask {
  path: string;
  init?: RequestInit & { json?: unknown };
  /** Of a success; absent: any 2xx. */
  status?: number;
}
export interface Row {
  for: For;
  /** How the session stands when it is asked. */
  stage?: Stage;
  ask(names: Names): Ask;
}

const get = (path: string, status?: number): Ask => ({ path, ...(status ? { status } : {}) });
const send = (method: string, path: string, json?: unknown, status?: number): Ask => ({
  path,
  init: { method, ...(json === undefined ? {} : { json }) },
  ...(status ? { status } : {}),
});
const at = (id: string, path = "") => `/api/sessions/${id}${path}`;
const shared = (link: string, path = "") => `/api/shared/${link}${path}`;
const rpc = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };

export const ROWS: Record<string, Row> = {
  "GET /api/health": { for: "open", ask: () => get("/api/health") },
  "POST /api/login": {
    for: "open",
    ask: () => send("POST", "/api/login", { token: "token-of-cleo" }),
  },
  "POST /api/logout": { for: "open", ask: () => send("POST", "/api/logout", undefined, 204) },

  "GET /api/config": { for: "owner", ask: () => get("/api/config") },
  "GET /api/settings": { for: "owner", ask: () => get("/api/settings") },
  "GET /api/settings/own": { for: "owner", ask: () => get("/api/settings/own") },
  "PATCH /api/settings": {
    for: "owner",
    ask: () => send("PATCH", "/api/settings", { locale: "en" }),
  },
  "GET /api/usage": { for: "owner", ask: () => get("/api/usage") },
  "GET /api/sessions": { for: "owner", ask: () => get("/api/sessions?limit=200") },
  "POST /api/sessions": {
    for: "owner",
    ask: () => send("POST", "/api/sessions", { key: "ann's chat" }),
  },
  // A file is its bearer's: whoever has it may bring it in, and never sees the session that it came from.
  "POST /api/sessions/import": {
    for: "owner",
    ask: ({ lines }) => ({
      path: "/api/sessions/import",
      init: { method: "POST", body: lines },
      status: 201,
    }),
  },
  "POST /v1/chat/completions": {
    for: "owner",
    ask: ({ model }) =>
      send("POST", "/v1/chat/completions", {
        model,
        messages: [{ role: "user", content: "hi" }],
      }),
  },
  "GET /v1/models": { for: "owner", ask: () => get("/v1/models") },
  "GET /v1/models/:id{.+}": { for: "owner", ask: () => get("/v1/models/none", 404) },
  "ALL /v1/chat/completions": { for: "owner", ask: () => get("/v1/chat/completions", 405) },
  "ALL /v1/*": { for: "owner", ask: () => get("/v1/nothing", 404) },
  "ALL /mcp": {
    for: "owner",
    ask: () => ({
      path: "/mcp",
      init: {
        method: "POST",
        json: rpc,
        headers: {
          accept: "application/json, text/event-stream",
          "content-type": "application/json",
        },
      },
    }),
  },

  "GET /api/sessions/:id": { for: "session", ask: ({ id }) => get(at(id)) },
  "GET /api/sessions/:id/settings": { for: "session", ask: ({ id }) => get(at(id, "/settings")) },
  "PATCH /api/sessions/:id": {
    for: "session",
    ask: ({ id }) => send("PATCH", at(id), { title: "Another" }),
  },
  "DELETE /api/sessions/:id": {
    for: "session",
    ask: ({ id }) => send("DELETE", at(id), undefined, 204),
  },
  "POST /api/sessions/:id/rotate": {
    for: "session",
    ask: ({ id }) => send("POST", at(id, "/rotate"), {}, 201),
  },
  "POST /api/sessions/:id/fork": {
    for: "session",
    ask: ({ id }) => send("POST", at(id, "/fork"), {}, 201),
  },
  "GET /api/sessions/:id/export": { for: "session", ask: ({ id }) => get(at(id, "/export")) },
  "POST /api/sessions/:id/messages": {
    for: "session",
    ask: ({ id }) => send("POST", at(id, "/messages"), { text: "/help" }, 202),
  },
  "POST /api/sessions/:id/answers": {
    for: "session",
    stage: "asking",
    ask: ({ id, wait }) => send("POST", at(id, "/answers"), { wait_id: wait, text: "blue" }, 202),
  },
  "PATCH /api/sessions/:id/queue/:message": {
    for: "session",
    stage: "working",
    ask: ({ id, queued }) => send("PATCH", at(id, `/queue/${queued}`), { text: "other words" }),
  },
  "DELETE /api/sessions/:id/queue/:message": {
    for: "session",
    stage: "working",
    ask: ({ id, queued }) => send("DELETE", at(id, `/queue/${queued}`), undefined, 204),
  },
  "POST /api/sessions/:id/stop": {
    for: "session",
    stage: "working",
    ask: ({ id }) => send("POST", at(id, "/stop"), {}, 202),
  },
  "GET /api/sessions/:id/events": { for: "session", ask: ({ id }) => get(at(id, "/events")) },
  "GET /api/sessions/:id/ws": {
    for: "session",
    ask: ({ id }) => ({
      path: at(id, "/ws"),
      init: { headers: { upgrade: "websocket" } },
      status: 101,
    }),
  },
  "GET /api/sessions/:id/files": { for: "session", ask: ({ id }) => get(at(id, "/files")) },
  "GET /api/sessions/:id/files/*": {
    for: "session",
    ask: ({ id }) => get(at(id, "/files/own.txt")),
  },
  "PUT /api/sessions/:id/files/*": {
    for: "session",
    ask: ({ id }) => ({ path: at(id, "/files/own.txt"), init: { method: "PUT", body: "new" } }),
  },
  "DELETE /api/sessions/:id/files/*": {
    for: "session",
    ask: ({ id }) => send("DELETE", at(id, "/files/own.txt"), undefined, 204),
  },
  "POST /api/sessions/:id/share": {
    for: "session",
    ask: ({ id }) => send("POST", at(id, "/share"), {}, 201),
  },
  "DELETE /api/sessions/:id/share": {
    for: "session",
    ask: ({ id }) => send("DELETE", at(id, "/share"), undefined, 204),
  },

  "GET /api/shared/:share": { for: "link", ask: ({ link }) => get(shared(link)) },
  "GET /api/shared/:share/events": { for: "link", ask: ({ link }) => get(shared(link, "/events")) },
  "GET /api/shared/:share/files/*": {
    for: "link",
    ask: ({ link }) => get(shared(link, "/files/shown.txt")),
  },
};

/** What Ann's session says; no reply to anybody else may hold any of it. */
export const SHARED_WORDS = ["mark-of-a-message", "mark-of-a-shown-file", "mark-of-a-result"];
export const OWN_WORDS = [
  "mark-of-an-own-file",
  "mark-of-later",
  "mark-of-the-instructions",
  "mark-of-a-new-title",
];

const reply = complete(true, "It is done.");
const shown = {
  tool_calls: [
    {
      name: "complete_step",
      arguments: { success: true, result: "mark-of-a-result", attachments: ["shown.txt"] },
    },
  ],
};

/** Ann's session: a turn with a file that it shows, shared; a file, a title and a message that came later. */
export async function annsSession(
  stage: Stage,
  headers: Record<string, string>,
): Promise<{ c: Client; names: Names }> {
  const more = {
    rested: [],
    asking: [plan("b"), askUser("Which?"), write("b.txt"), reply],
    working: [new Held()],
  }[stage];
  const c = await Client.create(
    [plan("a"), write("shown.txt", "mark-of-a-shown-file"), shown, ...more],
    { headers, settings: { instructions: "mark-of-the-instructions" } },
  );
  await c.say("Do the mark-of-a-message");
  await c.status("completed");
  const { share_id } = await c.post<{ share_id: string }>("/share", {}, 201);
  await c.fetch("/files/own.txt", { method: "PUT", body: "mark-of-an-own-file" });
  await c.fetch("", { method: "PATCH", json: { title: "mark-of-a-new-title" } });
  await c.say("/help mark-of-later");
  const model = scripted([text("hello")]).name;
  const lines = await exported(c);
  const names = { id: c.id, link: share_id, wait: "", queued: "q1", lines, model };
  if (stage === "rested") return { c, names };
  await c.say("More");
  if (stage === "asking") {
    const { wait } = await c.status("waiting");
    return { c, names: { ...names, wait: wait?.wait_id ?? "" } };
  }
  await until(() => expect(c.model.asked).toHaveLength(4));
  await c.say("and then", { id: "q1", delivery: "follow_up" });
  return { c, names };
}

/** The session that is nobody's, in the place of Ann's. */
export const NOWHERE = "e".repeat(26);
