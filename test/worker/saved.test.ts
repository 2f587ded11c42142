/**
 * Deploys: sessions as older programs saved them (test/saved, made by scripts/save-sessions.ts) open, show their events,
 * take what people say, and complete.
 */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect } from "vitest";
import { SCHEMA } from "../../src/core/session.ts";
import type { SessionView } from "../../src/core/wire.ts";
import { newSessionId } from "../../src/worker/ids.ts";
import { TABLES } from "../../src/worker/migrations.ts";
import { rowOf, type Saved } from "../support/saved.ts";
import { Client, it, until } from "./support/client.ts";
import { adopt, bring, exported } from "./support/copies.ts";
import { atRest } from "./support/crash.ts";
import { complete, plan, write } from "./support/replies.ts";
import { type Scripted, scripted } from "./support/upstream.ts";
// Loaded before the first test, not within it.
import "just-bash/browser";

declare global {
  interface ImportMeta {
    glob<T>(pattern: string, options: { eager: true; import: string }): Record<string, T>;
  }
}
const FILES = import.meta.glob<Saved>("../saved/*/*.json", { eager: true, import: "default" });
const found = Object.entries(FILES).map(([path, saved]) => {
  const [, release = "", name = ""] = /saved\/(.+)\/(.+)\.json$/.exec(path) ?? [];
  return { release, name, saved };
});
const releases = [...new Set(found.map((f) => f.release))];

/** Stores a saved session in an object of its own, as it was, under another id and with a model of this test. */
async function restored(saved: Saved, script: Scripted[]): Promise<Client> {
  const id = newSessionId();
  const model = scripted(script);
  const text = JSON.stringify(saved).replaceAll(saved.id, id).replaceAll(saved.model, model.name);
  const { tables, rows } = JSON.parse(text) as Saved;
  await runInDurableObject(env.SESSION.getByName(id), (_, { storage }) => {
    for (const statement of tables) storage.sql.exec(statement);
    for (const [table, kept] of Object.entries(rows)) {
      for (const row of kept.map(rowOf)) {
        const columns = Object.keys(row);
        const places = columns.map(() => "?").join(", ");
        storage.sql.exec(
          `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${places})`,
          ...(Object.values(row) as (string | number)[]),
        );
      }
    }
  });
  return new Client({ id, epoch: "" } as SessionView, model, {});
}
/** Its events as they were saved. */
const eventsIn = (saved: Saved): unknown[] =>
  (saved.rows.log ?? []).flatMap(({ json }) => (json as { events: unknown[] }).events);
const bare = (events: unknown[]) =>
  (events as { event: string; data: unknown }[]).map((e) => e.event);

const toEnd = [write("b.txt"), complete(true, "It is done.")];
const whole = [plan("b"), ...toEnd];
interface Way {
  status: string;
  script: Scripted[];
  /** What people do; absent: it goes on by itself. */
  act?(c: Client): Promise<unknown>;
}
const yes = async (c: Client) => {
  const { wait } = await c.view();
  return c.post("/answers", { wait_id: wait?.wait_id, approved: true });
};
/** How each kind of point goes on. */
const WAYS: Record<string, Way> = {
  idle: { status: "idle", script: whole, act: (c) => c.say("Do it") },
  rested: { status: "completed", script: whole, act: (c) => c.say("Do more") },
  asking: { status: "waiting", script: toEnd, act: (c) => c.answer("blue") },
  approval: { status: "waiting", script: toEnd, act: yes },
  calling: { status: "running", script: toEnd },
  running: { status: "running", script: toEnd },
  queued: { status: "running", script: [...toEnd, ...whole] },
  sleeping: { status: "running", script: whole },
};

describe("the saved sessions", () => {
  it("are of every release; whoever raises SCHEMA or adds a migration runs `npm run save-sessions`", async () => {
    expect(releases).toContain(`${SCHEMA}.${TABLES}`);
    for (const release of releases) {
      const names = found.filter((f) => f.release === release).map((f) => f.name);
      expect([release, names.sort()]).toEqual([release, Object.keys(WAYS).sort()]);
    }
  });

  for (const { release, name, saved } of found) {
    const { status, script, act } = WAYS[name] as Way;
    it(`of ${release}: ${saved.about} (${name})`, async () => {
      const c = await restored(saved, [...script, ...whole]);
      const before = bare(eventsIn(saved));
      const state = saved.rows.head?.find((row) => row.part === "state")?.json;
      expect((state as { status: string }).status).toBe(status);
      const socket = await c.socket();
      await until(() => expect(socket.events.length).toBeGreaterThanOrEqual(before.length));
      expect(bare(socket.events).slice(0, before.length)).toEqual(before);
      const { run } = await c.view();
      // At rest it begins another turn, else it goes on with its own.
      const last = act && status !== "waiting" ? run + 1 : run;
      await act?.(c);
      await until(async () => {
        const view = await c.view();
        expect([view.status, view.run]).toEqual(["completed", last]);
      });
      await atRest(c);
      expect(bare(await c.events()).slice(0, before.length)).toEqual(before);
      await c.say("And again");
      await until(async () => expect((await c.view()).run).toBe(last + 1));
      await c.status("completed");
      expect(c.model.left).toBe(0);
      expect((await c.fetch("/files/b.txt")).status).toBe(200);
      await adopt(await bring(await exported(c)), [], c);
    });
  }

  for (const { release, saved } of found.filter(({ name }) => name === "rested")) {
    it(`of ${release}, damaged before anybody has opened them, are mended like any`, async () => {
      const c = await restored(saved, whole);
      c.damaged = true;
      await runInDurableObject(env.SESSION.getByName(c.id), (_, { storage }) => {
        const query = "INSERT OR REPLACE INTO head (part, json) VALUES ('plan', '{\"broken')";
        storage.sql.exec(query);
      });
      await c.say("And again");
      await until(async () => expect((await c.view()).run).toBe(2));
      await c.status("completed");
      expect((await c.of("repair")).length).toBe(1);
      // Everything of before was read by the model.
      expect(c.model.asked[0]?.raw).toContain("tool_calls");
      const { c: copy } = await adopt(await bring(await exported(c)), [], c);
      copy.damaged = true;
    });
  }

  it("of a newer program are left as they are, and say so", async () => {
    const [{ saved } = { saved: null }] = found.filter(({ name }) => name === "rested").slice(-1);
    if (!saved) throw new Error("no saved session");
    for (const change of [
      `UPDATE head SET json = '${TABLES + 1}' WHERE part = 'migration'`,
      `UPDATE head SET json = json_set(json, '$.schema', ${SCHEMA + 1}) WHERE part = 'state'`,
    ]) {
      const c = await restored(saved, []);
      c.deleted = true;
      const rows = () =>
        runInDurableObject(env.SESSION.getByName(c.id), (_, { storage }) =>
          storage.sql.exec("SELECT * FROM head").toArray(),
        );
      await runInDurableObject(env.SESSION.getByName(c.id), (_, { storage }) => {
        storage.sql.exec(change);
      });
      const before = await rows();
      expect((await c.fetch("")).status).toBe(500);
      expect(await rows()).toEqual(before);
    }
  });
});
