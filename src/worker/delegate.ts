/**
 * A specialist at work: a child session that belongs to one tool call.
 *
 * E1  Its id follows from the call, so after a crash it is found again; the task is said once and never run twice.
 * E2  It is bound by what binds its parent: denied tools, limits, its share of what is left of the budget. It
 *     delegates nothing.
 * E3  Nobody sits in front of it: it asks no questions. What it may not decide itself (an approval, a budget) is asked
 *     on its parent's behalf: both wait, hibernated, and the answer goes down when the call is run again.
 * E4  A stop of the parent stops it (errands.ts), a delete deletes it (children.ts). It is not listed, and goes an hour
 *     after its end.
 */
import type { FileStore } from "../adapters/files/store.ts";
import { shareOf } from "../core/budget.ts";
import { head, titleFrom } from "../core/chars.ts";
import { LIMITS } from "../core/limits.ts";
import { type Session, settingsOf } from "../core/session.ts";
import type { SettingsLayer } from "../core/settings.ts";
import { mergeSettings, patchLayer } from "../core/settings-merge.ts";
import type { Asks, ToolResult } from "../core/tool.ts";
import type { TurnResult } from "../core/wire.ts";
import type { Box } from "../tools/box.ts";
import type { Task, ToolContext } from "../tools/define.ts";
import { resolvePath } from "../tools/paths.ts";
import { brokeUnderTool } from "../tools/platform.ts";
import { type Children, childId } from "./children.ts";
import { profiles } from "./config.ts";
import type { Bindings } from "./env.ts";
import { awaitTurn } from "./feed.ts";
import { newSessionId, type SessionStub, sessionStub } from "./ids.ts";
import { unwrap } from "./problem.ts";
import type { Ack } from "./requests.ts";

export interface Parent {
  env: Bindings;
  files: FileStore;
  box: Box;
  children: Children;
  session(): Session;
}

const STOPPED = "The specialist was stopped.";
/** Files that come back. */
const MOST_FILES = 50;

/** The session of one call. */
interface Child {
  id: string;
  stub: SessionStub;
  owner: string;
  stop(): Promise<unknown>;
}
async function childOf({ env, session }: Parent, call: string): Promise<Child> {
  const { id: parent, owner } = session();
  const id = await childId(parent, call);
  const stub = sessionStub(env, id);
  return { id, stub, owner, stop: () => stub.stop(owner, newSessionId()).catch(() => null) };
}

/** What its parent works with, the profile over it; of tools, limits and budget whatever is stricter. */
function childSettings(s: Session, profile: SettingsLayer): SettingsLayer {
  const { model, provider, locale, instructions, prices, limits, tools, mcp } = settingsOf(s);
  const bounds: SettingsLayer = {
    limits,
    budget: shareOf(s),
    tools: {
      enabled: tools.enabled,
      approval: { ...tools.approval, message_ask_user: "deny" },
      // Whether anybody is there is its parent's to know.
      unattended: "wait",
    },
  };
  const strictest = mergeSettings([profile, bounds]);
  const own = patchLayer({ model, provider, locale, instructions, prices, mcp }, profile);
  return {
    ...own,
    limits: strictest.limits,
    budget: strictest.budget,
    tools: strictest.tools,
    // It works for a call, not for the owner: nobody outside is told.
    webhook: { url: "", secret: "" },
  };
}

const same = (a: Uint8Array | null, b: Uint8Array): boolean =>
  a !== null && a.length === b.length && a.every((byte, i) => byte === b[i]);

/** Absolute paths of files that are there, and the first that is not. */
function handed(files: FileStore, paths: string[]): { paths: string[]; missing: string | null } {
  const found: string[] = [];
  let missing: string | null = null;
  for (const path of paths) {
    const resolved = resolvePath(path);
    if (resolved.ok && files.stat(resolved.path)?.kind === "file") found.push(resolved.path);
    else missing ??= path;
  }
  return { paths: found, missing };
}

/** What the specialist made or changed comes back; what stands in its way here stays, and is named. */
async function bringBack(
  { files, box }: Parent,
  stub: SessionStub,
  owner: string,
  given: string[],
): Promise<{ brought: string[]; left: string[] }> {
  const { files: theirs } = unwrap(await stub.listFiles(owner));
  const [brought, left]: [string[], string[]] = [[], []];
  for (const { path } of theirs.slice(0, MOST_FILES)) {
    const { bytes } = unwrap(await stub.readFile(owner, path));
    const own = files.read(path);
    if (same(own, bytes)) continue;
    const free = own === null || given.includes(path);
    // Through the sandbox: a container that is up must see it at once.
    if (free && (await box.write(path, bytes)).ok) brought.push(path);
    else left.push(path);
  }
  left.push(...theirs.slice(MOST_FILES).map((f) => f.path));
  return { brought, left };
}

