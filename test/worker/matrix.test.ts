/**
 * The access matrix: every route × who asks, as contract 1 says. Nobody but its owner learns of a session, not even
 * that it is there; a link opens what it was made for and nothing else.
 */
import { exports } from "cloudflare:workers";
import { inspectRoutes } from "hono/dev";
import { describe, expect } from "vitest";
import { app } from "../../src/worker/app.ts";
import { type Client, failureOf, it, useVars } from "./support/client.ts";
import {
  type Ask,
  annsSession,
  type Names,
  NOWHERE,
  OWN_WORDS,
  ROWS,
  type Row,
  SHARED_WORDS,
} from "./support/matrix.ts";

const SITE = "https://dormouse.example";
const token = (name: string) => ({ authorization: `Bearer token-of-${name}` });
/** Owners of this file alone: what they state is theirs. */
const TOKENS = Object.fromEntries(
  ["ann", "bob", "cleo"].map((name) => [`token-of-${name}`, `matrix-${name}`]),
);
type Headers = Record<string, string>;

let addresses = 0;
/** An address of its own for each row: wrong guesses are counted by it. */
const address = (): Headers => {
  addresses += 1;
  return { "cf-connecting-ip": `198.51.100.${addresses}` };
};

async function send({ path, init = {} }: Ask, headers: Headers): Promise<Response> {
  const { json, ...rest } = init;
  const response = await exports.default.fetch(`${SITE}${path}`, {
    ...rest,
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    headers: { ...(rest.headers as Headers), ...headers },
  });
  response.webSocket?.accept();
  response.webSocket?.close(1000);
  return response;
}

/** Everything that a reply says. */
async function all(response: Response): Promise<string> {
  const { status, webSocket } = response;
  const headers = [...response.headers].filter(([name]) => name !== "date");
  return JSON.stringify([status, webSocket !== null, headers.sort(), await response.text()]);
}
const cookieOf = async (): Promise<string> => {
  const ask: Ask = {
    path: "/api/login",
    init: { method: "POST", json: { token: "token-of-ann" } },
  };
  return ((await send(ask, {})).headers.get("set-cookie") ?? "").split(";")[0] as string;
};

interface Scene {
  name: string;
  row: Row;
  c: Client;
  names: Names;
  ask: Ask;
  from: Headers;
}
/** Whether this request changes something, or opens a socket. */
const acts = ({ init = {} }: Ask) =>
  (init.method ?? "GET") !== "GET" || new Headers(init.headers).has("upgrade");

const granted = ({ row, names }: Pick<Scene, "row" | "names">, response: Response): void => {
  const { status } = row.ask(names);
  expect([response.status, response.ok]).toEqual([
    status ?? response.status,
    status === undefined || Math.floor(status / 100) === 2,
  ]);
};
/** What is Ann's alone is not in it. */
const silent = (text: string, names: Names, words: string[]): void => {
  for (const word of [...words, names.id, names.link]) expect(text).not.toContain(word);
};

/** Without a name, a wrong one, or a link in the place of one. */
async function strangers({ row, ask, names, from }: Scene): Promise<void> {
  const who: [string, Headers][] = [
    ["none", {}],
    ["a wrong token", token("nobody")],
    ["an empty token", { authorization: "Bearer " }],
    ["a link as a token", { authorization: `Bearer ${names.link}` }],
    ["a forged cookie", { cookie: "dormouse=9999999999999.matrix-ann.AAAA", origin: SITE }],
  ];
  for (const [what, headers] of who) {
    const response = await send(ask, { ...from, ...headers });
    if (row.for === "open" || row.for === "link") {
      expect([what, response.ok]).toEqual([what, true]);
      continue;
    }
    const { status } = response;
    const text = await all(response);
    expect([what, status]).toEqual([what, 401]);
    silent(text, names, [...SHARED_WORDS, ...OWN_WORDS]);
  }
}

