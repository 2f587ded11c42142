/**
 * Random replies, people, tools and crashes, in any order: whatever happens, the oracles find nothing, the session
 * comes to rest, nothing said is lost, and no effect happens twice.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Mode } from "../../src/core/session.ts";
import type { SettingsLayer } from "../../src/core/settings.ts";
import {
  call,
  complete,
  deliver,
  fail,
  Harness,
  plan,
  type RequestBody,
  review,
  type Scripted,
  text,
  update,
} from "../fakes.ts";
import { runs } from "../support/properties.ts";

/** What the model does next; the last ones of a run are sane, so that it ends. */
type Whim =
  | "sane"
  | "text"
  | "rescued"
  | "again"
  | "tooLong"
  | "blank"
  | "unknown"
  | "badArgs"
  | "wrongPhase"
  | "cut"
  | "batch"
  | "shell"
  | "reads"
  | "ask"
  | "askBatch"
  | "twins"
  | "giveUp"
  | "flaky"
  | "busy"
  | "endBatch"
  | "failReview"
  | "delegate";
const WHIMS: Whim[] = [
  "sane",
  "sane",
  "sane",
  "text",
  "rescued",
  "again",
  "again",
  "tooLong",
  "blank",
  "unknown",
  "badArgs",
  "wrongPhase",
  "cut",
  "batch",
  "shell",
  "reads",
  "ask",
  "askBatch",
  "twins",
  "giveUp",
  "flaky",
  "busy",
  "endBatch",
  "failReview",
  "delegate",
  "delegate",
  "delegate",
];

const write = (path: string): [string, unknown] => [
  "file_write",
  { path, content: "x", brief: "b" },
];

const hand = (profile: string): [string, unknown] => ["delegate_task", { profile, task: "t" }];

/** A sensible reply to whatever is offered. */
function sane(r: RequestBody, n: number): Scripted {
  const offered = new Set(r.tools?.map((t) => t.function.name));
  if (offered.has("create_plan")) return plan(`a${n}`, `b${n}`);
  if (offered.has("update_plan")) return update([String(n), "again"]);
  if (offered.has("submit_review")) return review("pass");
  if (offered.has("agent_response")) return call(["agent_response", { text: `answer ${n}` }]);
  if (!offered.has("complete_step")) return text(`answer ${n}`);
  if (r.tool_choice !== "auto") return deliver(`Final ${n}`);
  return n % 2
    ? call(write(`f${n}`))
    : call(write(`g${n}`), ["complete_step", { success: true, result: `r${n}` }]);
}

function whimsical(whim: Whim, r: RequestBody, n: number): Scripted {
  switch (whim) {
    case "sane":
      return sane(r, n);
    case "text":
      return text(`words ${n}`);
    case "blank":
      return text(" ");
    case "rescued":
      return text(
        `<tool_call>${JSON.stringify({ name: "file_read", arguments: { path: "1" } })}</tool_call>`,
      );
    case "again":
      return call(["file_read", { path: "1" }]);
    case "tooLong":
      return fail("context_overflow", false);
    case "unknown":
      return call(["nope", {}], write("u"));
    case "badArgs":
      return call(["file_write", "{"], ["file_write", { path: 3 }]);
    case "wrongPhase":
      return call(["deliver_result", { message: "m" }], ["create_plan", {}]);
    case "cut":
      return { ...call(write("cut")), finish: n % 2 ? "length" : null };
    case "batch":
      return call(
        write("1"),
        ["message_notify_user", { text: "half" }],
        ["file_read", { path: "2" }],
      );
    case "shell":
      return call(["shell_exec", { command: `c${n}` }], ["attach", { command: `d${n}` }]);
    case "reads":
      return call(
        ["file_read", { path: "1" }],
        ["file_read", { path: "2" }],
        ["file_read", { path: "bad" }],
      );
    case "ask":
      return call(["message_ask_user", { text: `q${n}?`, options: ["a", "b"] }]);
    case "askBatch":
      return call(
        write("w"),
        ["message_ask_user", { text: "?" }],
        ["shell_exec", { command: "late" }],
        ["message_ask_user", { text: "2?" }],
      );
    case "twins":
      return call(["complete_step", { success: true, result: "1" }], write("t"), [
        "complete_step",
        { success: false, result: "2", attachments: ["x"] },
      ]);
    case "failReview":
      return review("fail", n % 2 ? "retry_actor" : "replan", `issue ${n}`);
    case "delegate":
      return n % 2
        ? call(...[`asks${n}`, "quick", "asks"].map(hand), ["file_read", { path: "1" }])
        : call(hand(`asks${n}`), write("after"));
    case "giveUp":
      return complete(false, "cannot");
    case "flaky":
      return fail("provider_error", true);
    case "busy":
      return fail("rate_limited", true, 3_000);
    case "endBatch":
      return call(
        ["complete_step", { success: true, result: "r", attachments: ["x"] }],
        ["file_read", { path: n % 3 ? "1" : "bad" }],
      );
  }
}

