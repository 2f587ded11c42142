/** Copies of sessions in the pool: each is looked after like a session that a test made itself. */
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { SessionView } from "../../../src/core/wire.ts";
import { api, Client } from "./client.ts";
import { type Scripted, scripted } from "./upstream.ts";

/** A session that the Worker made of another, with a script of its own to go on by. */
export async function adopt(response: Response, script: Scripted[] = [], of?: Client) {
  const view = await response.json<SessionView & { skipped_lines?: number }>();
  expect(response.status, JSON.stringify(view)).toBe(201);
  const model = scripted(script);
  const c = new Client(view, model, of?.headers ?? {});
  const settings = { provider: "custom", model: model.name };
  await c.fetch("", { method: "PATCH", json: { settings } });
  return { c, view };
}

export const forkOf = async (c: Client, body: unknown = {}, script: Scripted[] = []) =>
  adopt(await c.fetch("/fork", { json: body }), script, c);

export const exported = async (c: Client): Promise<string> => {
  const response = await c.fetch("/export");
  expect(response.status).toBe(200);
  return response.text();
};
export const bring = (text: string, headers: Record<string, string> = {}): Promise<Response> =>
  api("/api/sessions/import", { method: "POST", body: text, headers });

/** The list as an owner sees it. */
export async function listed(query = "limit=200", headers: Record<string, string> = {}) {
  const reply = await api(`/api/sessions?${query}`, { headers });
  return (await reply.json<{ sessions: SessionView[] }>()).sessions;
}

export const stubOf = (id: string) => env.SESSION.getByName(id);

/** Every message of a session's memories in order, wherever it is stored, as a query of its tables. */
export const MEMORY = `SELECT id, memory, kind, json FROM memory
  UNION ALL SELECT one.value ->> 0, one.value ->> 1, one.value ->> 2, one.value ->> 3
  FROM log, json_each(log.rows) AS one ORDER BY 1`;
