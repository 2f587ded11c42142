/**
 * Saves sessions as they stand in storage today, at every kind of point, to `test/saved/<schema>.<tables>/`. Run it
 * when a schema is released (`npm run save-sessions`), and keep what it wrote: a test opens every one for ever after.
 *
 * They are made by the real thing: `wrangler dev` over a scripted model, killed in the middle.
 */
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { SCHEMA } from "../src/core/session.ts";
import { TABLES } from "../src/worker/migrations.ts";
import {
  call,
  complete,
  HANG,
  plan,
  Remote,
  type Scripts,
  until,
  write,
} from "../test/support/client-node.ts";
import { type Saved, textOf } from "../test/support/saved.ts";
import { ScriptedDev } from "../test/support/scripted-dev.ts";

const ASK = call("message_ask_user", { text: "Which colour?", options: ["red", "blue"] });
const shell = (command: string) => call("shell_exec", { command, brief: "run" });

interface Point {
  about: string;
  script: Parameters<Scripts["set"]>[1][];
  settings?: Record<string, unknown>;
  /** Brings a session that was told to begin to its point. */
  reach(session: Remote, scripts: Scripts): Promise<void>;
}
/** No word that stands anywhere else. */
const modelOf = (name: string): string => `saved-${name}-model`;
const asked = (name: string, n: number) => async (_: Remote, scripts: Scripts) =>
  until(name, () => scripts.asked(modelOf(name)).length === n);

const POINTS: Record<string, Point> = {
  idle: { about: "nothing was said yet", script: [], reach: async () => {} },
  rested: {
    about: "a turn is done, its file is there",
    script: [plan("a"), write("a.txt"), complete()],
    reach: (s) => s.status("completed"),
  },
  asking: {
    about: "a question waits",
    script: [plan("a"), ASK],
    reach: (s) => s.status("waiting"),
  },
  approval: {
    about: "a command waits for a yes",
    script: [plan("a"), shell("echo yes > a.txt")],
    settings: { tools: { approval: { "shell_*": "ask" } } },
    reach: (s) => s.status("waiting"),
  },
  calling: {
    about: "a model call is out",
    script: [plan("a"), HANG],
    reach: asked("calling", 2),
  },
  running: {
    about: "a command runs",
    script: [plan("a"), shell("echo paid >> ledger.txt; sleep 60")],
    async reach(s) {
      await until("the command", async () => (await fetch(`${s.at}/files/ledger.txt`)).ok);
    },
  },
  queued: {
    about: "a steer and a follow-up wait for a turn that runs",
    script: [plan("a"), HANG],
    async reach(s, scripts) {
      await asked("queued", 2)(s, scripts);
      await s.post("/messages", { id: "steer", text: "in blue", delivery: "steer" });
      await s.post("/messages", { id: "later", text: "then b", delivery: "follow_up" });
    },
  },
  sleeping: {
    about: "the provider asked to wait",
    script: [{ status: 429, headers: { "retry-after": "20" } }],
    reach: (s) => until("the sleep", async () => (await s.of("notice")).length === 1),
  },
};

async function make({ url, scripts }: ScriptedDev): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const [name, point] of Object.entries(POINTS)) {
    scripts.set(modelOf(name), ...point.script);
    const session = await Remote.create(url, modelOf(name));
    if (point.settings) {
      const body = JSON.stringify({ settings: point.settings });
      await fetch(session.at, { method: "PATCH", body });
    }
    ids.set(session.id, name);
    if (name !== "idle") await session.say("Do it");
    await point.reach(session, scripts);
  }
  return ids;
}

/** Tables of ours: the lifecycle's are made again when they are wanted. */
function saved(file: string): Saved & { id: string } {
  const db = new DatabaseSync(file);
  const all = <T>(query: string) => db.prepare(query).all() as T[];
  const tables = all<{ name: string; sql: string }>(
    "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '%\\_cf%' ESCAPE '\\' AND name NOT LIKE 'cf\\_%' ESCAPE '\\'",
  );
  const rows = Object.fromEntries(
    tables.map(({ name }) => [
      name,
      all<Record<string, unknown>>(`SELECT * FROM ${name}`).map(textOf),
    ]),
  );
  db.close();
  const state = rows.head?.find((row) => row.part === "state")?.json as { id: string } | undefined;
  return { id: state?.id ?? "", about: "", model: "", tables: tables.map((t) => t.sql), rows };
}

const out = fileURLToPath(new URL(`../test/saved/${SCHEMA}.${TABLES}/`, import.meta.url));
const dev = await ScriptedDev.start();
const ids = await make(dev);
await dev.stop("SIGKILL");
await mkdir(out, { recursive: true });
const objects = join(dev.dir, "v3/do/dormouse-SessionObject");
for (const file of (await readdir(objects)).filter((name) => name.endsWith(".sqlite"))) {
  const { id, ...session } = saved(join(objects, file));
  const name = ids.get(id);
  if (name === undefined) continue;
  const about = POINTS[name]?.about ?? "";
  const text = JSON.stringify({ ...session, about, model: modelOf(name), id }, null, 2);
  await writeFile(join(out, `${name}.json`), `${text}\n`);
  console.log(`${name}: ${text.length} characters`);
}
await dev.close();
