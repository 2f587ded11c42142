/**
 * Commands of a person, answered without a model: `/help` and its like, and their own command lines.
 *
 * C1  At rest each is a turn of its own, from its message to `done`; beside a turn under way it is answered at once
 *     by a notice, and nothing of that turn changes. `/stop` alone stops it.
 * C2  No command enters a memory. What a person's own command line printed does, in words: no model has called it.
 * C3  Their own command line needs no approval, but where the shell is denied it is denied to them too. It is never
 *     silently run twice: what a crash interrupts follows the recovery of the tool.
 * C4  `/new` is an errand: one message makes one new session, whatever crashes, and is answered when it is there.
 */
import { beganAt } from "./began.ts";
import type { Call } from "./call.ts";
import { endCall, startCall } from "./calls.ts";
import { clean, head } from "./chars.ts";
import type { CommandWords } from "./command-text.ts";
import type { Draft } from "./draft.ts";
import * as draft from "./draft.ts";
import { isRotation, type Rotation } from "./errand.ts";
import { memoriesOf } from "./memory.ts";
import type { Said } from "./outcome.ts";
import { earlier, NOT_RUN } from "./prompt.ts";
import { enabledTools } from "./roles.ts";
import { type CommandName, type Route, routeOf } from "./route.ts";
import { MODES, type Mode, type Session } from "./session.ts";
import type { SettingsLayer } from "./settings.ts";
import { patchLayer } from "./settings-merge.ts";
import { type Locale, localeOf, words } from "./text.ts";
import type { ToolResult, ToolSpec } from "./tool.ts";
import * as turn from "./turn.ts";

type Command = Exclude<Route, { type: "task" }>;

const isBusy = (s: Session): boolean => s.status === "running" || s.status === "waiting";

/** Where a message goes in this session as it stands. A slip that could be an answer is one. */
export function routeIn(s: Session, text: string, plain: boolean): Route {
  const route: Route = plain ? { type: "task", text } : routeOf(text, s.mode);
  return route.type === "unknown" && s.wait?.kind === "question" ? { type: "task", text } : route;
}

/** Takes in a message that is no task. */
export function takeCommand(d: Draft, o: Said, route: Command): void {
  const { preview } = d.s;
  if (isBusy(d.s)) aside(d, o, route);
  else if (route.type !== "shell" || !runOwn(d, o, route.command)) rested(d, o, route);
  // Lists show what the conversation is about.
  if (route.type !== "shell") d.s.preview = preview;
}

function localeFor(d: Draft, o: Said, locale = o.settings.locale): Locale {
  const heard = `${d.s.title} ${d.s.turn?.message ?? ""} ${o.text}`;
  return localeOf(locale, d.s.plan?.language ?? "", heard);
}
const wordsFor = (d: Draft, o: Said, locale = o.settings.locale): CommandWords =>
  words(localeFor(d, o, locale)).commands;

function hear(d: Draft, o: Said, as: "command" | "stop" | Said["delivery"]): void {
  const { clientId, attachments } = o;
  draft.hear(d, { text: clean(o.text), attachments, clientId });
  d.client = { id: clientId, seq: d.s.seq, as };
}

function aside(d: Draft, o: Said, route: Command): void {
  const stops = route.type === "command" && route.name === "stop";
  hear(d, o, stops ? "stop" : "command");
  if (stops) return turn.stopTurn(d);
  const sent = rotation(d, o, route);
  if (sent) d.s.errands = [...d.s.errands, { ...sent, era: null }];
  else draft.speak(d, "notice", reply(d, o, route, true));
}

/** A session in this one's place, if that is what is wanted and none is on its way. */
function rotation(d: Draft, o: Said, route: Command): Omit<Rotation, "era"> | null {
  if (route.type !== "command" || route.name !== "new" || d.s.errands.some(isRotation)) return null;
  const client = o.clientId;
  const text = clean(route.arg);
  return { type: "rotate", id: `rotate:${client}`, client, text, locale: localeFor(d, o) };
}

/** The new session is there, or could not be made. Its turn, if it has one of its own, is over with that. */
export function moved(d: Draft, errand: Rotation, to: string | null): void {
  const { preview } = d.s;
  const w = words(errand.locale).commands;
  const text = to === null ? w.notMoved : w.moved(to);
  if (to !== null) draft.emit(d, "moved", { to, client_id: errand.client });
  if (errand.era === d.s.era) turn.answerWith(d, text);
  else if (isBusy(d.s)) draft.speak(d, "notice", text);
  // The turn beside which it was asked for is over.
  else if (to === null) draft.emit(d, "notice", { code: "not_moved", text });
  d.s.preview = preview;
}

/** A turn begins with a command. */
function begin(d: Draft, o: Said): void {
  turn.beginTurn(d);
  turn.startLoop(d);
  hear(d, o, o.delivery);
  const began = beganAt(d.at, d.s.usage, o);
  d.s.turn = { message: clean(o.text), attachments: [], settings: o.settings, began };
  draft.setStatus(d, "running", "answering");
}

function rested(d: Draft, o: Said, route: Command): void {
  // Said in the language of what came before.
  const sent = rotation(d, o, route);
  const text = sent ? "" : reply(d, o, route, false);
  begin(d, o);
  if (sent) d.s.errands = [...d.s.errands, { ...sent, era: d.s.era }];
  else turn.answerWith(d, text);
}