/** A session of another is answered to the letter like one that is not there. */
async function others({ row, ask, names, from, c }: Scene): Promise<void> {
  const headers = { ...from, ...token("bob") };
  const response = await send(ask, headers);
  if (row.for === "link" || row.for === "open") return granted({ row, names }, response);
  if (row.for === "owner") {
    granted({ row, names }, response);
    // An import is what Bob has sent himself.
    if (ask.path !== "/api/sessions/import") {
      silent(await all(response), names, [...SHARED_WORDS, ...OWN_WORDS]);
    }
    return;
  }
  const absent = await send(row.ask({ ...names, id: NOWHERE }), headers);
  expect(response.status).toBe(404);
  const text = await all(response);
  expect(text).toBe(await all(absent));
  silent(text, names, [...SHARED_WORDS, ...OWN_WORDS]);
  const byLink = await send(row.ask({ ...names, id: names.link }), { ...from, ...token("ann") });
  expect([byLink.status, (await failureOf(byLink)).code]).toEqual([404, "session_not_found"]);
  expect(c.deleted).toBe(false);
}

/** Ann's browser, driven by a page of another site. */
async function foreignPages({ row, ask, names, from }: Scene, cookie: string): Promise<void> {
  if (!acts(ask) && row.for !== "session") return;
  for (const [what, headers] of [
    ["another site with the cookie", { cookie, origin: "https://evil.example" }],
    ["another site with the token", { ...token("ann"), origin: "https://evil.example" }],
    ["the cookie without an origin", { cookie }],
  ] as [string, Headers][]) {
    const response = await send(ask, { ...from, ...headers });
    const open = row.for === "link" || !acts(ask);
    const readable = response.headers.get("access-control-allow-origin");
    expect([what, response.status === 403, readable]).toEqual([what, !open, null]);
    if (!open) silent(await all(response), names, [...SHARED_WORDS, ...OWN_WORDS]);
  }
}

/** What a link opens is what was shared, and a link that is none opens nothing. */
async function links({ row, ask, names, from, c }: Scene): Promise<void> {
  const text = await all(await send(ask, from));
  expect(SHARED_WORDS.some((word) => text.includes(word))).toBe(true);
  for (const word of OWN_WORDS) expect(text).not.toContain(word);
  const secret = names.link.slice(26);
  const wrong = [
    `${names.id}${NOWHERE}`,
    `${NOWHERE}${secret}`,
    names.id,
    secret,
    "a",
    `${names.link}a`,
  ];
  const replies: string[] = [];
  for (const link of wrong) replies.push(await all(await send(row.ask({ ...names, link }), from)));
  expect(replies[0]).toMatch(/^\[404,.*share_not_found/);
  // A link to a session that is not there tells no more than one whose secret is wrong.
  expect(new Set(replies).size).toBe(1);
  for (const reply of replies) silent(reply, names, [...SHARED_WORDS, ...OWN_WORDS]);
  expect((await c.fetch("/share", { method: "DELETE" })).status).toBe(204);
  expect(await all(await send(ask, from))).toBe(replies[0]);
}

const routes = inspectRoutes(app)
  .filter((route) => !route.isMiddleware)
  .map(({ method, path }) => `${method} ${path}`);

describe("the access matrix", () => {
  it("has a row for every route of the app, and none for what is no route", async () => {
    expect(Object.keys(ROWS).sort()).toEqual([...new Set(routes)].sort());
  });

  for (const [name, row] of Object.entries(ROWS)) {
    it(`${name} is for ${row.for}`, async () => {
      useVars({ AUTH_TOKENS: JSON.stringify(TOKENS), SETTINGS: '{"provider":"custom"}' });
      const { c, names } = await annsSession(row.stage ?? "rested", token("ann"));
      const scene: Scene = { name, row, c, names, ask: row.ask(names), from: address() };
      const before = await c.view();
      await strangers(scene);
      await others(scene);
      await foreignPages(scene, await cookieOf());
      expect(await c.view()).toEqual(before);
      if (row.for === "link") return links(scene);
      granted(scene, await send(scene.ask, { ...scene.from, ...token("ann") }));
      c.deleted = name === "DELETE /api/sessions/:id";
    });
  }
});
