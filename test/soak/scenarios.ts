/** What the people of the soak do; each kind has an even share. A new kind is an entry here. */
import type { Player } from "./player.ts";
import { taskOf } from "./task.ts";

export interface Scenario {
  kind: string;
  mode?: "agent" | "chat" | "workflow" | "direct";
  settings?: Record<string, unknown>;
  play(p: Player): Promise<void>;
}

/** A name in the ledger, of this session alone. */
const rec = (p: Player, n: number): string => `${p.name}-r${n}`;
const seesTool = (p: Player): Promise<void> =>
  p.sees("a call or an end", (events) =>
    events.some((e) => e.event === "tool" || e.event === "done"),
  );

async function answerAll(p: Player, reply: { text?: string; approved?: boolean }): Promise<void> {
  while (await p.waits()) {
    const waits = p.follower.events.filter((e) => e.event === "wait").length;
    await p.answer(reply);
    await p.sees(
      "the answer",
      (events) => events.filter((e) => e.event === "answer").length >= waits,
    );
  }
}

export const SCENARIOS: readonly Scenario[] = [
  {
    kind: "one-step",
    async play(p) {
      await p.say(taskOf(`append ${rec(p, 1)} + write a.txt`));
      await p.ended();
    },
  },
  {
    kind: "two-steps",
    async play(p) {
      await p.say(taskOf(`append ${rec(p, 1)}`, `shell echo hello + book ${rec(p, 2)}`));
      await p.ended();
    },
  },
  {
    kind: "question",
    async play(p) {
      await p.say(taskOf(`append ${rec(p, 1)} + ask Which colour? + append ${rec(p, 2)}`));
      if (await p.waits()) {
        await (p.chance.hits(0.5) ? p.answer({ text: "red" }) : p.say("blue"));
      }
      await p.ended();
    },
  },
  {
    kind: "stop",
    async play(p) {
      await p.say(
        taskOf(`append ${rec(p, 1)} + write a.txt + shell echo hello`, `book ${rec(p, 2)}`),
      );
      await seesTool(p);
      await p.stop();
      await p.ended(1);
      await p.say(taskOf(`append ${rec(p, 3)}`));
      await p.ended(2);
    },
  },
  {
    kind: "steer",
    async play(p) {
      await p.say(taskOf(`append ${rec(p, 1)} + write a.txt`, `write b.txt`));
      await seesTool(p);
      await p.say(taskOf(`append ${rec(p, 2)}`), { delivery: "steer" });
      await p.ended();
    },
  },
  {
    kind: "queue",
    async play(p) {
      await p.say(taskOf(`append ${rec(p, 1)}`));
      await p.say(taskOf(`append ${rec(p, 2)}`), { delivery: "follow_up" });
      await p.say(taskOf(`book ${rec(p, 3)}`), { delivery: "follow_up" });
      await p.ended();
    },
  },
  {
    kind: "tool-failures",
    async play(p) {
      await p.say(taskOf(`flaky ${rec(p, 1)} + shell exit 3`, `shell cat nowhere + flunk it`));
      await p.ended();
    },
  },
  {
    kind: "approval",
    settings: { tools: { approval: { file_write: "ask", mcp_ledger_book: "ask" } } },
    async play(p) {
      await p.say(taskOf(`write a.txt + book ${rec(p, 1)}`));
      await answerAll(p, { approved: true });
      await p.ended();
    },
  },
  {
    kind: "share",
    async play(p) {
      await p.say(taskOf(`append ${rec(p, 1)} + write a.txt`));
      await p.ended();
      const made = await p.json<{ share_id: string; upto_seq: number }>("/share", "POST");
      const shared = `${new URL(p.at).origin}/api/shared/${made.body.share_id}`;
      const page = (await (await p.send(`${shared}/events`)).json()) as { events: unknown[] };
      if (page.events.length !== made.body.upto_seq) p.faults.push("a link does not show its log");
      await p.json("/share", "DELETE");
      const gone = await p.send(`${shared}/events`);
      if (gone.status !== 404) p.faults.push(`a link that was revoked answers ${gone.status}`);
    },
  },
  {
    kind: "files",
    async play(p) {
      const body = `${p.name}\n`.repeat(2_000);
      await p.send(`${p.at}/files/in.txt`, { method: "PUT", body });
      await p.say(taskOf(`shell cp in.txt out.txt + append ${rec(p, 1)}`), {
        attachments: ["/workspace/in.txt"],
      });
      await p.ended();
      const out = await p.send(`${p.at}/files/out.txt`);
      const failed = p.follower.events.some(
        (e) => e.event === "done" && e.data.outcome !== "completed",
      );
      if (!failed && (await out.text()) !== body) p.faults.push("a file is not what was copied");
    },
  },
  {
    kind: "chat",
    mode: "chat",
    async play(p) {
      await p.say("Hello there");
      await p.ended(1);
      await p.say(taskOf(`append ${rec(p, 1)} + ask Which one?`));
      if (await p.waits(2)) await p.say("red");
      await p.ended(2);
    },
  },
  {
    kind: "workflow",
    mode: "workflow",
    async play(p) {
      await p.say(taskOf(`append ${rec(p, 1)} + write a.txt`));
      await p.ended();
    },
  },
  {
    kind: "direct",
    mode: "direct",
    async play(p) {
      for (let run = 1; run <= 3; run++) {
        await p.say("What do you say?");
        await p.ended(run);
      }
    },
  },
  {
    kind: "left-alone",
    async play(p) {
      await p.say(taskOf(`append ${rec(p, 1)}`, `book ${rec(p, 2)}`));
      // Nobody looks until everything else is over: what ends it are its alarms.
      await p.follower.leave();
    },
  },
  {
    kind: "deleted",
    async play(p) {
      await p.say(taskOf(`append ${rec(p, 1)} + write a.txt`));
      if (p.chance.hits(0.5)) await p.ended();
      else await seesTool(p);
      await p.follower.leave();
      await p.json("", "DELETE");
      p.deleted = true;
    },
  },
];
