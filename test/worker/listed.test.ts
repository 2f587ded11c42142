/** D1 where the list's storage fails: a session that exists can always be found. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { SessionView } from "../../src/core/wire.ts";
import { api, it, useVars } from "./support/client.ts";

it("a session whose place in the list could not be written is listed once it is made again by its key", async () => {
  useVars({ AUTH_TOKENS: '{"t": "unlisted"}' });
  const headers = { authorization: "Bearer t" };
  const json = { key: "chat-1" };
  const create = () => api("/api/sessions", { json, headers });
  await api("/api/sessions", { json: {}, headers });
  const restore = await runInDurableObject(
    env.DIRECTORY.getByName("unlisted"),
    (_, { storage: { sql } }) => {
      const exec = sql.exec.bind(sql);
      const broken = (query: string, ...bindings: unknown[]) => {
        if (query.startsWith("INSERT OR REPLACE INTO sessions")) throw new Error("disk trouble");
        return exec(query, ...bindings);
      };
      Object.defineProperty(sql, "exec", { value: broken, configurable: true });
      return () => Reflect.deleteProperty(sql, "exec");
    },
  );
  expect((await create()).status).toBe(500);
  await runInDurableObject(env.DIRECTORY.getByName("unlisted"), restore);
  const made = (await (await create()).json()) as SessionView;
  const list = await (await api("/api/sessions", { headers })).json<{ sessions: SessionView[] }>();
  expect(list.sessions.map((s) => s.id)).toContain(made.id);
});
