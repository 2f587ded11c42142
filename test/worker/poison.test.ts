/**
 * Sessions whose rows are damaged in SQLite itself: each opens, tells in its log what is gone, can be taken along, and
 * goes on. What can be read stays.
 */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, vi } from "vitest";
import type { SessionView } from "../../src/core/wire.ts";
import { api, Client, failureOf, it, until, useVars } from "./support/client.ts";
import { adopt, bring, exported } from "./support/copies.ts";
import { atRest, ring } from "./support/crash.ts";
import { askUser, call, complete, plan, text, write } from "./support/replies.ts";
import { Held, type Scripted } from "./support/upstream.ts";

// Repairs are told on the console, and these are meant.
let loud = () => {};
beforeEach(() => {
  const quiet = vi.spyOn(console, "error").mockImplementation(() => undefined);
  loud = () => quiet.mockRestore();
});
afterEach(() => loud());

/** Damages the stored rows, and lets the object forget what it has read. */
async function damage(c: Client, ...statements: string[]): Promise<void> {
  c.damaged = true;
  await runInDurableObject(c.stub, (_, { storage }) => {
    for (const statement of statements) storage.sql.exec(statement);
  });
  await evictDurableObject(c.stub);
}
/** The same while it works: it dies. */
async function die(c: Client, statement: string): Promise<void> {
  c.damaged = true;
  const dying = runInDurableObject(c.stub, async (_, state) => {
    state.storage.sql.exec(statement);
    await state.storage.sync();
    state.abort("it dies");
  });
  await expect(dying).rejects.toThrow("it dies");
}
const agent = (...more: Scripted[]) =>
  Client.create([plan("a"), write("a.txt", "kept words"), complete(true, "It is done."), ...more]);

async function worked(...more: Scripted[]): Promise<Client> {
  const c = await agent(...more);
  await c.say("The first task");
  await c.status("completed");
  await atRest(c);
  return c;
}

/** It opens, its log is whole and says what happened, it can be taken along, and it goes on. */
async function goesOn(c: Client): Promise<SessionView> {
  const response = await c.fetch("");
  expect(response.status).toBe(200);
  const view = await response.json<SessionView>();
  const events = await c.events();
  expect(events.map((e) => e.seq)).toEqual(events.map((_, i) => i + 1));
  expect((await c.view()).last_seq).toBe(events.length);
  expect(events.filter((e) => e.event === "repair").length).toBeGreaterThan(0);
  const socket = await c.socket();
  await until(() => expect(socket.seqs.length).toBe(events.length));
  const { c: copy } = await adopt(await bring(await exported(c), c.headers), [], c);
  copy.damaged = true;
  const before = (await c.view()).run;
  c.model.drop();
  c.model.add(plan("b"), write("b.txt"), complete(true, "Again."));
  await c.fetch("", {
    method: "PATCH",
    json: { settings: { provider: "custom", model: c.model.name } },
  });
  await c.say("Go on");
  await until(async () => expect((await c.view()).run).toBe(before + 1));
  await c.status("completed");
  expect(await (await c.fetch("/files/a.txt")).text()).toBe("kept words");
  return view;
}
const repairs = async (c: Client) => (await c.of("repair")).map((r) => r.what).join(" ");

