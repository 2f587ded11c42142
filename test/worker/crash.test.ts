/**
 * The crash sweep in workerd: a session dies at every one of its commits, in three ways, and no client is there to
 * notice. Its alarm alone brings it back, and its log ends as if nothing had happened.
 */
import { afterEach, beforeEach, describe, expect, vi } from "vitest";
import { Client, failureOf, it } from "./support/client.ts";
import { atRest, type Crash, type Kind, lasting, plant, settle } from "./support/crash.ts";
import {
  answer,
  askUser,
  call,
  complete,
  delegate,
  deliver,
  plan,
  review,
  shell,
  text,
  update,
  write,
} from "./support/replies.ts";
import { specialist } from "./support/specialist.ts";
import type { Scripted } from "./support/upstream.ts";
// Loaded before the first test: an import that an object had begun when it died never ends here.
import "just-bash/browser";

// A crash is logged, and these are meant.
let loud = () => {};
beforeEach(() => {
  const quiet = vi.spyOn(console, "error").mockImplementation(() => undefined);
  loud = () => quiet.mockRestore();
});
afterEach(() => loud());

interface Scenario {
  script: Scripted[];
  mode?: "chat";
  answer?: string;
  settings?: Record<string, unknown>;
  /** What the specialist says. */
  specialist?: Scripted[];
  /** What people do afterwards, each at rest: a message, or a yes to what is asked. */
  people?: ({ id: string; text: string; delivery?: string } | "yes")[];
}
const read = (path: string) => call(["file_read", { path, brief: "look" }]);
const SCENARIOS: Record<string, Scenario> = {
  "one step": { script: [plan("a"), write(), complete()] },
  "two steps": {
    script: [plan("a", "b"), write("a"), complete(), write("b"), complete(), deliver("Both.")],
  },
  "a question": { script: [plan("a"), askUser("Which?"), write(), complete()], answer: "blue" },
  "a failed step": {
    script: [
      plan("a"),
      complete(false, "no"),
      update(["2", "b"]),
      write(),
      complete(),
      deliver("Done after all."),
    ],
  },
  "a steer and a follow-up while an approval waits": {
    settings: { tools: { approval: { file_write: "ask" } } },
    script: [plan("a"), write(), complete(), plan("b"), read("a.txt"), complete()],
    people: [
      { id: "m2", text: "in blue", delivery: "steer" },
      { id: "m3", text: "then b", delivery: "follow_up" },
      "yes",
    ],
  },
  "a replan while an approval waits": {
    settings: { tools: { approval: { file_write: "ask" } } },
    script: [plan("a"), write(), plan("b"), read("a.txt"), complete()],
    people: [{ id: "m2", text: "rather b", delivery: "replan" }, "yes"],
  },
  "a review that sends the work back": {
    settings: { reviewer: { enabled: true } },
    script: [
      plan("a"),
      write(),
      complete(),
      review("fail", "retry_actor", "no title"),
      write("b"),
      complete(),
      review("pass"),
      deliver("Both."),
    ],
  },
  "a budget that is extended": {
    settings: { budget: { maxTokens: 30 } },
    script: [plan("a"), write(), complete()],
    people: ["yes"],
  },
  "a specialist that asks for an approval": {
    settings: { tools: { approval: { file_write: "ask" } } },
    specialist: [write("made.txt"), answer("Tested.")],
    script: [plan("a"), delegate(), complete()],
    people: ["yes"],
  },
  "a chat with a tool": {
    mode: "chat",
    script: [read("none.txt"), text("There is no such file.")],
  },
};

/** Sends as a client does: what was not acknowledged is sent again with the same id. */
async function act(c: Client, crash: Crash, path: string, json: unknown): Promise<void> {
  const first = await c.fetch(path, { json });
  if (first.status !== 202) {
    expect([first.status, (await failureOf(first)).code]).toEqual([503, "restarting"]);
    await settle(c, crash);
    await c.post(path, json);
  }
  await settle(c, crash);
}

const waitId = async (c: Client) => (await c.of("wait")).at(-1)?.wait_id;

interface Played {
  client: Client;
  crash: Crash;
  log: unknown;
  requests: string[];
  /** Requests of the specialist. */
  expert: string[];
}
async function play(scenario: Scenario, n = 0, kind: Kind = "fail"): Promise<Played> {
  const expert = scenario.specialist ? specialist(scenario.specialist) : null;
  const client = await Client.create(scenario.script, {
    mode: scenario.mode ?? "agent",
    ...(scenario.settings ? { settings: scenario.settings } : {}),
  });
  const crash = await plant(client, n, kind);
  await act(client, crash, "/messages", { id: "m1", text: "Do it" });
  if (scenario.answer !== undefined) {
    await act(client, crash, "/messages", { id: "m2", text: scenario.answer });
  }
  for (const person of scenario.people ?? []) {
    if (person !== "yes") await act(client, crash, "/messages", person);
    else
      await act(client, crash, "/answers", {
        id: "y",
        wait_id: await waitId(client),
        approved: true,
      });
  }
  await atRest(client);
  const own = client.model.asked.map((a) => a.raw.replace(client.model.name, "test"));
  const requests = [...new Set(own)];
  const log = lasting(await client.events());
  return { client, crash, log, requests, expert: expert?.asked.map((a) => a.raw) ?? [] };
}

for (const [name, scenario] of Object.entries(SCENARIOS)) {
  describe(name, () => {
    for (const kind of ["fail", "lose", "die"] as const) {
      it(`ends the same when it crashes at any commit (${kind})`, async () => {
        const calm = await play(scenario);
        expect(calm.requests).toHaveLength(scenario.script.length);
        expect(calm.expert).toHaveLength(scenario.specialist?.length ?? 0);
        expect(calm.crash.commits).toBeGreaterThan(3);
        for (let n = 1; n <= calm.crash.commits; n++) {
          const { crash, log, requests, expert } = await play(scenario, n, kind);
          expect({ n, fired: crash.fired, log }).toEqual({ n, fired: true, log: calm.log });
          // Whatever was lost is asked again byte for byte.
          expect({ n, requests }).toEqual({ n, requests: calm.requests });
          // One specialist does the work, and does it once.
          expect({ n, asked: expert.length }).toEqual({ n, asked: calm.expert.length });
        }
      });
    }
  });
}

describe("a command with effects", () => {
  it("never runs twice, and when its outcome is lost the model and the log say so once", async () => {
    const script = [plan("a"), shell("echo paid >> ledger.txt; sleep 0.1"), write(), complete()];
    // The shell is imported once, undisturbed: an import that its object does not outlive is never ended in the pool.
    await play({ script });
    for (const kind of ["fail", "lose", "die"] as const) {
      // Around the commits of its intent and of its result.
      for (const n of [2, 3, 4, 5]) {
        const { client } = await play({ script }, n, kind);
        const ledger = await (await client.fetch("/files/ledger.txt")).text();
        const [calling, called] = (await client.of("tool")).filter(
          (t) => t.function === "shell_exec",
        );
        expect([kind, n, calling?.status, called?.status]).toEqual([kind, n, "calling", "called"]);
        const told = client.model.asked.at(-1)?.raw.includes("utcome unknown");
        expect({ kind, n, told }).toEqual({ kind, n, told: called?.ok === false });
        if (called?.ok) expect(ledger).toBe("paid\n");
        else expect(ledger.split("paid").length - 1).toBeLessThanOrEqual(1);
        expect((await client.view()).status).toBe("completed");
      }
    }
  });
});