function reply(d: Draft, o: Said, route: Command, busy: boolean): string {
  const w = wordsFor(d, o);
  if (route.type === "unknown") return w.unknown(route.name);
  if (route.type === "shell") return busy ? w.busy : w.noShell;
  return ACTS[route.name]({ d, o, w, arg: route.arg, busy });
}

interface Asked {
  d: Draft;
  o: Said;
  w: CommandWords;
  arg: string;
  busy: boolean;
}

const set = (d: Draft, layer: SettingsLayer): void => {
  d.s.settings = patchLayer(d.s.settings, layer);
};
const MODEL_CHARS = 200;

const ACTS: Record<CommandName, (asked: Asked) => string> = {
  help: ({ w }) => w.help,
  new: ({ w }) => w.moving,
  stop: ({ w }) => w.idle,
  export: ({ d, w }) => w.exported(`/api/sessions/${d.s.id}/export`),
  plan: ({ d, w }) => (d.s.plan?.steps.length ? w.plan(d.s.plan.steps) : w.noPlan),
  usage: ({ d, w }) => w.usage(d.s.usage),
  compact({ d, w }) {
    d.s.squeeze = memoriesOf(d.s.mode);
    d.s.squeezeFrom = d.s.status === "running" ? d.s.asks : -1;
    return w.compact;
  },
  model({ d, o, w, arg }) {
    const { provider, model } = o.settings;
    if (arg === "") return w.model(d.kit.resolve(provider, model).model);
    if (/\s/.test(arg) || arg.length > MODEL_CHARS) return w.oneModel;
    const chosen = arg === "default" ? "" : arg;
    set(d, { model: chosen });
    return w.modelSet(d.kit.resolve(provider, chosen).model);
  },
  lang({ d, o, w, arg }) {
    const locale = (["en", "zh", "auto"] as const).find((l) => l === arg.toLowerCase());
    if (!locale) return w.lang(o.settings.locale);
    set(d, { locale });
    return wordsFor(d, o, locale).langSet(locale);
  },
  review({ d, o, w, arg }) {
    const enabled = { on: true, off: false }[arg.toLowerCase()];
    if (enabled === undefined) return w.review(o.settings.reviewer.enabled);
    set(d, { reviewer: { enabled } });
    return w.reviewSet(enabled);
  },
  mode({ d, o, w, arg, busy }) {
    const mode = MODES.find((m) => m === arg.toLowerCase());
    if (!mode) return w.mode(d.s.mode, MODES.join(" "));
    if (mode === d.s.mode) return w.modeSet(mode);
    if (busy) return w.busy;
    changeMode(d, mode, o.before ?? "");
    return w.modeSet(mode);
  },
};

/** The memories of the other mode were not there: they are told what was said. */
function changeMode(d: Draft, mode: Mode, before: string): void {
  const known = memoriesOf(d.s.mode);
  d.s.mode = mode;
  if (before.trim() === "") return;
  for (const memory of memoriesOf(mode)) {
    if (!known.includes(memory)) draft.tell(d, memory, "said", earlier(before));
  }
}

/** A person's command line as a turn with one call. False: there is no shell for it. */
function runOwn(d: Draft, o: Said, command: string): boolean {
  const tool = enabledTools(d.kit, o.settings).find((t) => t.name === "shell_exec");
  if (!tool) return false;
  begin(d, o);
  const call = ownCall(draft.newId(d, "c"), tool, clean(command));
  d.s.batch = { memory: memoriesOf(d.s.mode)[0], row: 0, parallel: false, calls: [call] };
  startCall(d, call);
  return true;
}

function ownCall(id: string, tool: ToolSpec, command: string): Call {
  const { args, cut } = draft.shownArgs({ command }, 1);
  const { name, toolkit, parallelSafe, effect, volatile, recovery } = tool;
  const place = { id, row: 0, index: 0, kind: "own", state: "judged" } as const;
  const facts = { name, toolkit, parallelSafe, effect, volatile, recovery };
  return { ...place, ...facts, args, ...(cut ? { cut } : {}) };
}

/** Their command line has ended: they see what it printed, and its turn is over. */
export function endOwn(d: Draft, call: Call, result: ToolResult, shown = result.text): void {
  const { ok, text, content } = result;
  endCall(d, call, { ok, text, ...(content ? { content } : {}) });
  d.s.batch = null;
  draft.speak(d, "answer", fenced(head(shown, OUTPUT_CHARS)));
  turn.conclude(d, ok ? "completed" : "failed");
}

export const loseOwn = (d: Draft, call: Call): void =>
  endOwn(d, call, { ok: false, text: NOT_RUN.lost }, draft.say(d).commands.lost);

/** Code points of what a command line printed, in the message; its `tool` event has more. */
const OUTPUT_CHARS = 16_000;

/** In a fence that is longer than any inside. */
function fenced(text: string): string {
  const runs = [...text.matchAll(/`{3,}/g)].map((m) => m[0].length);
  const fence = "`".repeat(Math.max(2, ...runs) + 1);
  return `${fence}\n${text.replace(/\n$/, "")}\n${fence}`;
}