describe("a head that cannot be read", () => {
  const STATES: [what: string, statement: string][] = [
    ["is no JSON", "UPDATE head SET json = '{\"schema\":1,' WHERE part = 'state'"],
    ["is of another shape", "UPDATE head SET json = '[1]' WHERE part = 'state'"],
    ["holds nonsense", "UPDATE head SET json = json_set(json, '$.seq', 'x') WHERE part = 'state'"],
    [
      "is of no status",
      "UPDATE head SET json = json_set(json, '$.status', 'x') WHERE part = 'state'",
    ],
    ["is missing", "DELETE FROM head WHERE part = 'state'"],
  ];
  for (const [what, statement] of STATES) {
    it(`because its state ${what}, is made of the last resting point`, async () => {
      const c = await worked();
      const { title, plan: steps } = await c.view();
      await damage(c, statement);
      const view = await goesOn(c);
      expect([view.title, view.plan, view.run, view.status]).toEqual([
        title,
        steps,
        1,
        "completed",
      ]);
      expect(await repairs(c)).toContain("state");
      expect((await c.of("message"))[0]?.content).toBe("The first task");
    });
  }

  it("is not believed to be anyone's but its owner's", async () => {
    useVars({ AUTH_TOKENS: '{"t-ann":"ann","t-bob":"bob"}' });
    const c = await Client.create([plan("a"), write("a.txt", "kept words"), complete()], {
      headers: { authorization: "Bearer t-ann" },
    });
    await c.say("The first task");
    await c.status("completed");
    await atRest(c);
    await damage(c, "UPDATE head SET json = '{' WHERE part = 'state'");
    for (const path of ["", "/events", "/export", "/files"]) {
      const response = await c.fetch(path, { headers: { authorization: "Bearer t-bob" } });
      expect([response.status, (await failureOf(response)).code]).toEqual([
        404,
        "session_not_found",
      ]);
    }
    await goesOn(c);
  });

  for (const part of ["plan", "queue", "settings", "turn", "toolbox", "migration"]) {
    it(`in its ${part} alone, keeps everything else`, async () => {
      const c = await worked();
      const usage = (await c.view()).usage;
      await damage(c, `INSERT OR REPLACE INTO head (part, json) VALUES ('${part}', '{"broken')`);
      const view = await goesOn(c);
      expect([view.usage, view.title]).toEqual([usage, "The task"]);
      expect(await repairs(c)).toContain(part);
    });
  }

  it("that does not say how far its tables are, keeps everything", async () => {
    const c = await worked();
    await damage(c, "DELETE FROM head WHERE part = 'migration'");
    expect((await goesOn(c)).title).toBe("The task");
  });

  it("in the middle of a turn, ends it, and keeps what was said meanwhile", async () => {
    const c = await Client.create([plan("a"), write("a.txt", "kept words"), new Held()]);
    await c.say("Do it");
    await until(() => expect(c.model.asked).toHaveLength(3));
    await c.say("in blue", { delivery: "follow_up" });
    await die(c, "UPDATE head SET json = '{' WHERE part = 'plan'");
    expect((await c.view()).status).toBe("stopped");
    await goesOn(c);
    expect(c.model.asked.at(-3)?.raw).toContain("in blue");
  });

  it("that contradicts itself is mended by the alarm as well, with nobody there", async () => {
    const c = await Client.create([plan("a"), write("a.txt", "kept words"), new Held()]);
    await c.say("Do it");
    await until(() => expect(c.model.asked).toHaveLength(3));
    await die(c, "UPDATE head SET json = 'null' WHERE part IN ('turn', 'plan')");
    expect(await ring(c)).toBe(true);
    await atRest(c);
    expect((await c.view()).status).toBe("stopped");
    await goesOn(c);
  });
});

describe("a log that cannot be read", () => {
  const LOGS: [what: string, statement: string][] = [
    [
      "has an event that is no JSON",
      'UPDATE log SET json = replace(json, \'"event":"title"\', \'"event":\') WHERE json LIKE \'%"title"%\'',
    ],
    [
      "has a row that is cut",
      "UPDATE log SET json = substr(json, 1, length(json) - 30) WHERE first_seq = (SELECT max(first_seq) FROM log WHERE first_seq < (SELECT max(first_seq) FROM log))",
    ],
    ["has a row of nonsense", "UPDATE log SET json = 'nonsense' WHERE first_seq = 1"],
    [
      "has a hole",
      "DELETE FROM log WHERE first_seq = (SELECT first_seq FROM log ORDER BY first_seq LIMIT 1 OFFSET 1)",
    ],
    ["has lost its end", "DELETE FROM log WHERE first_seq = (SELECT max(first_seq) FROM log)"],
    ["is gone", "DELETE FROM log"],
  ];
  for (const [what, statement] of LOGS) {
    it(`because it ${what}, is numbered anew, and its events that are left stay`, async () => {
      const c = await worked();
      const { epoch } = await c.view();
      const before = new Set((await c.events()).map((e) => JSON.stringify(e.data)));
      await damage(c, statement);
      // Whoever looks first finds it; a read of the log, here.
      const events = await c.events();
      if (what !== "is gone") {
        const kept = events.filter((e) => before.has(JSON.stringify(e.data)));
        expect(kept.length).toBeGreaterThan(4);
      }
      await goesOn(c);
      const now = await c.view();
      expect(now.epoch).not.toBe(epoch);
      const socket = await c.socket(`?after=2&epoch=${epoch}`);
      await socket.has("reset");
    });
  }

  it("is found by a socket too, which is sent a whole one", async () => {
    const c = await worked();
    const { epoch } = await c.view();
    await damage(
      c,
      "DELETE FROM log WHERE first_seq = (SELECT first_seq FROM log ORDER BY first_seq LIMIT 1 OFFSET 1)",
    );
    const socket = await c.socket(`?after=0&epoch=${epoch}`);
    await socket.has("reset");
    await until(() => expect(socket.events.at(-1)?.event).toBe("repair"));
    await goesOn(c);
  });

  it("and runs ahead of the head, goes on behind its last event", async () => {
    const c = await worked();
    const { last_seq } = await c.view();
    await damage(c, "UPDATE head SET json = json_set(json, '$.seq', 3) WHERE part = 'state'");
    await goesOn(c);
    const now = await c.view();
    expect(now.last_seq).toBeGreaterThan(last_seq);
  });

  it("keeps its links and its resting points, at their new places", async () => {
    const c = await worked(plan("b"), write("c.txt"), complete(true, "Later."));
    const { share_id } = await c.post<{ share_id: string }>("/share", {}, 201);
    await c.say("The second task");
    await until(async () => expect((await c.view()).run).toBe(2));
    await c.status("completed");
    await atRest(c);
    await damage(
      c,
      "DELETE FROM log WHERE first_seq = (SELECT first_seq FROM log ORDER BY first_seq LIMIT 1 OFFSET 1)",
    );
    await c.events();
    const shared = JSON.stringify(await (await api(`/api/shared/${share_id}/events`)).json());
    expect(shared).toContain("The first task");
    expect(shared).toContain("It is done.");
    expect(shared).not.toContain("The second task");
    const dones = (await c.events()).filter((e) => e.event === "done");
    const fork = await c.fetch("/fork", { json: { after_seq: dones[0]?.seq } });
    const { c: copy, view } = await adopt(fork, [], c);
    copy.damaged = true;
    expect(view.run).toBe(1);
    await goesOn(c);
  });
});

