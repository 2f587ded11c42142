/**
 * A specialist at work: a child session that belongs to one tool call.
 *
 * E1  Its id follows from the call, so after a crash it is found again; the task is said once and never run twice.
 * E2  It is bound by what binds its parent: denied tools, limits, what is left of the budget. It delegates nothing.
 * E3  Nobody sits in front of it: it cannot ask, and a tool that needs an approval is refused there.
 * E4  A stop of the parent stops it. It is not listed, and goes an hour after its end.
 */
import type { FileStore } from "../adapters/files/store.ts";
import { head, titleFrom } from "../core/chars.ts";
import { LIMITS } from "../core/limits.ts";
import { type Amounts, type Session, settingsOf } from "../core/session.ts";
import type { SettingsLayer } from "../core/settings.ts";
import { mergeSettings, patchLayer } from "../core/settings-merge.ts";
import type { ToolResult } from "../core/tool.ts";
import type { TurnResult } from "../core/wire.ts";
import type { Box } from "../tools/box.ts";
import type { Task, ToolContext } from "../tools/define.ts";
import { resolvePath } from "../tools/paths.ts";
import { profiles } from "./config.ts";
import type { Bindings } from "./env.ts";
import { awaitTurn } from "./feed.ts";
import { base32, newSessionId, type SessionStub, sessionStub } from "./ids.ts";
import { unwrap } from "./problem.ts";

export interface Parent {
  env: Bindings;
  files: FileStore;
  box: Box;
  session(): Session;
}

const STOPPED = "The specialist was stopped.";
/** Files that come back. */
const MOST_FILES = 50;

async function childId(parent: string, call: string): Promise<string> {
  const text = new TextEncoder().encode(`delegate ${parent} ${call}`);
  return base32(new Uint8Array(await crypto.subtle.digest("SHA-256", text)).slice(0, 26));
}

/** What its parent works with, the profile over it; of tools, limits and budget whatever is stricter. */
function childSettings(s: Session, profile: SettingsLayer): SettingsLayer {
  const { model, provider, locale, instructions, prices, limits, budget, tools, mcp } =
    settingsOf(s);
  const left = (most: number | null, what: keyof Amounts, least = 1) =>
    most === null ? null : Math.max(least, most - (s.used[what] - s.allowedFrom[what]));
  const bounds: SettingsLayer = {
    limits,
    budget: {
      maxTokens: left(budget.maxTokens, "tokens"),
      maxToolCalls: left(budget.maxToolCalls, "tools"),
      maxCostUsd: left(budget.maxCostUsd, "cost", 1e-6),
    },
    tools: {
      enabled: tools.enabled,
      approval: { ...tools.approval, message_ask_user: "deny" },
      unattended: "block",
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

/** Absolute paths of files that are there, or the first that is not. */
function handed(files: FileStore, paths: string[]): { paths: string[] } | { missing: string } {
  const found: string[] = [];
  for (const path of paths) {
    const resolved = resolvePath(path);
    if (!resolved.ok || files.stat(resolved.path)?.kind !== "file") return { missing: path };
    found.push(resolved.path);
  }
  return { paths: found };
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

export async function delegate(parent: Parent, task: Task, ctx: ToolContext): Promise<ToolResult> {
  const { env } = parent;
  const s = parent.session();
  const known = profiles(env);
  const profile = Object.hasOwn(known, task.profile) ? known[task.profile] : undefined;
  if (!profile) {
    const names = Object.keys(known).join(", ");
    return { ok: true, text: `There is no profile ${task.profile}. There are: ${names}.` };
  }
  const given = handed(parent.files, task.files);
  if ("missing" in given) {
    return { ok: true, text: `There is no file ${given.missing}; nothing was handed over.` };
  }
  const id = await childId(s.id, ctx.id);
  const stub = sessionStub(env, id);
  const stop = () => stub.stop(s.owner, newSessionId()).catch(() => null);
  const onAbort = () => void stop();
  const start = {
    id,
    owner: s.owner,
    epoch: newSessionId().slice(0, 12),
    mode: "workflow" as const,
    title: titleFrom(task.task, LIMITS.titleChars),
    settings: childSettings(s, profile),
    ephemeral: true,
    parent: s.id,
    host: s.host,
  };
  const { view } = unwrap(await stub.create(start));
  if (view.run === 0) {
    for (const path of given.paths) {
      unwrap(await stub.writeFile(s.owner, path, parent.files.read(path) ?? new Uint8Array()));
    }
  }
  ctx.signal.addEventListener("abort", onAbort);
  try {
    if (ctx.signal.aborted) {
      // It may have been at work since before a crash.
      await stop();
      return { ok: false, text: STOPPED };
    }
    const ack = unwrap(
      await stub.say(s.owner, { id: ctx.id, text: task.task, route: "task", trace: ctx.trace }),
    );
    // A stop that came while the task was on its way has met a session at rest.
    if (ctx.signal.aborted) await stop();
    const result = await awaitTurn(stub, s.owner, ack, ctx.timeoutMs / 1000);
    if (!result || result.outcome === "waiting") await stop();
    // What it has made until a stop is nobody's: the turn that wanted it is over.
    if (ctx.signal.aborted) return { ok: false, text: STOPPED };
    const { brought, left } = await bringBack(parent, stub, s.owner, given.paths);
    const { ok, text } = told(result);
    const notes = [
      ...(brought.length > 0 ? [`[files that came back: ${brought.join(", ")}]`] : []),
      ...(left.length > 0 ? [`[files that were not brought over: ${left.join(", ")}]`] : []),
    ];
    return {
      ok,
      text: [text, ...notes].join("\n"),
      content: { result: head(text, LIMITS.eventOutputChars), session_id: id, files: brought },
      ...(result ? { spent: result.usage } : {}),
    };
  } finally {
    ctx.signal.removeEventListener("abort", onAbort);
  }
}
