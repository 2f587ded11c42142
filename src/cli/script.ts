/**
 * Without a person at the keys: one task (`-p`), or one a line; what it asks is answered from standard input.
 *
 * S1  The answer goes to standard output, the way there to standard error; `--json` writes events and the result to
 *     standard output and nothing else.
 * S2  The exit code tells the outcome of the last turn: 0 completed, 1 failed, 3 waiting, 130 stopped.
 */
import { newId, type Talk, talk } from "../client/index.ts";
import type { Event } from "../core/events.ts";
import type { SessionView, TurnResult } from "../core/wire.ts";
import type { Lines } from "./lines.ts";
import type { Renderer } from "./render.ts";
import { replyTo } from "./reply.ts";
import type { Server } from "./server.ts";
import type { Say } from "./strings.ts";

export const CODES = { completed: 0, failed: 1, stopped: 130, waiting: 3 } as const;

export interface Script {
  server: Server;
  session: SessionView;
  say: Say;
  /** The tasks; with one alone, `lines` are answers only. */
  task?: string;
  lines: Lines;
  json: boolean;
  renderer: Renderer;
  out(line: string): void;
  note(line: string): void;
  /** Aborted at the first Ctrl-C. */
  signal: AbortSignal;
}

/** How long a connection may be lost before the program gives up. */
const GIVE_UP_MS = 10 * 60_000;

export async function runScript(script: Script): Promise<number> {
  const { server, say, note } = script;
  const lost = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  let t: Talk | null = null;
  const enter = (session: SessionView): Talk => {
    t?.close();
    t = join(session);
    return t;
  };
  const join = (session: SessionView) =>
    talk({
      baseUrl: server.url,
      ...(server.token ? { token: server.token } : {}),
      session,
      onFrames(frames) {
        for (const frame of frames) if (frame.type === "event") show(script, frame);
      },
      onState(state) {
        clearTimeout(timer);
        if (state !== "offline") return;
        note(say("offline"));
        const error = new Error(say("gaveUp", GIVE_UP_MS / 60_000));
        timer = setTimeout(() => lost.reject(error), GIVE_UP_MS);
      },
    });
  try {
    return CODES[await Promise.race([play(script, enter), lost.promise])];
  } finally {
    clearTimeout(timer);
    (t as Talk | null)?.close();
    script.lines.close();
  }
}

/** `enter`: talks with that session from now on. */
async function play(
  script: Script,
  enter: (session: SessionView) => Talk,
): Promise<TurnResult["outcome"]> {
  const { task, lines, session, signal, server } = script;
  let t = enter(session);
  // It may have been waiting before.
  let outcome: TurnResult["outcome"] = session.status === "waiting" ? "waiting" : "completed";
  if (session.wait && !script.json) script.renderer.wait(session.wait);
  if (task === undefined && session.wait) outcome = await answers(script, t, waitingAs(session));
  for (;;) {
    const next = task ?? (await lines.next());
    if (next === null || signal.aborted) return outcome;
    if (next.trim() === "") continue;
    const result = await t.run(next, { signal });
    outcome = await answers(script, t, result);
    // What follows `/new` is for the session that it made.
    if (result.moved_to) t = enter(await server.client.getSession(result.moved_to));
    if (task !== undefined || outcome === "waiting") return outcome;
  }
}

const waitingAs = ({ wait, usage, last_seq }: SessionView): TurnResult => ({
  outcome: "waiting",
  message: null,
  attachments: [],
  wait,
  usage,
  last_seq,
});

const show = (script: Script, event: Event): void =>
  script.json ? script.out(JSON.stringify(event)) : script.renderer.event(event);

/** Goes on as long as it asks and there are lines to answer with. */
async function answers(script: Script, t: Talk, first: TurnResult): Promise<TurnResult["outcome"]> {
  const { say, note, lines, signal } = script;
  let result = first;
  while (result.outcome === "waiting" && result.wait && !signal.aborted) {
    const { wait } = result;
    const line = await lines.next();
    if (line === null) break;
    if (line.trim() === "") continue;
    const reply = replyTo(wait, line);
    if (reply.type === "unclear") note(say("yesOrNo"));
    else if (reply.type === "answer") result = await t.answer(reply.given, { signal });
    else if (/^\/stop\b/i.test(reply.text)) result = await t.run(reply.text, { signal });
    else await t.send({ type: "message", id: newId(), text: reply.text });
  }
  if (script.json) script.out(JSON.stringify({ type: "result", session_id: t.id, ...result }));
  else if (result.outcome === "waiting") note(say("stillWaiting", t.id));
  return result.outcome;
}