describe("a memory that cannot be read", () => {
  /** Leaves out the messages of a log row for which something holds. */
  const without = (what: string, where = "rows IS NOT NULL") =>
    `UPDATE log SET rows = (SELECT json_group_array(json(one.value)) FROM json_each(rows) AS one WHERE NOT (${what})) WHERE ${where}`;
  const executors = "one.value ->> 1 = 'executor' AND one.value ->> 2";
  const lastReply = `(SELECT max(first_seq) FROM log, json_each(log.rows) AS one WHERE one.value ->> 2 = 'reply')`;
  const firstReply = `(SELECT min(first_seq) FROM log, json_each(log.rows) AS one WHERE ${executors} = 'reply')`;
  const MEMORIES: [what: string, statement: string][] = [
    [
      "has a message that is no JSON",
      `UPDATE log SET rows = json_replace(rows, '$[0][3]', substr(rows ->> '$[0][3]', 1, length(rows ->> '$[0][3]') - 3)) WHERE first_seq = ${lastReply}`,
    ],
    [
      "has messages that cannot be told apart",
      `UPDATE log SET rows = substr(rows, 1, length(rows) - 3) WHERE first_seq = ${lastReply}`,
    ],
    ...["[5]", "[null]", "[{}]", '[["1","executor","reply","{}"]]', "7"].map(
      (rows): [string, string] => [
        `has ${rows} in place of messages`,
        `UPDATE log SET rows = '${rows}' WHERE first_seq = ${lastReply}`,
      ],
    ),
    [
      "has lost a reply whose results are there",
      without(`${executors} = 'reply'`, `first_seq = ${firstReply}`),
    ],
    [
      "has a message twice",
      `UPDATE log SET rows = json_insert(rows, '$[#]', json_extract(rows, '$[0]')) WHERE first_seq = ${lastReply}`,
    ],
  ];
  for (const [what, statement] of MEMORIES) {
    it(`because it ${what}, is a valid history again before a model sees it`, async () => {
      const c = await worked();
      await damage(c, statement);
      // Nobody reads a memory until a model is to be asked: the turn ends, and says why.
      c.model.add(plan("x"), write("x"), complete());
      await c.say("Next");
      await c.status("stopped", "completed");
      if ((await c.of("repair")).length === 0) {
        await exported(c);
      }
      await goesOn(c);
      expect(await repairs(c)).toContain("messages of the memories");
    });
  }

  it("because it runs ahead of the head, ends the turn that meets it, and says so", async () => {
    const c = await worked();
    await damage(c, "UPDATE head SET json = json_set(json, '$.row', 1) WHERE part = 'state'");
    await c.say("Next");
    await until(async () => expect(await c.of("repair")).toHaveLength(1));
    await c.status("stopped");
    expect((await c.of("message")).map((m) => m.content)).toContain("Next");
    await goesOn(c);
  });

  it("because it has lost results alone, is filled in without ending anything", async () => {
    const c = await worked(plan("b"), write("b.txt"), complete());
    await damage(c, without(`${executors} = 'result'`));
    await c.say("Next");
    await until(async () => expect((await c.view()).run).toBe(2));
    await c.status("completed");
    expect(await repairs(c)).toContain("missing tool results");
  });
});

describe("a chat that waits", () => {
  it("goes on from a damaged head as from a stop", async () => {
    const c = await Client.create([askUser("Which?"), text("never")], { mode: "chat" });
    await c.say("Hi");
    await c.status("waiting");
    await damage(c, "UPDATE head SET json = '{' WHERE part = 'turn'");
    expect(await c.view()).toMatchObject({ status: "stopped", wait: null, mode: "chat" });
    c.model.drop();
    c.model.add(call(["file_read", { path: "x" }]), text("All well."));
    await c.say("Again");
    await c.status("completed");
    expect((await c.of("message")).at(-1)?.content).toBe("All well.");
  });
});