type Happening =
  | { do: "say"; how: "steer" | "follow_up" | "replan" | "reject" }
  | {
      do:
        | "new"
        | "answer"
        | "allow"
        | "deny"
        | "edit"
        | "remove"
        | "stop"
        | "crash"
        | "settle"
        | "tick";
    }
  | { do: "fail" | "die"; in: number };
const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .constantFrom("steer", "follow_up", "replan", "reject")
      .map((how) => ({ do: "say", how }) as const),
  },
  {
    weight: 6,
    arbitrary: fc
      .constantFrom(
        "new",
        "answer",
        "allow",
        "deny",
        "edit",
        "remove",
        "stop",
        "crash",
        "settle",
        "tick",
        "tick",
        "settle",
      )
      .map((what) => ({ do: what }) as Happening),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom("fail" as const, "die" as const),
      in: fc.integer({ min: 1, max: 4 }),
    }),
  },
);

interface World {
  h: Harness;
  n: number;
}

async function happen(w: World, what: Happening): Promise<void> {
  const { h } = w;
  const attempt = (f: () => void) => {
    try {
      f();
    } catch {
      // The commit failed: nothing was taken in, and the object comes back when it settles.
    }
  };
  switch (what.do) {
    case "say": {
      const id = `s${w.n++}`;
      attempt(() => h.say(id, what.how, id));
      break;
    }
    case "new": {
      const id = `n${w.n++}`;
      attempt(() => h.say("/new", "steer", id));
      break;
    }
    case "answer":
      attempt(() => h.keep({ type: "answered", clientId: `a${w.n++}`, text: `answer ${w.n}` }));
      break;
    case "allow":
    case "deny": {
      const approved = what.do === "allow";
      attempt(() => h.keep({ type: "decided", clientId: `d${w.n++}`, approved }));
      break;
    }
    case "edit":
    case "remove": {
      const id = h.head.queue.at(-1)?.id ?? "none";
      const text = `edited ${w.n++}`;
      const delivery = (["steer", "follow_up", "replan"] as const)[w.n % 3];
      if (what.do === "edit") attempt(() => h.keep({ type: "edited", id, text, delivery }));
      else attempt(() => h.keep({ type: "removed", id }));
      break;
    }
    case "stop":
      attempt(() => h.keep({ type: "stopped", clientId: `x${w.n++}` }));
      break;
    case "crash":
      h.crash();
      break;
    case "settle":
      await h.settle();
      break;
    case "tick":
      await new Promise((r) => setImmediate(r));
      break;
    case "fail":
      h.disk.failAt.add(h.disk.commits + what.in);
      break;
    case "die":
      h.disk.dieAfter.add(h.disk.commits + what.in);
      break;
  }
}

/**
 * Every user message that was taken in stands, as it was last put, in a memory or in the queue of a session that
 * waits; one that was taken back stands nowhere.
 */
function lostMessages(h: Harness): string[] {
  const memory = h.disk.rows.map((r) => r.json).join("\n");
  const queued = new Set(h.head.queue.map((q) => q.text));
  return h
    .of("message")
    .filter((m) => m.role === "user" && m.content !== "/new")
    .map((m) => h.of("queue").findLast((q) => q.message_id === m.message_id) ?? { text: m.content })
    .filter((m) => !("op" in m && m.op === "removed"))
    .map((m) => m.text ?? "")
    .filter((text) => !queued.has(text) && !memory.includes(text));
}