function told(result: TurnResult | null): Pick<ToolResult, "ok" | "text"> {
  if (!result) return { ok: false, text: "The specialist did not end in time and was stopped." };
  switch (result.outcome) {
    case "completed":
      return { ok: true, text: result.message ?? "Done." };
    case "stopped":
      return { ok: false, text: STOPPED };
    case "waiting":
      return {
        ok: false,
        text: `The specialist cannot go on without an answer, which nobody can give there: ${head(result.wait?.text ?? "", 1_000)}`,
      };
    case "failed":
      return {
        ok: false,
        text: result.error?.message ?? result.message ?? "The specialist failed.",
      };
  }
}

/** What it waits for, where a person can decide that; questions it does not ask. */
function asked(result: TurnResult | null, who: string): Asks | null {
  const wait = result?.outcome === "waiting" ? result.wait : null;
  if (!wait || wait.kind === "question") return null;
  const { wait_id: id, kind, text, tool } = wait;
  return { id, kind, who, text, ...(tool ? { tool } : {}) };
}

/** Makes the child, or finds it again, with the files that go with the task. */
async function make(
  parent: Parent,
  child: Child,
  { task }: Task,
  profile: SettingsLayer,
  given: string[],
): Promise<void> {
  const { id, stub, owner } = child;
  const s = parent.session();
  const start = {
    ...{ id, owner, ephemeral: true, parent: s.id, host: s.host },
    epoch: newSessionId().slice(0, 12),
    mode: "workflow" as const,
    title: titleFrom(task, LIMITS.titleChars),
    settings: childSettings(s, profile),
  };
  parent.children.note(id);
  const { view } = unwrap(await stub.create(start));
  if (view.run > 0) return;
  for (const path of given) {
    unwrap(await stub.writeFile(owner, path, parent.files.read(path) ?? new Uint8Array()));
  }
}

/** Says the task, and what a person has decided since; both count once. The turn is heard from its beginning. */
async function goOn(
  { stub, owner }: Child,
  { task }: Task,
  { id, answer, trace }: ToolContext,
): Promise<Pick<Ack, "seq" | "from">> {
  const { seq, from } = unwrap(await stub.say(owner, { id, text: task, route: "task", trace }));
  if (!answer) return { seq, from };
  const { id: wait_id, approved } = answer;
  const told = await stub.answer(owner, { id: `${id} ${wait_id}`, wait_id, approved });
  // Somebody was there before: it goes on with what they said.
  return told.ok || told.problem.code === "already_answered"
    ? { seq: told.ok ? told.value.seq : seq, from }
    : unwrap(told);
}

/** Until it ends or waits; null: it took too long. Whatever else goes wrong, it is not left at work. */
async function hear(child: Child, task: Task, ctx: ToolContext): Promise<TurnResult | null> {
  const { stub, owner, stop } = child;
  try {
    const ack = await goOn(child, task, ctx);
    return await awaitTurn(stub, owner, ack, ctx.timeoutMs / 1000, {
      heard: (_, spent) => ctx.spend?.(spent),
      signal: ctx.signal,
    });
  } catch (error) {
    // Where the platform failed the call is run again, and finds it.
    if (!brokeUnderTool(error)) await stop();
    throw error;
  }
}

export async function delegate(parent: Parent, task: Task, ctx: ToolContext): Promise<ToolResult> {
  const child = await childOf(parent, ctx.id);
  const known = profiles(parent.env);
  const profile = Object.hasOwn(known, task.profile) ? known[task.profile] : undefined;
  const given = handed(parent.files, task.files);
  // It may have been at work since before a crash, or a wait: then what it was given is its own by now.
  const again = ctx.reopened || ctx.answer !== undefined;
  if (!profile && !ctx.answer) {
    if (again) await child.stop();
    const names = Object.keys(known).join(", ");
    return { ok: true, text: `There is no profile ${task.profile}. There are: ${names}.` };
  }
  if (given.missing !== null && !again) {
    return { ok: true, text: `There is no file ${given.missing}; nothing was handed over.` };
  }
  if (profile) await make(parent, child, task, profile, given.paths);
  if (ctx.signal.aborted) return stopped(child);
  const result = await hear(child, task, ctx);
  // What it has made until a stop is nobody's. A stop while the task was on its way has met a session at rest.
  if (ctx.signal.aborted) return stopped(child);
  const asks = asked(result, task.profile);
  if (asks) return { ok: true, text: "", asks };
  if (!result || result.outcome === "waiting") await child.stop();
  return ended(parent, child, result, given.paths);
}

async function stopped(child: Child): Promise<ToolResult> {
  await child.stop();
  return { ok: false, text: STOPPED };
}

/** Its words, and what of its files came back. */
async function ended(
  parent: Parent,
  { id, stub, owner }: Child,
  result: TurnResult | null,
  given: string[],
): Promise<ToolResult> {
  const { brought, left } = await bringBack(parent, stub, owner, given);
  const { ok, text } = told(result);
  const notes = [
    ...(brought.length > 0 ? [`[files that came back: ${brought.join(", ")}]`] : []),
    ...(left.length > 0 ? [`[files that were not brought over: ${left.join(", ")}]`] : []),
  ];
  return {
    ok,
    text: [text, ...notes].join("\n"),
    content: { result: head(text, LIMITS.eventOutputChars), session_id: id, files: brought },
  };
}