/** Each specialist worked once, was answered once, and is not left at work when its call is over. */
function lostSpecialists(h: Harness): string[] {
  const called = h.of("tool").filter((t) => t.status === "called");
  return [...h.specialists.children].flatMap(([id, child]) => {
    const done = called.find((t) => t.tool_call_id === id);
    const given = child.answers.map((a) => a.id);
    return [
      ...(child.begun === 1 ? [] : [`${id} began ${child.begun} times`]),
      ...(new Set(given).size === given.length ? [] : [`${id} was answered twice`]),
      ...(done?.ok || child.stopped ? [] : [`${id} is still at work`]),
    ];
  });
}

async function live(
  mode: Mode,
  whims: Whim[],
  happenings: Happening[],
  slow: number[],
  ticks: number[],
): Promise<void> {
  let asked = 0;
  const rule = (r: RequestBody) => whimsical(whims[asked] ?? "sane", r, asked++);
  const settings: SettingsLayer = {
    limits: { maxIterations: 12, maxReplans: 2, maxContextTokens: 4_500 },
    reviewer: { enabled: whims.length % 2 === 0, maxRetries: 1 },
    budget: ticks.length % 2 === 0 ? {} : { maxTokens: 80, maxToolCalls: 4 },
    tools: { approval: slow.length % 3 === 0 ? { shell_exec: "ask" } : {} },
    evidence: {
      enabled: happenings.length % 2 === 0,
      seeds: [{ tool: "file_read", args: { path: "{message}" } }],
    },
    harness: { enabled: slow.length % 2 === 0, compact: { keepRecentSteps: 2 } },
  };
  const h = new Harness({ mode, script: rule, settings });
  h.model.ticks = (n) => ticks[n % ticks.length] ?? 0;
  const hung: { hang?: true } = { hang: true };
  h.specialists.work = ({ args }) =>
    String(args.profile).startsWith("asks")
      ? {
          asks: [
            { kind: "approval", text: "May it?" },
            { kind: "budget", text: "More?" },
          ],
        }
      : { spends: { model_calls: 1, input_tokens: 5 }, ...(slow.length % 2 ? hung : {}) };
  let ran = 0;
  h.tools.behaviour = (run) => {
    if (slow.includes(ran++)) return "hang";
    return run.args.path === "bad"
      ? { ok: false, text: "bad" }
      : { ok: true, text: `ok ${run.id}` };
  };
  const w: World = { h, n: 0 };
  await happen(w, { do: "say", how: "steer" });
  for (const what of happenings) await happen(w, what);
  // A specialist that is found again has ended by then.
  delete hung.hang;
  h.crash();
  // Everything is let go, and questions are answered, until it rests.
  for (let i = 0; i < 90; i++) {
    await h.settle();
    for (const id of [...h.tools.open.keys()]) h.tools.release(id);
    await h.settle();
    const asked = h.head.wait?.kind === "question" ? "answer" : i < 40 ? "allow" : "deny";
    if (h.head.status === "waiting") await happen(w, { do: asked });
    else if (h.head.status !== "running") break;
  }
  expect(h.head.status).toMatch(/^(idle|completed|failed|stopped)$/);
  expect(h.faults()).toEqual([]);
  expect(lostMessages(h)).toEqual([]);
  expect(lostSpecialists(h)).toEqual([]);
  expect(h.of("moved").map((m) => [m.client_id, m.to])).toEqual([...h.errands.made]);
  expect(h.head).toMatchObject({ batch: null, wait: null, queue: [], retry: null, errands: [] });
  const effects = h.tools.effects.filter((e) => !e.startsWith("file_write"));
  expect(effects.length).toBe(new Set(effects).size);
}

for (const mode of ["agent", "chat", "workflow", "direct"] as const) {
  it(`${mode}: any replies, people, failures and crashes leave a sound session`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...WHIMS), { maxLength: 25 }),
        fc.array(happening, { maxLength: 14 }),
        fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 4 }),
        fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 7 }),
        (whims, happenings, slow, ticks) => live(mode, whims, happenings, slow, ticks),
      ),
      runs(400),
    );
  }, 300_000);
}
